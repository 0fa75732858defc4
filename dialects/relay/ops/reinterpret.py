"""The bits of elements, read as another type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import AnyFloat, IntegerType, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import Fusion, FusionPattern, Pointwise, RelayOp, string, tensor
from ..precision import Accuracy
from .elementwise import named_type


@irdl_op_definition
class ReinterpretOp(RelayOp):
    """The bits of every element as a number of another type that has as many.

    `y = x.view("int32")`

    ```mlir
    %y = relay.reinterpret %x {dtype = "int32"} : (tensor<2x4xf32>) -> tensor<2x4xi32>
    ```
    """

    name = "relay.reinterpret"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    data = operand_def(TensorType)
    result = result_def(TensorType)

    dtype = string()

    traits = traits_def(Pure(), FusionPattern(Fusion.ELEMWISE), Pointwise())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        data, target = tensor(self.data), named_type(self.dtype.data)
        if bits_of(data.element_type) != bits_of(target):
            raise VerifyException(f"{data.element_type} and {target} have not the same number of bits")
        return [TensorType(target, data.get_shape())]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        target = named_type(self.dtype.data)
        return te.compute(x.shape, lambda *i: te.bitcast(x[i], target), "reinterpret")


def bits_of(element: Attribute) -> int:
    """How many bits a number has."""
    assert isinstance(element, AnyFloat | IntegerType)
    return element.bitwidth


OPS: list[type[Operation]] = [ReinterpretOp]
"""The operators on bits."""

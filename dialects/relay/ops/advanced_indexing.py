"""Operators on indices themselves, and NumPy's indexing with arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import Fusion, FusionPattern, Moves, RelayOp, broadcast_read, broadcast_shapes, flatten_types, tensor
from ..indexing import OutOfRange, as_index, gathered, inside
from .elementwise import integers

if TYPE_CHECKING:
    from ..gradient import Gradient, Terms


@irdl_op_definition
class AdvIndexOp(RelayOp):
    """NumPy's indexing with arrays: the first tensor of the tuple at the indices that the others give.

    The index tensors are broadcast; they name the first dimensions. A negative index counts from the end; one that is
    outside of its axis even so is brought to the nearest end.

    `y = x[i, j]`

    ```mlir
    %t = relay.tuple(%x, %i, %j) : (tensor<4x5x3xf32>, tensor<2x1xi64>, tensor<3xi64>) -> tuple<tensor<4x5x3xf32>, tensor<2x1xi64>, tensor<3xi64>>
    %y = relay.adv_index %t : (tuple<tensor<4x5x3xf32>, tensor<2x1xi64>, tensor<3xi64>>) -> tensor<2x3x3xf32>
    ```
    """  # noqa: E501

    name = "relay.adv_index"

    data = operand_def(TupleType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE), Moves())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        data, *indices = flatten_types([self.data.type])
        shape = data.get_shape()
        if not 0 < len(indices) <= len(shape):
            raise VerifyException(f"{len(indices)} indices for data of rank {len(shape)}")
        places = broadcast_shapes(*(integers(i).get_shape() for i in indices))
        return [TensorType(data.element_type, [*places, *shape[len(indices) :]])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, *indices = inputs
        places = broadcast_shapes(*(i.shape for i in indices))

        def body(*i: te.IterVar) -> te.Expr:
            place = i[: len(places)]
            at = [inside(broadcast_read(v, place), x.shape[d], OutOfRange.CLIP) for d, v in enumerate(indices)]
            return x[(*at, *i[len(places) :])]

        return gathered(x, [*places, *x.shape[len(indices) :]], body, "adv_index")

    def gradient(self, g: Gradient) -> Terms:
        return g.moved()


@irdl_op_definition
class InvertPermutationOp(RelayOp):
    """The permutation that undoes another: where each number stands.

    `y = np.argsort(p)`

    ```mlir
    %p = relay.constant dense<[2, 0, 3, 1]> : tensor<4xi32>
    %y = relay.invert_permutation %p : (tensor<4xi32>) -> tensor<4xi32>
    ```
    """

    name = "relay.invert_permutation"
    data = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE), Moves())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        data = integers(tensor(self.data))
        if len(data.get_shape()) != 1:
            raise VerifyException(f"expected a vector, got {data}")
        return [data]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        k = te.reduce_axis(x.shape[0])

        def body(i: te.IterVar) -> te.Expr:
            here = as_index(x[k]).equal(i)
            return te.max(te.select(here, te.cast(k, x.element_type), 0), k)

        return te.compute(x.shape, body, "invert_permutation")


@irdl_op_definition
class UnravelIndexOp(RelayOp):
    """The indices, one row for each dimension, of elements whose positions in a tensor of `shape` are given.

    `y = np.stack(np.unravel_index(p, s))`

    ```mlir
    %s = relay.constant dense<[3, 4]> : tensor<2xi32>
    %y = relay.unravel_index %p, %s : (tensor<5xi32>, tensor<2xi32>) -> tensor<2x5xi32>
    ```
    """

    name = "relay.unravel_index"

    data = operand_def(TensorType)
    shape = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE), Moves())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        data, shape = integers(tensor(self.data)), integers(tensor(self.shape))
        if data.element_type != shape.element_type or len(shape.get_shape()) != 1:
            raise VerifyException(f"positions {data} cannot be unravelled by {shape}")
        return [TensorType(data.element_type, [*shape.get_shape(), *data.get_shape()])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, shape = inputs
        rank = shape.shape[0]

        def body(d: te.IterVar, *i: te.IterVar) -> te.Expr:
            value: te.Expr = te.const(0, x.element_type)
            position: te.Expr = x[i]
            for dimension in reversed(range(rank)):
                extent = shape[dimension]
                digit = position % extent if dimension else position
                value = te.select(d.equal(dimension), digit, value)
                position = position // extent
            return value

        return te.compute([rank, *x.shape], body, "unravel_index")


OPS: list[type[Operation]] = [AdvIndexOp, InvertPermutationOp, UnravelIndexOp]
"""The operators on indices."""

"""Writing to a part of a tensor that is told at run time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import DYNAMIC, Fusion, FusionPattern, Moves, RelayOp, tensor
from ..indexing import as_index
from .elementwise import integers

if TYPE_CHECKING:
    from ..gradient import Gradient, Terms


@irdl_op_definition
class StridedSetOp(RelayOp):
    """The data with `v` in the place of the slice from `begin` to `end` in steps of `strides`, one of each for every
    dimension. Bounds are Python's; of the slice as much is written as `v` has.

    `y[begin[0]:end[0]:strides[0], ..] = v`, elsewhere `x`

    ```mlir
    %b = relay.constant dense<[1, 0]> : tensor<2xi64>
    %e = relay.constant dense<[4, 3]> : tensor<2xi64>
    %s = relay.constant dense<[2, 1]> : tensor<2xi64>
    %y = relay.strided_set %x, %v, %b, %e, %s : (tensor<5x3xf32>, tensor<2x3xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<5x3xf32>
    ```
    """  # noqa: E501

    name = "relay.strided_set"

    data = operand_def(TensorType)
    v = operand_def(TensorType)
    begin = operand_def(TensorType)
    end = operand_def(TensorType)
    strides = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE), Moves())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        data, v = tensor(self.data), tensor(self.v)
        rank = len(data.get_shape())
        if v.element_type != data.element_type or len(v.get_shape()) != rank:
            raise VerifyException(f"{v} cannot be written into {data}")
        for value, what in ((self.begin, "begin"), (self.end, "end"), (self.strides, "strides")):
            shape = integers(tensor(value)).get_shape()
            if len(shape) != 1 or shape[0] not in (rank, DYNAMIC):
                raise VerifyException(f"'{what}' has one integer for each of {rank} dimensions, but is {value.type}")
        return [data]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, v, begin, end, strides = inputs

        def body(*i: te.IterVar) -> te.Expr:
            inside: list[te.Expr] = []
            at: list[te.Expr] = []
            for d, n in enumerate(x.shape):
                step = as_index(strides[d])
                least = te.select(step > 0, te.const(0, te.index), te.const(-1, te.index))
                first, last = (_bounded(as_index(bound[d]), n, least) for bound in (begin, end))
                number = (i[d] - first) // step
                inside += [number >= 0, number < v.shape[d], (number * step + first).equal(i[d]), ~step.equal(0)]
                inside.append(te.select(step > 0, i[d] < last, i[d] > last))
                at.append(te.minimum(te.maximum(number, 0), v.shape[d] - 1))
            return te.select(te.all_of(inside), v[tuple(at)], x[i])

        if 0 in v.shape:
            return te.compute(x.shape, lambda *i: x[i], "strided_set")
        return te.compute(x.shape, body, "strided_set")

    def gradient(self, g: Gradient) -> Terms:
        return g.moved((0, 1))


def _bounded(bound: te.Expr, extent: int, least: te.Expr) -> te.Expr:
    """Python's bound of a slice: a negative one from the end, then between `least` and the extent (less one, where the
    slice goes backwards)."""
    from_start = te.select(bound < 0, bound + extent, bound)
    return te.minimum(te.maximum(from_start, least), least + extent)


OPS: list[type[Operation]] = [StridedSetOp]
"""The operators that write slices."""

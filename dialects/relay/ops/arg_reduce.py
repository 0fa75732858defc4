"""The places of extrema along axes, given as other reductions are (`reduce`)."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import AnyFloat, i32
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import Tensor, flag, is_true, tensor
from ..indexing import row_major
from ..precision import Accuracy, Precision
from ..reordering import Order, Reordered
from .reduce import ReduceOp


class _ArgReduceOp(ReduceOp, ABC):
    """The place of an extremum, counted row by row over the reduced axes. NaN counts as the extremum."""

    KIND: ClassVar[te.ReduceKind]

    select_last_index = flag(False)

    def reordered(self, order: Order) -> Reordered | None:
        """Places along several axes are counted in the order of these, which has to stay."""
        axes = self.reduction(len(order)).axes
        return super().reordered(order) if [each for each in order if each in axes] == sorted(axes) else None

    def result_element(self, data: Tensor) -> Attribute:
        return i32

    def infer(self) -> Sequence[Attribute]:
        """
        Raises:
            VerifyException: there is nothing along the axes, and so no place that could be given.
        """
        data = tensor(self.data)
        shape = data.get_shape()
        reduction = self.reduction(len(shape))
        if any(shape[d] == 0 for d in reduction.axes) and 0 not in reduction.shape(shape):
            raise VerifyException(f"{data} has no elements along {list(reduction.axes)}, and so none has a place")
        return super().infer()

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        reduction = self.reduction(x.rank)
        shape = reduction.shape(x.shape)
        axes = reduction.reduce_axes(x.shape)
        best = te.compute(shape, lambda *i: te.reduce(self.KIND, x[reduction.indices(i, axes)], axes), self.KIND)
        again = reduction.reduce_axes(x.shape)
        last = is_true(self.select_last_index)
        count = te.product(axis.dim for axis in again)
        if isinstance(count, te.Expr) and not te.at_most(1, count):
            raise TypeError("te: there is no place of the extremum of nothing")
        beyond = max(count - 1, 0) if isinstance(count, int) else te.cast(te.dim_expr(count) - 1, i32)

        def place(*i: te.IterVar) -> te.Expr:
            element = x[reduction.indices(i, again)]
            found = element.equal(best[i])
            if isinstance(x.element_type, AnyFloat):
                found = found | te.unary(te.UnaryKind.ISNAN, element)
            at = te.cast(row_major(again, [axis.dim for axis in again]), i32)
            return te.reduce("max" if last else "min", te.select(found, at, 0 if last else beyond), again)

        return te.compute(shape, place, self.name.removeprefix("relay."))


@irdl_op_definition
class ArgmaxOp(_ArgReduceOp):
    """The place of the largest element along the axes: the first of equal ones, or the last.

    `y = np.argmax(x, axis=1)`

    ```mlir
    %y = relay.argmax %x {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xi32>
    ```
    """

    name = "relay.argmax"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    PRECISION: ClassVar[Precision | None] = Precision.FOLLOW
    KIND: ClassVar[te.ReduceKind] = "max"


@irdl_op_definition
class ArgminOp(_ArgReduceOp):
    """The place of the smallest element along the axes: the first of equal ones, or the last.

    `y = np.argmin(x, axis=1)`

    ```mlir
    %y = relay.argmin %x {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xi32>
    ```
    """

    name = "relay.argmin"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    PRECISION: ClassVar[Precision | None] = Precision.FOLLOW
    KIND: ClassVar[te.ReduceKind] = "min"


OPS: list[type[Operation]] = [ArgmaxOp, ArgminOp]
"""The places of extrema."""

"""Reductions: sums, products and extrema along axes.

An operator is given `axis`, a list (empty: all axes), `keepdims`, by which a reduced axis stays with extent one, and
`exclude`, by which it is all the other axes that are reduced.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, nan, prod
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import (
    Fusion,
    FusionPattern,
    RelayOp,
    Tensor,
    common_rows,
    compatible,
    flag,
    int_list,
    ints,
    is_static,
    is_true,
    normalize_axis,
    shape_of,
    tensor,
)
from ..blocking import PLAIN, Blocks
from ..nn_common import accumulator, mean_accumulator, narrow
from ..precision import Accuracy, Precision
from ..reordering import Form, Order, Reordered, order_of, reduced, reordered_axes, without_axes
from ..shapes import check_extents
from .elementwise import AbsOp, truth_values
from .transform import ExpandDimsOp

if TYPE_CHECKING:
    from ..gradient import Gradient, Term, Terms


@dataclass(frozen=True)
class Reduction:
    """Which axes of a tensor of rank `rank` are reduced, and whether they stay with extent one."""

    rank: int
    axes: tuple[int, ...]
    keepdims: bool

    def shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of the result."""
        if self.keepdims:
            return tuple(1 if d in self.axes else n for d, n in enumerate(shape))
        return tuple(n for d, n in enumerate(shape) if d not in self.axes)

    def reduce_axes(self, shape: Sequence[int]) -> tuple[te.IterVar, ...]:
        """A variable for each reduced axis."""
        return tuple(te.reduce_axis(shape[d], f"k{d}") for d in self.axes)

    def indices(self, kept: Sequence[te.Expr], reduced: Sequence[te.Expr]) -> tuple[te.Expr, ...]:
        """The index into the operand, for an index into the result and one along each reduced axis."""
        outer = [i for d, i in enumerate(kept) if d not in self.axes] if self.keepdims else list(kept)
        along = dict(zip(self.axes, reduced, strict=True))
        others = iter(outer)
        return tuple(along[d] if d in along else next(others) for d in range(self.rank))

    def kept(self, indices: Sequence[te.Expr]) -> tuple[te.Expr, ...]:
        """The index into the result for an index into the operand."""
        if self.keepdims:
            return tuple(te.const(0, te.index) if d in self.axes else i for d, i in enumerate(indices))
        return tuple(i for d, i in enumerate(indices) if d not in self.axes)


class ReduceOp(RelayOp, ABC):
    """What the reductions of one tensor share."""

    data = operand_def(TensorType)
    result = result_def(TensorType)

    axis = int_list([])
    keepdims = flag(False)
    exclude = flag(False)

    traits = traits_def(Pure(), FusionPattern(Fusion.COMM_REDUCE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def reduction(self, rank: int) -> Reduction:
        """
        Raises:
            VerifyException: an axis is out of range, or listed twice.
        """
        axes = [normalize_axis(a, rank) for a in ints(self.axis)]
        if len(set(axes)) != len(axes):
            raise VerifyException(f"'axis' lists an axis twice: {list(ints(self.axis))}")
        if not axes:
            axes = list(range(rank))
        elif is_true(self.exclude):
            axes = [d for d in range(rank) if d not in axes]
        return Reduction(rank, tuple(sorted(axes)), is_true(self.keepdims))

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        shape = data.get_shape()
        return [TensorType(self.result_element(data), self.reduction(len(shape)).shape(shape))]

    def reordered(self, order: Order) -> Reordered | None:
        axes = self.reduction(len(order)).axes
        if not axes:
            return None
        result = order if is_true(self.keepdims) else without_axes(order, axes)
        if not self.axis:  # all of them, as before
            return Reordered([result])
        return Reordered([result], {"axis": sorted(reordered_axes(axes, order)), "exclude": False})

    def result_element(self, data: Tensor) -> Attribute:
        """The element type of the result."""
        return data.element_type

    def shared_rows(self, operand: int) -> int:
        axes = self.reduction(len(shape_of(self.data))).axes
        return min((*axes[:1], common_rows(self.operands[operand], self.results[0])))

    def kept(self, term: Term, data: Term) -> Term:
        """A term of the result's shape, with the reduced axes of the data there, of extent one."""
        reduction = self.reduction(len(data.shape))
        if reduction.keepdims or not reduction.axes:
            return term
        if is_static(data.type):
            return term.reshape(Reduction(reduction.rank, reduction.axes, keepdims=True).shape(data.shape))
        for axis in reduction.axes:
            term = term.op(ExpandDimsOp, axis=axis)
        return term

    def shared(self, g: Gradient) -> Term:
        """The gradient of an extremum: in equal parts to all elements that are it."""
        x, reduction = g.input, self.reduction(len(g.input.shape))
        chosen = x.ones().where(x.equals(self.kept(g.output, x)))
        return self.kept(g.grad, x) * (chosen / chosen.sum(reduction.axes, keepdims=True))


class SimpleReduceOp(ReduceOp, ABC):
    """A reduction by one of the combiners of tensor expressions: `KIND`.

    Sums and products of half-width floats are formed in f32.
    """

    KIND: ClassVar[te.ReduceKind]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        return narrow(self.reduced(x), x.element_type)

    def accumulator(self, x: te.Tensor) -> Attribute:
        """The type in which the reduction is formed."""
        return accumulator(x.element_type) if self.KIND in ("sum", "prod") else x.element_type

    def reduced(self, x: te.Tensor) -> te.Tensor:
        """The reduction in the type of the accumulator."""
        reduction = self.reduction(x.rank)
        axes = reduction.reduce_axes(x.shape)
        element = self.accumulator(x)
        return te.compute(
            reduction.shape(x.shape),
            lambda *i: te.reduce(self.KIND, te.cast(x[reduction.indices(i, axes)], element), axes),
            self.name.removeprefix("relay."),
        )

    def channel_block(self, blocks: Blocks) -> int:
        """Over height and width, which stand at the same place in blocks."""
        shape = shape_of(self.data)
        if len(shape) != 4 or is_true(self.exclude) or not self.axis or not is_static(self.data.type):
            return PLAIN
        axes = {normalize_axis(axis, 4) for axis in ints(self.axis)}
        over_pixels = axes == {2, 3} or (axes < {2, 3} and is_true(self.keepdims))
        return blocks.channel_block(shape[1]) if over_pixels else PLAIN

    def reblocked(self, form: Form) -> Reordered | None:
        if not (axes := self.reduction(len(order_of(form))).axes):
            return None
        result, dimensions = reduced(form, axes, is_true(self.keepdims))
        return Reordered([result], {"axis": dimensions, "exclude": False})

    def in_any_block(self) -> bool:
        return True

    def to_blocks(self, blocks: Blocks, block: int) -> None:
        axes = sorted(normalize_axis(axis, 4) for axis in ints(self.axis))
        new = type(self)(blocks.get(self.data, block, self), axis=axes, keepdims=True)
        if is_true(self.keepdims):
            blocks.replace(self, new, block)
        else:
            shape = shape_of(self.data)[:2]
            plain = blocks.unblocked(blocks.insert(new, self), block, (*shape, 1, 1), self)
            blocks.replace_plain(self, blocks.reshape(plain, shape, self))


class _TruthReduceOp(SimpleReduceOp, ABC):
    """A reduction of truth values."""

    def result_element(self, data: Tensor) -> Attribute:
        return truth_values(data).element_type


@irdl_op_definition
class SumOp(SimpleReduceOp):
    """The sum of the elements along the axes; 0 of none.

    `y = np.sum(x, axis=(0, 2))`

    ```mlir
    %y = relay.sum %x {axis = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
    ```
    """

    name = "relay.sum"
    PRECISION: ClassVar[Precision | None] = Precision.NEVER
    KIND: ClassVar[te.ReduceKind] = "sum"

    def gradient(self, g: Gradient) -> Terms:
        return [self.kept(g.grad, g.input)]


@irdl_op_definition
class ProdOp(SimpleReduceOp):
    """The product of the elements along the axes; 1 of none.

    `y = np.prod(x, axis=(0, 2))`

    ```mlir
    %y = relay.prod %x {axis = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
    ```
    """

    name = "relay.prod"
    PRECISION: ClassVar[Precision | None] = Precision.NEVER
    KIND: ClassVar[te.ReduceKind] = "prod"

    def gradient(self, g: Gradient) -> Terms:
        x = g.input
        reduction = self.reduction(len(x.shape))
        order = [*(d for d in range(reduction.rank) if d not in reduction.axes), *reduction.axes]
        moved = x.transpose(order)
        count = prod(x.shape[d] for d in reduction.axes)
        rows = moved.reshape([*moved.shape[: reduction.rank - len(reduction.axes)], count])
        axis = len(rows.shape) - 1
        before = rows.products_before(axis)
        after = rows.reverse(axis).products_before(axis).reverse(axis)
        others = (before * after).reshape(moved.shape).transpose([order.index(d) for d in range(reduction.rank)])
        return [self.kept(g.grad, x) * others]


@irdl_op_definition
class MaxOp(SimpleReduceOp):
    """The largest element along the axes; NaN where there is one.

    `y = np.max(x, axis=1)`

    ```mlir
    %y = relay.max %x {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
    ```
    """

    name = "relay.max"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    PRECISION: ClassVar[Precision | None] = Precision.FOLLOW
    KIND: ClassVar[te.ReduceKind] = "max"

    def gradient(self, g: Gradient) -> Terms:
        return [self.shared(g)]


@irdl_op_definition
class MinOp(SimpleReduceOp):
    """The smallest element along the axes; NaN where there is one.

    `y = np.min(x, axis=1)`

    ```mlir
    %y = relay.min %x {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
    ```
    """

    name = "relay.min"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    PRECISION: ClassVar[Precision | None] = Precision.FOLLOW
    KIND: ClassVar[te.ReduceKind] = "min"

    def gradient(self, g: Gradient) -> Terms:
        return [self.shared(g)]


@irdl_op_definition
class AllOp(_TruthReduceOp):
    """Whether all elements along the axes are true.

    `y = np.all(x, axis=1)`

    ```mlir
    %y = relay.all %x {axis = array<i64: 1>} : (tensor<2x3x4xi1>) -> tensor<2x4xi1>
    ```
    """

    name = "relay.all"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    KIND: ClassVar[te.ReduceKind] = "and"


@irdl_op_definition
class AnyOp(_TruthReduceOp):
    """Whether one element along the axes is true.

    `y = np.any(x, axis=1)`

    ```mlir
    %y = relay.any %x {axis = array<i64: 1>} : (tensor<2x3x4xi1>) -> tensor<2x4xi1>
    ```
    """

    name = "relay.any"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    KIND: ClassVar[te.ReduceKind] = "or"


@irdl_op_definition
class MeanOp(SimpleReduceOp):
    """The mean of the elements along the axes; of integers, rounded towards zero. With `none_is_zero` that of no
    elements is 0, and not NaN.

    `y = np.mean(x, axis=(1, 2), keepdims=True)`

    ```mlir
    %y = relay.mean %x {axis = array<i64: 1, 2>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<2x1x1xf32>
    ```
    """

    name = "relay.mean"
    PRECISION: ClassVar[Precision | None] = Precision.NEVER
    KIND: ClassVar[te.ReduceKind] = "sum"

    none_is_zero = flag(False)

    def count(self, x: te.Tensor) -> te.Dim:
        """Of how many elements each mean is."""
        return te.product(x.dims[d] for d in self.reduction(x.rank).axes)

    def accumulator(self, x: te.Tensor) -> Attribute:
        return mean_accumulator(x.element_type, self.count(x))

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        total, count = self.reduced(x), self.count(x)
        if is_true(self.none_is_zero):
            count = max(count, 1) if isinstance(count, int) else te.maximum(count, 1)
        mean = te.compute(total.shape, lambda *i: total[i] / count, "mean")
        return narrow(mean, x.element_type)

    def gradient(self, g: Gradient) -> Terms:
        x = g.input
        count = prod(x.shape[d] for d in self.reduction(len(x.shape)).axes)
        return [self.kept(g.grad / count, x)]


@irdl_op_definition
class VarianceOp(ReduceOp):
    """The mean squared distance from `mean`, which is the mean along the axes with `keepdims`.

    With `unbiased`, the sum of squares is divided by one less than the count.

    `y = np.mean((x - m) ** 2, axis=1)`

    ```mlir
    %y = relay.variance %x, %m {axis = array<i64: 1>} : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2xf32>
    ```
    """

    name = "relay.variance"
    PRECISION: ClassVar[Precision | None] = Precision.NEVER

    data = operand_def(TensorType)
    mean = operand_def(TensorType)

    unbiased = flag(False)

    def reordered(self, order: Order) -> Reordered | None:
        return None if (rule := super().reordered(order)) is None else replace(rule, along=(0, 1))

    def infer(self) -> Sequence[Attribute]:
        data, mean = tensor(self.data), tensor(self.mean)
        reduction = self.reduction(len(data.get_shape()))
        kept = Reduction(reduction.rank, reduction.axes, keepdims=True).shape(data.get_shape())
        if not compatible(TensorType(data.element_type, kept), mean):
            raise VerifyException(f"the mean of {data} along {list(reduction.axes)} is not {mean}")
        return super().infer()

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, mean = inputs
        reduction = self.reduction(x.rank)
        axes = reduction.reduce_axes(x.shape)
        element = mean_accumulator(x.element_type)
        kept = Reduction(x.rank, reduction.axes, keepdims=True)
        check_extents("the mean", mean.shape, kept.shape(x.shape))

        def square(*i: te.IterVar) -> te.Expr:
            distance = te.cast(x[i], element) - te.cast(mean[kept.kept(i)], element)
            return distance * distance

        squares = te.compute(x.shape, square, "squared_distance")
        total = te.compute(
            reduction.shape(x.shape), lambda *i: te.sum(squares[reduction.indices(i, axes)], axes), "variance_sum"
        )
        count = te.product(axis.dim for axis in axes) - is_true(self.unbiased)
        divisor = te.cast(te.dim_expr(count), element) if isinstance(count, te.Expr) else count
        return narrow(te.compute(total.shape, lambda *i: total[i] / divisor, "variance"), x.element_type)

    def gradient(self, g: Gradient) -> Terms:
        x, mean = g.inputs
        reduction = self.reduction(len(x.shape))
        count = prod(x.shape[d] for d in reduction.axes) - is_true(self.unbiased)
        distance, grad = x - mean, self.kept(g.grad, x)
        # The root of no variance at all has an infinite slope. An element at the mean still has none, as in PyTorch.
        grad = grad.zeros().where(distance.equals(0), grad).where(grad.op(AbsOp).equals(inf), grad)
        slope = grad * (distance * (2 / count if count else nan))
        return [slope, -slope]


OPS: list[type[Operation]] = [SumOp, ProdOp, MaxOp, MinOp, AllOp, AnyOp, MeanOp, VarianceOp]
"""The reductions."""

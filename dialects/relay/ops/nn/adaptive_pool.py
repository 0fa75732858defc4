"""Pooling by which each spatial axis is divided into parts, one for each element of the result."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.ir import Operation

from .... import te
from ....support.operations import irdl_op_definition
from ...base import int_list, ints, string
from ...nn_common import (
    mean_accumulator,
    narrow,
    per_axis,
)
from ...precision import Accuracy, Precision
from ..reduce import MaxOp
from .pool import WINDOWED, PoolBase, divided

if TYPE_CHECKING:
    from ...gradient import Gradient, Term, Terms


class _AdaptivePool(PoolBase, ABC):
    """A pool whose windows divide each spatial axis into `output_size` parts, as equal as can be.

    Part `o` of `O` along an axis of extent `n` is `o*n // O <= i < ceil((o+1)*n / O)`. A single output size stands for
    all axes; without one, the spatial axes keep their extents.
    """

    KIND: ClassVar[te.ReduceKind] = "sum"

    output_size = int_list([])

    def places(self, extents: Sequence[int]) -> Sequence[int]:
        wanted = ints(self.output_size)
        return per_axis(wanted, len(extents), "output_size") if wanted else extents

    def part(self, place: te.Expr, extent: int, parts: int) -> tuple[te.Expr, te.Expr]:
        """The first index of part `place` of an axis, and how many there are in it."""
        if te.same(parts, 1):
            return te.const(0, te.index), te.dim_expr(extent)
        if te.same(parts, extent):
            return place, te.const(1, te.index)
        if te.same(extent % parts, 0):
            return place * (extent // parts), te.dim_expr(extent // parts)
        begin = (place * extent) // parts
        return begin, ((place + 1) * extent + (parts - 1)) // parts - begin

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        positions = self.positions()
        parts = dict(zip(positions, self.places([x.shape[p] for p in positions]), strict=True))
        shape = self.with_spatial(x.shape, list(parts.values()))
        taps = {
            p: te.reduce_axis(_longest_part(x.shape[p], parts[p]), f"k{letter.lower()}")
            for p, letter in zip(positions, self.SPATIAL, strict=True)
        }
        uneven = [p for p in positions if not _is_even(x.shape[p], parts[p])]
        reads = te.product(tap.dim for tap in taps.values())
        sum_type = mean_accumulator(x.element_type, reads) if self.KIND == "sum" else x.element_type

        def reduced(*i: te.IterVar) -> te.Expr:
            spans = {p: self.part(i[p], x.shape[p], parts[p]) for p in positions}
            read = list[te.Expr](i)
            for p, (begin, _) in spans.items():
                read[p] = _within(begin + taps[p], x.shape[p], parts[p])
            value: te.Expr = te.cast(x[tuple(read)], sum_type)
            if uneven:
                inside = te.all_of([taps[p] < spans[p][1] for p in uneven])
                value = te.select(inside, value, te.reduce_identity(self.KIND, sum_type))
            return te.reduce(self.KIND, value, tuple(taps.values()))

        total = te.compute(shape, reduced, f"pool_{self.KIND}")
        return narrow(self.finish(total, x.shape, parts), x.element_type)

    def finish(self, total: te.Tensor, extents: Sequence[int], parts: Mapping[int, int]) -> te.Tensor:
        """The result from the reduced windows; `parts` is the number of windows along each spatial dimension."""
        return total


class _AdaptiveAvgPool(_AdaptivePool, ABC):
    PRECISION: ClassVar[Precision | None] = Precision.NEVER
    AVERAGES: ClassVar[bool] = True

    def finish(self, total: te.Tensor, extents: Sequence[int], parts: Mapping[int, int]) -> te.Tensor:
        def mean(*i: te.IterVar) -> te.Expr:
            count: te.Expr = te.const(1, te.index)
            for p, n in parts.items():
                count = self.part(i[p], extents[p], n)[1] * count
            return divided(total[i], count)

        return te.compute(total.shape, mean, "pool_mean")

    def gradient(self, g: Gradient) -> Terms:
        return g.separable(self.positions())


class _AdaptiveMaxPool(_AdaptivePool, ABC):
    KIND: ClassVar[te.ReduceKind] = "max"

    def gradient(self, g: Gradient) -> Terms:
        g.static()
        shape, positions = g.input.shape, self.positions()
        parts = {p: g.output.shape[p] for p in positions}
        if all(shape[p] % n == 0 for p, n in parts.items()):
            sizes = [shape[p] // n for p, n in parts.items()]
            windows = {"pool_size": sizes, "strides": sizes, "layout": self.layout}
            return g.through(g.input.op(WINDOWED[len(positions)], **windows))

        def pooled(term: Term, rest: Sequence[int]) -> Term:
            if not rest:
                return term.op(MaxOp, axis=positions, keepdims=True)
            axis, extent, count = rest[0], shape[rest[0]], parts[rest[0]]
            cuts = [(o * extent // count, -(-(o + 1) * extent // count)) for o in range(count)]
            taken = [pooled(term.slice_along(axis, *cut), rest[1:]) for cut in cuts]
            return taken[0].concatenated(taken[1:], axis)

        return g.through(pooled(g.input, positions))


def _within(place: te.Expr, extent: te.Dim, parts: te.Dim) -> te.Expr:
    """`place`, which lies within an extent where it counts; what is read elsewhere is not used."""
    is_exact = isinstance(extent, int) or te.same(parts, 1) or te.same(parts, extent)
    return place if is_exact else te.minimum(place, te.dim_expr(extent) - 1)


def _is_even(extent: te.Dim, parts: te.Dim) -> bool:
    """Whether all parts are surely of one size, be there any or none."""
    return te.same(parts, extent) or te.same(extent % parts, 0)


def _longest_part(extent: te.Dim, parts: te.Dim) -> te.Dim:
    """How many there are in the longest part; where the extent is a symbol, what it may be at most."""
    if te.same(parts, extent):
        return 1
    if te.same(parts, 1) or not (isinstance(extent, int) and isinstance(parts, int)):
        exact = te.same(extent % parts, 0)
        return extent // parts if exact else te.ceil_divided(extent, parts) + 1
    return max(-(-((o + 1) * extent) // parts) - o * extent // parts for o in range(parts))


@irdl_op_definition
class AdaptiveAvgPool1dOp(_AdaptiveAvgPool):
    """The mean of each of `output_size` parts of one spatial axis.

    `y[n, c, o] = mean(x[n, c, o*W // O : ceil((o+1)*W / O)])`

    ```mlir
    %y = relay.nn.adaptive_avg_pool1d %x {output_size = array<i64: 3>, layout = "NCW"} : (tensor<1x2x7xf32>) -> tensor<1x2x3xf32>
    ```
    """  # noqa: E501

    name = "relay.nn.adaptive_avg_pool1d"
    SPATIAL: ClassVar[str] = "W"
    layout = string("NCW")


@irdl_op_definition
class AdaptiveAvgPool2dOp(_AdaptiveAvgPool):
    """The mean of each part of two spatial axes, divided into `output_size`.

    `y[n, c, p, q] = mean(x[n, c, p*H // P : ceil((p+1)*H / P), q*W // Q : ceil((q+1)*W / Q)])`

    ```mlir
    %y = relay.nn.adaptive_avg_pool2d %x {output_size = array<i64: 2, 3>} : (tensor<1x2x5x6xf32>) -> tensor<1x2x2x3xf32>
    ```
    """

    name = "relay.nn.adaptive_avg_pool2d"


@irdl_op_definition
class AdaptiveAvgPool3dOp(_AdaptiveAvgPool):
    """The mean of each part of three spatial axes, divided into `output_size`.

    `y[n, c, o, p, q] = mean(x[n, c, part(o, D), part(p, H), part(q, W)])`

    ```mlir
    %y = relay.nn.adaptive_avg_pool3d %x {output_size = array<i64: 2>}
       : (tensor<1x1x4x4x5xf32>) -> tensor<1x1x2x2x2xf32>
    ```
    """

    name = "relay.nn.adaptive_avg_pool3d"
    SPATIAL: ClassVar[str] = "DHW"
    layout = string("NCDHW")


@irdl_op_definition
class AdaptiveMaxPool1dOp(_AdaptiveMaxPool):
    """The maximum of each of `output_size` parts of one spatial axis.

    `y[n, c, o] = max(x[n, c, o*W // O : ceil((o+1)*W / O)])`

    ```mlir
    %y = relay.nn.adaptive_max_pool1d %x {output_size = array<i64: 3>} : (tensor<1x2x7xf32>) -> tensor<1x2x3xf32>
    ```
    """

    name = "relay.nn.adaptive_max_pool1d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    SPATIAL: ClassVar[str] = "W"
    layout = string("NCW")


@irdl_op_definition
class AdaptiveMaxPool2dOp(_AdaptiveMaxPool):
    """The maximum of each part of two spatial axes, divided into `output_size`.

    `y[n, c, p, q] = max(x[n, c, p*H // P : ceil((p+1)*H / P), q*W // Q : ceil((q+1)*W / Q)])`

    ```mlir
    %y = relay.nn.adaptive_max_pool2d %x {output_size = array<i64: 2, 3>} : (tensor<1x2x5x6xf32>) -> tensor<1x2x2x3xf32>
    ```
    """

    name = "relay.nn.adaptive_max_pool2d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT


@irdl_op_definition
class AdaptiveMaxPool3dOp(_AdaptiveMaxPool):
    """The maximum of each part of three spatial axes, divided into `output_size`.

    `y[n, c, o, p, q] = max(x[n, c, part(o, D), part(p, H), part(q, W)])`

    ```mlir
    %y = relay.nn.adaptive_max_pool3d %x {output_size = array<i64: 2>}
       : (tensor<1x1x4x4x5xf32>) -> tensor<1x1x2x2x2xf32>
    ```
    """

    name = "relay.nn.adaptive_max_pool3d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    SPATIAL: ClassVar[str] = "DHW"
    layout = string("NCDHW")


@irdl_op_definition
class GlobalMaxPool2dOp(_AdaptiveMaxPool):
    """The maximum over both spatial axes.

    `y[n, c, 0, 0] = max_{h, w} x[n, c, h, w]`

    ```mlir
    %y = relay.nn.global_max_pool2d %x : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
    ```
    """

    name = "relay.nn.global_max_pool2d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    output_size = int_list([1])


@irdl_op_definition
class GlobalAvgPool2dOp(_AdaptiveAvgPool):
    """The mean over both spatial axes.

    `y[n, c, 0, 0] = sum_{h, w} x[n, c, h, w] / (H * W)`

    ```mlir
    %y = relay.nn.global_avg_pool2d %x : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
    ```
    """

    name = "relay.nn.global_avg_pool2d"

    output_size = int_list([1])


OPS: list[type[Operation]] = [
    AdaptiveAvgPool1dOp, AdaptiveAvgPool2dOp, AdaptiveAvgPool3dOp,
    AdaptiveMaxPool1dOp, AdaptiveMaxPool2dOp, AdaptiveMaxPool3dOp,
    GlobalMaxPool2dOp, GlobalAvgPool2dOp,
]  # fmt: skip
"""The pools with parts."""

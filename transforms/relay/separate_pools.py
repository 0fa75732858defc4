"""Take the maximum over a large window along one axis, then along the others.

    %y = relay.nn.max_pool2d %x        ->   %0 = relay.nn.max_pool2d %x {pool_size = [13, 1], padding = [6, 0]}
       {pool_size = [13, 13],               %y = relay.nn.max_pool2d %0 {pool_size = [1, 13], padding = [0, 6]}
        padding = [6, 6]}

Of each window 26 elements are looked at instead of 169. Which axis is the first decides how many windows there are for
the others, where these have strides; one is taken off at a time, as long as it pays.

Does not: touch means, whose sums would be rounded otherwise. TVM has no such pass.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.ir import Attribute
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relay.base import as_attribute
from ...dialects.relay.core import FuncOp
from ...dialects.relay.nn_common import Window
from ...dialects.relay.ops.nn.pool import MaxPool2dOp, MaxPool3dOp
from ..infra import FunctionPass, RewriteDriver, report_changed

BETWEEN = 4
"""Elements of a window that take as long as one that is written between two pools, padded, and read again: windows of
3 x 3 taken apart are a third slower, such of 5 x 5 take half of the time."""


@dataclass(frozen=True)
class SeparatePoolsPass(FunctionPass):
    """No options."""

    name = "separate-pools"
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        report_changed(RewriteDriver((TakeOffAnAxis(),)).rewrite(func))


class TakeOffAnAxis(RewritePattern):
    """`max_pool(x) {[a, b]}` -> `max_pool(max_pool(x) {[a, 1]}) {[1, b]}`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MaxPool2dOp | MaxPool3dOp, rewriter: PatternRewriter, /) -> None:
        window = op.window()
        axes = range(len(window.kernel))
        if sum(window.kernel[axis] > 1 for axis in axes) < 2:
            return
        looks, first = min((_looks(window, axis), axis) for axis in axes if window.kernel[axis] > 1)
        if looks >= prod(window.kernel):
            return
        alone = type(op)(op.data, **{**op.properties, **_along(window, {first})})
        rest = type(op)(alone.result, **{**op.properties, **_along(window, set(axes) - {first})})
        rewriter.replace(op, [alone, rest])


def _looks(window: Window, first: int) -> int:
    """How often elements are looked at for each window, if the axis `first` is taken first."""
    others = [axis for axis in range(len(window.kernel)) if axis != first]
    windows = prod(window.strides[axis] for axis in others)
    return window.kernel[first] * windows + prod(window.kernel[axis] for axis in others) + BETWEEN


def _along(window: Window, kept: Collection[int]) -> dict[str, Attribute]:
    """The properties of a pool along these axes alone."""

    def of(values: tuple[int, ...], nothing: int) -> list[int]:
        return [value if axis in kept else nothing for axis, value in enumerate(values)]

    return {
        "pool_size": as_attribute(of(window.kernel, 1)),
        "strides": as_attribute(of(window.strides, 1)),
        "dilation": as_attribute(of(window.dilation, 1)),
        "padding": as_attribute([*of(window.before, 0), *of(window.after, 0)]),
    }

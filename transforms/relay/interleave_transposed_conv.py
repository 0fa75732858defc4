"""Compute a transposed convolution as one convolution, whose channels are then interleaved into pixels.

    %y = relay.nn.conv2d_transpose %x, %w {strides = [2, 2], padding = [1, 1]}     // kernel 4x4, C channels
->
    %w1 = the taps of each of the 2x2 phases, turned round: [2 * 2 * C, I, 2, 2]
    %0 = relay.nn.conv2d %x, %w1 {padding = [1, 1]}                                // 2x2 taps, 2 * 2 * C channels
    %1 = relay.nn.depth_to_space %0 {block_size = 2}
    %y = relay.strided_slice %1                                                    // what the padding cuts off

By its definition a transposed convolution goes over data between whose elements there are `stride - 1` zeros: of its
products only one in `stride * stride` has a factor that is none of them. Along an axis, with the stride `s` and what is
before the padding is cut off, element `s*u + a` of the result is the sum of `x[u - t] * w[a + s*t]` over `t`: a
convolution of `ceil(k / s)` taps for each phase `a`, all over the same data. So the phases are channels of one
convolution. Where `s` does not divide `k`, the taps that are missing are zeros. Where the data is a single pixel, any
stride will do, and one as large as the kernel leaves one tap: a matrix product.

Left as they are, with a remark: groups, taps that lie apart, layouts other than `NCHW` and `IOHW`, strides of two
kinds, elements that are not floats, paddings of more than the kernel, and extents that are not known. `fold-constant`
should follow, and `alter-op-layout`.

No counterpart in TVM, whose schedules for single processors have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relay.base import DYNAMIC, shape_of, tensor
from ...dialects.relay.core import FuncOp
from ...dialects.relay.ops.nn.conv_transpose import Conv2dTransposeOp
from ...dialects.relay.ops.nn.convolution import Conv2dOp
from ...dialects.relay.ops.nn.spatial import DepthToSpaceOp, PadOp
from ...dialects.relay.ops.slicing import StridedSliceOp
from ...dialects.relay.ops.transform import ReshapeOp, ReverseOp, TransposeOp
from ..infra import FunctionPass, RewriteDriver, remarks, report_changed
from .emitter import Emitter

NAME = "interleave-transposed-conv"


@dataclass(frozen=True)
class InterleaveTransposedConvPass(FunctionPass):
    """No options."""

    name = NAME
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        report_changed(RewriteDriver((InterleavePhases(),)).rewrite(func))


@dataclass(frozen=True)
class Axis:
    """A spatial axis: extents of the data, the kernel and the result, the stride, and what is cut off before."""

    data: int
    kernel: int
    result: int
    stride: int
    before: int

    @property
    def taps(self) -> int:
        """How many taps each phase has."""
        return -(-self.kernel // self.stride)

    @property
    def first(self) -> int:
        """The first place of the phases of which something is left."""
        return self.before // self.stride

    @property
    def padding(self) -> tuple[int, int]:
        """What to pad before and after the data, for a convolution from the first place to the last that is needed."""
        last = (self.before + self.result - 1) // self.stride
        return self.taps - 1 - self.first, max(0, last - self.data + 1)

    @property
    def cut(self) -> int:
        """Where the result begins among the interleaved phases."""
        return self.before - self.first * self.stride


class InterleavePhases(RewritePattern):
    """`conv2d_transpose(x, w)` -> `strided_slice(depth_to_space(conv2d(x, phases(w))))`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Conv2dTransposeOp, rewriter: PatternRewriter, /) -> None:
        obstacle = _obstacle(op)
        if obstacle is not None:
            remarks.missed(NAME, op, obstacle)
            return
        axes = _axes(op)
        stride, emit = axes[0].stride, Emitter()
        starts, ends = zip(*(axis.padding for axis in axes), strict=True)
        convolution = Conv2dOp(
            op.data, _phases(emit, op.weight, axes), padding=[*starts, *ends], out_dtype=op.out_dtype
        )
        value = emit(convolution)
        if stride > 1:
            value = emit(DepthToSpaceOp(value, block_size=stride))
        begin, end = [axis.cut for axis in axes], [axis.cut + axis.result for axis in axes]
        if any(begin) or tuple(end) != shape_of(value)[2:]:
            emit(StridedSliceOp(value, begin=begin, end=end, axes=[2, 3]))
        rewriter.replace(op, emit.ops)


def _obstacle(op: Conv2dTransposeOp) -> str | None:
    """What stands against computing it so."""
    layouts, data = tuple(layout.text for layout in op.layouts()), tensor(op.data)
    window = op.window(shape_of(op.weight))
    if layouts != ("NCHW", "IOHW", "NCHW"):
        return f"its layouts are {', '.join(layouts)}"
    if op.group_count() != 1:
        return f"it has {op.group_count()} groups"
    if set(window.dilation) != {1}:
        return "its taps lie apart"
    if not isinstance(data.element_type, AnyFloat):
        return f"its elements are {data.element_type}, not floats"
    if DYNAMIC in (*data.get_shape()[1:], *shape_of(op.weight), *shape_of(op.result)[1:]):
        return "its extents are dynamic"
    if len({axis.stride for axis in _axes(op)}) != 1:
        return f"its strides are {list(window.strides)}"
    if any(padding >= taps for padding, taps in zip(window.before, window.kernel, strict=True)):
        return "it is padded by more than its kernel"
    return None


def _axes(op: Conv2dTransposeOp) -> list[Axis]:
    window, extents = op.window(shape_of(op.weight)), shape_of(op.data)[2:]
    strides: Sequence[int] = window.strides
    if set(extents) == {1}:
        strides = [max(*window.kernel, *strides)] * 2
    results = shape_of(op.result)[2:]
    return [Axis(*values) for values in zip(extents, window.kernel, results, strides, window.before, strict=True)]


def _phases(emit: Emitter, weight: SSAValue, axes: Sequence[Axis]) -> SSAValue:
    """A weight `[I, O, *k]` as `[s * s * O, I, *taps]`: of each phase the taps, from the last to the first."""
    inputs, outputs = shape_of(weight)[:2]
    missing = [axis.taps * axis.stride - axis.kernel for axis in axes]
    if any(missing):
        zero = emit.constant(0, tensor(weight).element_type)
        weight = emit(PadOp(weight, zero, pad_width=[0, 0, 0, 0, 0, missing[0], 0, missing[1]]))
    split = [n for axis in axes for n in (axis.taps, axis.stride)]
    weight = emit(ReshapeOp(weight, newshape=[inputs, outputs, *split]))
    weight = emit(TransposeOp(weight, axes=[3, 5, 1, 0, 2, 4]))  # [s, s, O, I, *taps]
    phases = axes[0].stride * axes[1].stride * outputs
    weight = emit(ReshapeOp(weight, newshape=[phases, inputs, *(axis.taps for axis in axes)]))
    for axis, extent in enumerate(axes, start=2):
        if extent.taps > 1:
            weight = emit(ReverseOp(weight, axis=axis))
    return weight

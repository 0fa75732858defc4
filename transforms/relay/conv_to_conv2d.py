"""Compute convolutions along one and three axes as convolutions along two.

    %y = relay.nn.conv1d %x, %w                            // [N, C, W]
->
    %0 = relay.nn.conv2d (%x as [N, C, 1, W]), (%w as [O, C, 1, K])

    %y = relay.nn.conv3d %x, %w                            // [N, C, D, H, W], a kernel of K planes
->
    %0 = relay.nn.contrib_see_planes (%x as [N * D, C, H, W])       // planes d to d + K - 1, [N * D, K * C, H, W]
    %1 = relay.nn.conv2d %0, (%w as [O, K * C, h, w])
    %y = %1 as [N, C, D, H, W]

What is along two axes is computed on channels in blocks, and in tiles, where that pays (`alter-op-layout`). The planes
that a plane of the result sees are more channels to it, which convolutions in blocks read where they stand. Others copy
data as often as the kernel has planes.

Left as they are, with a remark: weights that are no constants, groups (of one axis: but for depthwise ones), layouts
other than the plain ones, elements that are not floats, extents that are not known (of one axis: but for the batch and
the width), and too few channels of the result
or products for each element to be worth while. Reshapes of results go behind the arithmetic on them (`sink-reshape`)
and behind pools along one axis, which become those of one row, so that it is all computed in blocks; they reach the
next convolution's, which they undo. `fold-constant` should follow, and `alter-op-layout`.

No counterpart in TVM.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relay.base import DYNAMIC, is_static, shape_of, tensor
from ...dialects.relay.core import ConstantOp, FuncOp
from ...dialects.relay.ops.nn.convolution import Conv1dOp, Conv2dOp, Conv3dOp
from ...dialects.relay.ops.nn.planes import SeePlanesOp
from ...dialects.relay.ops.nn.pool import AvgPool1dOp, AvgPool2dOp, MaxPool1dOp, MaxPool2dOp
from ...dialects.relay.ops.transform import ReshapeOp, TransposeOp
from ...dialects.relay.planes import Planes
from ...dialects.support.vector_unit import VectorUnit, vector_unit_of
from ..infra import FunctionPass, RewriteDriver, remarks, report_changed
from .emitter import Emitter
from .sink_reshape import sink_reshapes

NAME = "conv-to-conv2d"

MOVED_BYTES = 8
"""Of an element that is brought into another layout or back, which as many multiply-adds pay for as are done meanwhile.
What is computed from one convolution to the next stays in that layout."""


@dataclass(frozen=True)
class ConvToConv2dPass(FunctionPass):
    """Options: `vector-bytes` is the width of the target's vectors, `machine` what it takes for its work; without them,
    the module's `weft.target` says it."""

    name = NAME
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)

    vector_bytes: int | None = None
    machine: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        VectorUnit().with_machine(self.machine)

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        unit = vector_unit_of(func).with_machine(self.machine)
        unit = replace(unit, bytes=self.vector_bytes or unit.bytes)
        changed = RewriteDriver((OneAxis(unit), ThreeAxes(unit))).rewrite(func)
        moved = changed
        while moved:
            sink_reshapes(func.body.block)
            moved = RewriteDriver((PoolOneAxis(),)).rewrite(func)
        report_changed(changed)


class OneAxis(RewritePattern):
    """`conv1d(x, w)` -> `conv2d(x, w)` of one row"""

    def __init__(self, unit: VectorUnit):
        self.unit = unit

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Conv1dOp, rewriter: PatternRewriter, /) -> None:
        (_, channels, _), (outputs, inputs, taps) = shape_of(op.data), shape_of(op.weight)
        depthwise = op.group_count() == channels > 1 and (outputs, inputs) == (channels, 1)
        if not _suits(op, depthwise, self.unit):
            return
        emit, window = Emitter(), op.window(shape_of(op.weight))
        data = emit(_as_row(op.data))
        weight = emit(ReshapeOp(op.weight, newshape=[outputs, inputs, 1, taps]))
        convolution = Conv2dOp(
            data,
            weight,
            strides=[1, *window.strides],
            padding=[0, *window.before, 0, *window.after],
            dilation=[1, *window.dilation],
            groups=op.groups,
            out_dtype=op.out_dtype,
        )
        emit(_as_line(emit(convolution), op.result))
        rewriter.replace(op, emit.ops)


class PoolOneAxis(RewritePattern):
    """`max_pool1d(y as [N, C, W])` -> `max_pool2d(y) as [N, C, W]`, where `y` has one row; means alike"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MaxPool1dOp | AvgPool1dOp, rewriter: PatternRewriter, /) -> None:
        view, (batch, channels, width) = op.data.owner, shape_of(op.data)
        if op.parsed_layout().text != "NCW" or not isinstance(view, ReshapeOp):
            return
        if shape_of(view.data) != (batch, channels, 1, width):
            return
        emit, window = Emitter(), op.window()
        options = {name: value for name, value in op.properties.items() if name in ("ceil_mode", "count_include_pad")}
        pool = (MaxPool2dOp if isinstance(op, MaxPool1dOp) else AvgPool2dOp)(
            view.data,
            pool_size=[1, *window.kernel],
            strides=[1, *window.strides],
            padding=[0, *window.before, 0, *window.after],
            dilation=[1, *window.dilation],
            **options,
        )
        emit(_as_line(emit(pool), op.result))
        rewriter.replace(op, emit.ops)


def _as_row(line: SSAValue) -> ReshapeOp:
    """`[N, C, W]` as images of one row."""
    batch, channels, width = shape_of(line)
    return ReshapeOp(line, newshape=[batch, channels, 1, width] if is_static(line.type) else [0, 0, -4, 1, -1])


def _as_line(row: SSAValue, like: SSAValue) -> ReshapeOp:
    """Images of one row as `[N, C, W]`, the shape of `like`."""
    return ReshapeOp(row, newshape=shape_of(like) if is_static(like.type) else [0, 0, -3])


class ThreeAxes(RewritePattern):
    """`conv3d(x, w)` -> `conv2d(planes(x), planes(w))`"""

    def __init__(self, unit: VectorUnit):
        self.unit = unit

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Conv3dOp, rewriter: PatternRewriter, /) -> None:
        if not _suits(op, False, self.unit):
            return
        emit, window = Emitter(), op.window(shape_of(op.weight))
        batch, _, places, *_ = shape_of(op.result)
        outputs, channels, planes, *taps = shape_of(op.weight)
        data = _planes(emit, op)
        weight = emit(TransposeOp(op.weight, axes=[0, 2, 1, 3, 4])) if planes > 1 else op.weight
        convolution = Conv2dOp(
            data,
            emit(ReshapeOp(weight, newshape=[outputs, planes * channels, *taps])),
            strides=window.strides[1:],
            padding=[*window.before[1:], *window.after[1:]],
            dilation=window.dilation[1:],
            out_dtype=op.out_dtype,
        )
        made = emit(convolution)
        made = emit(ReshapeOp(made, newshape=[batch, places, *shape_of(made)[1:]]))
        emit(TransposeOp(made, axes=[0, 2, 1, 3, 4]))
        rewriter.replace(op, emit.ops)


def _planes(emit: Emitter, op: Conv3dOp) -> SSAValue:
    """The planes that each plane of the result sees, as images: `[N * D, K * C, H, W]`."""
    window, (batch, channels, held, *extents) = op.window(shape_of(op.weight)), shape_of(op.data)
    seeing = Planes(held, window.kernel[0], window.strides[0], window.dilation[0], window.before[0], window.after[0])
    data = emit(TransposeOp(op.data, axes=[0, 2, 1, 3, 4]))
    data = emit(ReshapeOp(data, newshape=[batch * held, channels, *extents]))
    return data if seeing == Planes(held, 1) else emit(SeePlanesOp(data, planes=seeing.numbers))


def _suits(op: Conv1dOp | Conv3dOp, depthwise: bool, unit: VectorUnit) -> bool:
    """Whether `op` is computed along two axes; says why not."""
    data, weight, result = tensor(op.data), shape_of(op.weight), shape_of(op.result)
    layouts: Sequence[str] = [layout.text for layout in op.layouts()]
    lanes = max(1, unit.bytes // 4)  # with fewer channels of the result most of a vector stays empty
    products = unit.machine.moving(MOVED_BYTES) * unit.machine.fmas * lanes
    obstacle = None
    if layouts != [kind + op.SPATIAL for kind in ("NC", "OI", "NC")]:
        obstacle = f"its layouts are {', '.join(layouts)}"
    elif not isinstance(op.weight.owner, ConstantOp):
        obstacle = "its weight is not a constant"
    elif op.group_count() != 1 and not depthwise:
        obstacle = f"it has {op.group_count()} groups"
    elif not isinstance(data.element_type, AnyFloat):
        obstacle = f"its elements are {data.element_type}, not floats"
    elif DYNAMIC in ((data.get_shape()[1], *weight) if isinstance(op, Conv1dOp) else (*data.get_shape(), *result)):
        obstacle = "its extents are dynamic"
    elif weight[0] < lanes or (not depthwise and prod(weight) < products * (weight[0] + weight[1])):
        obstacle = f"{weight[0]} channels of sums of {prod(weight[1:])} terms do not pay for it"
    if obstacle is not None:
        remarks.missed(NAME, op, obstacle)
    return obstacle is None

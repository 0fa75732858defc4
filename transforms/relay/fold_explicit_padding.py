"""Give the padding before a convolution or pool to the operator itself.

    %0 = relay.nn.pad %x, 0 {pad_width = [0, 0, 0, 0, 1, 1, 1, 1]}      %y = relay.nn.conv2d %x, %w
    %y = relay.nn.conv2d %0, %w                                    ->          {padding = [1, 1, 1, 1]}

A convolution takes zeros, one of quantised images their zero point, a maximum pool the least value of the type, an
average pool zeros that it counts (`count_include_pad`). Only spatial axes may be padded, by constants. The `pad` itself
goes when this was its last user.

Counterpart of TVM's `FoldExplicitPadding`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relay.base import as_attribute, ints, is_true, tensor
from ...dialects.relay.core import ConstantOp, FuncOp
from ...dialects.relay.layout import Layout, parse_layout
from ...dialects.relay.nn_common import normalize_padding
from ...dialects.relay.ops.nn.convolution import Conv1dOp, Conv2dOp, Conv3dOp
from ...dialects.relay.ops.nn.padding import PadOp
from ...dialects.relay.ops.nn.pool import AvgPool1dOp, AvgPool2dOp, AvgPool3dOp, MaxPool1dOp, MaxPool2dOp, MaxPool3dOp
from ...dialects.relay.ops.qnn.products import QnnConv2dOp
from ...dialects.support.dtypes import dtype_name
from ..infra import FunctionPass, RewriteDriver, remarks, report_changed

NAME = "fold-explicit-padding"


@dataclass(frozen=True)
class FoldExplicitPaddingPass(FunctionPass):
    """No options."""

    name = NAME
    opt_level: ClassVar[int] = 0
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "FoldExplicitPadding"

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        patterns = (FoldPadIntoConvolution(), FoldPadIntoQuantized(), FoldPadIntoMaxPool(), FoldPadIntoAvgPool())
        report_changed(RewriteDriver(patterns).rewrite(func))


def merged_padding(
    op: Conv1dOp
    | Conv2dOp
    | Conv3dOp
    | MaxPool1dOp
    | MaxPool2dOp
    | MaxPool3dOp
    | AvgPool1dOp
    | AvgPool2dOp
    | AvgPool3dOp
    | QnnConv2dOp,
    layout: Layout,
    axes: str,
) -> tuple[PadOp, float, DenseArrayBase] | None:
    """The `pad` that makes the operand of `op`, its value, and the padding of both, whose windows move along `axes`;
    `None` if they do not combine."""
    pad = op.data.owner
    if not isinstance(pad, PadOp) or pad.pad_mode.data != "constant":
        return None
    if (value := _scalar(pad.pad_value)) is None:
        remarks.missed(NAME, pad, "the value that is padded with is not a constant")
        return None
    widths = ints(pad.pad_width)
    spatial = [layout.position(letter) for letter in axes]
    if any(width for d in range(layout.rank) if d not in spatial for width in widths[2 * d : 2 * d + 2]):
        remarks.missed(NAME, pad, f"it pads other axes than {', '.join(axes)}")
        return None
    if any(width < 0 for width in widths):
        remarks.missed(NAME, pad, "it cuts elements off")
        return None
    before, after = normalize_padding(ints(op.padding), len(spatial))
    padding = [p + widths[2 * d] for p, d in zip(before, spatial, strict=True)]
    padding += [p + widths[2 * d + 1] for p, d in zip(after, spatial, strict=True)]
    return pad, value, DenseArrayBase.from_list(i64, padding)


def _scalar(value: SSAValue) -> float | None:
    owner = value.owner
    array = owner.numpy() if isinstance(owner, ConstantOp) else None
    return None if array is None or array.size != 1 else float(array.item())


class FoldPadIntoConvolution(RewritePattern):
    """`conv(pad(x, 0), w)` -> `conv(x, w) {padding}`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Conv1dOp | Conv2dOp | Conv3dOp, rewriter: PatternRewriter, /) -> None:
        if (merged := merged_padding(op, op.layouts()[0], op.SPATIAL)) is None:
            return
        pad, value, padding = merged
        if value != 0:
            remarks.missed(NAME, pad, f"a convolution pads with 0, not with {value}")
            return
        rewriter.replace(op, type(op)(pad.data, op.weight, **{**op.properties, "padding": padding}))


class FoldPadIntoQuantized(RewritePattern):
    """`qnn.conv2d(pad(x, z), w, z, ..)` -> `qnn.conv2d(x, w, z, ..) {padding}`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: QnnConv2dOp, rewriter: PatternRewriter, /) -> None:
        if (merged := merged_padding(op, parse_layout(op.data_layout.data), "HW")) is None:
            return
        pad, value, padding = merged
        if value != op.known_zero():
            remarks.missed(NAME, pad, f"a quantised convolution pads with its zero point, not with {value}")
            return
        rewriter.replace(op, QnnConv2dOp(pad.data, *op.operands[1:], **{**op.properties, "padding": padding}))


class FoldPadIntoMaxPool(RewritePattern):
    """`max_pool(pad(x, -inf))` -> `max_pool(x) {padding}`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MaxPool1dOp | MaxPool2dOp | MaxPool3dOp, rewriter: PatternRewriter, /) -> None:
        if (merged := merged_padding(op, op.parsed_layout(), op.SPATIAL)) is None or _rounds_up(op):
            return
        pad, value, padding = merged
        if value > _least(op):
            remarks.missed(NAME, pad, f"a maximum pool pads with the least value, not with {value}")
            return
        rewriter.replace(op, type(op)(pad.data, **{**op.properties, "padding": padding}))


class FoldPadIntoAvgPool(RewritePattern):
    """`avg_pool(pad(x, 0))` -> `avg_pool(x) {padding, count_include_pad}`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AvgPool1dOp | AvgPool2dOp | AvgPool3dOp, rewriter: PatternRewriter, /) -> None:
        if (merged := merged_padding(op, op.parsed_layout(), op.SPATIAL)) is None or _rounds_up(op):
            return
        pad, value, padding = merged
        if value != 0 or (any(ints(op.padding)) and not is_true(op.count_include_pad)):
            remarks.missed(NAME, pad, "the pool would count its own padding, which it does not, or other values than 0")
            return
        properties = {**op.properties, "padding": padding, "count_include_pad": as_attribute(True)}
        rewriter.replace(op, type(op)(pad.data, **properties))


def _least(op: MaxPool1dOp | MaxPool2dOp | MaxPool3dOp) -> float:
    """The largest value that no finite element of the data is below."""
    import numpy as np

    dtype = dtype_name(tensor(op.data).element_type)
    return float(np.finfo(dtype).min if "float" in dtype else np.iinfo(dtype).min)


def _rounds_up(op: MaxPool1dOp | MaxPool2dOp | MaxPool3dOp | AvgPool1dOp | AvgPool2dOp | AvgPool3dOp) -> bool:
    """Whether the number of places depends on what is padding and what is data."""
    if op.window().ceil_mode:
        remarks.missed(NAME, op, "in ceil mode the last window must not begin in the padding")
    return op.window().ceil_mode

"""Write a convolution between `space_to_batch_nd` and `batch_to_space_nd` as one whose taps lie apart.

    %0 = relay.nn.space_to_batch_nd %x {block_shape = [2, 2], paddings = [2, 2, 2, 2]}
    %1 = relay.nn.conv2d %0, %w {NHWC}                                                   ->  %y = relay.nn.conv2d %x, %w
    %y = relay.nn.batch_to_space_nd %1 {block_shape = [2, 2], crops = [0, 0, 0, 0]}              {dilation, padding}

TensorFlow writes dilated convolutions so. With blocks of `b`, the dilation `d` becomes `d * b`; to the padding `p` of
the convolution, which counts blocks, comes what `space_to_batch_nd` pads and goes what `batch_to_space_nd` cuts off:
`pad + p * b - crop`. That is so for any paddings and crops as long as nothing of it is negative, the stride is one, and
what is padded with is zero, or of `relay.qnn.conv2d`, whose padding is its zero point, that.

Counterpart of TVM's `FlattenAtrousConv`, which takes the padding to be that of equal extents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relay.base import as_attribute, ints, shape_of
from ...dialects.relay.core import FuncOp
from ...dialects.relay.nn_common import normalize_padding, per_axis
from ...dialects.relay.ops.nn.convolution import Conv2dOp
from ...dialects.relay.ops.nn.spatial import BatchToSpaceNdOp, SpaceToBatchNdOp
from ...dialects.relay.ops.qnn.products import QnnConv2dOp
from ..infra import FunctionPass, RewriteDriver, remarks, report_changed

NAME = "flatten-atrous-conv"


@dataclass(frozen=True)
class FlattenAtrousConvPass(FunctionPass):
    """No options."""

    name = NAME
    opt_level: ClassVar[int] = 0
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "FlattenAtrousConv"

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        report_changed(RewriteDriver((SpreadTaps(),)).rewrite(func))


class SpreadTaps(RewritePattern):
    """`batch_to_space(conv2d(space_to_batch(x), w))` -> `conv2d(x, w) {dilation, padding}`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BatchToSpaceNdOp, rewriter: PatternRewriter, /) -> None:
        conv = op.data.owner
        spread = conv.data.owner if isinstance(conv, Conv2dOp | QnnConv2dOp) else None
        if not isinstance(conv, Conv2dOp | QnnConv2dOp) or not isinstance(spread, SpaceToBatchNdOp):
            return
        blocks = ints(op.block_shape)
        data = conv.data_layout.data
        out = conv.out_layout.data or data
        pads, crops = (ints(values) or (0,) * (2 * len(blocks)) for values in (spread.paddings, op.crops))
        before, after = normalize_padding(ints(conv.padding), 2)
        starts = [pads[2 * i] + before[i] * b - crops[2 * i] for i, b in enumerate(blocks[:2])]
        ends = [pads[2 * i + 1] + after[i] * b - crops[2 * i + 1] for i, b in enumerate(blocks[:2])]
        obstacle = None
        if ints(spread.block_shape) != blocks:
            obstacle = f"blocks of {list(ints(spread.block_shape))} are taken apart, and of {list(blocks)} put together"
        elif data[:3] != "NHW" or out[:3] != "NHW" or len(blocks) != 2:
            obstacle = "the blocks are not of height and width"
        elif any(stride != 1 for stride in per_axis(ints(conv.strides), 2, "strides")):
            obstacle = "its stride is not one"
        elif any(pads) and spread.pad_value.value.data != _padding_of(conv):
            obstacle = "what is padded with is not what it pads with"
        elif min(*starts, *ends) < 0:
            obstacle = "more is cut off than was padded"
        elif 0 in shape_of(op.result):
            obstacle = "nothing is left of what it gives"
        if obstacle is not None:
            remarks.missed(NAME, conv, obstacle)
            return
        dilation = [d * b for d, b in zip(per_axis(ints(conv.dilation), 2, "dilation"), blocks, strict=True)]
        changed = {"padding": as_attribute([*starts, *ends]), "dilation": as_attribute(dilation)}
        new = type(conv)(spread.data, *conv.operands[1:], **{**conv.properties, **changed})
        rewriter.replace(op, new)


def _padding_of(conv: Conv2dOp | QnnConv2dOp) -> float | None:
    """What a convolution pads with; `None` where that is not known."""
    return 0.0 if isinstance(conv, Conv2dOp) else conv.known_zero()

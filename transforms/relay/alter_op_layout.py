"""Compute convolutions on channels in blocks, and what stands between them too.

    %0 = relay.nn.conv2d %x, %w                 %x1 = relay.layout_transform %x {NCHW -> NCHW3c}
    %1 = relay.add %0, %b                       %w1 = relay.layout_transform %w {OIHW -> OIHW3i16o}
    %2 = relay.nn.relu %1                 ->    %0 = relay.nn.contrib_conv2d_NCHWc %x1, %w1
    %3 = relay.nn.batch_flatten %2              %b1 = relay.reshape %b {1, C/16, 1, 1, 16}
                                                %1 = relay.add %0, %b1
                                                %2 = relay.nn.relu %1
                                                %y = relay.layout_transform %2 {NCHW16c -> NCHW}
                                                %3 = relay.nn.batch_flatten %y

In `NCHW16c` the 16 channels of a pixel are neighbours in memory and fill a vector, so a convolution needs no gathers,
and its weights are read in the order in which they stand. The block is the largest power of two that divides the number
of channels and fits a vector, so that all values with as many channels agree about it.

One walk in the order of the block assigns each value its layout. Convolutions (with one group, or depthwise) start
blocks; arithmetic, pools, padding, concatenation and splits along channels, and means over pixels go on in the layout
of their operands, by the table in `layout_rules.py`; all else gets plain values. A `layout_transform` is made where the
layouts of producer and consumer differ, once for each value and layout (`blocked_values.py`), so that they stand only
at the borders, and no two of them cancel. Dense layers with constant weights get their weights in blocks of columns.

Left in NCHW, with a remark: convolutions whose weights are no constants, with groups of several channels, in other
layouts, or with so odd a number of channels that most of a vector would stay empty. `fold-constant` should follow.

Counterpart of TVM's `AlterOpLayout`, without its temporary expressions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.ir import Block

from ...dialects.relay.core import FuncOp
from ..infra import FunctionPass, report_changed
from .blocked_values import PLAIN, BlockedValues
from .layout_rules import NAME, rule_of


@dataclass(frozen=True)
class AlterOpLayoutPass(FunctionPass):
    """Options: `vector-bytes` is the width of the target's vectors (64 for AVX-512, 32 for AVX2)."""

    name = NAME
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "AlterOpLayout"

    vector_bytes: int = 64

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        report_changed(alter_layouts(func.body.block, self.vector_bytes))


def alter_layouts(block: Block, vector_bytes: int) -> bool:
    """Choose layouts for the values of `block`; return whether anything changed."""
    values = BlockedValues(vector_bytes)
    for op in list(block.ops):
        rule = rule_of(type(op))
        if rule is not None and rule(values, op):
            continue
        for index, operand in enumerate(op.operands):
            if values.block_of(operand) != PLAIN:
                op.operands[index] = values.get(operand, PLAIN, op)
    for op in reversed(values.replaced):
        op.detach()
        op.erase()
    return bool(values.replaced)

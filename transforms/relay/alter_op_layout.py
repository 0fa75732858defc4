"""Compute convolutions on channels in blocks, and what stands between them too.

    %0 = relay.nn.conv2d %x, %w                 %x1 = relay.layout_transform %x {NCHW -> NCHW16c}
    %1 = relay.add %0, %b                       %w1 = relay.layout_transform %w {OIHW -> OIHW16i16o}
    %2 = relay.nn.relu %1                 ->    %0 = relay.nn.contrib_conv2d_NCHWc %x1, %w1
    %3 = relay.nn.batch_flatten %2              %b1 = relay.reshape %b {1, C/16, 1, 1, 16}
                                                %1 = relay.add %0, %b1
                                                %2 = relay.nn.relu %1
                                                %y = relay.layout_transform %2 {NCHW16c -> NCHW}
                                                %3 = relay.nn.batch_flatten %y

In `NCHW16c` the 16 channels of a pixel are neighbours in memory and fill a vector, so a convolution needs no gathers,
and its weights are read in the order in which they stand. The block is a vector, or the largest power of two that
divides the number of channels, whichever keeps more lanes busy, so that all values with as many channels agree about
it (`BlockedValues.channel_block`). Where a vector does not divide the number, the rest of the last block means nothing:
operators that treat each channel by itself compute it, a convolution does not read it, and it goes where a value
becomes plain. Data with too few channels, such as images, are read as they are, in blocks of one.

Convolutions are computed in blocks. Where one has groups, a block is a group whose last vector is half full, a part of
a group, or as many groups as fill it, with zeros between them; arithmetic on the result has the same. Arithmetic,
pools, padding, concatenation and splits along channels, means over pixels, and depthwise convolutions can be (each
operator's class says how), and are where that makes for the least to be transformed (`layout_assignment.py`). All else
gets plain values. A `layout_transform` is made where the layouts of producer and consumer differ, once for each value
and layout (`blocked_values.py`), so that they stand only at the borders, and no two of them cancel. Dense layers with
constant weights get their weights in blocks of columns.

Left in NCHW, with a remark: convolutions whose weights are no constants, in other layouts, or with so odd a number of
channels, or of those of a group, that most of a vector would stay empty. `fold-constant` should follow.

Operators of a class that a rule is registered for (`layout_rules.py`) are as that says, what follows them goes along as
in `convert-layout`, and all others are as above.

Counterpart of TVM's `AlterOpLayout`, without its temporary expressions.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.context import Context
from xdsl.ir import Block, Operation

from ...dialects.relay.base import RelayOp
from ...dialects.relay.blocking import PLAIN
from ...dialects.relay.control import IfOp
from ...dialects.relay.core import FuncOp
from ...dialects.relay.data import MatchOp
from ...dialects.relay.winograd import FILTERINGS
from ...dialects.support.vector_unit import VectorUnit, vector_unit_of
from ..infra import FunctionPass, report_changed
from ..infra.walk import walk
from .blocked_values import NAME, BlockedValues
from .layout_assignment import assign_blocks, joins_only
from .op_rules import ALTER, rules_named


@dataclass(frozen=True)
class AlterOpLayoutPass(FunctionPass):
    """Options: `vector-bytes` is the width of the target's vectors (64 for AVX-512, 32 for AVX2); without it, the
    module's `weft.target` says it. `dot` (`vnni`, `dotprod`, `pmaddwd`) names its dot products of bytes, `matrix`
    (`int8`, `bf16`, `bf16_pairs`) what it adds up products of by tiles and in pairs, `machine` what it takes for its
    work. `winograd` is the extent of the largest tiles that convolutions may be computed in by minimal filtering: 4, 2,
    or 0 for none."""

    name = NAME
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "AlterOpLayout"

    vector_bytes: int | None = None
    dot: str | None = None
    matrix: tuple[str, ...] | None = None
    winograd: int = 4
    machine: str | None = None

    config_keys: ClassVar[dict[str, str]] = {"relay.winograd": "winograd"}

    def __post_init__(self) -> None:
        super().__post_init__()
        VectorUnit().with_dot(self.dot).with_matrix(self.matrix).with_machine(self.machine)
        if self.winograd not in (0, *FILTERINGS):
            raise ValueError(f"'winograd' is {self.winograd}; it can be 0, {', '.join(map(str, FILTERINGS))}")

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        unit = vector_unit_of(func).with_dot(self.dot).with_matrix(self.matrix).with_machine(self.machine)
        unit = replace(unit, bytes=self.vector_bytes or unit.bytes)
        # Branches and bodies of loops by themselves: what they see of what is around them is in plain order.
        branching = [op for op in walk(func) if isinstance(op, FuncOp | IfOp | MatchOp)]
        blocks = [b for op in branching for region in op.regions for b in region.blocks]
        changed = False
        if rules := rules_named(ALTER):
            from .convert_layout import LayoutConverter

            converter = LayoutConverter(None, rules=rules)
            for block in blocks:
                converter.run(block)
            changed = converter.changed
        report_changed(any([alter_layouts(block, unit, self.winograd, rules) for block in blocks]) or changed)


def alter_layouts(
    block: Block, unit: VectorUnit, winograd: int = 0, told: Container[type[Operation]] = frozenset()
) -> bool:
    """Choose layouts for the values of `block`, operators of the classes `told` excepted; return whether anything
    changed."""
    values = BlockedValues(unit.bytes, dot=unit.dot, matrix=unit.matrix, machine=unit.machine, winograd=winograd)
    blocks = assign_blocks(block, values, told)
    for op in list(block.ops):
        if isinstance(op, RelayOp) and op in blocks:
            op.to_blocks(values, blocks[op])
        elif joins_only(op) and all(use.operation in blocks for use in op.results[0].uses):
            values.drop(op)
        elif not (isinstance(op, RelayOp) and type(op) not in told and op.pack(values)):
            for user in walk(op):  # what is within its regions sees values around it
                for index, operand in enumerate(user.operands):
                    if values.block_of(operand) != PLAIN:
                        user.operands[index] = values.get(operand, PLAIN, op)
    for op in reversed(values.replaced):
        op.detach()
        op.erase()
    return bool(values.replaced)

"""How each operator is computed on channels in blocks: the table that `alter-op-layout` works with.

A rule says whether an operator can be computed in blocks, and puts the operator that does so in its place. Operators
without a rule look across channels, or are told nothing of layouts: they get their operands in the plain layout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.dialects.builtin import AnyFloat, DenseArrayBase
from xdsl.ir import Operation, SSAValue

from ...dialects.relay.base import DYNAMIC, RelayOp, ints, is_static, is_true, normalize_axis, shape_of, tensor
from ...dialects.relay.core import ConstantOp, TupleGetOp, TupleOp
from ...dialects.relay.layout import LayoutTransformOp
from ...dialects.relay.ops.broadcast import AddOp, BroadcastOp, WhereOp
from ...dialects.relay.ops.elementwise import CastOp, ElementwiseOp
from ...dialects.relay.ops.nn.activation import LeakyReluOp, ReluOp
from ...dialects.relay.ops.nn.convolution import Conv2dNCHWcOp, Conv2dOp, DepthwiseConv2dNCHWcOp
from ...dialects.relay.ops.nn.dense import BiasAddOp
from ...dialects.relay.ops.nn.pool import (
    AdaptiveAvgPool2dOp,
    AdaptiveMaxPool2dOp,
    AvgPool2dOp,
    GlobalAvgPool2dOp,
    GlobalMaxPool2dOp,
    MaxPool2dOp,
)
from ...dialects.relay.ops.nn.spatial import PadOp, UpsamplingOp
from ...dialects.relay.ops.reduce import SimpleReduceOp
from ...dialects.relay.ops.slicing import ConcatenateOp, SplitOp
from ..infra import remarks
from .blocked_values import PLAIN, BlockedValues, fits, layout_text

NAME = "alter-op-layout"


@dataclass(frozen=True)
class Rule:
    """`block` is the block in which an operator can be computed, or `PLAIN`; `rewrite` computes it in that one."""

    block: Callable[[BlockedValues, Operation], int]
    rewrite: Callable[[BlockedValues, Operation, int], None]


def sources(op: Operation) -> Sequence[SSAValue]:
    """The values whose layout matters to `op`: the operands, or the fields of the tuple that is concatenated."""
    if isinstance(op, Conv2dOp):
        return [op.data]
    if isinstance(op, ConcatenateOp) and isinstance(fields := op.data.owner, TupleOp):
        return fields.operands
    return op.operands


def is_depthwise(op: Conv2dOp) -> bool:
    """Whether each channel is convolved by itself."""
    channels = shape_of(op.data)[1]
    return op.group_count() == channels > 1 and shape_of(op.weight)[:2] == (channels, 1)


def _convolution_block(values: BlockedValues, op: Operation) -> int:
    assert isinstance(op, Conv2dOp)
    layouts = tuple(layout.text for layout in op.layouts())
    block, obstacle, hint = PLAIN, None, None
    if layouts != ("NCHW", "OIHW", "NCHW"):
        obstacle, hint = f"its layouts are {', '.join(layouts)}", "convert it to NCHW and OIHW"
    elif not isinstance(op.weight.owner, ConstantOp):
        obstacle, hint = "its weight is not a constant", "bind the parameters"
    elif not isinstance(tensor(op.data).element_type, AnyFloat):
        obstacle = f"its elements are {tensor(op.data).element_type}, not floats"
    elif op.group_count() != 1 and not is_depthwise(op):
        obstacle = f"it has {op.group_count()} groups of several channels"
    elif DYNAMIC in (shape_of(op.data)[1], *shape_of(op.weight)):
        obstacle, hint = "its number of channels is dynamic", "give it a static one"
    elif not (block := values.channel_block(shape_of(op.weight)[0])):
        obstacle = f"{shape_of(op.weight)[0]} output channels do not fill vectors of {values.lanes}"
    if obstacle is not None:
        remarks.missed(NAME, op, obstacle, hint)
    return block


def _convolution(values: BlockedValues, op: Operation, block: int) -> None:
    """`conv2d` -> `contrib_conv2d_NCHWc`, or the depthwise one; the weight is transformed, to be folded"""
    assert isinstance(op, Conv2dOp)
    if is_depthwise(op):
        new_type, in_block, kernel = DepthwiseConv2dNCHWcOp, block, f"OIHW1i{block}o"
    else:
        in_block = values.channel_block(shape_of(op.data)[1]) or 1  # plain data are blocks of one, by a reshape
        new_type, kernel = Conv2dNCHWcOp, f"OIHW{in_block}i{block}o"
    packed = values.insert(LayoutTransformOp(op.weight, src_layout="OIHW", dst_layout=kernel), op)
    packed.name_hint = op.weight.name_hint
    kept = {name: value for name, value in op.properties.items() if not name.endswith("_layout")}
    layouts = {"data_layout": layout_text(in_block), "kernel_layout": kernel, "out_layout": layout_text(block)}
    remarks.passed(NAME, op, f"{layout_text(in_block)} -> {layout_text(block)}")
    values.replace(op, new_type(values.get(op.data, in_block, op), packed, **kept, **layouts), block)


def _pointwise_block(values: BlockedValues, op: Operation) -> int:
    shape = shape_of(op.results[0])
    return values.channel_block(shape[1]) if len(shape) == 4 and all(map(fits, op.operands)) else PLAIN


def _pointwise(values: BlockedValues, op: Operation, block: int) -> None:
    """Arithmetic on elements: all operands in the same blocks, or in a shape that broadcasts against them"""
    assert isinstance(op, RelayOp)
    operands = [values.fit(operand, block, op) for operand in op.operands]
    values.replace(op, type(op)(*operands, **op.properties), block)


def _bias_add_block(values: BlockedValues, op: Operation) -> int:
    assert isinstance(op, BiasAddOp)
    shape = shape_of(op.data)
    along_channels = len(shape) == 4 and normalize_axis(op.axis.value.data, 4) == 1
    return values.channel_block(shape[1]) if along_channels and is_static(op.bias.type) else PLAIN


def _bias_add(values: BlockedValues, op: Operation, block: int) -> None:
    """`bias_add` -> `add` of the bias as `[1, C/b, 1, 1, b]`"""
    assert isinstance(op, BiasAddOp)
    bias = values.reshape(op.bias, (1, shape_of(op.data)[1] // block, 1, 1, block), op)
    values.replace(op, AddOp(values.get(op.data, block, op), bias), block)


def _pool_block(values: BlockedValues, op: Operation) -> int:
    assert isinstance(op, POOLS)
    return values.channel_block(shape_of(op.data)[1]) if op.layout.data == "NCHW" else PLAIN


def _pool(values: BlockedValues, op: Operation, block: int) -> None:
    """An operator that is told its layout, and does nothing along the channels"""
    assert isinstance(op, POOLS)
    kept = {name: value for name, value in op.properties.items() if not name.endswith("layout")}
    values.replace(op, type(op)(values.get(op.data, block, op), **kept, layout=layout_text(block)), block)


def _reduce_block(values: BlockedValues, op: Operation) -> int:
    assert isinstance(op, SimpleReduceOp)
    shape = shape_of(op.data)
    if len(shape) != 4 or is_true(op.exclude) or not op.axis or not is_static(op.data.type):
        return PLAIN
    axes = {normalize_axis(axis, 4) for axis in ints(op.axis)}
    over_pixels = axes == {2, 3} or (axes < {2, 3} and is_true(op.keepdims))
    return values.channel_block(shape[1]) if over_pixels else PLAIN


def _reduce(values: BlockedValues, op: Operation, block: int) -> None:
    """A reduction over height and width, which stand at the same place in blocks"""
    assert isinstance(op, SimpleReduceOp)
    axes = sorted(normalize_axis(axis, 4) for axis in ints(op.axis))
    new = type(op)(values.get(op.data, block, op), axis=axes, keepdims=True)
    if is_true(op.keepdims):
        values.replace(op, new, block)
    else:
        values.replace_plain(op, values.reshape(values.insert(new, op), shape_of(op.data)[:2], op))


def _pad_block(values: BlockedValues, op: Operation) -> int:
    assert isinstance(op, PadOp)
    shape = shape_of(op.data)
    return values.channel_block(shape[1]) if len(shape) == 4 and not any(ints(op.pad_width)[2:4]) else PLAIN


def _pad(values: BlockedValues, op: Operation, block: int) -> None:
    """Padding of other axes than the channels"""
    assert isinstance(op, PadOp)
    widths = DenseArrayBase.from_list(op.pad_width.elt_type, [*ints(op.pad_width), 0, 0])
    properties = {**op.properties, "pad_width": widths}
    values.replace(op, PadOp(values.get(op.data, block, op), op.pad_value, **properties), block)


def _concatenate_block(values: BlockedValues, op: Operation) -> int:
    assert isinstance(op, ConcatenateOp)
    shape = shape_of(op.result)
    if len(shape) != 4 or normalize_axis(op.axis.value.data, 4) != 1 or not isinstance(op.data.owner, TupleOp):
        return PLAIN
    block, channels = values.channel_block(shape[1]), [shape_of(value)[1] for value in sources(op)]
    if not block or any(n % block for n in channels):
        remarks.missed(
            NAME, op, f"the numbers of channels, {channels}, are not whole blocks of {block or values.lanes}"
        )
        return PLAIN
    return block


def _concatenate(values: BlockedValues, op: Operation, block: int) -> None:
    """Concatenation along the channels, of values in whole blocks"""
    assert isinstance(op, ConcatenateOp)
    fields = TupleOp(*(values.get(value, block, op) for value in sources(op)))
    values.replace(op, ConcatenateOp(values.insert(fields, op), axis=op.axis), block)


def _split_block(values: BlockedValues, op: Operation) -> int:
    assert isinstance(op, SplitOp)
    shape = shape_of(op.data)
    if len(shape) != 4 or normalize_axis(op.axis.value.data, 4) != 1:
        return PLAIN
    block, parts = values.channel_block(shape[1]), [shape_of(part)[1] for part in op.result.type.types]
    only_taken_apart = all(isinstance(use.operation, TupleGetOp) for use in op.result.uses)
    if not block or any(n % block for n in parts) or not only_taken_apart:
        remarks.missed(NAME, op, f"its parts, of {parts} channels, are not whole blocks of {block or values.lanes}")
        return PLAIN
    return block


def _split(values: BlockedValues, op: Operation, block: int) -> None:
    """A split of the channels into whole blocks; `tuple_get` takes the parts"""
    assert isinstance(op, SplitOp)
    sections = op.indices_or_sections
    if isinstance(sections, DenseArrayBase):
        sections = DenseArrayBase.from_list(sections.elt_type, [n // block for n in ints(sections)])
    parts = values.insert(SplitOp(values.get(op.data, block, op), indices_or_sections=sections, axis=1), op)
    values.replaced.append(op)
    for use in list(op.result.uses):
        part = use.operation
        assert isinstance(part, TupleGetOp)
        values.replace(part, TupleGetOp(parts, part.index.value.data), block)


POOLS = (
    MaxPool2dOp, AvgPool2dOp, AdaptiveAvgPool2dOp, AdaptiveMaxPool2dOp, GlobalMaxPool2dOp, GlobalAvgPool2dOp,
    UpsamplingOp,
)  # fmt: skip
POINTWISE = (ElementwiseOp, BroadcastOp, WhereOp, CastOp, ReluOp, LeakyReluOp)

RULES: dict[type[Operation], Rule] = {
    Conv2dOp: Rule(_convolution_block, _convolution),
    BiasAddOp: Rule(_bias_add_block, _bias_add),
    PadOp: Rule(_pad_block, _pad),
    ConcatenateOp: Rule(_concatenate_block, _concatenate),
    SplitOp: Rule(_split_block, _split),
    **dict.fromkeys(POOLS, Rule(_pool_block, _pool)),
}
"""The rule of each operator; families have theirs in `FAMILIES`."""

FAMILIES: tuple[tuple[tuple[type[Operation], ...], Rule], ...] = (
    (POINTWISE, Rule(_pointwise_block, _pointwise)),
    ((SimpleReduceOp,), Rule(_reduce_block, _reduce)),
)
"""The rules of operators with a common base class."""


@cache
def rule_of(op_type: type[Operation]) -> Rule | None:
    """The rule of an operator; `None` where it needs the plain layout."""
    if op_type in RULES:
        return RULES[op_type]
    return next((rule for bases, rule in FAMILIES if issubclass(op_type, bases)), None)

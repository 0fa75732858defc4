"""How each operator is computed on channels in blocks: the table that `alter-op-layout` walks with.

A rule gets an operator and, if it can, puts one that works on blocks in its place. Convolutions and matrix products ask
for blocks by themselves; all others follow where an operand is in blocks already. An operator without a rule, or whose
rule declines, gets its operands in the plain layout.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from xdsl.dialects.builtin import AnyFloat, DenseArrayBase
from xdsl.ir import Operation, SSAValue

from ...dialects.relay.base import DYNAMIC, RelayOp, ints, is_static, is_true, normalize_axis, shape_of, tensor
from ...dialects.relay.broadcast import AddOp, BroadcastOp, WhereOp
from ...dialects.relay.core import ConstantOp, TupleGetOp, TupleOp
from ...dialects.relay.elementwise import CastOp, ElementwiseOp
from ...dialects.relay.layout import LayoutTransformOp
from ...dialects.relay.nn_activation import LeakyReluOp, ReluOp
from ...dialects.relay.nn_convolution import Conv2dNCHWcOp, Conv2dOp, DepthwiseConv2dNCHWcOp
from ...dialects.relay.nn_dense import BiasAddOp, DenseOp, DensePackOp, MatmulOp
from ...dialects.relay.nn_pool import (
    AdaptiveAvgPool2dOp,
    AdaptiveMaxPool2dOp,
    AvgPool2dOp,
    GlobalAvgPool2dOp,
    GlobalMaxPool2dOp,
    MaxPool2dOp,
)
from ...dialects.relay.nn_spatial import PadOp, UpsamplingOp
from ...dialects.relay.reduce import SimpleReduceOp
from ...dialects.relay.slicing import ConcatenateOp, SplitOp
from ...dialects.relay.transform import ReshapeOp
from ..infra import remarks
from .blocked_values import PLAIN, BlockedValues, largest_power_of_two, layout_text

NAME = "alter-op-layout"

Rule: TypeAlias = Callable[[BlockedValues, Operation], bool]
"""Puts the blocked form of an operator in its place; returns whether it did."""


def _convolution(values: BlockedValues, op: Operation) -> bool:
    """`conv2d` -> `contrib_conv2d_NCHWc`, or the depthwise one; the weight is transformed, to be folded."""
    assert isinstance(op, Conv2dOp)
    data, weight = tensor(op.data), tensor(op.weight)
    element, channels = data.element_type, data.get_shape()[1]
    outputs, inputs = weight.get_shape()[:2]
    depthwise = inputs == 1 and op.group_count() == channels == outputs > 1
    out_block = values.channel_block(outputs, element)
    if (reason := _obstacle(op, depthwise)) is not None:
        remarks.missed(NAME, op, *reason)
        return False
    if out_block is None:
        remarks.missed(NAME, op, f"{outputs} output channels do not fill vectors of {values.lanes(element)}")
        return False
    if depthwise:
        new_type, in_block, kernel = DepthwiseConv2dNCHWcOp, out_block, f"OIHW1i{out_block}o"
    else:
        in_block = values.block_of(op.data) or values.channel_block(channels, element)
        in_block = in_block or _largest_divisor(channels, values.lanes(element))
        new_type, kernel = Conv2dNCHWcOp, f"OIHW{in_block}i{out_block}o"
    packed = values.insert(LayoutTransformOp(op.weight, src_layout="OIHW", dst_layout=kernel), op)
    packed.name_hint = op.weight.name_hint
    kept = {name: value for name, value in op.properties.items() if not name.endswith("_layout")}
    layouts = {
        "data_layout": layout_text(in_block),
        "kernel_layout": kernel,
        "out_layout": layout_text(out_block),
    }
    values.replace(op, new_type(values.get(op.data, in_block, op), packed, **kept, **layouts), out_block)
    remarks.passed(NAME, op, f"{layout_text(in_block)} -> {layout_text(out_block)}")
    return True


def _obstacle(op: Conv2dOp, depthwise: bool) -> tuple[str, str | None] | None:
    """Why a convolution stays as it is, and what would help."""
    layouts = tuple(layout.text for layout in op.layouts())
    if layouts != ("NCHW", "OIHW", "NCHW"):
        return f"its layouts are {', '.join(layouts)}", "convert it to NCHW and OIHW"
    if not isinstance(op.weight.owner, ConstantOp):
        return "its weight is not a constant", "bind the parameters"
    if not isinstance(tensor(op.data).element_type, AnyFloat):
        return f"its elements are {tensor(op.data).element_type}, not floats", None
    if op.group_count() != 1 and not depthwise:
        return f"it has {op.group_count()} groups of several channels", None
    if DYNAMIC in (shape_of(op.data)[1], *shape_of(op.weight)):
        return "its number of channels is dynamic", "give it a static one"
    return None


def _largest_divisor(n: int, limit: int) -> int:
    return max(d for d in range(1, min(n, limit) + 1) if n % d == 0)


def _dense(values: BlockedValues, op: Operation) -> bool:
    """`dense` -> `contrib_dense_pack`, columns in blocks of a vector, the last one filled up with zeros"""
    assert isinstance(op, DenseOp | MatmulOp)
    element, shape = tensor(op.data).element_type, shape_of(op.data)
    transpose_data, transpose_weight = op.transposed()
    if transpose_data or not isinstance(op.weight.owner, ConstantOp) or not isinstance(element, AnyFloat):
        remarks.missed(NAME, op, "its weight is not a constant of floats, or its data is transposed")
        return False
    columns, lanes = shape_of(op.results[0])[-1], values.lanes(element)
    if DYNAMIC in shape[1:] or (len(shape) > 2 and DYNAMIC in shape) or 4 * columns < lanes:
        remarks.missed(NAME, op, f"{columns} columns do not fill vectors of {lanes}, or its shape is dynamic")
        return False
    data = values.get(op.data, PLAIN, op)
    if len(shape) > 2:
        data = values.insert(ReshapeOp(data, newshape=[-1, shape[-1]]), op)
    layout = f"NK{lanes}n"
    packing = LayoutTransformOp(op.weight, src_layout="NK" if transpose_weight else "KN", dst_layout=layout)
    packed = values.insert(packing, op)
    packed.name_hint = op.weight.name_hint
    result = values.insert(DensePackOp(data, packed, units=columns, weight_layout=layout, out_dtype=op.out_dtype), op)
    if len(shape) > 2:
        result = values.insert(ReshapeOp(result, newshape=shape_of(op.results[0])), op)
    values.replace_plain(op, result)
    return True


def _pointwise(values: BlockedValues, op: Operation) -> bool:
    """Arithmetic on elements: all operands in the same blocks, or in a shape that broadcasts against them"""
    shape = shape_of(op.results[0])
    block = max(map(values.block_of, op.operands), default=0)
    if not block or len(shape) != 4 or shape[1] == DYNAMIC or shape[1] % block:
        return False
    operands = [values.fit(operand, block, op) for operand in op.operands]
    fitted = [operand for operand in operands if operand is not None]
    if len(fitted) < len(operands):
        remarks.missed(NAME, op, "an operand that is broadcast has a dynamic shape")
        return False
    values.replace(op, _rebuilt(op, fitted), block)
    return True


def _bias_add(values: BlockedValues, op: Operation) -> bool:
    """`bias_add` -> `add` of the bias as `[1, C/b, 1, 1, b]`"""
    assert isinstance(op, BiasAddOp)
    block = values.block_of(op.data)
    if not block or normalize_axis(op.axis.value.data, 4) != 1:
        return False
    channels = shape_of(op.data)[1]
    bias = values.reshape(op.bias, (1, channels // block, 1, 1, block), op)
    values.replace(op, AddOp(values.get(op.data, block, op), bias), block)
    return True


def _pool(values: BlockedValues, op: Operation) -> bool:
    """An operator that is told its layout, and does nothing along the channels"""
    assert isinstance(op, POOLS)
    block = values.block_of(op.data)
    if not block or op.layout.data != "NCHW":
        return False
    kept = {name: value for name, value in op.properties.items() if not name.endswith("layout")}
    values.replace(op, type(op)(values.get(op.data, block, op), **kept, layout=layout_text(block)), block)
    return True


def _reduce(values: BlockedValues, op: Operation) -> bool:
    """A reduction over height and width, which stand at the same place in blocks"""
    assert isinstance(op, SimpleReduceOp)
    block, shape = values.block_of(op.data), shape_of(op.data)
    if not block or is_true(op.exclude) or not op.axis or not is_static(op.data.type):
        return False
    axes = [normalize_axis(axis, 4) for axis in ints(op.axis)]
    if not {2, 3}.issuperset(axes):
        return False
    new = type(op)(values.get(op.data, block, op), axis=axes, keepdims=True)
    if is_true(op.keepdims):
        values.replace(op, new, block)
    elif {2, 3} == set(axes):
        values.insert(new, op)
        values.replace_plain(op, values.reshape(new.result, shape[:2], op))
    else:
        return False
    return True


def _pad(values: BlockedValues, op: Operation) -> bool:
    """Padding of height and width"""
    assert isinstance(op, PadOp)
    block, widths = values.block_of(op.data), ints(op.pad_width)
    if not block or any(widths[2:4]):
        return False
    padded = {**op.properties, "pad_width": DenseArrayBase.from_list(op.pad_width.elt_type, [*widths, 0, 0])}
    values.replace(op, PadOp(values.get(op.data, block, op), op.pad_value, **padded), block)
    return True


def _tuple(values: BlockedValues, op: Operation) -> bool:
    """A tuple that is only there to be concatenated is made anew by that operator's rule"""
    if not op.results[0].first_use or not all(isinstance(use.operation, ConcatenateOp) for use in op.results[0].uses):
        return False
    values.replaced.append(op)
    return True


def _concatenate(values: BlockedValues, op: Operation) -> bool:
    """Concatenation along channels whose numbers a block divides"""
    assert isinstance(op, ConcatenateOp)
    source = op.data.owner
    if not isinstance(source, TupleOp):
        return False
    fields = [*source.fields]
    type = tensor(op.result)
    block = PLAIN
    if any(map(values.block_of, fields)) and normalize_axis(op.axis.value.data, len(type.get_shape())) == 1:
        block = values.lanes(type.element_type)
        for value in fields:
            block = largest_power_of_two(shape_of(value)[1], block)
        if block == 1 or 4 * block < values.lanes(type.element_type):
            remarks.missed(NAME, op, f"no block divides {[shape_of(value)[1] for value in fields]} channels")
            block = PLAIN
    laid_out = TupleOp(*(values.get(value, block, op) for value in fields))
    joined = ConcatenateOp(values.insert(laid_out, op), axis=op.axis)
    if block:
        values.replace(op, joined, block)
    else:
        values.replace_plain(op, values.insert(joined, op))
    return True


def _split(values: BlockedValues, op: Operation) -> bool:
    """A split of channels into parts that the block divides; `tuple_get` takes the parts"""
    assert isinstance(op, SplitOp)
    block = values.block_of(op.data)
    if not block or normalize_axis(op.axis.value.data, 4) != 1:
        return False
    parts = [tensor(part).get_shape()[1] for part in op.result.type.types]
    if any(n % block for n in parts) or not all(isinstance(use.operation, TupleGetOp) for use in op.result.uses):
        remarks.missed(NAME, op, f"parts of {parts} channels are not whole blocks of {block}")
        return False
    sections = op.indices_or_sections
    if isinstance(sections, DenseArrayBase):
        sections = DenseArrayBase.from_list(sections.elt_type, [n // block for n in ints(sections)])
    values.replace(op, SplitOp(values.get(op.data, block, op), indices_or_sections=sections, axis=1), block)
    return True


def _tuple_get(values: BlockedValues, op: Operation) -> bool:
    """A part of what was split in blocks"""
    assert isinstance(op, TupleGetOp)
    block = values.block_of(op.tuple)
    if not block:
        return False
    values.replace(op, TupleGetOp(values.get(op.tuple, block, op), op.index.value.data), block)
    return True


def _rebuilt(op: Operation, operands: list[SSAValue]) -> RelayOp:
    """The same operator on other operands."""
    assert isinstance(op, RelayOp)
    return type(op)(*operands, **op.properties)


POOLS = (
    MaxPool2dOp, AvgPool2dOp, AdaptiveAvgPool2dOp, AdaptiveMaxPool2dOp, GlobalMaxPool2dOp, GlobalAvgPool2dOp,
    UpsamplingOp,
)  # fmt: skip
POINTWISE = (ElementwiseOp, BroadcastOp, WhereOp, CastOp, ReluOp, LeakyReluOp)

RULES: dict[type[Operation], Rule] = {
    Conv2dOp: _convolution,
    DenseOp: _dense,
    MatmulOp: _dense,
    BiasAddOp: _bias_add,
    **dict.fromkeys(POOLS, _pool),
    PadOp: _pad,
    TupleOp: _tuple,
    ConcatenateOp: _concatenate,
    SplitOp: _split,
    TupleGetOp: _tuple_get,
}
"""The rule of each operator; families have theirs in `FAMILIES`."""

FAMILIES: tuple[tuple[tuple[type[Operation], ...], Rule], ...] = (
    (POINTWISE, _pointwise),
    ((SimpleReduceOp,), _reduce),
)
"""The rules of operators with a common base class."""


@cache
def rule_of(op_type: type[Operation]) -> Rule | None:
    """The rule of an operator; `None` where it needs the plain layout."""
    if op_type in RULES:
        return RULES[op_type]
    return next((rule for bases, rule in FAMILIES if issubclass(op_type, bases)), None)

"""Which operators are computed on channels in blocks: a minimum cut.

Convolutions that can be, are. All that can be computed either way, arithmetic and pools and so on, is labelled so that
as few elements as possible have to be brought from one layout to the other: an edge of the graph from a plain operator
to a blocked one, or back, costs the number of elements of the value, once for each value. Windows that slide over each
channel by itself, in depthwise convolutions and pools, do not vectorise in the plain layout: there they cost
`WINDOW_CYCLES` for every element of the result, less where the block does not fill a vector.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.relay.base import DYNAMIC, RelayOp, shape_of
from ...dialects.relay.blocking import Wish
from ...dialects.relay.core import ConstantOp, TupleGetOp, TupleOp
from ...dialects.relay.ops.nn.convolution import Conv2dOp
from ...dialects.relay.ops.nn.planes import SeePlanesOp
from ...dialects.relay.ops.slicing import ConcatenateOp, SplitOp
from .blocked_values import BlockedValues
from .minimum_cut import MinimumCut
from .tile_channels import tile_channels

WINDOW_CYCLES = 9.6
"""What a sliding window in full vectors saves for each element of the result. An element that is transformed moves to
the core and back."""

MOVED_BYTES = 8
"""Of an element of 32 bits, there and back."""

TYPICAL_EXTENT = 16
"""What a dynamic extent counts for."""


def assign_blocks(
    block: Block, values: BlockedValues, told: Container[type[Operation]] = frozenset()
) -> dict[RelayOp, int]:
    """The operations of `block` to be computed in blocks, each with its block; none of the classes `told`."""
    values.tile_channels = tile_channels(block, values.matrix)
    blocks: dict[RelayOp, int] = {}
    for op in block.ops:
        if isinstance(op, RelayOp) and type(op) not in told and (size := op.channel_block(values)):
            blocks[op] = _agreed(op, size, blocks)
    uses = _uses(block)
    gain = round(WINDOW_CYCLES / values.machine.moving(MOVED_BYTES))
    cut = MinimumCut()
    connected = _connected(blocks, uses)
    nodes: dict[Operation, int] = {op: cut.add_node() for op in connected}
    for op, node in zip(connected, nodes.values(), strict=True):
        match op.wish():
            case Wish.ALWAYS:
                cut.fix(node, True)
            case Wish.WINDOW | Wish.DEPTHWISE:
                cut.prefer(node, True, gain * _cost(op.results[0]) * blocks[op] // values.lanes)
            case Wish.EITHER:
                pass
    for value, users in uses.items():
        if cost := _cost(value):
            producer = _producer(value)
            made = None if producer is None else nodes.get(producer)
            cut.link_value(made, [nodes.get(user) for user in users], cost)
    labels = cut.solve()
    return {op: blocks[op] for index, op in enumerate(connected) if labels[index]}


def _agreed(op: RelayOp, size: int, blocks: Mapping[RelayOp, int]) -> int:
    """The block for `op`, which could have `size`: that of a value of as many channels which it reads, the smallest of
    them. (Those of a grouped convolution depend on the groups too.)"""
    if not op.in_any_block():
        return size
    channels = shape_of(op.results[0])[1]
    read = [value for value in op.operands if len(shape_of(value)) == 4 and shape_of(value)[1] == channels]
    producers = [each for each in map(_producer, read) if isinstance(each, RelayOp)]
    return min((blocks[each] for each in producers if each in blocks), default=size)


def _uses(block: Block) -> dict[SSAValue, list[Operation]]:
    """The operations to which the layout of each value matters."""
    uses: dict[SSAValue, list[Operation]] = {}
    for op in block.ops:
        if not joins_only(op):
            for value in dict.fromkeys(op.layout_sources() if isinstance(op, RelayOp) else op.operands):
                uses.setdefault(value, []).append(op)
    return uses


def joins_only(op: Operation) -> bool:
    """Whether `op` is a tuple that is only there to be concatenated, or shows planes to convolutions that see them by
    themselves in blocks."""
    if isinstance(op, SeePlanesOp):
        users = [use.operation for use in op.result.uses]
        return bool(users) and all(isinstance(user, Conv2dOp) and user.volumes() is op for user in users)
    uses = list(op.result.uses) if isinstance(op, TupleOp) else []
    return bool(uses) and all(isinstance(use.operation, ConcatenateOp) for use in uses)


def _producer(value: SSAValue) -> Operation | None:
    """The operation that has a layout for `value`."""
    owner = value.owner
    if isinstance(owner, TupleGetOp) and isinstance(owner.tuple.owner, SplitOp):
        return owner.tuple.owner
    return owner if isinstance(owner, Operation) else None


def _connected(blocks: Iterable[RelayOp], uses: dict[SSAValue, list[Operation]]) -> list[RelayOp]:
    """The operators for whose sake there are blocks, the convolutions, and what is connected with one by values between
    operations that may be in blocks."""
    neighbours: dict[RelayOp, list[RelayOp]] = {op: [] for op in blocks}
    for value, users in uses.items():
        producer = _producer(value)
        if isinstance(producer, RelayOp) and producer in neighbours:
            for user in users:
                if isinstance(user, RelayOp) and user in neighbours:
                    neighbours[producer].append(user)
                    neighbours[user].append(producer)
    found: dict[RelayOp, None] = {op: None for op in neighbours if op.wish() in (Wish.ALWAYS, Wish.DEPTHWISE)}
    pending = list(found)
    while pending:
        for op in neighbours[pending.pop()]:
            if op not in found:
                found[op] = None
                pending.append(op)
    return list(found)


def _cost(value: SSAValue) -> int:
    """The elements to be moved to bring a value to another layout: none for constants, and where there is one pixel."""
    if isinstance(value.owner, ConstantOp) or not isinstance(value.type, TensorType):
        return 0
    shape = [TYPICAL_EXTENT if n == DYNAMIC else n for n in shape_of(value)]
    return prod(shape) if prod(shape[-2:]) > 1 else 0

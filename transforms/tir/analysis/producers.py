"""Who writes a buffer, and who reads it."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.ir import Operation, SSAValue

from ....dialects.support.walking import in_order, within
from ....dialects.tir.core import AllocBufferOp, BlockOp, PrimFuncOp, accessing_blocks, blocks_under, enclosing_loops
from ..schedule.errors import ScheduleError


def written_buffer(block: BlockOp) -> SSAValue:
    """The one buffer that `block` writes.

    Raises:
        ScheduleError: it writes several, or none.
    """
    if len(block.writes) != 1:
        raise ScheduleError.at(block, f"block @{block.block_name} writes {len(block.writes)} buffers, not one")
    return block.writes[0]


def consumers(block: BlockOp) -> list[BlockOp]:
    """The blocks that read what `block` writes."""
    buffer = written_buffer(block)
    return [other for other in accessing_blocks(buffer) if other is not block and buffer in other.reads]


def writers(buffer: SSAValue) -> list[BlockOp]:
    """The blocks that write `buffer`."""
    return [block for block in accessing_blocks(buffer) if buffer in block.writes]


def defining_block(buffer: SSAValue) -> BlockOp | None:
    """The block that writes `buffer`, if exactly one does."""
    found = writers(buffer)
    return found[0] if len(found) == 1 else None


def stores_of(block: BlockOp) -> list[memref.StoreOp]:
    """The stores in the body of `block`, without those of its init."""
    return [op for op in in_order(block.body) if isinstance(op, memref.StoreOp)]


def function_of(op: Operation) -> PrimFuncOp:
    """The function that `op` stands in.

    Raises:
        ScheduleError: it stands in none, any more.
    """
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, PrimFuncOp):
        parent = parent.parent_op()
    if parent is None:
        raise ScheduleError.at(
            op,
            "is no part of a function any more",
            hint="an earlier primitive has replaced it: take the loop or block that stands there now",
        )
    return parent


def nest_of(op: Operation) -> Operation:
    """The outermost loop around `op`, or `op` itself."""
    return next(iter(enclosing_loops(op)), op)


def blocks_between(first: Operation, second: Operation) -> list[BlockOp]:
    """The blocks of the function that come after `first` and before `second` in program order, those in either left
    out."""
    found: list[BlockOp] = []
    started = False
    for op in within(function_of(first)):
        if op is first:
            started = True
        elif op is second:
            break
        elif started and type(op) is BlockOp:
            found.append(op)
    inside = {*blocks_under(first), *blocks_under(second)}
    return [block for block in found if block not in inside]


def is_before(first: Operation, second: Operation) -> bool:
    """Whether `first` comes before `second` in program order."""
    for op in within(function_of(first)):
        if op is first:
            return True
        if op is second:
            return False
    return False


def allocation_of(buffer: SSAValue) -> AllocBufferOp | None:
    """The operation that allocates `buffer`; `None` for an argument of the function."""
    return buffer.owner if isinstance(buffer.owner, AllocBufferOp) else None

"""`compute_inline`: put a block's formula where its result is read."""

from __future__ import annotations

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue

from ....dialects.tir.core import AllocBufferOp, BlockOp, ForOp
from .errors import ScheduleError


def written_buffer(block: BlockOp) -> SSAValue:
    """The one buffer that `block` writes.

    Raises:
        ScheduleError: it writes several.
    """
    if len(block.writes) != 1:
        raise ScheduleError(f"block @{block.block_name} writes {len(block.writes)} buffers, not one", block)
    return block.writes[0]


def accessing_blocks(buffer: SSAValue) -> list[BlockOp]:
    """The blocks that declare an access to `buffer`, each once."""
    return list(dict.fromkeys(use.operation for use in buffer.uses if isinstance(use.operation, BlockOp)))


def consumers(block: BlockOp) -> list[BlockOp]:
    """The blocks that read what `block` writes."""
    buffer = written_buffer(block)
    return [other for other in accessing_blocks(buffer) if other is not block and buffer in other.reads]


def compute_inline(block: BlockOp) -> None:
    """Replace every read of what `block` writes by the formula of `block`, and erase it.

    Counterpart of TVM's `compute_inline`.

    Raises:
        ScheduleError: `block` reduces, writes an argument of the function, writes its buffer at anything but its
            own iterators in some order, has a predicate, or is not alone in writing its buffer.
    """
    buffer = written_buffer(block)
    store = next((a.op for a in block.accesses() if a.is_write), None)
    alloc = buffer.owner
    if block.is_reduction or block.conditions:
        raise ScheduleError(f"block @{block.block_name} is a reduction or has a predicate: it cannot be inlined", block)
    if not isinstance(alloc, AllocBufferOp) or not isinstance(store, memref.StoreOp):
        raise ScheduleError(f"block @{block.block_name} writes an output: it cannot be inlined", block)
    if defining_block(buffer) is not block:
        raise ScheduleError(f"block @{block.block_name} is not alone in writing its buffer", block)
    iters = block.iters
    order = [iters.index(v) if v in iters else -1 for v in store.indices]
    unit = {p for p, extent in enumerate(block.extents) if extent == 1}
    if -1 in order or len(set(order)) != len(order) or set(range(len(iters))) - set(order) - unit:
        raise ScheduleError(f"block @{block.block_name} does not write one element for each iterator value", block)
    body = [op for op in block.body.block.ops if op is not store]
    for consumer in consumers(block):
        for access in consumer.accesses():
            if access.buffer is buffer and not access.is_write:
                _expand(access.op, block, body, store, order)
        consumer.update_accesses()
    erase_with_loops(block)
    alloc.detach()
    alloc.erase()


def _expand(
    load: memref.LoadOp | memref.StoreOp, block: BlockOp, body: list[Operation], store: memref.StoreOp, order: list[int]
) -> None:
    """Put the body's operations before `load`, iterators replaced by its indices, and their value in its place."""
    assert isinstance(load, memref.LoadOp) and load.parent is not None
    mapping: dict[SSAValue, SSAValue] = {}
    for position, index in zip(order, load.indices, strict=True):
        mapping[block.iters[position]] = index
    if any(v not in mapping for v in block.iters):
        zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
        load.parent.insert_op_before(zero, load)
        mapping.update({v: zero.result for v in block.iters if v not in mapping})
    for op in body:
        clone = op.clone(mapping)
        load.parent.insert_op_before(clone, load)
    load.res.replace_all_uses_with(mapping.get(store.value, store.value))
    load.detach()
    load.erase()


def erase_with_loops(block: BlockOp) -> None:
    """Erase `block` and the loops that hold nothing else."""
    op: Operation = block
    while isinstance(parent := op.parent_op(), ForOp) and parent.body.block.first_op is parent.body.block.last_op:
        op = parent
    op.detach()
    op.erase(safe_erase=False)


def defining_block(buffer: SSAValue) -> BlockOp | None:
    """The block that writes `buffer`, if exactly one does."""
    writers = [b for b in accessing_blocks(buffer) if buffer in b.writes]
    return writers[0] if len(writers) == 1 else None

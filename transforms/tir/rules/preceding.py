"""Reductions that a tile takes along: what only one other reduction reads, for the same element.

The place of a maximum is found in two reductions: the maximum, and the first place where it stands. One tile after the
other does both, and what they read is near when the second reads it:

```mlir
tir.for parallel %pixels {
  max_init, max: a tile in registers
  argmax_init, argmax: a tile in registers
}
```
"""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.ir import SSAValue

from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import AllocBufferOp, BlockOp, ForKind, enclosing_loops
from ..analysis.producers import consumers, defining_block, written_buffer
from .choose_tile import find_tile
from .registers import VectorRegisters


def preceding(block: BlockOp, registers: VectorRegisters) -> list[BlockOp]:
    """The reductions whose results `block` alone reads, each for the element that it writes, and that can be taken in
    the same vectors."""
    found: list[BlockOp] = []
    for buffer in block.reads:
        producer = defining_block(buffer)
        if producer is None or not isinstance(buffer.owner, AllocBufferOp) or consumers(producer) != [block]:
            continue
        if not producer.is_reduction or producer.init is None or producer.conditions or not _is_waiting(producer):
            continue
        if _are_alike(producer, block) and _reads_at_its_own(block, buffer):
            own, other = find_tile(producer, registers), find_tile(block, registers)
            if own is not None and other is not None and (own.vector, own.lanes) == (other.vector, other.lanes):
                found.append(producer)
    return found


def _is_waiting(block: BlockOp) -> bool:
    return all(loop.for_kind == ForKind.SERIAL for loop in enclosing_loops(block))


def _are_alike(producer: BlockOp, block: BlockOp) -> bool:
    """Whether both write the elements of one shape, each at its first iterators."""
    shape = shape_of(written_buffer(block))
    if shape_of(written_buffer(producer)) != shape:
        return False
    stores = [next(a.op for a in each.accesses() if isinstance(a.op, memref.StoreOp)) for each in (producer, block)]
    places = zip((producer, block), stores, strict=True)
    return all(list(store.indices) == list(each.iters[: len(shape)]) for each, store in places)


def _reads_at_its_own(block: BlockOp, buffer: SSAValue) -> bool:
    """Whether `block` reads `buffer` at its first iterators alone."""
    reads = [access.op for access in block.accesses() if access.buffer is buffer]
    return all(
        index is iterator or size == 1
        for read in reads
        for index, iterator, size in zip(read.indices, block.iters, shape_of(buffer), strict=False)
    )

"""Take some rows of a chain of reductions through each of its steps before the next.

Within a row each step waits for the one before: lanes are put together, divided, and spread out again, in dozens of
cycles, before what reads the number of the row can begin. Processors look ahead some hundred instructions, which is
less than a row of many vectors, or of many steps. So a strip of rows goes through a step, then through the next, and
the vectors of one row are read while the numbers of another are waited for:

```mlir
tir.for parallel %strip = 0 to 49 {
  tir.for %row = 0 to 4 { mean }
  tir.for %row = 0 to 4 { variance }
  tir.for %row = 0 to 4 { normalise }
}
```

On an EPYC of 512 bits, a layer norm of 196 x 768 f32 takes 0.84 of the time so, one of 512 x 128 0.7, the greatest
number of one 0.6, a softmax of 2364 x 197 0.9. A few sums of a row that vector registers hold, and that is more than
the processor looks ahead, are left as they are: it is read once, and stays there (0.8 to 0.95 of the time of strips).

Rows of several dimensions, 12 x 197, of which the last leaves a rest, become rows of one before (`join_rows`): on a Zen
3 a softmax of 12 x 197 x 197 takes 0.9 of the time then, its logarithm 0.85.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

from ....dialects.support.dtypes import byte_width
from ....dialects.tir.core import AllocBufferOp, BlockOp, ForOp, IterKind, memref_of
from ..analysis.producers import consumers, written_buffer
from ..scheduling.recorded import fuse_buffer_dims, fuse_iters, split
from .op_cost import CHEAP_MATH
from .registers import VectorRegisters

STRIP = 4
"""Rows of a strip. Of eight the last are out of the nearest cache more often than the first are done."""

LEAST_STRIPS = 16
"""Fewer are not enough for the threads."""

SHORT = 8
"""Vectors of a row up to which a processor looks beyond it."""


def strip_rows(
    rows: ForOp, blocks: Sequence[BlockOp], depth: int, registers: VectorRegisters, *, is_shared: bool
) -> ForOp:
    """Split a loop over the rows of `blocks`, which stand at `depth` leading indices, where strips pay: the loop that a
    step runs to its end in. One that threads share keeps strips enough for them. Of rows of several dimensions, which
    one loop goes through, each strip lies within the innermost: what it reads would be more than its rows."""
    if not isinstance(rows.size, int) or rows.size == STRIP:
        return rows
    if next((n for n in reversed(blocks[-1].likely_extents[:depth]) if n > 1), 1) % STRIP:
        return rows
    if is_shared and rows.size // STRIP < LEAST_STRIPS:
        return rows
    return split(rows, [STRIP])[0] if _pay(blocks, depth, registers) else rows


def join_rows(blocks: Sequence[BlockOp], depth: int, registers: VectorRegisters) -> int:
    """Have the rows of `blocks`, those of what they hand on too, be of one dimension where they are strips then, and
    are not as they are: at how many leading indices they stand now."""
    output = blocks[-1]
    rows = [extent for extent in output.sizes[:depth] if isinstance(extent, int)]
    if output.is_reduction or len(rows) < max(depth, 2) or 1 in rows:
        return depth
    if rows[-1] % STRIP == 0 or prod(rows) % STRIP or prod(rows) // STRIP < LEAST_STRIPS:
        return depth
    if not _pay(blocks, depth, registers):
        return depth
    for position in range(depth - 2, -1, -1):
        for block in blocks:
            fuse_iters(block, position)
        for block in blocks[:-1]:
            buffer = written_buffer(block)
            assert isinstance(buffer.owner, AllocBufferOp)
            fuse_buffer_dims(buffer.owner, position, [block, *consumers(block)])
    return 1


def _pay(blocks: Sequence[BlockOp], depth: int, registers: VectorRegisters) -> bool:
    """Whether rows of `blocks`, which stand at `depth` leading indices, are done sooner in strips."""
    if not blocks[:-1] or not any(block.is_reduction for block in blocks):
        return False
    sizes = [_row_bytes(block, depth, block.kinds) for block in blocks]
    kept = sum(_row_bytes(block, depth, [IterKind.SPATIAL]) for block in blocks[:-1])
    if 2 * max(sizes) <= registers.bytes:  # not taken in vectors
        return False
    if 2 * STRIP * max(sizes) > registers.machine.l1 or 2 * STRIP * kept > registers.machine.kept_near:
        return False
    is_kept = SHORT * registers.bytes < max(sizes) <= registers.count * registers.bytes
    return not is_kept or _is_heavy(blocks, depth)


def _row_bytes(block: BlockOp, depth: int, kinds: Collection[IterKind]) -> int:
    """What a block goes through for a row, along iterators of some kinds."""
    extents = zip(block.likely_extents[depth:], block.kinds[depth:], strict=True)
    width = byte_width(memref_of(written_buffer(block)).element_type)
    return prod(extent for extent, kind in extents if kind in kinds) * width


def _is_heavy(blocks: Sequence[BlockOp], depth: int) -> bool:
    """Whether a row waits more than a few times, or has functions of its elements computed."""
    return sum(block.is_reduction for block in blocks) > 2 or any(
        op.name.startswith("math.") and op.name not in CHEAP_MATH
        for block in blocks
        if prod(block.likely_extents[depth:]) > 1
        for op in block.body.walk()
    )

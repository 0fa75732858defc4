"""Fuse the iterators of a reduction's pixels, so that tiles of them do not end with each line of an image."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.support.facts import while_unchanged
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import AllocBufferOp, BlockOp
from ..analysis.deciding import deciding_iterators
from ..analysis.producers import written_buffer
from ..analysis.strides import follow_each_other
from ..scheduling.recorded import fuse_buffer_dims, fuse_iters
from .choosing import is_chosen


def fuse_pixels(block: BlockOp, epilogue: BlockOp, before: Sequence[BlockOp] = ()) -> bool:
    """Fuse neighbouring spatial iterators along which all accesses of `block`, of what follows it and of what comes
    `before` it walk straight on; says whether there are any.

    One that decides a branch (whether a window reaches over the edge) stays on its own: the condition would be another
    in each lane, and found by division.
    """
    position: int | None = len(shape_of(written_buffer(block))) - 1
    fused = False
    others = (epilogue, *before)
    while (position := _next_pixels(block, others, position)) is not None:
        for each in (block, *others):
            fuse_iters(each, position)
        for writer, reader in ((block, epilogue), *((each, block) for each in before)):
            buffer = written_buffer(writer)
            assert isinstance(buffer.owner, AllocBufferOp)
            fuse_buffer_dims(buffer.owner, position, [writer, reader])
        fused = True
    return fused


@while_unchanged
def _next_pixels(block: BlockOp, others: Sequence[BlockOp], below: int) -> int | None:
    """The last iterator before the one at `below` that is to be fused with that behind it."""
    extents, sizes = block.likely_extents, block.sizes
    for position in range(below - 1, -1, -1):
        if 1 in extents[position : position + 2] or not all(isinstance(n, int) for n in sizes[position:][:2]):
            continue
        if any(_decide(each, position) for each in (block, *others)):
            continue
        if all(follow_each_other(each, position) for each in (block, *others)) and is_chosen("fuse-pixels", block):
            return position
    return None


def _decide(block: BlockOp, position: int) -> bool:
    """Whether a branch depends on the iterator at `position` or the next."""
    return not deciding_iterators(block).isdisjoint(block.iters[position : position + 2])

"""Fuse the iterators of a reduction's pixels, so that tiles of them do not end with each line of an image."""

from __future__ import annotations

from ....dialects.support.facts import while_unchanged
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import AllocBufferOp, BlockOp
from ..analysis.deciding import deciding_iterators
from ..analysis.producers import written_buffer
from ..analysis.strides import follow_each_other
from ..scheduling.recorded import fuse_buffer_dims, fuse_iters
from .choosing import is_chosen


def fuse_pixels(block: BlockOp, epilogue: BlockOp) -> bool:
    """Fuse neighbouring spatial iterators along which all accesses of both blocks walk straight on; says whether there
    are any.

    One that decides a branch (whether a window reaches over the edge) stays on its own: the condition would be another
    in each lane, and found by division.
    """
    position: int | None = len(shape_of(written_buffer(block))) - 1
    fused = False
    while (position := _next_pixels(block, epilogue, position)) is not None:
        buffer = written_buffer(block)
        assert isinstance(buffer.owner, AllocBufferOp)
        fuse_iters(block, position)
        fuse_iters(epilogue, position)
        fuse_buffer_dims(buffer.owner, position, [block, epilogue])
        fused = True
    return fused


@while_unchanged
def _next_pixels(block: BlockOp, epilogue: BlockOp, below: int) -> int | None:
    """The last iterator before the one at `below` that is to be fused with that behind it."""
    extents, sizes = block.likely_extents, block.sizes
    for position in range(below - 1, -1, -1):
        if 1 in extents[position : position + 2] or not all(isinstance(n, int) for n in sizes[position:][:2]):
            continue
        if _decide(block, position) or _decide(epilogue, position):
            continue
        follow = follow_each_other(block, position) and follow_each_other(epilogue, position)
        if follow and is_chosen("fuse-pixels", block):
            return position
    return None


def _decide(block: BlockOp, position: int) -> bool:
    """Whether a branch depends on the iterator at `position` or the next."""
    return not deciding_iterators(block).isdisjoint(block.iters[position : position + 2])

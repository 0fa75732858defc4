"""Buffers reach the blocks that use them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from xdsl.ir import Operation

from ..blocks import BlockOp, accessing_blocks
from ..buffers import AllocBufferOp
from ..loops import BY_THREADS, ForOp, enclosing_loops
from .bounds import buffer_name
from .finding import Finding


def nests_using(alloc: AllocBufferOp) -> list[Operation]:
    """The outermost loops (or blocks, where there is none) that hold the uses of a buffer, each once."""
    nests = ((enclosing_loops(block) or [block])[0] for block in accessing_blocks(alloc.buffer))
    return list(dict.fromkeys(nests))


def _shared_among(alloc: AllocBufferOp, block: BlockOp) -> list[ForOp]:
    """The loops between a buffer and a block whose iterations are run by several threads."""
    around = enclosing_loops(alloc)
    return [loop for loop in enclosing_loops(block) if loop.for_kind in BY_THREADS and loop not in around]


def is_shared(alloc: AllocBufferOp, block: BlockOp) -> bool:
    """Whether several threads run `block`, each with a buffer of its own if `alloc` is private."""
    return bool(_shared_among(alloc, block))


def is_torn(alloc: AllocBufferOp, moved: BlockOp | None = None, loops: Sequence[ForOp] = ()) -> bool:
    """Whether the blocks that use a buffer of a thread's own do not all stand in the same parallel loops. `moved` is
    taken to stand in `loops`."""
    around = enclosing_loops(alloc)
    shared = {
        tuple(
            loop
            for loop in (loops if block is moved else enclosing_loops(block))
            if loop.for_kind in BY_THREADS and loop not in around
        )
        for block in accessing_blocks(alloc.buffer)
    }
    return len(shared) > 1


def check_constant(alloc: AllocBufferOp) -> Iterator[Finding]:
    """Nothing writes a constant."""
    if not alloc.is_constant:
        return
    for block in accessing_blocks(alloc.buffer):
        if alloc.buffer in block.writes:
            message = f"block @{block.block_name} writes {buffer_name(alloc.buffer)}, which is a constant"
            yield Finding(block, message, hint="write to a buffer without a value")


def check_reach(alloc: AllocBufferOp) -> Iterator[Finding]:
    """Blocks that use a buffer of a thread's own stand in the same parallel loops, or none in any: another iteration is
    perhaps run by another thread."""
    if not alloc.is_private:
        return
    name = buffer_name(alloc.buffer)
    for first, other in pairwise(accessing_blocks(alloc.buffer)):
        if _shared_among(alloc, first) != _shared_among(alloc, other):
            yield Finding(
                alloc,
                f'{name} is of scope "local", each thread\'s own, but block @{first.block_name} and block '
                f"@{other.block_name}, which use it, do not stand in the same parallel loops",
                hint='give it the scope "global", or move both blocks into one parallel loop (compute_at)',
            )
            return

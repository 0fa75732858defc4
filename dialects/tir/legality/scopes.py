"""Buffers reach the blocks that use them."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from ..blocks import accessing_blocks
from ..buffers import AllocBufferOp
from ..loops import enclosing_loops
from .bounds import buffer_name
from .finding import Finding


def nests_using(alloc: AllocBufferOp) -> list[Operation]:
    """The outermost loops (or blocks, where there is none) that hold the uses of a buffer, each once."""
    nests = ((enclosing_loops(block) or [block])[0] for block in accessing_blocks(alloc.buffer))
    return list(dict.fromkeys(nests))


def check_reach(alloc: AllocBufferOp) -> Iterator[Finding]:
    """Blocks that use a buffer of a thread's own stand in one nest: another is perhaps run by another thread."""
    if alloc.is_private and (count := len(nests_using(alloc))) > 1:
        name = buffer_name(alloc.buffer)
        yield Finding(
            alloc,
            f'{name} is of scope "local", each thread\'s own and gone when a nest of loops ends, but {count} nests '
            "use it",
            hint=f'give it the scope "global", or move the blocks that write {name} into the nest that reads it '
            "(compute_at)",
        )

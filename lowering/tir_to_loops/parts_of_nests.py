"""In how many parts a parallel nest is shared out, where these are not its iterations.

What the shares of a nest keep in slices of a workspace has only so many. And where the call alone says how many
iterations there are, and each is of few steps, another thread is worth waking for some thousand of them only: of
`%n` vectors of 16 elements there are `max(%n floordiv 128, 1)` parts.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects import arith
from xdsl.dialects.memref import LoadOp, StoreOp
from xdsl.ir import Operation, SSAValue

from ...dialects.tir.core import BlockOp, ForKind, ForOp, blocks_under, enclosing_loops
from ...transforms.tir.rules.spatial import PARALLEL_MIN_STEPS
from .index_values import IndexBuilder

MOST_SHARES = 64
"""Of a nest whose shares have slices of a workspace: a few for each of sixteen threads, one for each of more."""


def most_shares(nest: Operation) -> int:
    """How many shares of a nest there are at most that need memory of their own."""
    if not isinstance(nest, ForOp) or nest.for_kind != ForKind.PARALLEL:
        return 1
    return min(MOST_SHARES, nest.size) if isinstance(nest.size, int) else MOST_SHARES


def parts_of(nest: ForOp, extent: int | SSAValue, in_slices: bool, at: IndexBuilder) -> SSAValue | None:
    """In how many parts of about equal size a parallel nest of `extent` iterations is shared out; none where each
    iteration may be a share of its own."""
    parts: SSAValue | None = None
    if not isinstance(extent, int) and (least := _worth_a_thread(nest)) > 1:
        whole = at.emit(arith.DivUIOp(extent, at.constant(least)))
        parts = at.emit(arith.MaxSIOp(whole, at.constant(1)))
    if in_slices:
        parts = at.emit(arith.MinSIOp(at.constant(MOST_SHARES), at.as_value(extent) if parts is None else parts))
    return parts


def _worth_a_thread(nest: ForOp) -> int:
    """Half of the iterations that are worth two threads; 1 where it is not known how much one of them does."""
    steps = 0
    for block in blocks_under(nest):
        sizes = [loop.size for loop in enclosing_loops(block) if loop is not nest]
        known = [size for size in sizes if isinstance(size, int)]
        if len(known) < len(sizes) or not _is_arithmetic(block):
            return 1
        steps += prod(known)
    return -(-PARALLEL_MIN_STEPS // 2 // max(1, steps))


def _is_arithmetic(block: BlockOp) -> bool:
    """Whether a block computes with what it reads, and that is all: no loops, no calls."""
    return all(isinstance(op, LoadOp | StoreOp) or op.name.startswith(("arith.", "math.")) for op in block.body.walk())

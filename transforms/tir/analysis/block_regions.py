"""Which parts of buffers a loop or block touches, over the loops around it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.tir.buffers import shape_of
from ....dialects.tir.calls import Handed
from ....dialects.tir.core import blocks_under, enclosing_loops
from ....dialects.tir.symbols import Extent
from .regions import required_region


@dataclass(frozen=True)
class BufferRegion:
    """A part of a buffer: for each dimension where it begins, over the variables of the loops around what touches it,
    outermost first, and how many elements it has there."""

    buffer: SSAValue
    region: tuple[tuple[AffineExpr, Extent], ...]


def touched_regions(op: Operation) -> tuple[list[BufferRegion], list[BufferRegion], list[BufferRegion]]:
    """What `op` reads and writes element by element, in the order in which it does first, and what it hands to calls,
    which may touch all of it. Buffers of its own are left out."""
    blocks = blocks_under(op)
    around = [loop.var for loop in enclosing_loops(op)]
    found: tuple[dict[SSAValue, None], ...] = ({}, {}, {})
    for block in blocks:
        for touch in block.touches():
            own = isinstance(touch.buffer.owner, Operation) and op.is_ancestor(touch.buffer.owner)
            if not own:
                found[2 if isinstance(touch, Handed) else int(touch.is_write)].setdefault(touch.buffer)
    reads, writes = (
        [BufferRegion(buffer, tuple(required_region(buffer, blocks, around, is_write))) for buffer in buffers]
        for is_write, buffers in zip((False, True), found[:2], strict=True)
    )
    opaque = [
        BufferRegion(buffer, tuple((AffineConstantExpr(0), extent) for extent in shape_of(buffer)))
        for buffer in found[2]
    ]
    return reads, writes, opaque

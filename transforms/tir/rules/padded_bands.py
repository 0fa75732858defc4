"""Pad data band by band, in the loops of the reduction whose windows slide over it.

A convolution reads data around which there are zeros, from a buffer that a block of its own fills. All of it goes to
memory and comes back from there, which costs a depthwise convolution as much as its sums. Where tiles that follow each
other read parts of it that hardly overlap, a part is filled just before, stays in a near cache, and is forgotten:

```mlir
tir.for parallel %channels_band {
  pad: for rows and columns of one band of these channels
  tir.for %row_column { conv_init, conv, relu: a tile in registers }
}
```

Along an extent that is a symbol, all bands but the last are of the size that is chosen for `LIKELY_PIXELS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from xdsl.dialects import scf
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from ....dialects.support.dtypes import byte_width
from ....dialects.support.machine_model import MachineModel
from ....dialects.tir.affine import Range, linear
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import AllocBufferOp, BlockOp, ForKind, ForOp, Scope, enclosing_loops, memref_of
from ....dialects.tir.symbols import likely
from ..analysis.producers import consumers, defining_block, written_buffer
from ..analysis.strides import iterator_ranges, strides
from ..scheduling.recorded import compute_at, set_kind, set_scope
from .choosing import is_chosen
from .spatial import MAX_VECTOR

MAX_AGAIN = 1.5
"""So often may an element be filled in, on average: bands overlap by the reach of their windows."""

MIN_BANDS = 16
"""So many bands divide among a few threads."""

LIKELY_PIXELS = 64
"""What symbols are taken for here: rows and columns of images are no more where most of a network is."""


@dataclass(frozen=True)
class Bands:
    """What is filled band by band: the block that does; `size` iterations of the loop of this number make a band."""

    padding: BlockOp
    number: int
    size: int


class Walk(NamedTuple):
    """A loop around tiles: the spatial iterator that it goes along, and how many values of that an iteration takes."""

    iterator: int
    trips: int
    step: int


def propose_bands(block: BlockOp, loops: Sequence[Walk], machine: MachineModel) -> Bands | None:
    """The bands for the loops around the tiles of `block`, outermost first; the largest that are small enough. `None`
    where there is nothing to fill, or bands overlap too much."""
    for buffer in block.reads:
        padding = _padding(block, buffer)
        if padding is not None and is_chosen("padded-bands", padding):
            return _divide(block, padding, loops, machine.kept_near // 2)
    return None


def _padding(block: BlockOp, buffer: SSAValue) -> BlockOp | None:
    """The block that puts data and what is around it into `buffer`, for `block` alone."""
    padding = defining_block(buffer)
    if not isinstance(buffer.owner, AllocBufferOp) or padding is None or consumers(padding) != [block]:
        return None
    guarded = any(isinstance(op, scf.IfOp) for op in padding.body.walk())
    waiting = all(loop.for_kind == ForKind.SERIAL for loop in enclosing_loops(padding))
    return padding if guarded and waiting and not (padding.is_reduction or padding.conditions) else None


def _divide(block: BlockOp, padding: BlockOp, loops: Sequence[Walk], most: int) -> Bands | None:
    buffer = written_buffer(padding)
    maps = [access.map for access in block.touches() if access.buffer is buffer]
    if len(maps) != 1 or maps[0] is None:
        return None
    extents = {number: likely(extent, LIKELY_PIXELS) for number, extent in enumerate(block.sizes)}
    whole = prod(likely(extent, LIKELY_PIXELS) for extent in shape_of(buffer))
    width = byte_width(memref_of(buffer).element_type)
    for number, (iterator, trips, step) in enumerate(loops):
        bands = prod(outer.trips for outer in loops[:number])
        around = {outer.iterator: outer.step for outer in loops[:number]}
        for size in (n for n in range(trips - 1, 0, -1) if trips % n == 0):
            part = _part(block, maps[0], extents | around | {iterator: size * step})
            if part is None:
                return None
            count = bands * (trips // size)
            if part * width <= most and count >= MIN_BANDS:
                return Bands(padding, number, size) if count * part <= MAX_AGAIN * whole else None
    return None


def _part(block: BlockOp, map: AffineMap, extents: dict[int, int]) -> int | None:
    """How many elements are read at most while each iterator takes so many values."""
    ranges = iterator_ranges(block)
    reaches = [_reach(index, extents, ranges) for index in map.results]
    return prod(reach for reach in reaches if reach is not None) if None not in reaches else None


def _reach(index: AffineExpr, extents: dict[int, int], ranges: Mapping[AffineExpr, Range]) -> int | None:
    """How far apart the values of `index` lie at most, both ends included."""
    reach = 1
    for atom, factor in linear(index, ranges).terms.items():
        if (of_atom := _reach_of_atom(atom, extents, ranges)) is None:
            return None
        reach += abs(factor) * (of_atom - 1)
    return reach


def _reach_of_atom(atom: AffineExpr, extents: dict[int, int], ranges: Mapping[AffineExpr, Range]) -> int | None:
    """Of an iterator, or of what is left of a division: blocks of channels that begin within one that is read."""
    match atom:
        case AffineDimExpr(position=position):
            return extents.get(position)
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.FloorDiv | AffineBinaryOpKind.Mod as kind,
            lhs=divided,
            rhs=AffineConstantExpr(value=by),
        ) if (reach := _reach(divided, extents, ranges)) is not None:
            if kind == AffineBinaryOpKind.Mod:
                return by if reach > 1 else 1
            return (reach + by - 2) // by + 1
        case _:
            return None


def fill_in(bands: Bands, loop: ForOp) -> None:
    """Let the bands be filled in `loop`, of which each iteration computes one."""
    buffer = written_buffer(bands.padding)
    loops = compute_at(bands.padding, loop)
    set_scope(buffer, Scope.LOCAL)
    if loops and (size := loops[-1].size) in (4, 8, 16, 32, MAX_VECTOR):
        lane = AffineExpr.dimension(len(bands.padding.iters) - 1)
        if bands.padding.sizes[-1] == size and all(a.along(lane) in (0, 1) for a in strides(bands.padding)):
            set_kind(loops[-1], ForKind.VECTORIZED)

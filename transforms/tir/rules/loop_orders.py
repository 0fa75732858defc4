"""In which order a tiled nest walks over its tiles, and a tile over its sums: what `register_tile` leaves open.

What analysis prefers stands first among the options. That others are faster for some sizes has to do with caches, and
is found by measuring.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import prod
from typing import TypeAlias, TypeVar

from ....dialects.te.factors import equal_parts
from ....dialects.tir.buffers import buffer_bytes, shape_of
from ....dialects.tir.core import AllocBufferOp, BlockOp, ForKind, ForOp
from ....dialects.tir.symbols import dimension
from ..analysis.producers import written_buffer
from ..analysis.strides import Stride, strides
from ..scheduling.recorded import set_kind, split
from .choose_tile import Tile
from .choosing import choose, is_chosen

Option = TypeVar("Option")

BLOCKS = (2, 4, 8, 16)
"""So many tiles side by side can be walked through before the next row."""
STEPS = (2, 4, 8)
"""So many steps of a reduction can be unrolled."""
MAX_UNROLLED = 160
"""Vectors in the unrolled steps, at most."""


@dataclass(frozen=True)
class Order:
    """An order of groups of loops, by their numbers; `block` tiles of the first group are innermost, unless 1."""

    groups: tuple[int, ...]
    block: int = 1


def order_tiles(
    block: BlockOp, columns: Sequence[ForOp], others: Sequence[ForOp], rows: Sequence[ForOp]
) -> list[ForOp]:
    """The loops over tiles, outermost first. By merit, columns are outermost: their weights stay in cache while the
    rows pass. Or columns are taken a few at a time, which stay in cache while all rows pass."""
    groups = [list(columns), list(others), list(rows)]
    used = tuple(number for number, group in enumerate(groups) if group)
    options = [Order(order) for order in permutations(used)]
    if columns and rows and isinstance(trips := columns[-1].size, int):
        options += [Order(used, size) for size in BLOCKS if trips % size == 0 and trips > size]
    order = _first("tile-order", block, options or [Order(())])
    inner: list[ForOp] = []
    if order.block > 1:
        outer, part = split(groups[0].pop(), [order.block])
        groups[0].append(outer)
        inner = [part]
    return [*(loop for number in order.groups for loop in groups[number]), *inner]


Factors: TypeAlias = tuple[list[Stride], list[Stride]]
"""What the rows of a batch of products are read from, computed in the same function; and the other factor."""


def strips_of_rows(block: BlockOp, tile: Tile, rows: ForOp) -> int:
    """Into how many strips to divide `rows`, the loop over tiles of a batch of products, outermost of all; 1 for none.

    It pays where the one factor was computed by the nest before, whose threads had parts of the rows each: with strips
    outermost they go on with what they have written, where each would else take some products, and half of all rows
    from the others. The other factor, which all rows meet, is walked through once for each strip: that has to be less.
    """
    trips, row = rows.size, tile.row
    if row is None or not isinstance(trips, int):
        return 1
    count = next(equal_parts(trips), 1)
    batch = _batch(block, tile)
    factors = _factors(block, row)
    if factors is None or not batch or not _both_move(factors, batch):
        return 1
    return count if _pays(block, factors, count) else 1


def order_strips(
    block: BlockOp, tile: Tile, others: Sequence[ForOp], numbers: Mapping[ForOp, int]
) -> list[list[ForOp]]:
    """Loops over what is no row and no column of a batch of products: those that are to be outermost of all, and the
    others in order. Where rows lie in strips already, along which the factor moves that was computed before and no
    other does, the loop over those is outermost if that pays as in `strips_of_rows`, else innermost of the others."""
    factors = None if tile.row is None else _factors(block, tile.row)
    if factors is None:
        return [[], list(others)]
    near, far = factors
    batch = _batch(block, tile)
    strips = [
        loop
        for loop in others
        if numbers[loop] in batch and _lies_in_strips(block, numbers[loop]) and not _any_moves(far, numbers[loop])
    ]
    rest = [number for number in batch if number not in [numbers[loop] for loop in strips]]
    if len(strips) != 1 or not rest or not _both_move(factors, rest) or not _moves(near, numbers[strips[0]]):
        return [[], list(others)]
    left = [loop for loop in others if loop not in strips]
    return [strips, left] if _pays(block, factors, strips[0].likely_trips) else [[], [*left, *strips]]


def _batch(block: BlockOp, tile: Tile) -> list[int]:
    """The iterators over whole products."""
    outer = range(len(shape_of(written_buffer(block))))
    inner = (tile.row, tile.column, tile.vector)
    return [number for number in outer if number not in inner and block.likely_extents[number] > 1]


def _factors(block: BlockOp, row: int) -> Factors | None:
    reads = [access for access in strides(block) if not access.is_write and access.buffer is not written_buffer(block)]
    here = [access for access in reads if access.along(dimension(row)) != 0]
    there = [access for access in reads if access not in here]
    made = all(isinstance(access.buffer.owner, AllocBufferOp) for access in here)
    return (here, there) if here and there and made else None


def _lies_in_strips(block: BlockOp, number: int) -> bool:
    """Whether iterator `number` is the outermost index of what is written, and of a factor that is computed before."""
    outermost = {
        access.buffer
        for access in block.accesses()
        if access.map is not None and access.map.results[:1] == (dimension(number),)
    }
    read = [access.buffer for access in block.accesses() if not access.is_write]
    return written_buffer(block) in outermost and any(
        buffer in outermost and isinstance(buffer.owner, AllocBufferOp)
        for buffer in read
        if buffer is not written_buffer(block)
    )


def _moves(accesses: Sequence[Stride], number: int) -> bool:
    return all(access.along(dimension(number)) != 0 for access in accesses)


def _any_moves(accesses: Sequence[Stride], number: int) -> bool:
    return any(access.along(dimension(number)) != 0 for access in accesses)


def _both_move(factors: Factors, batch: Sequence[int]) -> bool:
    return all(_moves(each, number) for each in factors for number in batch)


def _pays(block: BlockOp, factors: Factors, count: int) -> bool:
    near, far = (sum(buffer_bytes(access.buffer) for access in each) for each in factors)
    return count > 1 and (count - 1) * far <= near // 2 and is_chosen("strips", block)


def order_sums(block: BlockOp, reduce: Sequence[ForOp], vectors: int) -> list[ForOp]:
    """The loops of a reduction, outermost first, around a tile of so many vectors; a few steps of the innermost may be
    unrolled. By merit they are as they stand."""
    loops = list(reduce)
    free = [number for number, loop in enumerate(loops) if loop.likely_trips > 1]
    options = list(permutations(free)) if len(free) <= 4 else [tuple(free)]
    order = _first("sum-order", block, options)
    for place, number in zip(free, order, strict=True):
        loops[place] = reduce[number]
    if not loops or not isinstance(trips := loops[-1].size, int):
        return loops
    steps = [1, *(size for size in STEPS if trips % size == 0 and trips > size and size * vectors <= MAX_UNROLLED)]
    if (size := _first("sum-steps", block, steps)) > 1:
        loops[-1:] = split(loops[-1], [size])
    return loops


def unroll_steps(loops: Sequence[ForOp], reduce: Sequence[ForOp]) -> None:
    """Unroll the loop that `order_sums` has split off, if it has: of `loops`, which it gave for `reduce`."""
    if len(loops) > len(reduce):
        set_kind(loops[-1], ForKind.UNROLLED)


def vectors_of(spatial: Sequence[ForOp]) -> int:
    """The vectors in a tile, whose loops these are, the last along the lanes."""
    return prod(loop.likely_trips for loop in spatial[:-1])


def _first(rule: str, block: BlockOp, options: Sequence[Option]) -> Option:
    """What the chooser picks; by merit, the first."""
    return choose(rule, block, options, lambda option: -options.index(option))

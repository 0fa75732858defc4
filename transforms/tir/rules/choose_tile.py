"""Which register tiles a reduction can have, and what speaks for each: what `register_tile` chooses from.

A tile's merit is what it computes for what it reads, from how the block's accesses move (`../analysis/strides.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from math import gcd, lcm, prod
from typing import NamedTuple, TypeAlias

from xdsl.ir.affine import AffineExpr

from ....dialects.support.dtypes import byte_width
from ....dialects.support.facts import while_unchanged
from ....dialects.tir.affine import Linear, Range, linear, substitute
from ....dialects.tir.core import BlockOp, IterKind, memref_of
from ....dialects.tir.symbols import Extent, as_affine, dimension
from ..analysis.producers import written_buffer
from ..analysis.strides import CLOSE, flat_accesses, iterator_ranges, steps_along
from .choosing import choose
from .registers import VectorRegisters

NEAR_PEAK = 0.9
"""Of the multiply-adds that the machine does in a cycle, from which on a product's tiles leave little to gain."""

MIN_STRIDED_MERIT = 0.2
"""Of these, below which vectors whose elements lie apart are not worth putting together."""


MAX_OPEN_ROWS, MAX_FAR_ROWS = 8, 14
"""Rows of a tile along an extent that is a symbol: what is left over is taken in tiles of 4, 2 and 1. Where they share
more than the nearest cache holds, what is left over is one tile (`symbolic_partition`), and there are as many as fit 32
registers with two vectors each: up to so many rows all that they share comes by once. Up to so many a rest of every
height may have code of its own, too."""


OPEN_EXTENT = 2520
"""What such an extent is taken for: no number of rows leaves a rest that would speak for another."""

ENOUGH = 0.5
"""Of these, by tiles without open rows, from which on none with such is worth its rests."""

PAGE = 4096
"""Bytes from which on vectors that lie apart are streams of their own: a processor looks ahead within a page."""

MANY_REGISTERS = 32
"""With fewer a tile's rows are few, too, so that those that leave a rest are as well."""

SPARE_REGISTERS = 4
"""What a full tile leaves for what is read."""

ASKED_AHEAD = 5
"""Rows from which on a tile asks for the next panel as well as for what streams by soon (`prefetch-streams`). Each such
request takes the place of a load, and with few registers there are about as many loads as there is room for."""

LOOP = 1
"""What a step's own instructions take, in loads: of 94 GFLOP/s 5 x 2 sums do 76 to 90, and 6 x 2 88 to 92 (a Zen 3)."""

FOLLOWED = 4
"""Streams of vectors that a processor follows by itself at the full rate. Of weights that are read once, from memory: 4
panels at a time come by at 45 GB/s, 6 at 44, 8 at 39, 12 at 38; from the second cache at 234, 234, 225, 204 (a Zen)."""

OPEN_COLUMNS = (1, 2)
"""Vectors of a tile along an extent that is a symbol: what is left over is taken in one vector, and in some lanes."""


@dataclass(frozen=True)
class Tile:
    """A register tile: `lanes` values of iterator `vector` in a register, `rows` values of iterator `row`, `columns` of
    iterator `column` (or further registers along `vector`, where `column` is `vector` itself); of a matrix unit's tiles
    so many `lines` of rows, along iterator `line`."""

    vector: int
    lanes: int
    row: int | None
    rows: int
    column: int | None
    columns: int
    line: int | None = None
    lines: int = 1


@dataclass(frozen=True)
class Tiles:
    """The tiles of a block that fit the registers, all along one vector's iterator."""

    block: BlockOp
    options: list[Tile]
    weigher: Weigher

    @property
    def vector(self) -> int:
        """The iterator whose neighbours fill a register."""
        return self.options[0].vector

    def merit(self, tile: Tile) -> Merit:
        """What speaks for a tile."""
        return self.weigher.merit(tile)

    def choose(self) -> Tile:
        """The tile that the chooser picks; without one, that which does the most multiply-adds for each read."""
        return choose("register-tile", self.block, self.options, self.merit)


def find_tile(block: BlockOp, registers: VectorRegisters) -> Tile | None:
    """The tile to take for `block`, if it has any."""
    tiles = propose_tiles(block, registers)
    return None if tiles is None else tiles.choose()


@while_unchanged
def propose_tiles(block: BlockOp, registers: VectorRegisters) -> Tiles | None:
    """The tiles of `block` within the registers; `None` where the block's inputs cannot be read as vectors."""
    written = memref_of(written_buffer(block))
    rank = len(written.get_shape())
    spatial = [i for i in range(rank) if block.likely_extents[i] > 1]
    if not spatial or any(size != 1 for size in block.sizes[spatial[-1] + 1 : rank]):
        return None
    if any(kind != IterKind.SPATIAL for kind in block.kinds[:rank]):
        return None
    vector = spatial[-1]
    extent = block.likely_extents[vector]
    full = registers.lanes(written.element_type)
    lanes = choose_lanes(extent, full)
    if lanes < max(2, min(4, full)):
        return None
    reuse = Reuse(block, vector, lanes)
    if None in reuse.steps or not any(reuse.steps):
        return None
    is_open = [i for i in spatial if not isinstance(block.sizes[i], int)]
    factors = {i: known_factor(block.sizes[i]) for i in is_open}
    extents = {i: lcm(OPEN_EXTENT, factors[i]) if i in is_open else block.likely_extents[i] for i in spatial[:-1]}
    extents[vector] = -(-extent // lanes)
    steps = prod(size if isinstance(size, int) else 0 for size in block.sizes[rank:])
    fits = _Fits(spatial, vector, lanes, extent, extents, reuse, registers, is_open, factors, steps)
    weigher = Weigher(extents, reuse, registers)
    candidates = [Tile(vector, lanes, None, 1, None, 1), *fits.tiles(_sizes)]
    if reuse.is_product and max(map(weigher.part_of_peak, candidates)) < NEAR_PEAK:
        candidates += fits.tiles(_sizes_with_rest)
        candidates += fits.tiles(_small_sizes) if registers.count < MANY_REGISTERS else ()
    known = [tile for tile in candidates if tile.row not in is_open]
    if is_open and max(map(weigher.part_of_peak, known)) >= ENOUGH:
        candidates = known
    if any(step not in (0, 1) for step in reuse.steps):
        # Each line that is read serves a part of a vector: the next rows are to lie near, and use the rest of it.
        near = [tile for tile in candidates if tile.row in (None, *spatial[-2:-1])]
        candidates = [tile for tile in near if weigher.part_of_peak(tile) >= MIN_STRIDED_MERIT]
    return Tiles(block, candidates, weigher) if candidates else None


@dataclass(frozen=True)
class _Fits:
    """What tells which tiles of a block fit the registers."""

    spatial: Sequence[int]
    vector: int
    lanes: int
    extent: int
    extents: Mapping[int, int]
    reuse: Reuse
    registers: VectorRegisters
    open: Collection[int]
    """The iterators whose extents are symbols: a tile leaves a rest of them that is not known."""
    factors: Mapping[int, int]
    """What divides the extents of such, whatever the symbols are."""
    steps: int
    """How many there are of a sum; 0 where that is not known."""

    def tiles(self, sizes: Callable[[int], Sequence[int]]) -> Iterator[Tile]:
        """The tiles whose rows are of one of the `sizes` for their extent."""
        vector, extents, reuse = self.vector, self.extents, self.reuse
        for row in (None, *self.spatial[:-1]):
            for rows in sizes(extents[row]) if row is not None else [1]:
                leaves_rest = row is not None and row in self.open and self.factors[row] % rows > 0
                for column in (None, *self.spatial):
                    if column is not None and (column == row or extents[column] == 1):
                        continue
                    if column is not None and row is not None and not reuse.vectors_serve(row, rows):
                        continue
                    for columns in self.columns(column):
                        if leaves_rest and rows > self.most_open_rows(columns):
                            continue
                        if column == vector and self.extent % self.lanes and columns > 1:
                            if extents[vector] < 4 * columns:
                                continue  # a rest of some lanes would be a large part of the work
                        # registers: the tile, one for a broadcast, and one vector for each column that rows share: none
                        # where a tile is a line of vectors; one more where vectors meet vectors, or pairs are summed
                        shared = self.registers.each * (1 if row is None and column == vector else columns)
                        between = 0 if reuse.is_product and self.registers.each == 1 else 1
                        if rows * columns + shared + 1 + between > self.registers.count:
                            continue
                        if column is not None and not reuse.scalars_serve(column, columns):
                            continue
                        if column is not None and row is not None and extents[column] % columns:
                            if extents[row] % rows:
                                continue  # rests in two directions are three more kinds of tiles
                        yield Tile(vector, self.lanes, row, rows, column, columns)

    def most_open_rows(self, columns: int) -> int:
        """The rows that a tile has along an open extent at most."""
        shared = self.steps * columns * self.lanes * self.reuse.vector_width
        return MAX_FAR_ROWS if shared > self.registers.machine.l1 else MAX_OPEN_ROWS

    def columns(self, column: int | None) -> Sequence[int]:
        """The sizes of a tile along its columns."""
        if column is not None and column in self.open:
            return OPEN_COLUMNS if column == self.vector else _divisors(self.factors[column])
        if column is None:
            return [1]
        found = _divisors(self.extents[column])
        if column == self.vector and self.extent % self.lanes and self.extent > self.lanes:
            found = sorted(
                {*found, *_divisors(self.extent // self.lanes)}
            )  # of the vectors before a rest of some lanes
        return found


class ReadKind(Enum):
    """How a read moves from lane to lane: not at all, to the neighbour, or farther."""

    SCALAR = 0
    VECTOR = 1
    STRIDED = 2


Moves: TypeAlias = dict[ReadKind, list[bool]]


class Reuse:
    """Which reads of a block stay the same within a tile.

    The vector's iterator is seen as a split by `lanes` would give it. Where a read's position is so many times an
    iterator, it moves within any size of a tile along that or within none, and its normal form says which; only where
    the iterator is divided (as in blocked layouts) the tile is substituted and the position normalised again.
    """

    def __init__(self, block: BlockOp, vector: int, lanes: int):
        self.vector = vector
        self.lanes = lanes
        count = len(block.iters)
        self._dims = [dimension(i) for i in range(count)]
        self._outer, self._lane, self._tile, self._within = (dimension(count + i) for i in range(4))
        self._ranges = dict(known := iterator_ranges(block))
        self._ranges[self._lane] = (0, lanes - 1)
        self._ranges[self._outer] = (0, -(-block.likely_extents[vector] // lanes) - 1)
        target = written_buffer(block)
        read = [flat for flat in flat_accesses(block) if flat.buffer is not target]
        self._block = block
        self._reads = [number for number, flat in enumerate(flat_accesses(block)) if flat.buffer is not target]
        # In normal form: what is divided and put together again is found here, not once it has been split.
        self._positions = [None if flat.position is None else linear(flat.position, known).to_expr() for flat in read]
        self._widths = [byte_width(memref_of(flat.buffer).element_type) for flat in read]
        self._forms = [self._form(p, {vector: self._outer * lanes + self._lane}, {}) for p in self._positions]
        by_lane = self._by_data(vector)
        self.steps = [
            step if form is None else form.step(self._lane) for form, step in zip(self._forms, by_lane, strict=True)
        ]
        """How far each read moves from lane to lane; `None` where that is not the same everywhere."""
        self._kinds = [
            ReadKind.SCALAR if step == 0 else ReadKind.VECTOR if step == 1 else ReadKind.STRIDED for step in self.steps
        ]
        self._along: dict[int, list[int | None]] = {}
        self._moves: dict[tuple[int, int], Moves] = {}

    def _by_data(self, iterator: int) -> list[int | None]:
        """How far each read moves with one more of an iterator, though its place may depend on data, which stays the
        same along that iterator: rows that are looked up go straight on within the row."""
        steps = steps_along(self._block, iterator)
        return [steps[number] for number in self._reads]

    def _form(
        self, position: AffineExpr | None, replace: Mapping[int, AffineExpr], ranges: Mapping[AffineExpr, Range]
    ) -> Linear | None:
        if position is None:
            return None
        dims = [replace.get(number, dim) for number, dim in enumerate(self._dims)]
        return linear(substitute(position, dims), {**self._ranges, **ranges})

    @property
    def vector_width(self) -> int:
        """The bytes of an element that is read in vectors, at most."""
        vectors = zip(self._kinds, self._widths, strict=True)
        return max((width for kind, width in vectors if kind == ReadKind.VECTOR), default=0)

    @property
    def is_product(self) -> bool:
        """Whether vectors meet scalars, so that a tile's rows and columns both use what is read again."""
        return {ReadKind.SCALAR, ReadKind.VECTOR} <= set(self._kinds)

    @property
    def apart(self) -> int:
        """How far the elements of neighbouring lanes lie apart in a vector, at most."""
        return max((step if step > 0 else self.lanes for step in self.steps if step not in (None, 0)), default=1)

    def moves(self, iterator: int, size: int) -> Moves:
        """For each read, by kind, whether it moves within `size` values of `iterator`."""
        key = (iterator, size)
        if (known := self._moves.get(key)) is None:
            known = self._moves[key] = self._find(iterator, size)
        return known

    def _find(self, iterator: int, size: int) -> Moves:
        whole = self._outer if iterator == self.vector else self._dims[iterator]
        result: Moves = {kind: [] for kind in ReadKind}
        for position, kind, step in zip(self._positions, self._kinds, self._steps(iterator), strict=True):
            if step is None:
                step = self._within_tile(position, iterator, size, self._ranges[whole][1] + 1)
            result[kind].append(step != 0)
        return result

    def _steps(self, iterator: int) -> list[int | None]:
        """How far each read moves with one more of `iterator`; `None` where that is not the same everywhere."""
        whole = self._outer if iterator == self.vector else self._dims[iterator]
        if (along := self._along.get(iterator)) is None:
            times = self.lanes if iterator == self.vector else 1
            by_data = [None if step is None else step * times for step in self._by_data(iterator)]
            along = self._along[iterator] = [
                step if form is None else form.step(whole) for form, step in zip(self._forms, by_data, strict=True)
            ]
        return along

    def collides(self, iterator: int, apart: int) -> bool:
        """Whether the scalars that are read for neighbours along `iterator` lie whole multiples of `apart` bytes from
        each other, so that they fall into one set of a cache."""
        reads = zip(self._kinds, self._steps(iterator), self._widths, strict=True)
        return any(kind == ReadKind.SCALAR and step and step * width % apart == 0 for kind, step, width in reads)

    def apart_along(self, iterator: int | None, size: int) -> int:
        """How many streams of vectors `size` values of `iterator` are: one where their vectors lie side by side."""
        if iterator is None:
            return 1
        reads = zip(self._kinds, self._steps(iterator), self._widths, strict=True)
        return size if any(k == ReadKind.VECTOR and (s is None or s * w >= PAGE) for k, s, w in reads) else 1

    def _within_tile(self, position: AffineExpr | None, iterator: int, size: int, extent: int) -> int | None:
        """How far a read moves with one more of `iterator`, of which `size` values are in a tile."""
        ranges: dict[AffineExpr, Range] = {self._within: (0, size - 1), self._tile: (0, -(-extent // size) - 1)}
        replace = {self.vector: self._outer * self.lanes + self._lane}
        split = self._tile * size + self._within
        replace[iterator] = split * self.lanes + self._lane if iterator == self.vector else split
        form = self._form(position, replace, ranges)
        return None if form is None else form.step(self._within)

    def vectors_serve(self, iterator: int, size: int) -> bool:
        """Whether one vector read serves all `size` values of `iterator`."""
        moves = self.moves(iterator, size)
        return not any(moves[ReadKind.VECTOR] + moves[ReadKind.STRIDED])

    def scalars_serve(self, iterator: int, size: int) -> bool:
        """Whether one broadcast read serves all `size` values of `iterator`."""
        return not any(self.moves(iterator, size)[ReadKind.SCALAR])


def known_factor(extent: Extent) -> int:
    """The largest number that divides an extent whatever its symbols are."""
    form = linear(as_affine(extent))
    return gcd(form.constant, *form.terms.values())


def choose_lanes(extent: int, full: int) -> int:
    """How many of `extent` neighbours go into one vector of up to `full`: all lanes with a masked rest, or fewer that
    divide, whichever wastes less."""
    if extent <= full:
        return extent
    divisor = gcd(extent, full)
    return full if extent / (-(-extent // full) * full) >= divisor / full else divisor


def _divisors(n: int) -> list[int]:
    return [d for d in range(1, min(n, 30) + 1) if n % d == 0]


def _sizes(n: int) -> list[int]:
    """Tile sizes for an extent: its divisors, and, if they are few, sizes that leave a rest."""
    divisors = _divisors(n)
    return divisors if max(divisors) >= 6 or n <= 6 else [*divisors, *range(6, min(n, 15))]


def _sizes_with_rest(n: int) -> list[int]:
    """The sizes that `_sizes` leaves out, where some whole tiles fit beside the rest, or all tiles are nearly alike."""
    known = _sizes(n)
    return [size for size in range(6, 15) if size not in known and (4 * size <= n or size == -(-n // -(-n // size)))]


def _small_sizes(n: int) -> list[int]:
    """Sizes below those, of which two columns fit few registers."""
    return [size for size in (4, 5, 6) if n % size and size < n]


class Merit(NamedTuple):
    """What speaks for a tile, the most important first."""

    work: float
    """Multiply-adds per cycle, were all data in the nearest cache. Rounded: what differs by less is equal."""
    streams: float
    """Less the vectors that are read for each sum: they stream by, from a cache that is farther away."""
    followed: int
    """Less the streams that are too many to be followed, where each vector serves one sum and all wait for them."""
    reused: int
    """For products, less the distance from a tile of about as many sums as there are registers: 28 of 32."""
    nearness: int
    """The row's iterator: the reads of one that is nearer to the vector's lie side by side. Where there is no row, that
    of the columns: along the vector's own they are lines that follow each other."""
    sums: int
    """Less that distance, for all."""


@dataclass(frozen=True)
class Weigher:
    """Weighs tiles of one block against each other, on one machine."""

    extents: Mapping[int, int]
    reuse: Reuse
    registers: VectorRegisters

    @cached_property
    def reads_vectors_once(self) -> bool:
        """Whether scalars meet vectors that serve one sum each, whatever the tile: a matrix by one vector."""
        others = [iterator for iterator in self.extents if iterator != self.reuse.vector]
        return self.reuse.is_product and not any(self.reuse.vectors_serve(i, self.extents[i]) for i in others)

    def part_of_peak(self, tile: Tile) -> float:
        """Of the multiply-adds that the machine does in a cycle."""
        return self.merit(tile).work / self.registers.machine.fmas

    def merit(self, tile: Tile) -> Merit:
        """Below so many independent sums as a multiply-add has cycles, their latency shows, and a rest that does not
        fill a tile costs as much as a full one. With few registers what is read and what is asked for ahead take
        turns where loads are done, while vectors come from the next cache."""
        reuse, machine = self.reuse, self.registers.machine
        no_moves = reuse.moves(tile.vector, 1)
        row_moves = reuse.moves(tile.row, tile.rows) if tile.row is not None else no_moves
        column_moves = reuse.moves(tile.column, tile.columns) if tile.column is not None else no_moves
        cost = self._costs(tile)
        reads = dict.fromkeys(ReadKind, 0)
        for kind in ReadKind:
            for along_row, along_column in zip(row_moves[kind], column_moves[kind], strict=True):
                reads[kind] += (tile.rows if along_row else 1) * (tile.columns if along_column else 1)
        streams = reads[ReadKind.VECTOR] + reads[ReadKind.STRIDED]
        if self.registers.count < MANY_REGISTERS and reuse.is_product:
            requests = streams + (tile.rows >= ASKED_AHEAD) + LOOP
            near = cost[ReadKind.SCALAR] * reads[ReadKind.SCALAR] + (reads[ReadKind.VECTOR] + requests) / machine.loads
            passing = cost[ReadKind.VECTOR] * reads[ReadKind.VECTOR]
            cycles = max(near, passing) + cost[ReadKind.STRIDED] * reads[ReadKind.STRIDED]
        else:
            cycles = sum(cost[kind] * reads[kind] for kind in ReadKind)
        sums = tile.rows * tile.columns
        once = self.reads_vectors_once and streams == sums
        if once:  # scalars are loaded while vectors come
            cycles = cost[ReadKind.VECTOR] * sums
        cycles = max(cycles, machine.computing(sums))
        used = 1.0
        if tile.row is not None:
            used = self.extents[tile.row] / (-(-self.extents[tile.row] // tile.rows) * tile.rows)
        if tile.column is not None:  # a rest of these is taken in a whole tile
            used *= self.extents[tile.column] / (-(-self.extents[tile.column] // tile.columns) * tile.columns)
        along = tile.column if tile.row is None and tile.columns > 1 else tile.row
        nearness = -1 if along is None else along
        full = self.registers.count - SPARE_REGISTERS
        apart = reuse.apart_along(tile.row, tile.rows) * reuse.apart_along(tile.column, tile.columns) if once else 0
        work = round(used * sums / cycles, 6)
        distance = -abs(sums - full)
        reused = distance if reuse.is_product else 0
        return Merit(work, round(-streams / sums, 6), -max(0, apart - FOLLOWED), reused, nearness, distance)

    def _costs(self, tile: Tile) -> Mapping[ReadKind, float]:
        """Cycles of a read. A scalar comes from the nearest cache, unless the tile's rows take one another's place
        there; vectors stream by, and come from the next one; one whose elements lie apart is picked from several, which
        other sums have brought near, or put together one by one.
        """
        machine = self.registers.machine
        scalar = 1 / machine.loads
        if tile.row is not None and tile.rows > machine.l1_ways:
            if self.reuse.collides(tile.row, machine.l1 // machine.l1_ways):
                scalar = machine.line / machine.l2_rate
        vector = machine.streamed(self.registers.bytes)
        apart = self.reuse.apart
        strided = apart / machine.loads + apart - 1 if apart <= CLOSE else float(tile.lanes)
        return {ReadKind.SCALAR: scalar, ReadKind.VECTOR: vector, ReadKind.STRIDED: strided}

"""Tile a reduction so that its partial results stay in vector registers.

For a sum of products (a convolution, a matrix product) and for any other reduction along whose output neighbours are
neighbours in the inputs too (a pooling in a blocked layout). The tile is `rows x columns` vectors: each vector that is
read serves all rows, each broadcast scalar all columns, so a tile of 14 x 2 does 28 multiply-adds on 16 reads. What
follows the reduction elementwise rides along: it is done on the tile while that is in registers.

The loops stay rolled, the tile's are marked `unrolled`, and the tile itself is a small buffer that LLVM keeps in
registers once it has unrolled them.

Source: the micro-kernel of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008); for
direct convolutions in blocked layouts, Georganas et al., "Anatomy of High-Performance Deep Learning Convolutions on
SIMD Architectures" (2018). Counterpart of TVM's MultiLevelTiling with one register level.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import gcd
from typing import TypeAlias

from xdsl.dialects import memref
from xdsl.ir.affine import AffineExpr

from ....dialects.tir.affine import Range
from ....dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForKind,
    ForOp,
    IterKind,
    Scope,
    enclosing_loops,
    memref_of,
)
from ..analysis.producers import consumers, written_buffer
from ..analysis.strides import follow_each_other, strides
from ..schedule.compute_at import compute_at
from ..schedule.iters import fuse_buffer_dims, fuse_iters
from ..schedule.loops import fuse, reorder, set_kind, split
from ..schedule.reduction import cache_write, decompose_reduction, set_scope
from .registers import VectorRegisters
from .spatial import split_loops

MIN_PARALLEL_WORK = 16384
"""Multiply-adds below which one thread does it all."""


MIN_STRIDED_MERIT = 0.4
"""Multiply-adds per cycle below which vectors whose elements lie apart are not worth putting together."""


@dataclass(frozen=True)
class Tile:
    """A register tile: `lanes` values of iterator `vector` in a register, `rows` values of iterator `row`, `columns` of
    iterator `column` (or further registers along `vector`, where `column` is `vector` itself)."""

    vector: int
    lanes: int
    row: int | None
    rows: int
    column: int | None
    columns: int


def tile_reduction(block: BlockOp, registers: VectorRegisters) -> bool:
    """Tile `block` and what follows it; says whether it could.

    It can where each input moves by a constant step along the last dimension that the block writes (best by none or
    one), and where at most one block reads the result, element by element.
    """
    if not block.is_reduction or block.init is None or block.conditions:
        return False
    output = written_buffer(block)
    readers = consumers(block)
    if isinstance(output.owner, AllocBufferOp):
        if len(readers) != 1 or not _reads_alike(block, readers[0]):
            return False
        epilogue = readers[0]
    elif not readers:
        epilogue = None
    else:
        return False
    tile = find_tile(block, registers)
    if tile is None:
        return False
    if epilogue is None:
        epilogue = cache_write(block, Scope.LOCAL)
    # Vectors of elements that lie apart pay in large tiles only: whether they still do with fewer, longer iterators is
    # not known before. All others can always be tiled.
    if not _reads_apart(block, tile) and _fuse_pixels(block, epilogue):
        tile = find_tile(block, registers)
        assert tile is not None, "a tile of neighbours is one with fused iterators too"
    _apply(block, epilogue, tile)
    return True


def _reads_apart(block: BlockOp, tile: Tile) -> bool:
    """Whether a read's vector elements do not lie side by side."""
    vector, target = AffineExpr.dimension(tile.vector), _store(block).memref
    return any(read.along(vector) not in (0, 1) for read in strides(block) if read.buffer is not target)


def _reads_alike(block: BlockOp, reader: BlockOp) -> bool:
    """Whether `reader` has one spatial iterator for each that `block` writes along, in the same order, and reads just
    the element at its own iterators."""
    if reader.is_reduction or reader.conditions:
        return False
    buffer = written_buffer(block)
    store = _store(block)
    if list(store.indices) != list(block.iters[: len(store.indices)]):
        return False
    shape = memref_of(buffer).get_shape()
    if len(reader.iters) != len(shape):
        return False
    for access in reader.accesses():
        if access.buffer is buffer and any(
            index is not iterator and size != 1
            for index, iterator, size in zip(access.op.indices, reader.iters, shape, strict=True)
        ):
            return False
    return len(enclosing_loops(reader)) == sum(1 for n in reader.extents if n > 1)


def _store(block: BlockOp) -> memref.StoreOp:
    return next(a.op for a in block.accesses() if isinstance(a.op, memref.StoreOp))


def _fuse_pixels(block: BlockOp, epilogue: BlockOp) -> bool:
    """Fuse neighbouring spatial iterators along which all accesses of both blocks walk straight on; says whether there
    are any."""
    fused = False
    rank = len(_store(block).indices)
    for position in range(rank - 2, -1, -1):
        extents = block.extents
        if extents[position] == 1 or extents[position + 1] == 1:
            continue
        if follow_each_other(block, position) and follow_each_other(epilogue, position):
            buffer = written_buffer(block)
            assert isinstance(buffer.owner, AllocBufferOp)
            fuse_iters(block, position)
            fuse_iters(epilogue, position)
            fuse_buffer_dims(buffer.owner, position, [block, epilogue])
            fused = True
    return fused


def find_tile(block: BlockOp, registers: VectorRegisters) -> Tile | None:
    """The tile that does the most multiply-adds for each read, within the registers; `None` where the block's inputs
    cannot be read as vectors."""
    store = _store(block)
    rank = len(store.indices)
    spatial = [i for i in range(rank) if block.extents[i] > 1]
    if not spatial or spatial[-1] != rank - 1 or any(k != IterKind.SPATIAL for k in block.kinds[:rank]):
        return None
    vector = spatial[-1]
    extent = block.extents[vector]
    full = registers.lanes(memref_of(store.memref).element_type)
    lanes = choose_lanes(extent, full)
    if lanes < max(2, min(4, full)):
        return None
    # The vector's iterator, as a split by `lanes` would give it: two more dimensions.
    outer, inner = (AffineExpr.dimension(len(block.iters) + i) for i in range(2))
    ranges: dict[AffineExpr, Range] = {outer: (0, -(-extent // lanes) - 1), inner: (0, lanes - 1)}
    accesses = [s for s in strides(block, {vector: outer * lanes + inner}, ranges) if s.buffer is not store.memref]
    along = [access.along(inner) for access in accesses]
    if None in along or not any(along):
        return None
    extents = {i: block.extents[i] for i in spatial[:-1]}
    extents[vector] = -(-extent // lanes)
    reuse = Reuse(block, vector, lanes, extents)
    candidates = [Tile(vector, lanes, None, 1, None, 1)]
    for row in (None, *spatial[:-1]):
        for rows in _sizes(extents[row]) if row is not None else [1]:
            for column in (None, *spatial):
                if column is not None and (column == row or extents[column] == 1):
                    continue
                if column is not None and row is not None and not reuse.vectors_serve(row, rows):
                    continue
                for columns in _divisors(extents[column]) if column is not None else [1]:
                    if column == vector and extent % lanes and columns > 1 and extents[vector] < 4 * columns:
                        continue  # a rest of some lanes would be a large part of the work
                    # registers: the tile, one vector for each column, one for a broadcast
                    if rows * columns + columns + 1 > registers.count - 1:
                        continue
                    if column is not None and not reuse.scalars_serve(column, columns):
                        continue
                    candidates.append(Tile(vector, lanes, row, rows, column, columns))
    best = max(candidates, key=lambda t: _merit(t, extents, reuse))
    if any(step not in (0, 1) for step in along) and _merit(best, extents, reuse)[0] < MIN_STRIDED_MERIT:
        return None
    return best


class ReadKind(Enum):
    """How a read moves from lane to lane: not at all, to the neighbour, or farther."""

    SCALAR = 0
    VECTOR = 1
    STRIDED = 2


Moves: TypeAlias = dict[ReadKind, list[bool]]


class Reuse:
    """Which reads of a block stay the same within a tile."""

    def __init__(self, block: BlockOp, vector: int, lanes: int, extents: dict[int, int]):
        self.block = block
        self.vector = vector
        self.lanes = lanes
        self.extents = extents
        self.target = _store(block).memref
        self._moves: dict[tuple[int, int], Moves] = {}

    def moves(self, iterator: int, size: int) -> Moves:
        """For each read, by kind, whether it moves within `size` values of `iterator`."""
        key = (iterator, size)
        if (known := self._moves.get(key)) is None:
            known = self._moves[key] = self._find(iterator, size)
        return known

    def _find(self, iterator: int, size: int) -> Moves:
        count = len(self.block.iters)
        outer, lane, tile_outer, tile_inner = (AffineExpr.dimension(count + i) for i in range(4))
        lanes_outer = self.extents[self.vector]
        ranges: dict[AffineExpr, Range] = {lane: (0, self.lanes - 1), tile_inner: (0, size - 1)}
        ranges[tile_outer] = (0, -(-self.extents[iterator] // size) - 1)
        replace = {iterator: tile_outer * size + tile_inner}
        if iterator == self.vector:
            replace = {iterator: (tile_outer * size + tile_inner) * self.lanes + lane}
        else:
            ranges[outer] = (0, lanes_outer - 1)
            replace[self.vector] = outer * self.lanes + lane
        result: Moves = {kind: [] for kind in ReadKind}
        for access in strides(self.block, replace, ranges):
            if access.buffer is not self.target:
                step = access.along(lane)
                kind = ReadKind.SCALAR if step == 0 else ReadKind.VECTOR if step == 1 else ReadKind.STRIDED
                result[kind].append(access.along(tile_inner) != 0)
        return result

    def vectors_serve(self, iterator: int, size: int) -> bool:
        """Whether one vector read serves all `size` values of `iterator`."""
        moves = self.moves(iterator, size)
        return not any(moves[ReadKind.VECTOR] + moves[ReadKind.STRIDED])

    def scalars_serve(self, iterator: int, size: int) -> bool:
        """Whether one broadcast read serves all `size` values of `iterator`."""
        return not any(self.moves(iterator, size)[ReadKind.SCALAR])


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


def _merit(tile: Tile, extents: dict[int, int], reuse: Reuse) -> tuple[float, int, int]:
    """Multiply-adds per cycle, were all data in the nearest cache; below eight independent sums, the latency of an
    addition shows, and a rest that does not fill a tile costs as much as a full one."""
    no_moves = reuse.moves(tile.vector, 1)
    row_moves = reuse.moves(tile.row, tile.rows) if tile.row is not None else no_moves
    column_moves = reuse.moves(tile.column, tile.columns) if tile.column is not None else no_moves
    # A multiply-add takes half a cycle. A scalar comes from the nearest cache, in half a cycle; vectors stream by, and
    # come from the next one, in two; one whose elements lie apart is put together one by one.
    cost = {ReadKind.SCALAR: 0.5, ReadKind.VECTOR: 2.0, ReadKind.STRIDED: float(tile.lanes)}
    cycles = 0.0
    for kind in ReadKind:
        for along_row, along_column in zip(row_moves[kind], column_moves[kind], strict=True):
            cycles += cost[kind] * (tile.rows if along_row else 1) * (tile.columns if along_column else 1)
    sums = tile.rows * tile.columns
    cycles = max(cycles, sums / 2, 4)
    used = 1.0
    if tile.row is not None:
        used = extents[tile.row] / (-(-extents[tile.row] // tile.rows) * tile.rows)
    # Of equals: a tile of about 28 sums, along the iterator nearest to the vector's, whose reads lie side by side.
    return used * sums / cycles, -abs(sums - 28), -1 if tile.row is None else tile.row


def _apply(block: BlockOp, epilogue: BlockOp, tile: Tile) -> None:
    work = 1
    for extent in block.extents:
        work *= extent
    loops = dict(zip((i for i, n in enumerate(epilogue.extents) if n > 1), enclosing_loops(epilogue), strict=True))
    outer: list[ForOp] = [loop for i, loop in loops.items() if i not in (tile.row, tile.column, tile.vector)]
    vector = loops[tile.vector]
    inner: list[ForOp] = []
    vector_outer: list[ForOp] = []
    if vector.trip_count > tile.lanes:
        factors = [tile.columns, tile.lanes] if tile.column == tile.vector and tile.columns > 1 else [tile.lanes]
        parts = split(vector, factors)
        vector_outer = [parts[0]]
        inner = parts[1:]
    else:
        inner = [vector]
    column_outer: list[ForOp] = []
    if tile.column is not None and tile.column != tile.vector:
        parts = split(loops[tile.column], [tile.columns]) if tile.columns > 1 else [loops[tile.column]]
        column_outer = parts[:1]
        inner = [*parts[1:], *inner]
    row_outer: list[ForOp] = []
    if tile.row is not None:
        parts = split(loops[tile.row], [tile.rows]) if tile.rows > 1 else [loops[tile.row]]
        row_outer = parts[:1]
        inner = [*parts[1:], *inner]
    # A loop that leaves a rest stays on its own, so that it can be partitioned.
    ragged: list[ForOp] = []
    for part, loop, size in (
        (vector_outer, tile.vector, tile.lanes * (tile.columns if tile.column == tile.vector else 1)),
        (row_outer, tile.row, tile.rows),
    ):
        if part and loop is not None and epilogue.extents[loop] % size:
            ragged += part
    # Columns outermost: their weights stay in cache while the rows pass.
    outer = [loop for loop in (*column_outer, *vector_outer, *outer, *row_outer) if loop not in ragged]
    reorder(*outer, *ragged, *inner)
    top = fuse(*outer) if outer else None
    parallel = top
    if ragged:
        parallel = top if top is not None and top.trip_count >= 4 else ragged[0]
        top = ragged[-1]
    for loop in inner[:-1]:
        set_kind(loop, ForKind.UNROLLED)
    set_kind(inner[-1], ForKind.VECTORIZED)
    if top is None:
        top = enclosing_loops(epilogue)[0]
        top = parallel = _wrap(top)
    if work >= MIN_PARALLEL_WORK and parallel is not None and parallel.trip_count > 1:
        _run_parallel(parallel)
    buffer = written_buffer(block)
    compute_at(block, top)
    set_scope(buffer, Scope.LOCAL)
    spatial, reduce = split_loops(block)
    spatial = [loop for loop in spatial if loop in _under(top)]
    lanes = spatial[-1]
    if lanes.trip_count > tile.lanes:  # several registers along the vector's iterator
        spatial[-1:] = split(lanes, [tile.lanes])
    spatial.sort(key=lambda loop: _rank(block, loop, tile))
    reorder(*reduce, *spatial)
    for loop in spatial[:-1]:
        set_kind(loop, ForKind.UNROLLED)
    set_kind(spatial[-1], ForKind.VECTORIZED)
    if reduce:
        decompose_reduction(block, reduce[0])


def _run_parallel(loop: ForOp) -> None:
    """Run `loop` in parallel: it becomes the outermost of its nest first."""
    chain = enclosing_loops(loop)
    if chain:
        reorder(loop, *chain)
    set_kind(loop, ForKind.PARALLEL)


def _wrap(loop: ForOp) -> ForOp:
    """Put a loop of one iteration around `loop`, for a producer to move into."""
    outer = ForOp(1, name_hint="once")
    assert loop.parent is not None
    loop.parent.insert_op_before(outer, loop)
    loop.detach()
    outer.body.block.add_op(loop)
    return outer


def _under(top: ForOp) -> set[ForOp]:
    return {op for op in top.walk() if isinstance(op, ForOp) and op is not top}


def _rank(block: BlockOp, loop: ForOp, tile: Tile) -> int:
    """Rows outside, columns inside them, lanes innermost."""
    loop_vars = list(block.loop_vars)
    position = loop_vars.index(loop.var)
    bound = next(i for i, b in enumerate(block.bindings.data.results) if position in b.used_dims())
    if bound == tile.vector:
        return 2 if loop.trip_count != tile.lanes else 3
    return 1 if bound == tile.row else 2

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

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import prod

from xdsl.dialects import memref

from ....dialects.rt.tiles import ROWS
from ....dialects.support.facts import while_unchanged
from ....dialects.support.machine_model import MachineModel
from ....dialects.support.walking import all_within
from ....dialects.tir.blocks import accessing_blocks
from ....dialects.tir.buffers import buffer_bytes, shape_of
from ....dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForKind,
    ForOp,
    Scope,
    enclosing_loops,
    memref_of,
)
from ....dialects.tir.symbols import dimension, likely
from ..analysis.narrow_products import COLUMNS, outer_column, way_of
from ..analysis.producers import consumers, is_before, nest_of, written_buffer
from ..analysis.strides import strides
from ..scheduling.recorded import (
    add_unit_loop,
    cache_write,
    compute_at,
    decompose_reduction,
    reorder,
    set_kind,
    set_scope,
    split,
    use_tiles,
)
from .choose_tile import Tile, propose_tiles
from .choosing import is_chosen
from .loop_orders import order_strips, order_sums, order_tiles, strips_of_rows, unroll_steps, vectors_of
from .packed_panels import Panel, copy_panel, propose_panel
from .padded_bands import LIKELY_PIXELS, Bands, Walk, fill_in, propose_bands
from .pixels import fuse_pixels
from .preceding import preceding
from .registers import VectorRegisters
from .spatial import fuse_known, split_loops
from .turned_factors import copy_whole, turn_factor, turned_panel

MIN_SHARES = 4
"""Tiles along a loop from which on it is the one whose iterations threads share."""

MIN_PARALLEL_WORK = 16384
"""Multiply-adds below which one thread does it all."""

MIN_TILE_ROWS, MIN_ALL_ROWS, MAX_TILE_ROWS = 4, 16, 32
"""Rows of a tile, and of all tiles that meet the same columns, from which on a matrix unit pays; and the rows that two
of its tiles have."""

MAX_BLOCK = 64
"""Columns of a matrix unit's tiles that are the channels of a pixel, and no more."""

PAIRS, MAX_VECTOR_ROWS = "bf16_pairs", 12
"""Products of bf16 in lanes, and the rows of a tile of them, two vectors each."""


def tile_reduction(block: BlockOp, registers: VectorRegisters, way: str | None = None) -> bool:
    """Tile `block` and what follows it; says whether it could.

    It can where each input moves by a constant step along the last dimension that the block writes (best by none or
    one), and where at most one block reads the result, element by element. One that narrow products are added up
    for in some `way` (`way_for`) gets tiles for that.
    """
    if not _can_be_tiled(block):
        return False
    epilogue = next(iter(_epilogues(block)), None)
    if way is not None:
        epilogue = epilogue or cache_write(block, Scope.LOCAL)
        if way != PAIRS:
            fuse_pixels(block, epilogue)
        tile, in_vectors = matrix_tile(block, way, registers.machine), way == PAIRS
        use_tiles(_apply(block, epilogue, tile, registers.machine, in_vectors)[0])
        return True
    turned = turn_factor(block, registers)
    tiles = propose_tiles(block, registers)
    if tiles is None:
        return False
    if epilogue is None:
        epilogue = cache_write(block, Scope.LOCAL)
    # Vectors of elements that lie apart pay in large tiles only: whether they still do with fewer, longer iterators is
    # not known before. All others can always be tiled.
    before = preceding(block, registers)
    if not _reads_apart(block, tiles.vector) and fuse_pixels(block, epilogue, before):
        tiles = propose_tiles(block, registers)
        assert tiles is not None, "a tile of neighbours is one with fused iterators too"
    tile = tiles.choose()
    if turned is None:
        panel = propose_panel(block, tile, registers.machine)
    else:
        panel = turned_panel(block, turned, tile, registers.machine)
    _apply(block, epilogue, tile, registers.machine, panel=panel, before=before)
    if turned is not None and is_before(turned, nest_of(block)):
        copy_whole(turned, registers)
    return True


@while_unchanged
def way_for(block: BlockOp, matrix: Collection[str]) -> str | None:
    """By which of the target's `matrix` `tile_reduction` has a block computed; `None` where by none."""
    if not matrix or not _can_be_tiled(block) or (way := way_of(block, matrix)) is None:
        return None
    row, outer = len(shape_of(written_buffer(block))) - 2, outer_column(block)
    rows, is_open = block.likely_extents[row], not isinstance(block.sizes[row], int)
    met = prod(extent for number, extent in enumerate(block.likely_extents[: row + 1]) if number != outer)
    fits = not is_open if way == PAIRS else rows >= MIN_TILE_ROWS and met >= MIN_ALL_ROWS
    return way if fits and is_chosen("matrix-unit", block) else None


@while_unchanged
def _can_be_tiled(block: BlockOp) -> bool:
    """Whether a block is a reduction, which at most one block reads, element by element, and none writes too."""
    if not block.is_reduction or block.init is None or block.conditions:
        return False
    buffer = written_buffer(block)
    if not isinstance(buffer.owner, AllocBufferOp):
        return not consumers(block)
    if any(buffer in other.writes for other in accessing_blocks(buffer) if other is not block):
        return False
    readers = _epilogues(block)
    return len(readers) <= 1 and bool(readers or consumers(block)) and all(reads_alike(block, r) for r in readers)


def _epilogues(block: BlockOp) -> list[BlockOp]:
    """What reads the block's result, but for readers whose loops are in an order that is decided."""
    readers = consumers(block)
    return [] if all(_is_elsewhere(reader) for reader in readers) else readers


def matrix_tile(block: BlockOp, way: str, machine: MachineModel) -> Tile:
    """Two by two tiles of a matrix unit: 32 rows, or fewer that divide them, or two short lines of them; and 32 columns
    if there are so many; or one by four, where what four columns need stays in the first cache. Of vectors, as many
    rows as leave registers for what is read."""
    column = len(shape_of(written_buffer(block))) - 1
    rows, columns = block.sizes[column - 1 : column + 1]
    assert isinstance(columns, int)
    together, sums = columns // COLUMNS, prod(block.likely_extents[column + 1 :])
    most = MAX_VECTOR_ROWS if way == PAIRS else MAX_TILE_ROWS
    if way != PAIRS and columns == MAX_BLOCK and 2 * sums * columns <= machine.l1:
        most = ROWS
    fitting = [size for size in range(most, most // 2, -1) if isinstance(rows, int) and rows % size == 0]
    size = fitting[0] if fitting else min(rows, most) if isinstance(rows, int) else most
    row = column - 1 if rows != 1 else None
    counts = (4, 3, 2, 1) if size <= ROWS else (2, 1)
    if columns == COLUMNS and (outer := outer_column(block)) is not None:
        extent = block.sizes[outer]
        assert isinstance(extent, int)
        return Tile(column, COLUMNS, row, size, outer, next(count for count in counts if extent % count == 0))
    is_short = isinstance(rows, int) and rows == size <= ROWS < most
    if way != PAIRS and is_short and together % 2 == 0 and (line := _line(block)) is not None:
        return Tile(column, COLUMNS, row, size, column, 2, line, 2)
    return Tile(column, COLUMNS, row, size, column, next(count for count in counts if together % count == 0))


def _line(block: BlockOp) -> int | None:
    """The iterator before that of rows, where rows stand in lines: what columns are multiplied by moves with it, and
    they do not, so that they are read once for two lines."""
    line = len(shape_of(written_buffer(block))) - 3
    if line < 0 or not isinstance(size := block.sizes[line], int) or size < 2:
        return None
    target = written_buffer(block)
    steps = [read.along(dimension(line)) for read in strides(block) if read.buffer is not target]
    known = [step > 0 for step in steps if step is not None]
    return line if sorted(known) == [False, True] and len(known) == len(steps) else None


def _is_elsewhere(block: BlockOp) -> bool:
    """Whether `block` has loops of its own, whose order is decided."""
    return any(loop.for_kind != ForKind.SERIAL for loop in enclosing_loops(block))


def _reads_apart(block: BlockOp, iterator: int) -> bool:
    """Whether a read's vector elements, along `iterator`, do not lie side by side."""
    vector, target = dimension(iterator), _store(block).memref
    return any(read.along(vector) not in (0, 1) for read in strides(block) if read.buffer is not target)


def reads_alike(block: BlockOp, reader: BlockOp) -> bool:
    """Whether `reader` has one spatial iterator for each that `block` writes along, in the same order, and reads just
    the element at its own iterators, which no other of its values needs: it would be computed anew for each."""
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
            extent != 1 if size == 1 else index is not iterator
            for index, iterator, extent, size in zip(access.op.indices, reader.iters, reader.sizes, shape, strict=True)
        ):
            return False
    return len(enclosing_loops(reader)) == sum(1 for n in reader.likely_extents if n > 1)


def _store(block: BlockOp) -> memref.StoreOp:
    return next(a.op for a in block.accesses() if isinstance(a.op, memref.StoreOp))


@dataclass(frozen=True)
class _Loops:
    """The loops of what follows a block, once the tile is split off: over tiles, by what they go along, and within."""

    others: list[ForOp]
    columns: list[ForOp]
    vectors: list[ForOp]
    rows: list[ForOp]
    inner: list[ForOp]
    numbers: Mapping[ForOp, int]
    """Of the iterators that loops go along, for those that were not split."""

    @classmethod
    def split_off(cls, epilogue: BlockOp, tile: Tile, in_vectors: bool = True) -> _Loops:
        """Split the loops of a block. What follows a matrix unit takes all columns of a row as one vector, whose parts
        a processor works on beside each other."""
        numbers = (number for number, extent in enumerate(epilogue.likely_extents) if extent > 1)
        loops = dict(zip(numbers, enclosing_loops(epilogue), strict=True))
        others = [loop for i, loop in loops.items() if i not in (tile.row, tile.column, tile.vector, tile.line)]
        vector = loops[tile.vector]
        vectors: list[ForOp] = []
        inner = [vector]
        if vector.likely_trips > tile.lanes:
            along = tile.columns if tile.column == tile.vector else 1
            factors = [along, tile.lanes] if in_vectors and along > 1 else [along * tile.lanes]
            outermost, *inner = split(vector, factors)
            vectors = [outermost]
        columns: list[ForOp] = []
        if tile.column is not None and tile.column != tile.vector:
            parts = split(loops[tile.column], [tile.columns]) if tile.columns > 1 else [loops[tile.column]]
            columns, inner = parts[:1], [*parts[1:], *inner]
        rows: list[ForOp] = []
        if tile.line is not None and tile.row is not None:  # whole lines
            parts = split(loops[tile.line], [tile.lines])
            rows, inner = parts[:1], [*parts[1:], loops[tile.row], *inner]
        elif tile.row is not None:
            parts = split(loops[tile.row], [tile.rows]) if tile.rows > 1 else [loops[tile.row]]
            rows, inner = parts[:1], [*parts[1:], *inner]
        return cls(others, columns, vectors, rows, inner, {loop: number for number, loop in loops.items()})

    def ragged(self, epilogue: BlockOp, tile: Tile) -> list[ForOp]:
        """Those that leave a rest, and stay on their own, so that they can be partitioned."""
        along_vectors = tile.lanes * (tile.columns if tile.column == tile.vector else 1)
        row, rows = (tile.row, tile.rows) if tile.line is None else (tile.line, tile.lines)
        return [
            loop
            for parts, number, size in ((self.vectors, tile.vector, along_vectors), (self.rows, row, rows))
            for loop in parts
            if number is not None and epilogue.likely_extents[number] % size
        ]


def _apply(
    block: BlockOp,
    epilogue: BlockOp,
    tile: Tile,
    machine: MachineModel,
    in_vectors: bool = True,
    panel: Panel | None = None,
    before: Sequence[BlockOp] = (),
) -> list[ForOp]:
    """Tile a block and what follows it; return the loops over its sums. Within a tile of vector registers loops are
    unrolled, so that it can stay there, and sums begin in loops of their own. A `panel` is copied where the loops along
    which it moves are shares enough; reductions `before` are tiled as the block is."""
    work = prod(block.likely_extents)
    loops = _Loops.split_off(epilogue, tile, in_vectors)
    ragged = loops.ragged(epilogue, tile)
    columns = [loop for loop in (*loops.columns, *loops.vectors) if loop not in ragged]
    parts: list[ForOp] = []
    if not in_vectors and block.likely_extents[tile.vector] <= MAX_BLOCK:  # one pixel's channels, one after the other
        parts = [loop for loop in loops.vectors if loop in columns]
        columns = [loop for loop in columns if loop not in parts]
    rows = [loop for loop in loops.rows if loop not in ragged]
    strips: list[ForOp] = []
    if rows and (count := strips_of_rows(block, tile, rows[0])) > 1:
        strip, *rows = split(rows[0], [rows[0].trip_count // count])
        strips = [strip]
    outermost, others = order_strips(block, tile, loops.others, loops.numbers)
    outer = [*strips, *outermost, *order_tiles(block, columns, others, rows), *parts]
    around = [] if panel is None else _around(panel, loops)
    bands = None if around else _bands(block, epilogue, outer, loops.numbers, machine)
    if bands is None and not around and others and columns and _columns_stay_near(block, tile, machine):
        outside = [*strips, *outermost, *others, *columns, *rows]
        if (bands := _bands(block, epilogue, outside, loops.numbers, machine)) is not None:
            outer = outside
    over_bands: list[ForOp] = []
    if around:
        within = [loop for loop in (*loops.others, *loops.rows) if loop not in around]
        reorder(*around, *within, *loops.inner)
        around = around if set(around) & set(ragged) else _fused(around)
        tiles, shared = [*around, *within], _long_enough(around) or around[0]
    elif bands is not None:
        over_bands, tiles, shared = _order_bands(bands, outer, ragged, loops.inner)
    else:
        tiles, shared = _order_tiles(epilogue, outer, ragged, loops.inner)
    parallel = None if work < MIN_PARALLEL_WORK or shared.likely_trips <= 1 else shared
    if parallel is not None:
        _bring_outside(parallel)
        tiles = [parallel, *(loop for loop in tiles if loop is not parallel)]
    top = tiles[-1]
    for each in (block, *before):
        compute_at(each, top)
        set_scope(written_buffer(each), Scope.LOCAL)
    if bands is not None:
        fill_in(bands, next(loop for loop in reversed(tiles) if loop in over_bands))
    if panel is not None and around:
        copy_panel(panel, around[-1])
    # Kinds last: what is moved into loops that run at the same time has to be tried on a copy.
    if parallel is not None:
        set_kind(parallel, ForKind.PARALLEL)
    _set_kinds(loops.inner, in_vectors)
    for each in before:
        _tile_sums(each, tile, top, in_vectors)
    return _tile_sums(block, tile, top, in_vectors)


def _around(panel: Panel, loops: _Loops) -> list[ForOp]:
    """The loops over tiles along which `panel` moves; none where they are too few to share, and it is not worth it."""
    around = [*loops.vectors, *(loop for loop in loops.others if loops.numbers[loop] in panel.along)]
    return around if prod(loop.likely_trips for loop in around) >= MIN_SHARES else []


def _bands(
    block: BlockOp, epilogue: BlockOp, outer: list[ForOp], numbers: Mapping[ForOp, int], machine: MachineModel
) -> Bands | None:
    """Bands of what is padded, which stay near: along one of the outermost loops that were not split."""
    walks: list[Walk] = []
    for loop in takewhile(lambda loop: loop in numbers, outer):
        number, trips = numbers[loop], likely(loop.size, LIKELY_PIXELS)
        step = likely(epilogue.sizes[number], LIKELY_PIXELS) // trips
        if loop.is_symbolic and step > 1:
            break  # each tile of the last band would ask whether it is there
        walks.append(Walk(number, trips, step))
    return propose_bands(block, walks, machine)


def _columns_stay_near(block: BlockOp, tile: Tile, machine: MachineModel) -> bool:
    """Whether all that columns have, and rows share, stays in the second cache while bands of rows pass, of which there
    is a known number."""
    if tile.row is None or not all(isinstance(size, int) for size in block.sizes):
        return False
    target, row = written_buffer(block), dimension(tile.row)
    shared = {read.buffer for read in strides(block) if read.buffer is not target and read.along(row) == 0}
    return 2 * sum(map(buffer_bytes, shared)) <= machine.l2


def _order_bands(
    bands: Bands, outer: list[ForOp], ragged: list[ForOp], inner: list[ForOp]
) -> tuple[list[ForOp], list[ForOp], ForOp]:
    """The loops over bands; these and the loops over tiles, outermost first; and the one that is shared. What is within
    a band ends where a symbol says, if there is one, and then stays on its own."""
    if bands.size > 1:
        outer = [*outer[: bands.number], *split(outer[bands.number], [bands.size]), *outer[bands.number + 1 :]]
    reorder(*outer, *ragged, *inner)
    is_open = any(loop.is_symbolic for loop in (*outer, *ragged))
    over, within = _fused(outer[: bands.number + 1]), outer[bands.number + 1 :]
    if within and not is_open:
        within = [fuse_known(within)]
    return over, [*over, *within, *ragged], (_long_enough(over) if is_open else None) or over[-1]


def _order_tiles(
    epilogue: BlockOp, outer: list[ForOp], ragged: list[ForOp], inner: list[ForOp]
) -> tuple[list[ForOp], ForOp]:
    """The loops over tiles, outermost first, and the one that is shared: the outermost that is long enough, as that
    order is the weights'."""
    reorder(*outer, *ragged, *inner)
    tiles = _fused(outer)
    shared = _long_enough(tiles)
    if shared is None and (tiles or ragged):
        shared = ragged[0] if ragged else tiles[-1]
    tiles += ragged
    if shared is None:
        shared = add_unit_loop(enclosing_loops(epilogue)[0])
        tiles = [shared]
    return tiles, shared


def _fused(loops: list[ForOp]) -> list[ForOp]:
    """What is left of nested loops, outermost first, once as many are fused as can be."""
    return [*enclosing_loops(innermost := fuse_known(loops)), innermost] if loops else []


def _long_enough(loops: list[ForOp]) -> ForOp | None:
    """The outermost that threads can share."""
    return next((loop for loop in loops if loop.likely_trips >= MIN_SHARES), None)


def _tile_sums(block: BlockOp, tile: Tile, top: ForOp, in_vectors: bool) -> list[ForOp]:
    """Tile the loops that a block has got below `top`; return those over its sums."""
    spatial, reduce = split_loops(block)
    spatial = [loop for loop in spatial if loop in _under(top)]
    lanes = spatial[-1]
    if lanes.likely_trips > tile.lanes:  # several registers along the vector's iterator
        spatial[-1:] = split(lanes, [tile.lanes])
    spatial.sort(key=lambda loop: _rank(block, loop, tile))
    sums = order_sums(block, reduce, vectors_of(spatial))
    reorder(*sums, *spatial)
    unroll_steps(sums, reduce)
    _set_kinds(spatial, in_vectors)
    if sums and in_vectors:
        decompose_reduction(block, sums[0])
    return sums


def _set_kinds(loops: list[ForOp], in_vectors: bool) -> None:
    """Vectorise the innermost loop of a tile; unroll the others, where the tile is to be in vector registers."""
    for loop in loops[:-1] if in_vectors else ():
        set_kind(loop, ForKind.UNROLLED)
    set_kind(loops[-1], ForKind.VECTORIZED)


def _bring_outside(loop: ForOp) -> None:
    """Make `loop` the outermost of its nest."""
    if chain := enclosing_loops(loop):
        reorder(loop, *chain)


def _under(top: ForOp) -> set[ForOp]:
    return set(all_within(top, ForOp))


def _rank(block: BlockOp, loop: ForOp, tile: Tile) -> int:
    """Lines outside, rows inside them, then columns, lanes innermost."""
    loop_vars = list(block.loop_vars)
    position = loop_vars.index(loop.var)
    bound = next(i for i, b in enumerate(block.bindings.data.results) if position in b.used_dims())
    if bound == tile.vector:
        return 2 if loop.size != tile.lanes else 3
    if bound == tile.line:
        return 0
    return 1 if bound == tile.row else 2

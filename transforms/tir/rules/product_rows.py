"""Compute products of matrices and the reductions between them some rows at a time: attention, as one nest.

In `softmax(Q K^T) V` every row of the result needs its own row of the scores, and of nothing else that is computed. So
one loop over tiles of rows does it all: the tile's scores (a product), their maximum, exponentials and sum, and the
tile of the result (another product). A tile of rows of scores is each thread's own; memory is linear in the
number of keys, and scores never leave the nearest caches. Numbers of rows and keys may be symbols. Each product is
tiled for registers within the tile of rows.

```mlir
tir.for parallel %tile_of_rows {
  tir.for %columns { scores = 0; tir.for %k { scores += q * k }; scaled = scores * c }     rows x columns in registers
  maximum, exponentials, sum, weights                                                      a tile of rows of its own
  tir.for %columns { result = 0; tir.for %keys { result += weights * v }; write }          rows x columns in registers
}
```

It holds for any chain whose blocks share the output's rows (`rows.shared_rows`), with a product and another reduction.

Source: the order of FlashAttention (Dao et al., 2022), but for the maximum, which is not corrected on the way: the
scores of a tile of rows are all there before the first exponential.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from ....dialects.support.dtypes import byte_width
from ....dialects.tir.affine import linear
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import BlockOp, ForKind, ForOp, IterKind, Scope, enclosing_loops, memref_of
from ....dialects.tir.symbols import Extent, likely
from ..analysis.producers import consumers, written_buffer
from ..analysis.strides import iterator_ranges, strides
from ..scheduling.recorded import (
    add_unit_loop,
    cache_write,
    compute_at,
    decompose_reduction,
    fuse,
    keep_rolled,
    reorder,
    set_kind,
    set_scope,
    split,
)
from .choosing import choose, is_chosen
from .register_tile import MIN_PARALLEL_WORK, reads_alike
from .registers import VectorRegisters
from .row_vectors import vectorize_along
from .rows import is_chain, shared_rows
from .spatial import split_loops

MAX_ROWS, MAX_COLUMNS = 14, 4
"""Of a tile, in rows and in vectors."""


NOT_HIDDEN = 0.45
"""Of the cycles that a vector from the second cache takes."""


@dataclass(frozen=True)
class Product:
    """A sum of products whose result's last iterator moves one factor by one, and the other by none."""

    block: BlockOp
    steps: int
    """Multiply-adds for one element."""
    columns: int
    lanes: int

    @property
    def vectors(self) -> int:
        """Vectors in a row."""
        return -(-self.columns // self.lanes)


@dataclass(frozen=True)
class Tiles:
    """Rows that are computed together, and how many vectors of them each product has in registers."""

    rows: int
    vectors: tuple[int, ...]


def schedule_product_rows(blocks: list[BlockOp], registers: VectorRegisters) -> bool:
    """Schedule all of `blocks`, the last of which writes the function's only output; says whether it could."""
    if sum(block.is_reduction for block in blocks) < 2 or not is_chain(blocks):
        return False
    products = [product for block in blocks if (product := product_of(block, registers)) is not None]
    order = _moved(blocks[-1], products)
    chain = blocks if order is None else blocks[:-1]
    shape = shape_of(written_buffer(chain[-1]))
    depth = shared_rows(chain, registers.machine.kept_near)
    if not products or any(len(shape_of(written_buffer(p.block))) != len(shape) for p in products):
        return False
    if depth is None or depth != len(shape) - 1:
        return False
    if shape[-1] == 1 or all(extent == 1 for extent in shape[:depth]):
        return False  # no loop over columns, or none over rows
    count = likely(shape[depth - 1])
    options = _options(products, count, _row_bytes(blocks, depth), registers)
    if not options or not is_chosen("product-rows", blocks[-1]):
        return False

    def merit(tiles: Tiles) -> float:
        return -_cycles(products, tiles, count, registers)

    tiles = choose("product-rows-tile", blocks[-1], options, merit)
    _Rows(blocks, products, tiles, shape, order, registers).apply()
    return True


@dataclass(frozen=True)
class Part:
    """A part of an iterator: all of it, or the quotient or remainder by `size`."""

    iterator: int
    size: int | None
    is_quotient: bool


Order: TypeAlias = "list[list[Part]]"
"""What each index of a read is made of, the part that counts most first."""


def _moved(output: BlockOp, products: list[Product]) -> Order | None:
    """Where `output` reads a product that it does nothing but move; `None` if it does something else, too."""
    buffers = {written_buffer(product.block) for product in products}
    reads = [access for access in output.accesses() if not access.is_write]
    if output.is_reduction or len(reads) != 1 or reads[0].buffer not in buffers or reads[0].map is None:
        return None
    order: Order = []
    for index in reads[0].map.results:
        form = linear(index, iterator_ranges(output))
        parts = [_part(atom) for atom in sorted(form.terms, key=form.terms.__getitem__, reverse=True)]
        found = [part for part in parts if part is not None]
        if form.constant or len(found) < len(parts):
            return None
        order.append(found)
    shape = shape_of(reads[0].buffer)[-2:]
    whole = [len(parts) == (extent != 1) for parts, extent in zip(order[-2:], shape, strict=True)]
    return order if all(whole) else None


def _part(atom: AffineExpr) -> Part | None:
    if isinstance(atom, AffineDimExpr):
        return Part(atom.position, None, False)
    if isinstance(atom, AffineBinaryOpExpr) and isinstance(atom.lhs, AffineDimExpr):
        quotient = atom.kind == AffineBinaryOpKind.FloorDiv
        if isinstance(atom.rhs, AffineConstantExpr) and (quotient or atom.kind == AffineBinaryOpKind.Mod):
            return Part(atom.lhs.position, atom.rhs.value, quotient)
    return None


def product_of(block: BlockOp, registers: VectorRegisters) -> Product | None:
    """What `block` is as a product; `None` if it is none, or not of vectors."""
    if not block.is_reduction or block.init is None:
        return None
    output = written_buffer(block)
    rank = len(shape_of(output))
    if rank < 2 or any(kind != IterKind.SPATIAL for kind in block.kinds[:rank]):
        return None
    vector = AffineExpr.dimension(rank - 1)
    moves = {access.along(vector) for access in strides(block) if access.buffer is not output}
    element = memref_of(output).element_type
    columns, full = block.likely_extents[rank - 1], registers.lanes(element)
    if moves != {0, 1} or columns < min(4, full):
        return None
    return Product(block, prod(block.likely_extents[rank:]), columns, min(full, columns))


def _row_bytes(blocks: list[BlockOp], depth: int) -> int:
    buffers = [written_buffer(block) for block in blocks[:-1]]
    return sum(prod(map(likely, shape_of(b)[depth:])) * byte_width(memref_of(b).element_type) for b in buffers)


def _options(products: list[Product], count: int, row_bytes: int, registers: VectorRegisters) -> list[Tiles]:
    """The tiles that fit the registers and the caches: for each number of rows the best for every product."""
    options: list[Tiles] = []
    for rows in range(1, min(MAX_ROWS, count) + 1):
        fitting = [n for n in range(1, MAX_COLUMNS + 1) if rows * n + n + 1 <= registers.count - 1]
        if not fitting or rows * row_bytes > registers.machine.kept_near:
            continue
        best = [min(fitting, key=lambda n: (_product_cycles(p, rows, n, registers), n)) for p in products]
        options.append(Tiles(rows, tuple(best)))
    return options


def _cycles(products: list[Product], tiles: Tiles, count: int, registers: VectorRegisters) -> float:
    """For all rows, with those that are left over after whole tiles."""
    whole, rest = divmod(count, tiles.rows)
    tiled = zip(products, tiles.vectors, strict=True)

    def each(product: Product, vectors: int) -> float:
        left = _product_cycles(product, rest, vectors, registers)
        return whole * _product_cycles(product, tiles.rows, vectors, registers) + left

    return sum(each(product, vectors) for product, vectors in tiled)


def _product_cycles(product: Product, rows: int, vectors: int, registers: VectorRegisters) -> float:
    """For one tile of so many rows: multiply-adds or reads, whichever take longer, and what waiting for vectors is not
    hidden by them."""
    machine = registers.machine
    waiting = NOT_HIDDEN * machine.streamed(registers.bytes)

    def step(n: int) -> float:
        return max(machine.computing(rows * n), (rows + n) / machine.loads) + n * waiting if n * rows else 0.0

    whole, rest = divmod(product.vectors, vectors)
    return product.steps * (whole * step(vectors) + step(rest))


class _Rows:
    """The schedule of a chain, whose last values before they are moved have `shape`."""

    def __init__(
        self,
        blocks: list[BlockOp],
        products: list[Product],
        tiles: Tiles,
        shape: Sequence[Extent],
        order: Order | None,
        registers: VectorRegisters,
    ):
        self.blocks = blocks
        self.products = {p.block: (p, n) for p, n in zip(products, tiles.vectors, strict=True)}
        self.registers = registers
        self.lanes = max(product.lanes for product in products)
        self.rows = tiles.rows
        self.shape = shape
        self.depth = len(shape) - 1
        self.order = order
        self.output_tile: tuple[ForOp, ...] = ()

    def apply(self) -> None:
        for block in list(self.products):
            readers = consumers(block)
            moved = self.order is not None and readers == self.blocks[-1:]
            if not moved and (len(readers) != 1 or not reads_alike(block, readers[0])):
                self.blocks.insert(self.blocks.index(block) + 1, cache_write(block, Scope.LOCAL))
        output = self.blocks[-1]
        top, parallel = self.tile_rows(self.loops_in_order(output))
        readers = {consumers(block)[0] for block in self.products}
        for block in reversed(self.blocks[:-1]):
            if block in self.products:
                self.tile_product(block, consumers(block)[0], top)
                continue
            compute_at(block, top)
            set_scope(written_buffer(block), Scope.LOCAL)
            if block not in readers:
                self.vectorize_rows(block, top)
        work = sum(prod(block.likely_extents) for block in self.blocks)
        if parallel.likely_trips > 1 and work >= MIN_PARALLEL_WORK:
            set_kind(parallel, ForKind.PARALLEL)

    def loops_in_order(self, output: BlockOp) -> list[ForOp]:
        """The loops of `output`, or parts of them, in the order of the chain's rows and columns."""
        if self.order is None:
            return enclosing_loops(output)
        loops = {
            number: loop
            for loop in enclosing_loops(output)
            for number, binding in enumerate(output.bindings.data.results)
            if loop.var in {output.loop_vars[d] for d in binding.used_dims()}
        }
        divided: dict[int, list[ForOp]] = {}
        found: list[ForOp] = []
        for part in (part for parts in self.order for part in parts):
            if part.size is None:
                found += [loops[part.iterator]] if part.iterator in loops else []
                continue
            if part.iterator not in divided:
                divided[part.iterator] = split(loops[part.iterator], [part.size])
            found.append(divided[part.iterator][0 if part.is_quotient else 1])
        reorder(*found)
        return found

    def tile_rows(self, loops: list[ForOp]) -> tuple[ForOp, ForOp]:
        """The loop over tiles of rows, and the outermost one. Notes the loops within a tile."""
        *batch, row, column = loops
        parts = split(row, [self.rows]) if self.rows > 1 else [row]
        self.output_tile = (*parts[1:], column)
        tile = parts[0]
        if not batch:
            return tile, tile
        outer = fuse(*batch)
        count = self.shape[-2]
        ragged = self.rows > 1 if not isinstance(count, int) else count % self.rows
        if ragged and outer.likely_trips >= 4:
            return tile, outer  # a loop that leaves a rest stays on its own, so that it can be partitioned
        if ragged:
            reorder(tile, outer)
            return outer, tile
        fused = fuse(outer, tile)
        return fused, fused

    def vectorize_rows(self, block: BlockOp, top: ForOp) -> None:
        """Vectors along a row, also for what is left at its end."""
        loops = _loops_of(block, top)
        if (row := loops.get(self.depth - 1)) is not None:
            keep_rolled(row)
        _, reduce = split_loops(block)
        if reduce and block.init is not None:
            decompose_reduction(block, reduce[0])
            vectorize_along(block, self.registers)
            return
        column, along = loops.get(self.depth), AffineExpr.dimension(self.depth)
        if column is None or any(access.along(along) not in (0, 1) for access in strides(block)):
            return
        if column.likely_trips > self.lanes:
            column = split(column, [self.lanes])[-1]
        set_kind(column, ForKind.VECTORIZED)

    def tile_product(self, block: BlockOp, reader: BlockOp, top: ForOp) -> None:
        """Tile `reader` for registers, and compute `block` in its tile."""
        product, vectors = self.products[block]
        if reader is self.blocks[-1]:
            *rows, column = self.output_tile
        else:
            loops = _loops_of(reader, top)
            rows = [loops[self.depth - 1]] if self.depth - 1 in loops else []
            column = loops[self.depth]
        outer: list[ForOp] = []
        inner = [column]
        if product.vectors > 1:
            parts = split(column, [vectors, product.lanes] if vectors > 1 else [product.lanes])
            outer, inner = parts[:1], parts[1:]
        inner = [*rows, *inner]
        reorder(*outer, *inner)
        base = outer[0] if outer else add_unit_loop(inner[0])
        keep_rolled(base)
        compute_at(block, base)
        set_scope(written_buffer(block), Scope.LOCAL)
        _mark(inner)
        own = _loops_of(block, base)
        _, reduce = split_loops(block)
        reduce = [loop for loop in reduce if loop in set(_under(base))]
        tile = [own[self.depth - 1]] if self.depth - 1 in own else []
        lanes = own[self.depth]
        tile += split(lanes, [product.lanes]) if lanes.likely_trips > product.lanes else [lanes]
        reorder(*reduce, *tile)
        _mark(tile)
        if reduce:
            decompose_reduction(block, reduce[0])


def _mark(tile: list[ForOp]) -> None:
    """The loops of a register tile: the last is the vector's."""
    for loop in tile[:-1]:
        set_kind(loop, ForKind.UNROLLED)
    set_kind(tile[-1], ForKind.VECTORIZED)


def _under(top: ForOp) -> list[ForOp]:
    return [op for op in top.walk() if isinstance(op, ForOp) and op is not top]


def _loops_of(block: BlockOp, top: ForOp) -> dict[int, ForOp]:
    """The loop below `top` that each iterator of `block` is bound to; none for one that is bound to no loop there."""
    below = set(_under(top))
    within = [loop for loop in enclosing_loops(block) if loop in below]
    found: dict[int, ForOp] = {}
    for number, binding in enumerate(block.bindings.data.results):
        bound = {block.loop_vars[d] for d in binding.used_dims()}
        found.update((number, loop) for loop in within if loop.var in bound)
    return found

"""Sums of products of narrow numbers, and which of them a matrix unit takes.

    acc[i, j] = acc[i, j] + cast(lhs[i, k * p + kk]) * cast(rhs[j / 16, k, j % 16, kk])

where `p` elements, two of bf16 or four bytes, fill 32 bits: what 16 columns need for a step of `k` fills a row of 64
bytes. So `contrib_dense_pack` keeps its weights. The steps of `k` may be those of several iterators that walk straight
on through both sides: of a convolution whose channels stand in blocks, the channels of a block, and the taps of a line.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import BFloat16Type, f32, i8, i32
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation
from xdsl.ir.affine import AffineExpr

from ....dialects.rt.tiles import ROWS, TileProduct
from ....dialects.support.dtypes import byte_width
from ....dialects.tir.affine import Linear, linear, substitute
from ....dialects.tir.core import BlockOp, IterKind, memref_of
from .producers import stores_of, written_buffer
from .strides import flat_accesses, iterator_ranges

COLUMNS = 16
"""Columns of a tile: numbers of 32 bits in a row."""
STEPS = 16
"""Rows of the right side's tile, at most: steps of `k` that one instruction takes."""
DOT_CYCLES, ROW_CYCLES, LANES_PER_CYCLE = 16, 16, 2
"""What a product of tiles takes, however few their steps; what it takes that a row of 16 sums goes through memory to
what follows, and not straight on in its register; and how many vectors of sums get products in lanes in a cycle."""


@dataclass(frozen=True)
class NarrowProduct:
    """The loads of a block that adds a product to what it keeps: of what is kept, and of both sides."""

    kind: TileProduct
    acc: memref.LoadOp
    lhs: memref.LoadOp
    rhs: memref.LoadOp
    store: memref.StoreOp

    @property
    def together(self) -> int:
        """Elements of a side in 32 bits."""
        return 4 // byte_width(memref_of(self.lhs.memref).element_type)

    def way(self, matrix: Collection[str]) -> str | None:
        """By which of the target's `matrix` it is added up, tiles before lanes."""
        ways = ("bf16", "bf16_pairs") if self.kind == TileProduct.BF16 else ("int8",)
        return next((way for way in ways if way in matrix), None)

    def swapped(self) -> NarrowProduct:
        """The same with the sides exchanged."""
        kind = {TileProduct.S8U8: TileProduct.U8S8, TileProduct.U8S8: TileProduct.S8U8}.get(self.kind, self.kind)
        return NarrowProduct(kind, self.acc, self.rhs, self.lhs, self.store)


def narrow_product(block: BlockOp) -> NarrowProduct | None:
    """What `block` adds up, if it is one product of narrow numbers, and does nothing else. Sums of floats are taken
    only where they may be made in any order."""
    stores = stores_of(block)
    if len(stores) != 1 or any(op.regions for op in block.body.block.ops):
        return None
    store = stores[0]
    loads = [op for op in block.body.block.ops if isinstance(op, memref.LoadOp)]
    add = store.value.owner
    if len(loads) != 3 or not isinstance(add, arith.AddfOp | arith.AddiOp) or add.result.type not in (f32, i32):
        return None
    if isinstance(add, arith.AddfOp) and FastMathFlag.REASSOC not in add.fastmath.data:
        return None
    kept = [v.owner for v in add.operands if isinstance(v.owner, memref.LoadOp) and v.owner.memref is store.memref]
    products = [v.owner for v in add.operands if isinstance(v.owner, arith.MulfOp | arith.MuliOp)]
    if len(kept) != 1 or len(products) != 1 or list(kept[0].indices) != list(store.indices):
        return None
    sides = [_side(operand.owner) for operand in products[0].operands]
    (lhs, rhs) = sides
    if lhs is None or rhs is None or (lhs[1] == "bf16") != (rhs[1] == "bf16"):
        return None
    kind = TileProduct.BF16 if lhs[1] == "bf16" else TileProduct(lhs[1] + rhs[1])
    return NarrowProduct(kind, kept[0], lhs[0], rhs[0], store)


def _side(op: object) -> tuple[memref.LoadOp, str] | None:
    """The load that `op` makes wider, and of what: `bf16`, `s8`, `u8`."""
    if not isinstance(op, arith.ExtSIOp | arith.ExtUIOp | arith.ExtFOp) or not isinstance(op.input.owner, Operation):
        return None
    load = op.input.owner
    if not isinstance(load, memref.LoadOp):
        return None
    if isinstance(op, arith.ExtFOp):
        return (load, "bf16") if isinstance(load.res.type, BFloat16Type) and op.result.type == f32 else None
    if load.res.type != i8 or op.result.type != i32:
        return None
    return load, "s8" if isinstance(op, arith.ExtSIOp) else "u8"


def way_of(block: BlockOp, matrix: Collection[str]) -> str | None:
    """By which of the target's `matrix` a block can be computed that has not been scheduled; `None` where by none.

    It has whole tiles of columns and, on tiles, steps enough to keep them busy, so that products in lanes would take
    longer; and both sides lie as they are read.
    """
    product = narrow_product(block)
    way = None if product is None else product.way(matrix)
    if product is None or way is None or block.init is None or block.conditions:
        return None
    walks = _walks_of(block, product)
    if walks is None:
        return None
    if way == "bf16_pairs":
        sums = walks.sums
        return way if len(sums) == 2 and sums[0][1:] == (2, 2 * COLUMNS) and sums[1] == (2, 1, 1) else None
    steps = taken_at_once(walks.sums, product.together).steps // product.together
    if steps == STEPS:
        return way
    rows = min(walks.rows, ROWS)
    vectors = rows * prod(size for size, _, _ in walks.sums) // product.together
    trips = vectors // (rows * steps) if steps else 0
    return way if trips and vectors / LANES_PER_CYCLE >= DOT_CYCLES * trips + ROW_CYCLES * rows else None


def outer_column(block: BlockOp) -> int | None:
    """The iterator, before that of a row, along which tiles of columns can follow each other: the left side does not
    move with it."""
    product = narrow_product(block)
    walks = None if product is None else _walks_of(block, product)
    return None if walks is None else walks.column


@dataclass(frozen=True)
class Taken:
    """Steps that are taken at once."""

    counts: Mapping[int, int]
    """How many iterations of each walk, by its number."""
    stride: int
    """From a row of the right side, what 16 columns need for a step of `k`, to the next, in elements."""

    @property
    def steps(self) -> int:
        """How many products of each sum are taken; 1 where not even what fills 32 bits goes straight on."""
        return prod(self.counts.values())


def taken_at_once(sums: Sequence[tuple[int, int, int]], together: int, most: int = STEPS) -> Taken:
    """How many iterations of each of the walks over `sums`, `(size, step of the left side, of the right side)`, make up
    a tile's steps: of those that go straight on through the left side, and evenly through the right one, as many as
    fill no more than `most` rows of that. What is left of them is walked through tile by tile."""
    taken: dict[int, int] = {}
    steps, stride = 1, 0

    def goes_on(left: int, right: int) -> bool:
        if left != steps or right < 1:
            return False
        return right == steps if steps < together else right * together == (stride or right) * steps

    while True:
        number = next((n for n, walk in enumerate(sums) if n not in taken and goes_on(*walk[1:])), None)
        if number is None:
            break
        size, room = sums[number][0], (together * most if steps >= together else together) // steps
        if steps == together:
            stride = sums[number][2]
        part = next(part for part in range(min(size, room), 0, -1) if size % part == 0)
        if part > 1:
            taken[number] = part
        steps *= part
        if part < size:
            break
    return Taken(taken if steps % together == 0 else {}, stride or together * COLUMNS)


@dataclass(frozen=True)
class _Walks:
    """How both sides move along the iterators over sums: `(size, step of the left side, of the right side)`; how many
    rows there are; and the iterator of columns before that of the row, if there is one."""

    sums: list[tuple[int, int, int]]
    rows: int
    column: int | None


def _walks_of(block: BlockOp, product: NarrowProduct) -> _Walks | None:
    """The walks of a block whose last iterator is of whole tiles of columns, and the one before it of rows."""
    rank = len(memref_of(written_buffer(block)).get_shape())
    sizes = [size if isinstance(size, int) else 0 for size in block.sizes]
    if rank < 2 or 0 in sizes[rank - 1 :] or any(kind != IterKind.SPATIAL for kind in block.kinds[:rank]):
        return None
    if sizes[rank - 1] % COLUMNS:
        return None
    found = {flat.op: _over_lanes(block, rank - 1, flat.position) for flat in flat_accesses(block)}
    dims = [AffineExpr.dimension(number) for number in range(len(sizes) + 2)]
    row, lane, outer = dims[rank - 2], dims[-2], dims[-1]
    for each in (product, product.swapped()):
        lhs, rhs = found[each.lhs], found[each.rhs]
        if lhs is None or rhs is None or rhs.step(outer) is None:
            continue
        if [lhs.step(lane), lhs.step(outer), rhs.step(row), rhs.step(lane)] != [0, 0, 0, product.together]:
            continue
        if (lhs.step(row) or 0) < 1:
            continue
        moves = [(sizes[n], lhs.step(dims[n]), rhs.step(dims[n])) for n in range(rank, len(sizes)) if sizes[n] > 1]
        sums = [(size, left, right) for size, left, right in moves if left is not None and right is not None]
        if len(sums) < len(moves):
            continue
        columns = [n for n in range(rank - 2) if sizes[n] > 1 and lhs.step(dims[n]) == 0 and rhs.step(dims[n])]
        return _Walks(sums, block.likely_extents[rank - 2], columns[-1] if columns else None)
    return None


def _over_lanes(block: BlockOp, column: int, position: AffineExpr | None) -> Linear | None:
    """A position over the block's iterators, and last the lane and the number of the tile of columns."""
    if position is None:
        return None
    count = len(block.iters)
    lane, outer = AffineExpr.dimension(count), AffineExpr.dimension(count + 1)
    ranges = dict(iterator_ranges(block))
    ranges[lane], ranges[outer] = (0, COLUMNS - 1), (0, ranges[AffineExpr.dimension(column)][1] // COLUMNS)
    dims = [outer * COLUMNS + lane if n == column else AffineExpr.dimension(n) for n in range(count)]
    return linear(substitute(position, dims), ranges)

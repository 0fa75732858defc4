"""Sums of products of narrow numbers, and which of them a matrix unit takes.

    acc[i, j] = acc[i, j] + cast(lhs[i, k * p + kk]) * cast(rhs[j / 16, k, j % 16, kk])

where `p` elements, two of bf16 or four bytes, fill 32 bits: what 16 columns need for a step of `k` fills a row of 64
bytes. So `contrib_dense_pack` keeps its weights.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import BFloat16Type, f32, i8, i32
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation
from xdsl.ir.affine import AffineExpr

from ....dialects.rt.tiles import ROW_BYTES, TileProduct
from ....dialects.support.dtypes import byte_width
from ....dialects.tir.affine import Linear, linear, substitute
from ....dialects.tir.core import BlockOp, IterKind, memref_of
from .producers import stores_of, written_buffer
from .strides import flat_accesses, iterator_ranges

COLUMNS = 16
"""Columns of a tile: numbers of 32 bits in a row."""
STEPS = 16
"""Rows of the right side's tile: steps of `k` that one instruction takes."""


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

    It has whole tiles of columns and, on tiles, of steps, and both sides lie as they are read.
    """
    product = narrow_product(block)
    way = None if product is None else product.way(matrix)
    if product is None or way is None or block.init is None or block.conditions:
        return None
    return way if _lies_so(block, product, 1 if way == "bf16_pairs" else STEPS) else None


def _lies_so(block: BlockOp, product: NarrowProduct, multiple: int) -> bool:
    rank = len(memref_of(written_buffer(block)).get_shape())
    sizes = [size if isinstance(size, int) else 0 for size in block.sizes]
    if rank < 2 or 0 in sizes or any(kind != IterKind.SPATIAL for kind in block.kinds[:rank]):
        return False
    column, together = rank - 1, product.together
    steps = [number for number in range(rank, len(sizes)) if sizes[number] > 1]
    if len(steps) != 2 or sizes[column] % COLUMNS or sizes[steps[0]] % multiple or sizes[steps[1]] != together:
        return False
    found = {flat.op: _over_lanes(block, column, flat.position) for flat in flat_accesses(block)}
    dims = [AffineExpr.dimension(number) for number in range(len(sizes) + 2)]
    step, part, lane, outer, row = dims[steps[0]], dims[steps[1]], dims[-2], dims[-1], dims[rank - 2]

    def lie_so(lhs: Linear | None, rhs: Linear | None) -> bool:
        if lhs is None or rhs is None:
            return False
        return (
            [lhs.step(dim) for dim in (part, step, lane, outer)] == [1, together, 0, 0]
            and [rhs.step(dim) for dim in (part, lane, step, row)] == [1, together, together * COLUMNS, 0]
            and (multiple == 1 or (lhs.step(row) or 0) * (4 // together) >= ROW_BYTES)
            and rhs.step(outer) is not None
        )

    return any(lie_so(found[each.lhs], found[each.rhs]) for each in (product, product.swapped()))


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

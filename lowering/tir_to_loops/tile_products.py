"""Nests of sums of products for a matrix unit: loops over its tile registers.

    tir.for %k = 0 to 4 annotations {tiles} {        // 16 steps of 4 bytes each at a time
      tir.for %kk = 0 to 4 { tir.for %i = 0 to 32 { tir.for %j = 0 to 32 { c[i, j] += a[i, 4 k + kk] * b[..] } } }

->  rt.tile_config %rows
    rt.tile_load 0, %c[...] rows 16 stride 32        // 2 x 2 tiles of sums
    scf.for %k = 0 to 4 {
      rt.tile_load 4, %a[...] ...  rt.tile_load 6, %b[...] ...
      rt.tile_dot "u8s8" 0, 4, 6 ...
    }
    rt.tile_store 0, %c[...] rows 16 stride 32
    rt.tile_release

Of bf16, where `vdpbf16ps` is to be used, it is one loop over pairs, and dot products in lanes (`rt.dot "bf16"`). The
loops may stand in any order and be split, as long as what each access walks through is what a tile reads:
`transforms/tir/analysis/narrow_products.py` says which blocks can be brought to that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith, func, memref, scf, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    VectorType,
    bf16,
    f32,
    i8,
    i32,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.rt.calls import CallOp, CallPackedOp
from ...dialects.rt.constants import ConstantOp
from ...dialects.rt.dots import DotOp, Instruction
from ...dialects.rt.tiles import (
    CONFIG_BYTES,
    ROW_BYTES,
    ROWS,
    TILES,
    TileConfigOp,
    TileDotOp,
    TileLoadOp,
    TileProduct,
    TileReleaseOp,
    TileStoreOp,
    TileZeroOp,
    config_of,
)
from ...dialects.support.dense import dense_of
from ...dialects.support.interned import index
from ...dialects.support.walking import in_order
from ...dialects.tir.affine import Linear, access_map, expr_range
from ...dialects.tir.core import BlockOp, ForOp, IterKind
from ...transforms.tir.analysis.narrow_products import COLUMNS, STEPS, NarrowProduct, narrow_product, taken_at_once
from ...transforms.tir.analysis.producers import stores_of
from .accesses import AccessEmitter
from .flat_buffers import FlatBuffer

FEW_ROWS, MOST_SUMS = 4, 12
"""Rows that a tile is not worth taking for, where there are dot products in lanes; and vectors of sums of these."""


@dataclass(frozen=True)
class _Walk:
    """A loop of the nest: its dimension, its size, and how far each access moves with it."""

    dim: AffineExpr
    size: int
    acc: int
    lhs: int
    rhs: int


@dataclass(frozen=True)
class _Place:
    """An access: its buffer, and where it is in the nest's first iteration."""

    buffer: FlatBuffer
    start: Linear


class TileEmitter:
    """Appends nests of narrow products in the ways that the target has by `matrix` (`VectorUnit.matrix`). Few rows of
    bytes are summed in lanes where it has `dot` products for that (`VectorUnit.dot`)."""

    def __init__(self, accesses: AccessEmitter, matrix: Sequence[str], dot: str | None = None):
        self.at = accesses.at
        self.accesses = accesses
        self.matrix = matrix
        self.dot = dot

    def emit(self, nest: ForOp) -> str | None:
        """Append what `nest` computes; where it cannot be done with tiles, say why, and append nothing."""
        loops, block = _perfect_nest(nest)
        if block is None:
            return "it is no nest around one block"
        product = narrow_product(block)
        if product is None:
            return "its block adds up no product of narrow numbers"
        if block.init is not None and not (_begins_with_zeros(block) and _has_all_steps(block, loops)):
            return "the sums begin with something other than 0, or in a loop outside"
        if (way := product.way(self.matrix)) is None:
            return f"the target has no matrix unit for {product.kind.value}"
        if way == "bf16_pairs" and block.init is not None:
            return "sums in lanes begin in a nest of their own"
        if any(not isinstance(loop.size, int) or loop.start for loop in loops):
            return "a loop has an open extent, or does not start at 0"
        for condition in block.conditions:
            bounds = expr_range(self.at.over_loops(block, condition), self.at.ranges)
            if bounds is None or bounds[0] < 0:
                return "the block has a condition"
        for each in (product, product.swapped()):
            in_lanes = way == "bf16_pairs"
            if way == "int8" and self.dot == Instruction.VNNI:
                tiling = self._tiling(loops, block, each, prod(block.likely_extents))
                if tiling is not None and tiling.is_of_few_rows:
                    tiling.emit_dots(self, self.at.dim(nest.var), block.init is not None)
                    return None
            tiling = self._tiling(loops, block, each, prod(block.likely_extents) if in_lanes else STEPS)
            if tiling is not None and in_lanes and tiling.in_one_line:
                tiling.emit_lanes(self, self.at.dim(nest.var))
                return None
            if tiling is not None and not in_lanes and tiling.fits_tiles:
                tiling.emit(self, block.init is not None)
                return None
        return "the accesses are not those of tiles"

    def _tiling(self, loops: Sequence[ForOp], block: BlockOp, product: NarrowProduct, most: int) -> _Tiling | None:
        """How the loops walk through tiles; `None` where they do not."""
        bindings = self.at.bindings(block)
        iters: Mapping[SSAValue, AffineExpr] = dict(zip(block.body.block.args, bindings, strict=True))
        dims = [self.at.dim(loop.var) for loop in loops]
        places: list[_Place] = []
        steps: list[list[int]] = []
        for op in (product.acc, product.lhs, product.rhs):
            buffer, form = self.accesses.position(op, iters)
            moves = [None if form is None else form.step(dim) for dim in dims]
            if form is None or None in moves:
                return None
            steps.append([move for move in moves if move is not None])
            start = Linear({atom: factor for atom, factor in form.terms.items() if atom not in dims}, form.constant)
            places.append(_Place(buffer, start))
        sizes = [loop.size for loop in loops if isinstance(loop.size, int)]
        walks = [_Walk(*each) for each in zip(dims, sizes, *steps, strict=True) if each[1] > 1]
        return _Tiling.of(product, places, walks, most)


def share_configuration(block: Block) -> None:
    """Take the tiles once for all of a function, or of a loop, where all that it does with them is of one
    configuration, and nothing is called that might use them too: to take them costs as much as a hundred multiply-adds
    of vectors. A loop takes them where it has an iteration."""
    if (config := _sole_configuration(block)) is not None and block.first_op is not None and block.last_op is not None:
        _drop_configurations(block)
        block.insert_ops_before([config, TileConfigOp(config.result)], block.first_op)
        block.insert_op_before(TileReleaseOp(), block.last_op)
        return
    for op in list(block.ops):
        if isinstance(op, scf.ForOp) and not op.results and (config := _sole_configuration(op.body.block)) is not None:
            _drop_configurations(op.body.block)
            has_trips = arith.CmpiOp(op.lb, op.ub, "slt")
            guarded = scf.IfOp(has_trips.result, [], Region(taken := Block()))
            block.insert_ops_before([has_trips, guarded], op)
            op.detach()
            taken.add_ops([config, TileConfigOp(config.result), op, TileReleaseOp(), scf.YieldOp()])
        else:
            for inner in (inner for region in op.regions for inner in region.blocks):
                share_configuration(inner)


def _sole_configuration(block: Block) -> ConstantOp | None:
    """The only configuration of the tiles that is taken in a block, if nothing in it is called."""
    ops = in_order(block)
    tables = [op.config.owner for op in ops if isinstance(op, TileConfigOp)]
    values = {table.value for table in tables if isinstance(table, ConstantOp)}
    if len(values) != 1 or any(isinstance(op, CallOp | CallPackedOp | func.CallOp) for op in ops):
        return None
    return ConstantOp(values.pop(), MemRefType(i8, [CONFIG_BYTES]))


def _drop_configurations(block: Block) -> None:
    """Erase all in a block that takes the tiles, or gives them back."""
    ops = in_order(block)
    tables = [op.config.owner for op in ops if isinstance(op, TileConfigOp)]
    for op in (*(op for op in ops if isinstance(op, TileConfigOp | TileReleaseOp)), *dict.fromkeys(tables)):
        assert isinstance(op, Operation)
        op.detach()
        op.erase(safe_erase=False)


def _perfect_nest(nest: ForOp) -> tuple[list[ForOp], BlockOp | None]:
    """The loops of a nest, outermost first, and the one block that is in them."""
    loops: list[ForOp] = []
    op: Operation = nest
    while isinstance(op, ForOp):
        loops.append(op)
        ops = list(op.body.block.ops)
        if len(ops) != 1:
            return loops, None
        op = ops[0]
    return loops, op if isinstance(op, BlockOp) else None


def _begins_with_zeros(block: BlockOp) -> bool:
    """Whether a block's `init` stores zeros where its body adds up, and does nothing else."""
    assert block.init is not None
    stores = [op for op in block.init.block.ops if isinstance(op, memref.StoreOp)]
    others = [op for op in block.init.block.ops if not isinstance(op, memref.StoreOp | arith.ConstantOp)]
    if len(stores) != 1 or any({result.type for result in op.results} != {index} for op in others):
        return False
    (store,) = stores
    value = store.value.owner
    number = value.value if isinstance(value, arith.ConstantOp) else None
    is_zero = isinstance(number, IntegerAttr | FloatAttr) and number.value.data == 0
    (adds,) = stores_of(block)
    places = [
        access_map(op, list(args)) for op, args in ((store, block.init.block.args), (adds, block.body.block.args))
    ]
    return is_zero and places[0] is not None and places[0] == places[1]


def _has_all_steps(block: BlockOp, loops: Sequence[ForOp]) -> bool:
    """Whether all loops that a block reduces along are among `loops`."""
    inside = {loop.var for loop in loops}
    return all(
        block.loop_vars[dim] in inside
        for kind, binding in zip(block.kinds, block.bindings.data.results, strict=True)
        if kind == IterKind.REDUCE
        for dim in binding.used_dims()
    )


@dataclass(frozen=True)
class _Tiling:
    """What is computed: `rows` in each iteration of `line`, by `columns` vectors of 16 columns, over so many `steps` of
    what fills 32 bits at once, for each iteration of `trips`."""

    product: NarrowProduct
    acc: _Place
    lhs: _Place
    rhs: _Place
    rows: int
    columns: int
    steps: int
    stride: int
    """From a row of the right side to the next, in elements."""
    line: _Walk
    row: _Walk
    column: _Walk
    trips: Sequence[_Walk]

    @staticmethod
    def of(product: NarrowProduct, places: Sequence[_Place], walks: Sequence[_Walk], most: int) -> _Tiling | None:
        """The tiling of loops that walk so, if it is one, with `most` steps at once."""
        sums = [w for w in walks if not w.acc]
        rows = sorted((w for w in walks if w.acc and not w.rhs), key=lambda walk: walk.acc)
        lanes = [w for w in walks if (w.size, w.acc, w.lhs, w.rhs) == (COLUMNS, 1, 0, product.together)]
        columns = [w for w in walks if w.acc and w.rhs and not w.lhs and w not in lanes]
        if (
            len(rows) > 2
            or len(lanes) != 1
            or len(columns) > 1
            or len(sums) + len(rows) + len(columns) + 1 < len(walks)
        ):
            return None
        taken = taken_at_once([(w.size, w.lhs, w.rhs) for w in sums], product.together, most)
        if not taken.counts:
            return None
        parts = [(walk, taken.counts.get(number, 1)) for number, walk in enumerate(sums)]
        trips = [_Walk(w.dim, w.size // n, w.acc, w.lhs * n, w.rhs * n) for w, n in parts if n < w.size]
        row = rows[0] if rows else _Walk(lanes[0].dim, 1, COLUMNS, product.together * STEPS, 0)
        line = rows[1] if len(rows) > 1 else _Walk(lanes[0].dim, 1, 0, 0, 0)
        column = columns[0] if columns else _Walk(lanes[0].dim, 1, COLUMNS, 0, 0)
        acc, lhs, rhs = places
        steps = taken.steps // product.together
        return _Tiling(product, acc, lhs, rhs, row.size, column.size, steps, taken.stride, line, row, column, trips)

    @property
    def fits_tiles(self) -> bool:
        """Whether there are registers for all of it, and rows of sums lie far enough apart, and none backwards."""
        parts = self.line.size * -(-self.rows // ROWS)
        return self.row.acc >= COLUMNS and self.row.lhs > 0 and parts * self.columns + parts + 1 <= TILES

    @property
    def is_of_few_rows(self) -> bool:
        """Whether dot products in lanes are as quick: all steps follow each other, and one side alone has a sign."""
        one_sign = self.product.kind in (TileProduct.U8S8, TileProduct.S8U8)
        return one_sign and self.rows <= FEW_ROWS and self.rows * self.columns <= MOST_SUMS and self.in_one_line

    @property
    def in_one_line(self) -> bool:
        """Whether all rows and all steps follow each other."""
        return self.line.size == 1 and not self.trips

    def emit_dots(self, emitter: TileEmitter, step: AffineExpr, from_zero: bool) -> None:
        """Append it as dot products of bytes in lanes. All sums are values of the loop over steps, two for each element
        where steps can be taken two at a time, so that fewer wait for the one before."""
        at, together = emitter.at, self.product.together
        sums, parts = VectorType(i32, [COLUMNS]), VectorType(i8, [together * COLUMNS])
        at_once = 2 if self.steps % 2 == 0 else 1
        tile = [(r, c) for r in range(self.rows) for c in range(self.columns)]

        def along(of: _Place, offset: int, stride: int) -> SSAValue:
            terms = {**of.start.terms, **({step: stride} if stride else {})}
            return at.index_value(Linear(terms, of.start.constant + offset))

        zeros = at.emit(arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(sums, [0] * COLUMNS)))
        places = [along(self.acc, r * self.row.acc + c * self.column.acc, 0) for r, c in tile]
        memory = self.acc.buffer.memory
        kept = [zeros if from_zero else at.emit(vector.LoadOp(memory, [place], sums)) for place in places]
        initial = [*kept, *[zeros] * (len(tile) * (at_once - 1))]
        body = Block(arg_types=[index, *(sums for _ in initial)])
        body.args[0].name_hint = "step"
        with at.into(body):
            at.index_values[step] = body.args[0]
            added: list[SSAValue] = []
            for number in range(at_once):
                before = number * self.stride
                starts = [along(self.rhs, c * self.column.rhs + before, self.stride) for c in range(self.columns)]
                rights = [at.emit(vector.LoadOp(self.rhs.buffer.memory, [start], parts)) for start in starts]
                for r in range(self.rows):
                    start = along(self.lhs, r * self.row.lhs + number * together, together)
                    four = at.emit(vector.LoadOp(self.lhs.buffer.memory, [start], VectorType(i8, [together])))
                    word = at.emit(vector.BitcastOp(four, VectorType(i32, [1])))
                    left = at.emit(vector.BitcastOp(at.emit(vector.BroadcastOp(word, sums)), parts))
                    for right in rights:
                        sides = (left, right) if self.product.kind == TileProduct.U8S8 else (right, left)
                        added.append(at.emit(DotOp(Instruction.VNNI, body.args[1 + len(added)], *sides)))
            at.insert(scf.YieldOp(*added))
        loop = scf.ForOp(at.constant(0), at.constant(self.steps), at.constant(at_once), initial, body)
        at.insert(loop)
        for number, place in enumerate(places):
            total = loop.results[number]
            for other in loop.results[number + len(tile) :: len(tile)]:
                total = at.emit(arith.AddiOp(total, other))
            at.insert(vector.StoreOp(total, memory, [place]))

    def emit_lanes(self, emitter: TileEmitter, step: AffineExpr) -> None:
        """Append it as dot products in lanes, all of one step after the other: sums stay in registers, a vector of the
        right side serves all rows, a pair of the left side all columns."""
        at, together = emitter.at, self.product.together
        sums, parts = VectorType(f32, [COLUMNS]), VectorType(bf16, [together * COLUMNS])
        body = Block(arg_types=[index])
        body.args[0].name_hint = "step"
        with at.into(body):
            at.index_values[step] = body.args[0]

            def along(of: _Place, offset: int, stride: int) -> SSAValue:
                terms = {**of.start.terms, **({step: stride} if stride else {})}
                return at.index_value(Linear(terms, of.start.constant + offset))

            rights = [
                at.emit(
                    vector.LoadOp(self.rhs.buffer.memory, [along(self.rhs, c * self.column.rhs, self.stride)], parts)
                )
                for c in range(self.columns)
            ]
            for r in range(self.rows):
                start = along(self.lhs, r * self.row.lhs, together)
                pair = at.emit(vector.LoadOp(self.lhs.buffer.memory, [start], VectorType(bf16, [together])))
                word = at.emit(vector.BitcastOp(pair, VectorType(f32, [1])))
                left = at.emit(vector.BitcastOp(at.emit(vector.BroadcastOp(word, sums)), parts))
                for c, right in enumerate(rights):
                    place = along(self.acc, r * self.row.acc + c * self.column.acc, 0)
                    kept = at.emit(vector.LoadOp(self.acc.buffer.memory, [place], sums))
                    total = at.emit(DotOp(Instruction.BF16, kept, left, right))
                    at.insert(vector.StoreOp(total, self.acc.buffer.memory, [place]))
            at.insert(scf.YieldOp())
        at.insert(scf.ForOp(at.constant(0), at.constant(self.steps), at.constant(1), [], body))

    def emit(self, emitter: TileEmitter, from_zero: bool) -> None:
        """Append it, beginning with zeros or with what is there. Tiles of sums come first, then those of the left side,
        and of the right side, if there are so many left."""
        import numpy as np

        at = emitter.at
        starts = [(line, first) for line in range(self.line.size) for first in range(0, self.rows, ROWS)]
        heights = [min(ROWS, self.rows - first) for _, first in starts]
        count, width = len(heights), ROW_BYTES * self.steps // STEPS
        sums = [(r, c, r * self.columns + c) for r in range(count) for c in range(self.columns)]
        lefts = [count * self.columns + r for r in range(count)]
        rights = range(count * (self.columns + 1), TILES)[: self.columns]
        sizes = [(heights[r], ROW_BYTES) for r, _, _ in sums]
        sizes += [(height, width) for height in heights] + [(self.steps, ROW_BYTES) for _ in rights]
        config = ConstantOp(dense_of(np.array(config_of(sizes), np.int8), i8), MemRefType(i8, [CONFIG_BYTES]))
        at.insert(TileConfigOp(at.emit(config)))
        moves: list[_Walk] = []
        left_places = [line * self.line.lhs + first * self.row.lhs for line, first in starts]
        sum_places = [line * self.line.acc + first * self.row.acc for line, first in starts]

        def place(of: _Place, offset: int, strides: Sequence[int] = ()) -> SSAValue:
            terms = {walk.dim: stride for walk, stride in zip(moves, strides, strict=False) if stride}
            return at.index_value(Linear({**of.start.terms, **terms}, of.start.constant + offset))

        def multiply() -> None:
            for r, height in enumerate(heights):
                start = place(self.lhs, left_places[r], [walk.lhs for walk in moves])
                at.insert(TileLoadOp(lefts[r], self.lhs.buffer.memory, start, height, self.row.lhs, width))
            for c in range(self.columns):
                start = place(self.rhs, c * self.column.rhs, [walk.rhs for walk in moves])
                right = rights[c % len(rights)]
                at.insert(TileLoadOp(right, self.rhs.buffer.memory, start, self.steps, self.stride))
                for r in range(count):
                    at.insert(TileDotOp(self.product.kind, r * self.columns + c, lefts[r], right))

        def walk_through(trips: Sequence[_Walk]) -> None:
            if not trips:
                multiply()
                return
            body = Block(arg_types=[index])
            body.args[0].name_hint = "step"
            moves.append(trips[0])
            with at.into(body):
                at.index_values[trips[0].dim] = body.args[0]
                walk_through(trips[1:])
                at.insert(scf.YieldOp())
            at.insert(scf.ForOp(at.constant(0), at.constant(trips[0].size), at.constant(1), [], body))

        places = [place(self.acc, sum_places[r] + c * self.column.acc) for r, c, _ in sums]
        for (r, _, tile), start in zip(sums, places, strict=True):
            kept = TileLoadOp(tile, self.acc.buffer.memory, start, heights[r], self.row.acc)
            at.insert(TileZeroOp(tile) if from_zero else kept)
        walk_through(self.trips)
        for (r, _, tile), start in zip(sums, places, strict=True):
            at.insert(TileStoreOp(tile, self.acc.buffer.memory, start, heights[r], self.row.acc))
        at.insert(TileReleaseOp())

"""The register tile that the rules choose, and what they know of how reads move within one."""

from __future__ import annotations

from math import prod

import pytest
from te_samples import batch_matmul, blocked_conv, depthwise, pool, reduction
from tir_run import Stage, assert_computes, prim_func
from xdsl.dialects.builtin import f32
from xdsl.ir.affine import AffineExpr

from weft.dialects import te
from weft.dialects.support.machine_model import MachineModel
from weft.dialects.tir.affine import linear, substitute
from weft.dialects.tir.core import BlockOp, ForKind, ForOp, enclosing_loops
from weft.transforms.tir.analysis.producers import written_buffer
from weft.transforms.tir.analysis.strides import flat_accesses
from weft.transforms.tir.rules.choose_tile import ReadKind, Reuse, Tile, find_tile, known_factor
from weft.transforms.tir.rules.registers import VectorRegisters
from weft.transforms.tir.schedule_rules import schedule_by_rules


def reduction_of(stage: Stage) -> BlockOp:
    return next(op for op in prim_func(stage).walk() if isinstance(op, BlockOp) and op.is_reduction)


def tile_of(stage: Stage) -> Tile:
    tile = find_tile(reduction_of(stage), VectorRegisters())
    assert tile is not None
    return tile


def local_sums(channels: int, height: int, width: int, size: int = 5) -> Stage:
    """Sums over a window of neighbouring channels, which ends where the channels do: what an LRN divides by."""
    x = te.placeholder((channels, height, width), f32, "x")
    k = te.reduce_axis(size, "k")

    def term(c: te.Expr, h: te.Expr, w: te.Expr) -> te.Expr:
        at = c + k - size // 2
        return te.select(te.all_of([at >= 0, at < channels]), x[at, h, w] * x[at, h, w], te.const(0.0, f32))

    return [x], [te.compute(x.shape, lambda c, h, w: te.sum(term(c, h, w), (k,)), "sums")]


def dense_of(rows: te.Dim, steps: int = 64) -> Stage:
    """A product with weights in blocks of a vector."""
    x, w = te.placeholder((rows, steps), f32, "x"), te.placeholder((48, steps, 16), f32, "w")
    k = te.reduce_axis(steps, "k")
    return [x, w], [te.compute((rows, 768), lambda i, j: te.sum(x[i, k] * w[j // 16, k, j % 16], k), "y")]


def test_of_equal_tiles_the_one_that_streams_fewer_vectors_is_chosen() -> None:
    """12 x 2 does as much work for what it reads as 6 x 4, whose four streams of weights come from afar."""
    tile = tile_of(blocked_conv(1, 4, 8, 14, 14, 3, 16))
    assert (tile.rows, tile.columns) == (12, 2)


def test_vectors_that_serve_no_rows_need_no_registers_beside_the_sums() -> None:
    """529 vectors of one line: 23 follow each other, where one at a time would walk over 80 lines."""
    tile = tile_of(reduction((80, 8464), (0,), "max"))
    assert (tile.row, tile.column, tile.columns) == (None, tile.vector, 23)


def test_where_no_read_is_shared_a_tile_is_of_vectors_that_follow_each_other() -> None:
    """Eight rows of the outer axis would be eight lines, far apart."""
    tile = tile_of(reduction((8, 128, 256), (1,), "sum"))
    assert (tile.row, tile.column, tile.columns) == (None, tile.vector, 16)


def test_rows_may_leave_a_rest_where_those_that_divide_keep_the_units_idle() -> None:
    """39 pixels and 63 blocks: rows of 13 have no room for three columns, and 63 blocks are no pairs."""
    tile = tile_of(blocked_conv(1, 1, 63, 1, 39, 1, 16))
    assert (tile.rows, tile.columns) == (8, 3)  # five times 8, of which one is left, and not 13 x 1
    tile = tile_of(blocked_conv(1, 1, 62, 1, 39, 1, 16))
    assert (tile.rows, tile.columns) == (13, 2)


@pytest.mark.parametrize("rows", [17, 19, 23])
def test_a_prime_number_of_rows_is_divided_into_nearly_whole_tiles(rows: int) -> None:
    """All rows at once take one another's place in the nearest cache where they lie 4096 bytes apart, and no other
    number divides them: 17 are 9 and 8, or 6, 6 and 5."""
    x, w = te.placeholder((rows, 1024), f32, "x"), te.placeholder((48, 1024, 16), f32, "w")
    k = te.reduce_axis(1024, "k")
    y = te.compute((rows, 768), lambda i, j: te.sum(x[i, k] * w[j // 16, k, j % 16], k), "y")
    tile = tile_of(([x, w], [y]))
    assert 6 <= tile.rows <= 14 and -rows % tile.rows <= 2


@pytest.mark.parametrize(
    "stage, rows, columns",
    [
        (blocked_conv(1, 51, 51, 14, 14, 1, 8), 4, 3),  # 51 blocks are no pairs: 11 rows of one would wait for loads
        (blocked_conv(1, 4, 8, 16, 16, 3, 8), 5, 2),  # of 14 pixels 4 are left, and 14 of one vector wait
        (blocked_conv(1, 4, 8, 9, 9, 3, 8), 4, 2),  # as do 7
        (blocked_conv(1, 4, 8, 14, 14, 3, 8), 6, 2),
    ],
    ids=["51", "14", "7", "12"],
)
def test_of_few_registers_all_are_used_and_two_vectors_share_what_is_read(
    stage: Stage, rows: int, columns: int
) -> None:
    tile = find_tile(reduction_of(stage), VectorRegisters(16, 32, MachineModel(latency=4.8)))
    assert tile is not None and (tile.rows, tile.columns) == (rows, columns)


@pytest.mark.parametrize(("columns", "rows", "along"), [(101, 4, 3), (197, 4, 3), (96, 4, 3)])
def test_vectors_before_a_rest_of_some_lanes_are_divided_as_if_there_were_none(
    columns: int, rows: int, along: int
) -> None:
    """13 vectors are no pairs, 12 and 5 lanes are four times 3: 14 rows of one vector would wait for loads."""
    tile = find_tile(
        reduction_of(batch_matmul(1, 512, columns, 64)), VectorRegisters(16, 32, MachineModel(latency=4.8))
    )
    assert tile is not None and tile.column == tile.vector and (tile.rows, tile.columns) == (rows, along)


def test_tiles_of_open_rows_halve_down_to_one_and_known_factors_leave_no_rest() -> None:
    n = te.var("n")
    tile = tile_of(dense_of(n))
    assert (tile.rows, tile.columns) == (8, 3)
    tile = tile_of(dense_of(n, 768))  # of which a rest is one tile: weights are far away, and 14 rows read them once
    assert (tile.rows, tile.columns) == (14, 2)
    tile = tile_of(dense_of(n * 196))
    assert (tile.rows, tile.columns) == (14, 2)
    assert [known_factor(extent) for extent in (AffineExpr.symbol(0) * 12 + 8, 10)] == [4, 10]


def test_sums_of_open_images_are_those_of_one_tile_and_columns_are_shared() -> None:
    """Images can be fused with what stands inside of them alone: then the loop over columns stays outside."""
    func = prim_func(blocked_conv(te.var("n"), 4, 8, 14, 14, 1, 16))
    schedule_by_rules(func, VectorRegisters())
    chains = [enclosing_loops(op) for op in func.walk() if isinstance(op, BlockOp) and op.is_reduction]
    assert chains and all(chain[0].for_kind == ForKind.PARALLEL and chain[0].size == 4 for chain in chains)
    for chain in chains:
        assert prod(loop.trip_count for loop in chain if loop.for_kind == ForKind.UNROLLED) == 28


def test_what_differs_in_the_last_bit_is_equal() -> None:
    """197 rows leave the same rest in tiles of 6 x 3 and of 11 x 2, whose merits 1.98989... differ in the last bit."""
    tile = tile_of(batch_matmul(12, 197, 768, 64))
    assert (tile.rows, tile.columns) == (11, 2)


def test_a_tile_without_anything_to_share_has_many_sums() -> None:
    """A pooling reads a vector for each sum, whatever the tile: then independent sums are all that counts."""
    tile = tile_of(pool(4, 57, 57, 3, 16, 2))
    assert 20 <= tile.rows * tile.columns <= 30


def test_rows_of_a_tile_that_shares_nothing_lie_side_by_side() -> None:
    """24 channels of a pooling of plain data would be as many streams, each in a page of its own."""
    x = te.placeholder((192, 37, 37), f32, "x")
    dh, dw = te.reduce_axis(3, "dh"), te.reduce_axis(3, "dw")
    sums = te.compute((192, 35, 35), lambda c, h, w: te.sum(x[c, h + dh, w + dw], (dh, dw)), "sums")
    tile = tile_of(([x], [sums]))
    assert 1 in (tile.row, tile.column) and tile.rows * tile.columns in (5, 7)


def test_an_iterator_that_decides_a_branch_is_not_fused() -> None:
    """The window's end depends on the channel: fused with the pixels it would be found by division in each lane. The
    pixels are fused: of 6 in a row no vector is made, of 36 in a plane two are."""
    stage = local_sums(12, 6, 6)
    func = prim_func(stage)
    schedule_by_rules(func, VectorRegisters())
    func.verify()
    block = next(op for op in func.walk() if isinstance(op, BlockOp) and op.is_reduction)
    assert block.extents == (12, 36, 5)
    assert [op for op in func.walk() if isinstance(op, ForOp) and op.for_kind == ForKind.VECTORIZED]
    assert_computes(func, stage)


@pytest.mark.parametrize(
    "stage",
    [
        blocked_conv(1, 2, 3, 9, 9, 3, 16, 2),
        depthwise(3, 9, 9, 3, 16, pad=1),
        batch_matmul(2, 24, 48, 7, True),
        pool(2, 9, 9, 3, 8, 1),
        local_sums(12, 8, 8),
    ],
    ids=["blocked_conv", "depthwise", "batch_matmul", "pool", "local_sums"],
)
def test_reads_move_in_a_tile_as_its_substitution_says(stage: Stage) -> None:
    """The normal form's coefficients say the same as splitting each iterator in two and normalising anew."""
    block = reduction_of(stage)
    vector = len(block.iters) - sum(kind.value == "reduce" for kind in block.kinds) - 1
    lanes, count = 4, len(block.iters)
    reuse = Reuse(block, vector, lanes)
    dims = [AffineExpr.dimension(i) for i in range(count + 3)]
    outer, lane, within = dims[count:]
    for iterator in range(vector + 1):
        for size in (1, 2, 3):
            extent = -(-block.extents[iterator] // (lanes if iterator == vector else 1))
            extended: list[AffineExpr] = [*dims[:count]]
            extended[vector] = outer * lanes + lane
            tiled = dims[iterator] * size + within
            extended[iterator] = tiled * lanes + lane if iterator == vector else tiled
            ranges = {dims[i]: (0, n - 1) for i, n in enumerate(block.extents)}
            ranges |= {outer: (0, -(-block.extents[vector] // lanes) - 1), lane: (0, lanes - 1)}
            ranges |= {within: (0, size - 1), dims[iterator]: (0, -(-extent // size) - 1)}
            expected: dict[ReadKind, list[bool]] = {kind: [] for kind in ReadKind}
            for access in flat_accesses(block):
                if access.buffer is not written_buffer(block):
                    assert access.position is not None
                    form = linear(substitute(access.position, extended), ranges)
                    kind = {0: ReadKind.SCALAR, 1: ReadKind.VECTOR}.get(form.step(lane) or 0, ReadKind.STRIDED)
                    expected[kind].append(form.step(within) != 0)
            assert reuse.moves(iterator, size) == expected


def test_weights_that_are_read_once_come_in_as_many_streams_as_are_followed() -> None:
    """Panels of a matrix lie apart, and a processor looks ahead in a few of them; its rows lie side by side."""
    tile = tile_of(dense_of(1))
    assert (tile.row, tile.columns) == (None, 4)
    x, w, k = te.placeholder((1, 64), f32, "x"), te.placeholder((64, 768), f32, "w"), te.reduce_axis(64, "k")
    rows = tile_of(([x, w], [te.compute((1, 768), lambda i, j: te.sum(x[i, k] * w[k, j], k), "y")]))
    assert rows.columns > 8


def test_a_sum_that_many_elements_read_is_not_computed_for_each_of_them() -> None:
    """A row of 8 elements reads one sum, and four sums are neighbours, which would fill a vector."""
    x, k = te.placeholder((4, 4, 8), f32, "x"), te.reduce_axis(8, "k")
    total = te.compute((4, 4, 1), lambda i, j, _: te.sum(x[i, j, k], (k,)), "total")
    stage: Stage = [x], [te.compute((4, 4, 8), lambda i, j, n: x[i, j, n] - total[i, j, 0], "y")]
    func = prim_func(stage)
    schedule_by_rules(func, VectorRegisters(machine=MachineModel(fmas=1)))
    blocks = [op for op in func.walk() if isinstance(op, BlockOp) and op.block_name == "total"]
    assert blocks and all(prod(loop.trip_count for loop in enclosing_loops(op)) == 4 * 4 * 8 for op in blocks)
    assert_computes(func, stage)

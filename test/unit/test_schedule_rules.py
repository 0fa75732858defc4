"""Schedule rules on every kind of computation and many sizes: what they make computes what the expressions say."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native import parse
from te_samples import (
    batch_matmul,
    blocked_conv,
    concatenate,
    conv,
    dense,
    depthwise,
    gather,
    instance_norm,
    layer_norm,
    pool,
    reduction,
    softmax,
    transpose,
)
from tir_run import Stage, assert_computes, prim_func
from tvmscript_texts import function
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, bf16, f32, f64, i8, i32

from weft.dialects import te
from weft.dialects.relay.resample import Axis, Sampling, resampled
from weft.dialects.support.machine_model import MachineModel
from weft.dialects.support.walking import all_within
from weft.dialects.tir.core import AllocBufferOp, ForKind, ForOp, PrimFuncOp, blocks_under, enclosing_loops
from weft.dialects.tir.interpreter import Interpreter
from weft.transforms.infra import PassContext
from weft.transforms.tir.loop_partition import LoopPartitionPass
from weft.transforms.tir.rules import padded_bands, register_tile
from weft.transforms.tir.rules.choose_tile import find_tile
from weft.transforms.tir.rules.registers import VectorRegisters
from weft.transforms.tir.schedule_rules import ScheduleRulesPass, schedule_by_rules

pytestmark = pytest.mark.sampled(6)

few = settings(max_examples=5)
small = st.integers(1, 9)
wide = st.sampled_from([1, 3, 4, 7, 16, 17, 33, 50])


def scheduled(stage: Stage, registers: VectorRegisters | None = None) -> PrimFuncOp:
    """The function of a stage, scheduled and its loops cut."""
    func = prim_func(stage)
    schedule_by_rules(func, registers or VectorRegisters())
    func.verify()
    LoopPartitionPass().apply(Context(), ModuleOp([func]))
    func.detach()
    return func


def check(stage: Stage, registers: VectorRegisters | None = None) -> None:
    assert_computes(scheduled(stage, registers), stage)


@few
@given(
    small, small, wide, st.integers(4, 9), st.integers(4, 9), st.integers(1, 3), st.integers(1, 2), st.integers(0, 1)
)
def test_a_convolution_of_any_size_is_right(
    batch: int, channels: int, out: int, height: int, width: int, kernel: int, stride: int, pad: int
) -> None:
    check(conv(min(batch, 2), channels, out, height, width, kernel, stride, pad))


@pytest.mark.parametrize(("rows", "columns", "stride"), [(5, 5, 3), (9, 7, 3), (4, 6, 2), (3, 33, 3)])
def test_rows_that_follow_each_other_at_a_stride_are_right(rows: int, columns: int, stride: int) -> None:
    """Whose pixels could be seen as one line, of which every `stride`th is read."""
    x = te.placeholder((1, 3, rows, columns * stride), f32, "x")
    w = te.placeholder((5, 3), f32, "w")
    c = te.reduce_axis(3, "c")
    conv = te.compute((1, 5, rows, columns), lambda n, o, h, v: te.sum(x[n, c, h, v * stride] * w[o, c], (c,)), "conv")
    check(([x, w], [conv]))


def test_windows_of_one_element_over_pixels_that_follow_each_other_are_right() -> None:
    """All iterators are fused, and put together from quotients that vectors of 16 do not divide."""
    check(pool(1, 13, 13, 1, 8, 1))


@pytest.mark.parametrize("work", [0, 1 << 30])
def test_what_fills_a_band_whose_rows_are_no_vectors_is_left_in_its_place(
    work: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of tiles that one thread computes, as of those that several share."""
    monkeypatch.setattr(register_tile, "MIN_PARALLEL_WORK", work)
    x = te.placeholder((4, 32, 32), f32, "x")
    padded = te.compute(
        (4, 33, 33),
        lambda c, h, w: te.select(te.all_of([h < 32, w < 32]), x[c, h, w], 0.0),
        "padded",
    )
    ry, rx = te.reduce_axis(2, "y"), te.reduce_axis(2, "z")
    total = te.compute((4, 32, 32), lambda c, h, w: te.sum(padded[c, h + ry, w + rx], (ry, rx)), "total")
    stage = [x], [total]
    func = scheduled(stage)
    (buffer,) = (op for op in func.walk() if isinstance(op, AllocBufferOp) and op.buffer.name_hint == "padded")
    assert buffer.scope.data == "local"
    assert_computes(func, stage)


@few
@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 5), st.integers(3, 9), st.integers(1, 3))
def test_a_grouped_convolution_of_any_size_is_right(
    groups: int, channels: int, out: int, size: int, dilation: int
) -> None:
    check(conv(1, groups * channels, groups * out, size, size + 2, 1 if size <= 2 * dilation else 3, groups=groups,
               dilation=dilation, relu=size % 2 == 0))  # fmt: skip


@few
@given(
    st.integers(1, 3), st.integers(1, 3), st.integers(3, 10), st.integers(3, 10), st.integers(1, 3),
    st.sampled_from([4, 8, 16]), st.integers(1, 2),
)  # fmt: skip
def test_a_blocked_convolution_of_any_size_is_right(
    channels: int, out: int, height: int, width: int, kernel: int, block: int, stride: int
) -> None:
    check(blocked_conv(1, channels, out, height, width, kernel, block, stride))


@pytest.mark.parametrize(
    ("channels", "rows", "stride", "limit", "bands"),
    [
        (3, 1, 1, 1 << 17, 3),  # of all rows of a block of channels
        (6, 2, 2, 1 << 17, 3),  # of all rows of two
        (2, 12, 1, 8 * 16 * 8 * 4, 4),  # of six rows, for which eight are read
        (2, 4, 2, 3 * 16 * 8 * 4, 8),  # of one row, for which three are read, one of them by the next too
        (2, 4, 1, 3 * 16 * 8 * 4, 0),  # of one row, for which three are read, two of them by others
    ],
)
def test_data_is_padded_band_by_band_where_windows_hardly_overlap(
    channels: int, rows: int, stride: int, limit: int, bands: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(padded_bands, "MIN_BANDS", 3)
    stage = depthwise(channels, rows * stride, 14, 3, 8, stride, pad=1)
    func = scheduled(stage, VectorRegisters(bytes=32, machine=MachineModel(l2=8 * limit)))
    pad = next(block for block in blocks_under(func) if block.block_name == "pad")
    outer, *_, lanes = enclosing_loops(pad)
    buffer = pad.writes[0].owner
    assert isinstance(buffer, AllocBufferOp)
    assert (buffer.scope.data == "local") == bool(bands)
    if bands:
        assert outer.likely_trips == bands
        assert lanes.for_kind == ForKind.VECTORIZED
        assert any(block.block_name == "relu" for block in blocks_under(outer))
    assert_computes(func, stage)


def check_bands(stage: Stage, bands: int, l2: int) -> None:
    """What is padded in `stage` is filled in so many bands, as a whole where there are none; the numbers are right."""
    func = scheduled(stage, VectorRegisters(bytes=32, machine=MachineModel(l2=l2)))
    pad = next(block for block in blocks_under(func) if block.block_name == "padded")
    buffer = pad.writes[0].owner
    assert isinstance(buffer, AllocBufferOp)
    assert (buffer.scope.data == "local") == bool(bands)
    assert not bands or enclosing_loops(pad)[0].likely_trips == bands
    assert_computes(func, stage)


@pytest.mark.parametrize(("groups", "height", "stride", "bands"), [(4, 3, 1, 4), (2, 8, 2, 4), (2, 8, 1, 0)])
def test_groups_that_share_blocks_of_channels_are_padded_band_by_band(
    groups: int, height: int, stride: int, bands: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups of 12 channels, two of which are read from three blocks of 8, computed in a vector and a half: all rows of
    a group, half of them, or none, as half of them and what is around them would be filled too often."""
    monkeypatch.setattr(padded_bands, "MIN_BANDS", 3)
    rows, size, blocks = height * stride, 6 * stride, groups * 12 // 8
    x = te.placeholder((1, blocks, rows, size, 8), f32, "x")
    w = te.placeholder((groups, 3, 3, 3, 4, 12), f32, "w")
    padded = te.compute(
        (1, blocks, rows + 2, size + 2, 8),
        lambda n, c, h, v, i: te.select(
            te.all_of([h >= 1, h < rows + 1, v >= 1, v < size + 1]), x[n, c, h - 1, v - 1, i], 0.0
        ),
        "padded",
    )
    outer, inner = te.reduce_axis(3, "outer"), te.reduce_axis(4, "inner")
    ky, kx = te.reduce_axis(3, "y"), te.reduce_axis(3, "z")
    total = te.compute(
        (1, groups, height, 6, 12),
        lambda n, g, h, v, o: te.sum(
            padded[n, (g * 3 + outer) // 2, h * stride + ky, v * stride + kx, (g * 3 + outer) % 2 * 4 + inner]
            * w[g, outer, ky, kx, inner, o],
            (outer, inner, ky, kx),
        ),
        "total",
    )
    stage = [x, w], [total]
    check_bands(stage, bands, 1 << 20)


@pytest.mark.parametrize(("l2", "bands"), [(1 << 18, 7), (1 << 15, 0)])
def test_bands_are_outside_of_columns_that_stay_near_while_they_pass(
    l2: int, bands: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights of 36 KiB, all of which meet each band of pixels."""
    monkeypatch.setattr(padded_bands, "MIN_BANDS", 3)
    x, w = te.placeholder((1, 2, 16, 14, 8), f32, "x"), te.placeholder((8, 2, 3, 3, 8, 8), f32, "w")
    padded = te.compute(
        (1, 2, 18, 16, 8),
        lambda n, c, h, v, i: te.select(te.all_of([h >= 1, h < 17, v >= 1, v < 15]), x[n, c, h - 1, v - 1, i], 0.0),
        "padded",
    )
    outer, inner = te.reduce_axis(2, "outer"), te.reduce_axis(8, "inner")
    ky, kx = te.reduce_axis(3, "y"), te.reduce_axis(3, "z")
    total = te.compute(
        (1, 8, 8, 7, 8),
        lambda n, c, h, v, o: te.sum(
            padded[n, outer, h * 2 + ky, v * 2 + kx, inner] * w[c, outer, ky, kx, inner, o], (outer, inner, ky, kx)
        ),
        "total",
    )
    stage = [x, w], [total]
    check_bands(stage, bands, l2)


def test_tiles_that_fill_their_loops_are_no_bands() -> None:
    """Of a padded row of 80 in tiles of several vectors, each is computed once, and without a condition."""
    x = te.placeholder((1, 4, 400), f32, "x")
    w = te.placeholder((8, 4, 3), f32, "w")
    padded = te.compute((1, 4, 402), lambda n, c, v: te.select(v >= 2, x[n, c, v - 2], 0.0), "padded")
    rc, rx = te.reduce_axis(4, "c"), te.reduce_axis(3, "z")
    total = te.compute((1, 8, 400), lambda n, o, v: te.sum(padded[n, rc, v + rx] * w[o, rc, rx], (rc, rx)), "total")
    stage = [x, w], [total]
    func = scheduled(stage)
    assert not any(block.conditions for block in blocks_under(func))
    sums = next(block for block in blocks_under(func) if block.block_name == "total")
    assert prod(loop.likely_trips for loop in enclosing_loops(sums)) == prod(sums.likely_extents)
    assert_computes(func, stage)


@few
@given(st.integers(1, 3), st.integers(3, 9), st.integers(3, 9), st.sampled_from([3, 8, 16]), st.integers(1, 2))
def test_a_depthwise_convolution_of_any_size_is_right(
    channels: int, height: int, width: int, block: int, stride: int
) -> None:
    check(depthwise(channels, height, width, 3, block, stride, pad=1))


@few
@given(wide, wide, wide, st.sampled_from([0, 8, 16]))
def test_a_dense_layer_of_any_size_is_right(rows: int, columns: int, inner: int, packed: int) -> None:
    check(dense(rows, columns, inner, packed))


@few
@given(st.integers(1, 3), wide, wide, wide, st.booleans())
def test_a_product_of_matrices_of_any_size_is_right(
    batch: int, rows: int, columns: int, inner: int, transposed: bool
) -> None:
    check(batch_matmul(batch, rows, columns, inner, transposed))


@few
@given(
    st.integers(1, 3),
    st.integers(3, 9),
    st.integers(3, 9),
    st.sampled_from([1, 5, 16]),
    st.integers(1, 2),
    st.booleans(),
)
def test_a_pooling_of_any_size_is_right(
    channels: int, height: int, width: int, block: int, stride: int, average: bool
) -> None:
    check(pool(channels, height, width, 3, block, stride, average))


@few
@given(st.lists(small, max_size=2), wide)
def test_softmax_of_any_shape_is_right(leading: list[int], columns: int) -> None:
    check(softmax(*leading, columns))


@few
@given(small, wide)
def test_layer_norm_of_any_shape_is_right(rows: int, columns: int) -> None:
    check(layer_norm(rows, columns))


@few
@given(small, small, wide)
def test_a_norm_of_images_of_any_size_is_right(channels: int, height: int, width: int) -> None:
    check(instance_norm(channels, height, width))


def test_a_row_of_two_dimensions_that_follow_each_other_is_walked_as_one() -> None:
    """A short inner loop would be unrolled, and the outer one gather what lies apart."""
    func = scheduled(instance_norm(3, 28, 28))
    assert [loop.size for loop in func.walk() if isinstance(loop, ForOp)] == [3, 784, 784, 49, 16]


def test_what_all_threads_read_is_no_row_of_what_they_share() -> None:
    """One row would be the work of one thread."""
    x, y = te.placeholder((48, 20, 16), f32, "x"), te.placeholder((20, 16), f32, "y")
    places = te.compute((20, 16), lambda i, j: te.unary(te.UnaryKind.EXP, y[i, j]), "places")
    stage = [x, y], [te.compute((48, 20, 16), lambda c, i, j: x[c, i, j] * places[i, j], "sampled")]
    kinds = {loop.for_kind for loop in scheduled(stage).walk() if isinstance(loop, ForOp)}
    assert ForKind.PARALLEL in kinds
    check(stage)


@few
@given(st.data(), st.lists(small, min_size=1, max_size=3), st.sampled_from(["sum", "max", "min", "prod"]))
def test_a_reduction_over_any_axes_is_right(data: st.DataObject, shape: list[int], kind: te.ReduceKind) -> None:
    axes = data.draw(st.sets(st.sampled_from(range(len(shape))), min_size=1))
    type = data.draw(st.sampled_from([f64, i32, i8]))
    check(reduction(tuple(shape), tuple(sorted(axes)), kind, type))


@few
@given(small, small, small)
def test_moving_data_is_right(rows: int, first: int, second: int) -> None:
    check(transpose(rows, first))
    check(concatenate(rows, first, second))
    check(gather(rows, first, second))


@pytest.mark.parametrize(
    ("rows", "columns", "bytes", "unrolled", "lanes"),
    [
        (48, 64, 64, [16], [16]),
        (48, 64, 32, [8], [8]),
        (33, 50, 64, [16, 16, 2, 2], [16]),  # what is left over is moved in squares of its own
        (5, 12, 64, [12], [5]),
        (3, 64, 64, [], []),  # too narrow
        (64, 64, 8, [], []),  # vectors are
    ],
)
def test_what_is_moved_across_goes_by_squares(
    rows: int, columns: int, bytes: int, unrolled: list[int], lanes: list[int]
) -> None:
    """Rows are read as vectors and columns written as such, instead of one element after the other."""
    stage = transpose(rows, columns)
    func = scheduled(stage, VectorRegisters(32, bytes))
    loops = [loop for loop in func.walk() if isinstance(loop, ForOp)]
    assert [loop.size for loop in loops if loop.for_kind == ForKind.UNROLLED] == unrolled
    assert sorted({int(str(loop.size)) for loop in loops if loop.for_kind == ForKind.VECTORIZED}) == sorted(lanes)
    assert_computes(func, stage)


@pytest.mark.parametrize(
    ("columns", "rows", "together"), [(512, 65, 4), (520, 65, 1), (512, 64, 1), (64, 65, 1)], ids=str
)
def test_squares_one_below_another_write_whole_lines(columns: int, rows: int, together: int) -> None:
    """Of 8 f32, half a line, as many squares as write two lines: a column of 65 rows is longer than a cache keeps."""
    stage = transpose(columns, rows)
    func = scheduled(stage, VectorRegisters(16, 32))
    around = enclosing_loops(blocks_under(func)[0])
    assert [loop.for_kind for loop in around[-2:]] == [ForKind.UNROLLED, ForKind.VECTORIZED]
    assert (around[-3].size == together) == (together > 1)
    assert_computes(func, stage)


def test_windows_of_steps_are_tiled_along_the_nearest_rows() -> None:
    """Vectors of every second element are picked from two that lie side by side; rows of another channel would take as
    many lines again."""
    stage = pool(20, 25, 25, 3, 1, 2, False)
    func = scheduled(stage)
    kinds = {loop.for_kind for loop in func.walk() if isinstance(loop, ForOp)}
    assert {ForKind.UNROLLED, ForKind.VECTORIZED} <= kinds
    assert_computes(func, stage)


@pytest.mark.parametrize("registers", [VectorRegisters(16, 32), VectorRegisters(16, 16), VectorRegisters(8, 4)])
def test_other_vector_registers_give_the_same_results(registers: VectorRegisters) -> None:
    check(blocked_conv(1, 2, 2, 6, 7, 3, 8), registers)
    check(dense(13, 21, 10), registers)


@pytest.mark.parametrize(("rows", "tile"), [(128, (6, 2)), (64, (6, 2)), (40, (5, 2)), (10, (5, 2))])
def test_a_tile_of_few_registers_leaves_room_for_asking_ahead(rows: int, tile: tuple[int, int]) -> None:
    """Twelve sums, 6 x 2, take eight loads, three requests and what the loop itself takes in the time of twelve; ten of
    5 x 2 take eleven in that of ten. Where 6 x 2 leaves much of its last tile empty, fewer rows are better still."""
    func = prim_func(dense(rows, 64, 64, 8))
    (block,) = [block for block in blocks_under(func) if len(block.sizes) == 3]
    found = find_tile(block, VectorRegisters(16, 32))
    assert found is not None and (found.rows, found.columns) == tile


EMPTY = [
    dense(0, 4, 3), dense(4, 0, 3), dense(4, 5, 0), dense(3, 16, 0, 16), softmax(0, 4), softmax(3, 0), layer_norm(0, 8),
    conv(0, 3, 4, 6, 6, 3), conv(1, 3, 0, 6, 6, 3, pad=1), blocked_conv(1, 0, 2, 5, 5, 3, 16), pool(0, 6, 6, 3, 16, 1),
    reduction((0, 4), (0,), "sum"), reduction((4, 0), (1,), "prod"), reduction((0,), (0,), "max"), transpose(0, 3),
    concatenate(3, 0, 4), concatenate(0, 2, 4), gather(3, 4, 0), gather(3, 0, 4),
]  # fmt: skip


def name_of(stage: Stage) -> str:
    (result,) = stage[1]
    return f"{result.name}-{'x'.join(map(str, result.shape))}"


@pytest.mark.parametrize("stage", EMPTY, ids=name_of)
def test_empty_extents_are_right(stage: Stage) -> None:
    assert_computes(prim_func(stage), stage)
    check(stage)


def test_bf16_is_computed_in_vectors_too() -> None:
    x, y = te.placeholder((5, 40), bf16, "x"), te.placeholder((5, 40), bf16, "y")
    stage = [x, y], [te.compute((5, 40), lambda i, j: te.maximum(x[i, j] + y[i, j], 0.0), "sum")]
    assert_computes(scheduled(stage), stage, rtol=1e-2)


def test_what_was_scheduled_by_hand_is_left_alone() -> None:
    func = prim_func(dense(8, 16, 4))
    loop = next(op for op in func.walk() if isinstance(op, ForOp))
    loop.for_kind = ForKind.PARALLEL
    text = str(func)
    ScheduleRulesPass().apply(Context(), ModuleOp([func]))
    assert str(func) == text


def test_the_rules_run_twice_change_nothing_more() -> None:
    func = scheduled(dense(64, 64, 64))
    module = ModuleOp([func])
    text = str(module)
    with PassContext(3):
        ScheduleRulesPass().apply(Context(), module)
    assert str(module) == text


def test_a_stage_that_nothing_reads_is_no_row() -> None:
    x = te.placeholder((4, 8), f32, "x")
    k = te.reduce_axis(8)
    unread = te.compute((4,), lambda i: te.reduce("max", x[i, k], k), "unread")
    none = te.reduce_axis(0)
    stage = [x], [te.compute((4,), lambda i: te.reduce("sum", x[i, 0] + unread[i + none], none), "empty")]
    check(stage)


def test_blocks_that_share_a_loop_are_left_alone() -> None:
    func = parse(
        """
        tir.prim_func @shared(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) {
          tir.for %i = 0 to 64 {
            tir.block @first(%v: spatial 64) = [%i]
                reads(%x[%v] : memref<64xf32>) writes(%y[%v] : memref<64xf32>) {
              %0 = memref.load %x[%v] : memref<64xf32>
              memref.store %0, %y[%v] : memref<64xf32>
            }
            tir.block @second(%w: spatial 64) = [%i]
                reads(%x[%w] : memref<64xf32>) writes(%z[%w] : memref<64xf32>) {
              %1 = memref.load %x[%w] : memref<64xf32>
              memref.store %1, %z[%w] : memref<64xf32>
            }
          }
        }
        """
    )
    text = str(func)
    ScheduleRulesPass().apply(Context(), func)
    assert str(func) == text


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_product_over_one_term_is_scheduled_with_what_follows(depth: int) -> None:
    x, w, b = (te.placeholder(s, f32) for s in ((3, 5, depth), (3, 7, depth), (3, 5, 7)))
    k = te.reduce_axis(depth)
    product = te.compute((3, 5, 7), lambda i, j, m: te.reduce("sum", x[i, j, k] * w[i, m, k], k), "product")
    check(([x, w, b], [te.compute((3, 5, 7), lambda i, j, m: product[i, j, m] + b[i, j, m], "add")]))


def test_a_reduction_whose_result_another_block_updates_is_not_tiled_with_it() -> None:
    func = function("""
@T.prim_func
def k(X: T.Buffer[(6, 4), "int32"], Y: T.Buffer[(8, 4), "int32"], Z: T.Buffer[(6, 8), "int32"]):
    C = T.alloc_buffer((6, 8), "int32")
    for i, j, k in T.grid(6, 8, 4):
        with T.block("sum"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + X[vi, vk] * Y[vj, vk]
    for i, j in T.grid(6, 8):
        with T.block("update"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = C[vi, vj] * 2 + X[vi, vj % 4]
    for i, j in T.grid(6, 8):
        with T.block("result"):
            vi, vj = T.axis.remap("SS", [i, j])
            Z[vi, vj] = C[vi, vj]
""")
    x, y = np.arange(24, dtype=np.int32).reshape(6, 4), np.arange(32, dtype=np.int32).reshape(8, 4)
    ScheduleRulesPass().apply(Context(), module := ModuleOp([func]))
    module.verify()
    (z,) = Interpreter(func)([x, y], None)
    np.testing.assert_array_equal(np.asarray(z), x @ y.T * 2 + np.tile(x, 2))


def resized_and_joined(axis: int) -> Stage:
    """Two images of blocks of channels, one of which is made larger, joined along an axis."""
    x, y = te.placeholder((2, 3, 5, 16), f32, "x"), te.placeholder((2, 6, 5, 16), f32, "y")
    large = resampled(x, [Axis(1, 6)], Sampling(), f32)
    shape = [2, 6, 5, 16]
    first = shape[axis]
    shape[axis] *= 2

    def joined(*i: te.IterVar) -> te.Expr:
        after = [v - first if position == axis else v for position, v in enumerate(i)]
        return te.select(i[axis] < first, large[i], y[tuple(after)])

    return [x, y], [te.compute(shape, joined, "joined")]


@pytest.mark.parametrize("axis", [0, 2, 3])
def test_what_is_joined_is_computed_where_it_is_joined_unless_neighbours_are_of_several(axis: int) -> None:
    """A branch that is the same for all lanes costs nothing; another one would leave the interpolation to scalars."""
    func = scheduled(resized_and_joined(axis))
    assert_computes(func, resized_and_joined(axis))
    assert len({block.block_name for block in blocks_under(func)}) == (2 if axis == 3 else 1)


def test_rows_that_are_found_by_clamping_are_read_as_vectors() -> None:
    func = scheduled(resized_and_joined(0))
    (block,) = blocks_under(func)
    assert enclosing_loops(block)[-1].for_kind == ForKind.VECTORIZED
    assert enclosing_loops(block)[-1].trip_count == 16


def test_a_triangle_is_cut_without_divisions() -> None:
    """Its rows and columns are compared: fused, each would be found by division for every element."""
    x = te.placeholder((5, 40, 50), f32, "x")
    stage: Stage = ([x], [te.compute(x.shape, lambda b, i, j: te.select(j >= i, x[b, i, j], 0), "triu")])
    func = scheduled(stage)
    assert_computes(func, stage)
    assert not [op for op in func.walk() if isinstance(op, arith.DivUIOp | arith.RemUIOp)]


@pytest.mark.parametrize("columns", [57, 16, 9])
def test_what_is_repeated_goes_in_vectors(columns: int) -> None:
    x = te.placeholder((6, columns), f32, "x")
    stage: Stage = ([x], [te.compute((12, 3 * columns), lambda i, j: x[i % 6, j % columns], "tile")])
    func = scheduled(stage)
    assert_computes(func, stage)
    assert any(loop.for_kind == ForKind.VECTORIZED for loop in all_within(func, ForOp))


def weighted(rows: int, columns: int, taken: int, along_rows: bool) -> Stage:
    """Two rows, or two columns, of a table by numbers, each with a weight, and their sum."""
    table, k = te.placeholder((rows, columns), f32, "table"), te.reduce_axis(2, "k")
    numbers, weights = te.placeholder((taken, 2), te.index, "numbers"), te.placeholder((taken, 2), f32, "weights")
    last = (rows if along_rows else columns) - 1

    def element(i: te.IterVar, j: te.IterVar) -> te.Expr:
        at = i if along_rows else j
        number = te.minimum(numbers[at, k], last)
        return te.sum((table[number, j] if along_rows else table[i, number]) * weights[at, k], k)

    shape = (taken, columns) if along_rows else (rows, taken)
    return [table, numbers, weights], [te.compute(shape, element, "weighted")]


@pytest.mark.parametrize("columns", [16, 61])
def test_rows_that_are_looked_up_are_added_in_vectors(columns: int) -> None:
    stage = weighted(9, columns, 20, along_rows=True)
    func = scheduled(stage)
    assert_computes(func, stage)
    assert any(loop.for_kind == ForKind.VECTORIZED for loop in all_within(func, ForOp))


def test_short_sums_have_a_loop_of_their_own_along_the_row() -> None:
    """Else each of few steps would be found by division."""
    stage = weighted(9, 30, 20, along_rows=False)
    func = scheduled(stage)
    assert_computes(func, stage)
    (block,) = (block for block in blocks_under(func) if block.block_name == "weighted")
    assert [loop.trip_count for loop in enclosing_loops(block)] == [9, 20, 2]

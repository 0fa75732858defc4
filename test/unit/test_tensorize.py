"""`blockize` and `tensorize`: outer blocks mean what is in them, an intrinsic takes the place of what it computes."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821, RUF059

from collections.abc import Callable

import numpy as np
import pytest
from tvmscript_texts import function
from xdsl.dialects.builtin import ModuleOp

import weft
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.tir.core import BlockOp, OuterBlockOp, PrimFuncOp, enclosing_loops
from weft.script import tir as T
from weft.tir import (
    BlockRV,
    Interpreter,
    LoopRV,
    Schedule,
    ScheduleError,
    TensorIntrin,
    assert_structural_equal,
    from_source,
)

pytestmark = pytest.mark.sampled(3)


@T.prim_func
def matmul(A: T.Buffer[(8, 12), "float32"], B: T.Buffer[(16, 12), "float32"], C: T.Buffer[(8, 16), "float32"]):
    for i, j, k in T.grid(8, 16, 12):
        with T.block("update"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]


@T.prim_func
def tile_desc(a: T.Buffer[(4, 4), "float32"], b: T.Buffer[(8, 4), "float32"], c: T.Buffer[(4, 8), "float32"]):
    with T.block("root"):
        vi, vj, vk = T.axis.remap("SSR", [0, 0, 0])
        T.reads(c[0:4, 0:8], a[0:4, 0:4], b[0:8, 0:4])
        T.writes(c[0:4, 0:8])
        for i, j, k in T.grid(4, 8, 4):
            with T.block("update"):
                vii, vjj, vkk = T.axis.remap("SSR", [i, j, k])
                c[vii, vjj] = c[vii, vjj] + a[vii, vkk] * b[vjj, vkk]


@T.prim_func
def plain_impl(a: T.Buffer[(4, 4), "float32"], b: T.Buffer[(8, 4), "float32"], c: T.Buffer[(4, 8), "float32"]):
    for k, i in T.grid(4, 4):
        for j in T.vectorized(8):
            with T.block("mma"):
                vk, vi, vj = T.axis.remap("RSS", [k, i, j])
                c[vi, vj] = c[vi, vj] + a[vi, vk] * b[vj, vk]


@pytest.fixture(autouse=True)
def intrinsic() -> None:
    TensorIntrin.register("test_tile", tile_desc, plain_impl, override=True)


def tiled(func: PrimFuncOp = matmul) -> tuple[Schedule, BlockRV, list[LoopRV]]:
    """A product in tiles of 4, 8 and 4."""
    schedule = Schedule(func, debug_mask="all")
    block = schedule.get_block("update")
    i, j, k = schedule.get_loops(block)[-3:]
    loops = [each for loop, by in ((i, 4), (j, 8), (k, 4)) for each in schedule.split(loop, [None, by])]
    order = [*loops[::2], *loops[1::2]]
    schedule.reorder(*order)
    return schedule, block, order


def only(module: ModuleOp) -> PrimFuncOp:
    func = module.body.block.first_op
    assert isinstance(func, PrimFuncOp)
    return func


def assert_product(schedule: Schedule, batch: tuple[int, ...] = ()) -> None:
    """The interpreter, in two orders, and machine code give the product; the trace gives the same function again."""
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-3, 4, (*batch, n, 12)).astype(np.float32) for n in (8, 16))
    expected = a @ np.swapaxes(b, -1, -2)
    for seed in (None, 1):
        (given,) = Interpreter(only(schedule.mod))([a, b], seed)
        np.testing.assert_array_equal(given, expected)
    c = np.zeros_like(expected)
    weft.build(only(schedule.mod).clone())(a, b, c)
    np.testing.assert_array_equal(c, expected)


def assert_recorded(schedule: Schedule, func: PrimFuncOp) -> None:
    again = Schedule(func)
    schedule.trace.apply_to_schedule(again)
    assert str(again.mod) == str(schedule.mod)


# outer blocks


def test_a_blockized_loop_is_a_block_of_that_loop() -> None:
    schedule, block, order = tiled()
    outer = schedule.blockize(order[3])
    assert schedule.operation(schedule.get_block("update_o")) is schedule.operation(outer)
    assert [schedule.operation(each) for each in schedule.get_loops(outer)] == [
        schedule.operation(each) for each in order[:3]
    ]
    assert [schedule.operation(each) for each in schedule.get_loops(block)] == [
        schedule.operation(each) for each in order[3:]
    ]
    assert [schedule.operation(each) for each in schedule.get_child_blocks(order[0])] == [schedule.operation(outer)]
    assert [schedule.operation(each) for each in schedule.get_child_blocks(outer)] == [schedule.operation(block)]
    assert_product(schedule)
    assert_recorded(schedule, matmul)


@pytest.mark.parametrize("number", range(3))
def test_any_loop_around_one_block_is_blockized(number: int) -> None:
    schedule = Schedule(matmul, debug_mask="all")
    schedule.blockize(schedule.get_loops(schedule.get_block("update"))[number])
    assert_product(schedule)
    assert_recorded(schedule, matmul)


def test_loops_around_an_outer_block_are_scheduled_as_before() -> None:
    schedule, _, order = tiled()
    schedule.blockize(order[3])
    schedule.reorder(order[1], order[0])
    first, _ = schedule.split(order[1], [2, None])
    schedule.parallel(first)
    schedule.unroll(order[0])
    assert_product(schedule)


def test_loops_in_an_outer_block_do_not_leave_it() -> None:
    schedule, _, order = tiled()
    schedule.blockize(order[3])
    before = str(schedule.mod)
    with pytest.raises(ScheduleError, match=r"one chain|not directly nested"):
        schedule.reorder(order[3], order[0])
    with pytest.raises(ScheduleError, match="not directly nested"):
        schedule.fuse(order[2], order[3])
    assert str(schedule.mod) == before


def test_an_outer_block_can_be_annotated() -> None:
    schedule, _, order = tiled()
    outer = schedule.blockize(order[3])
    schedule.annotate(outer, "tile", 4)
    assert "tir.outer_block @update_o attributes {tile = 4 : i64}" in str(schedule.mod)
    schedule.unannotate(outer, "tile")
    assert "attributes" not in str(schedule.mod)


def test_what_an_outer_block_holds_is_scheduled_in_it() -> None:
    schedule, block, order = tiled()
    schedule.blockize(order[3])
    schedule.decompose_reduction(block, order[2])
    schedule.unroll(order[5])
    assert_product(schedule)


def test_a_primitive_on_what_computes_is_refused_of_an_outer_block() -> None:
    schedule, _, order = tiled()
    outer = schedule.blockize(order[3])
    with pytest.raises(ScheduleError, match="@update_o is one of loops and blocks"):
        schedule.compute_inline(outer)


@T.prim_func
def two_blocks(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"], C: T.Buffer[(8,), "float32"]):
    for i in range(8):
        with T.block("one"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + T.float32(1)
        with T.block("two"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] * T.float32(2)


@T.prim_func
def in_a_part(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"]):
    for i, j in T.grid(3, 3):
        with T.block("copy"):
            T.where(i * 3 + j < 8)
            vi = T.axis.spatial(8, i * 3 + j)
            B[vi] = A[vi]


@T.prim_func
def backwards(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"]):
    for i, j in T.grid(2, 4):
        with T.block("copy"):
            vi = T.axis.spatial(8, i * 4 + 3 - j)
            B[vi] = A[vi]


@T.prim_func
def interleaved(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"]):
    for i, j in T.grid(2, 4):
        with T.block("copy"):
            vi = T.axis.spatial(8, j * 2 + i)
            B[vi] = A[vi]


@pytest.mark.parametrize(
    ("func", "number", "reason"),
    [
        (two_blocks, 0, "holds 2 blocks"),
        (in_a_part, 1, "runs in a part of the loop only"),
        (backwards, 1, "do not count up to the tile's extent"),
        (interleaved, 1, "do not count up to the tile's extent"),
    ],
)
def test_what_is_no_block_is_not_blockized(func: PrimFuncOp, number: int, reason: str) -> None:
    schedule = Schedule(func)
    loop = schedule.get_loops(schedule.get_block("one" if func is two_blocks else "copy"))[number]
    before = str(schedule.mod)
    with pytest.raises(ScheduleError, match=reason):
        schedule.blockize(loop)
    assert str(schedule.mod) == before


def test_an_outer_block_is_not_blockized_again() -> None:
    schedule, _, order = tiled()
    schedule.blockize(order[3])
    with pytest.raises(ScheduleError, match="holds an outer block already"):
        schedule.blockize(order[2])


# outer blocks in TVMScript


@T.prim_func
def row_sums(A: T.Buffer[(6, 32), "float32"], B: T.Buffer[(6,), "float32"]):
    for k0 in range(4):
        with T.block("tile"):
            vko = T.axis.reduce(4, k0)
            T.reads(A[0:6, vko * 8 : vko * 8 + 8])
            T.writes(B[0:6])
            with T.init():
                for i in range(6):
                    with T.block("start"):
                        vi = T.axis.spatial(6, i)
                        B[vi] = T.float32(0)
            for i, k1 in T.grid(6, 8):
                with T.block("step"):
                    vi, vk = T.axis.remap("SR", [i, k1])
                    B[vi] = B[vi] + A[vi, vko * 8 + vk]


def test_a_block_in_a_block_may_name_its_iterators_and_start_a_reduction() -> None:
    a = np.random.default_rng(0).integers(-3, 4, (6, 32)).astype(np.float32)
    (given,) = Interpreter(row_sums)([a])
    np.testing.assert_array_equal(given, a.sum(1))
    b = np.zeros(6, np.float32)
    weft.build(row_sums.clone())(a, b)
    np.testing.assert_array_equal(b, a.sum(1))
    assert [op.block_name for op in row_sums.walk() if isinstance(op, OuterBlockOp)] == ["tile"]


def test_a_function_with_outer_blocks_is_printed_as_it_is_read() -> None:
    schedule, _, order = tiled()
    outer = schedule.blockize(order[3])
    schedule.annotate(outer, "tile", 4)
    func = only(schedule.mod)
    assert_structural_equal(func, from_source(func.script()))
    assert_structural_equal(row_sums, from_source(row_sums.script()))


def test_an_outer_block_differs_from_what_is_in_it() -> None:
    schedule, _, order = tiled()
    before = only(schedule.mod).clone()
    schedule.blockize(order[3])
    with pytest.raises(AssertionError):
        assert_structural_equal(before, only(schedule.mod))


# tensorize


@pytest.mark.parametrize("decomposed", [True, False])
@pytest.mark.parametrize("blockized", [True, False])
def test_a_tile_is_computed_by_an_intrinsic(decomposed: bool, blockized: bool) -> None:
    schedule, block, order = tiled()
    if decomposed:
        schedule.decompose_reduction(block, order[2])
    target = schedule.blockize(order[3]) if blockized else order[3]
    schedule.tensorize(target, "test_tile")
    names = [op.block_name for op in only(schedule.mod).walk() if isinstance(op, BlockOp)]
    assert names == ["update_init", "mma"]
    assert_product(schedule)
    assert_recorded(schedule, matmul)


@T.prim_func
def batched(
    A: T.Buffer[(3, 8, 12), "float32"], B: T.Buffer[(3, 16, 12), "float32"], C: T.Buffer[(3, 8, 16), "float32"]
):
    for n, i, j, k in T.grid(3, 8, 16, 12):
        with T.block("update"):
            vn, vi, vj, vk = T.axis.remap("SSSR", [n, i, j, k])
            with T.init():
                C[vn, vi, vj] = T.float32(0)
            C[vn, vi, vj] = C[vn, vi, vj] + B[vn, vj, vk] * A[vn, vi, vk]


def test_an_intrinsic_is_used_at_one_index_of_the_first_dimensions_and_factors_may_be_turned() -> None:
    schedule, _, order = tiled(batched)
    schedule.tensorize(order[3], "test_tile")
    schedule.parallel(schedule.get_loops(schedule.get_block("update_o"))[0])
    assert_product(schedule, (3,))


def test_what_computes_by_an_intrinsic_can_be_scheduled_on() -> None:
    schedule, _, order = tiled()
    schedule.tensorize(order[3], "test_tile")
    schedule.unroll(schedule.get_loops(schedule.get_block("mma"))[0])
    schedule.parallel(order[0])
    assert_product(schedule)


def test_handles_of_what_an_intrinsic_has_replaced_are_stale() -> None:
    schedule, block, order = tiled()
    schedule.tensorize(order[3], "test_tile")
    with pytest.raises(ScheduleError, match=r"stale: schedule\.tensorize has put test_tile in its place"):
        schedule.get_loops(block)
    with pytest.raises(ScheduleError, match="stale"):
        schedule.unroll(order[3])


def test_a_tensorized_schedule_is_applied_from_its_text() -> None:
    schedule, _, order = tiled()
    schedule.tensorize(order[3], "test_tile")
    assert 'schedule.tensorize %i_2 {intrin = "test_tile"}' in str(schedule.trace.op)


def swapped(schedule: Schedule, order: list[LoopRV]) -> LoopRV:
    schedule.reorder(order[4], order[3])
    return order[4]


def shorter(schedule: Schedule, order: list[LoopRV]) -> LoopRV:
    return order[4]


def no_loop(schedule: Schedule, order: list[LoopRV]) -> BlockRV:
    return schedule.get_block("update")


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (swapped, "is of loops of 4, 8, 4 iterations, not of 8, 4, 4"),
        (shorter, "is of loops of 4, 8, 4 iterations, not of 8, 4"),
        (no_loop, "holds no loop to tensorize"),
    ],
)
def test_loops_that_an_intrinsic_does_not_have_are_refused(
    target: Callable[[Schedule, list[LoopRV]], LoopRV | BlockRV], reason: str
) -> None:
    schedule, _, order = tiled()
    what = target(schedule, order)
    before, trace = str(schedule.mod), str(schedule.trace)
    with pytest.raises(ScheduleError, match=reason):
        schedule.tensorize(what, "test_tile")
    assert (str(schedule.mod), str(schedule.trace)) == (before, trace)


HEAD = """@T.prim_func
def other(A: T.Buffer[(8, 12), "float32"], B: T.Buffer[(16, 12), "float32"], C: T.Buffer[(8, 16), "float32"]):
    for i, j, k in T.grid(8, 16, 12):
        with T.block("update"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
"""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("C[vi, vj] = C[vi, vj] + A[vi, vk] - B[vj, vk]", "it has arith.addf where the block has arith.subf"),
        ("C[vi, vj] = C[vi, vj] + A[vi, vk] * A[vi, vk]", "is accessed at other indices"),
        ("C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vi, vk]", "is accessed at other indices"),
        ("C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, 11 - vk]", "is accessed at other indices"),
        ("C[vi, vj] = C[vi, vj] + A[vi, vk] * T.float32(2)", "it has memref.load where the block has arith.constant"),
        ('T.block_attr({"mark": 1})\n            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]', "other annotations"),
    ],
)
def test_what_computes_something_else_is_refused(body: str, reason: str) -> None:
    func = function(HEAD + "            " + body + "\n")
    schedule, _, order = tiled(func)
    before = str(schedule.mod)
    with pytest.raises(ScheduleError, match=reason):
        schedule.tensorize(order[3], "test_tile")
    assert str(schedule.mod) == before


def test_a_reduction_that_goes_on_is_no_reduction_that_starts() -> None:
    TensorIntrin.register("test_whole", matmul, matmul, override=True)
    schedule = Schedule(matmul, debug_mask="all")
    schedule.tensorize(schedule.get_loops(schedule.get_block("update"))[0], "test_whole")
    assert_product(schedule)
    schedule = Schedule(matmul)
    block = schedule.get_block("update")
    loop = schedule.get_loops(block)[0]
    schedule.decompose_reduction(block, loop)
    with pytest.raises(ScheduleError, match="starts a reduction, and @update goes on with one"):
        schedule.tensorize(loop, "test_whole")


# intrinsics


def test_an_intrinsic_is_found_by_name() -> None:
    found = TensorIntrin.get("test_tile")
    assert found is not None and found.name == "test_tile"
    assert TensorIntrin.get("test_nothing", allow_missing=True) is None
    with pytest.raises(ValueError, match=r"there is no tensor intrinsic test_til; did you mean .*test_tile"):
        TensorIntrin.get("test_til")
    schedule, _, order = tiled()
    with pytest.raises(ScheduleError, match="there is no tensor intrinsic test_til"):
        schedule.tensorize(order[3], "test_til")


def test_a_name_is_given_once() -> None:
    with pytest.raises(ValueError, match="override=True"):
        TensorIntrin.register("test_tile", tile_desc, plain_impl)


def test_the_functions_of_an_intrinsic_take_the_same_buffers() -> None:
    with pytest.raises(ValueError, match="take other buffers"):
        TensorIntrin.register("test_other", tile_desc, row_sums)


def test_a_description_is_one_block() -> None:
    with pytest.raises(ValueError, match="more than one block in loops"):
        TensorIntrin.register("test_two", two_blocks, two_blocks)


def test_a_function_of_an_intrinsic_verifies() -> None:
    broken = plain_impl.clone()
    next(op for op in broken.walk() if isinstance(op, BlockOp)).sizes = [1, 1, 1]
    with pytest.raises(Diagnostic):
        TensorIntrin.register("test_broken", tile_desc, broken)


def test_an_outer_block_is_transparent_to_the_loops_around() -> None:
    schedule, block, order = tiled()
    schedule.blockize(order[3])
    found = schedule.operation(block)
    assert isinstance(found, BlockOp)
    assert len(enclosing_loops(found)) == 6


@T.prim_func
def starts_by_itself(
    a: T.Buffer[(8, 12), "float32"], b: T.Buffer[(16, 12), "float32"], c: T.Buffer[(8, 16), "float32"]
):
    for i, j in T.grid(8, 16):
        with T.block("start"):
            vi, vj = T.axis.remap("SS", [i, j])
            c[vi, vj] = T.float32(0)
    for i, j, k in T.grid(8, 16, 12):
        with T.block("step"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            c[vi, vj] = c[vi, vj] + a[vi, vk] * b[vj, vk]


@T.prim_func
def longer(A: T.Buffer[(8, 24), "float32"], B: T.Buffer[(16, 24), "float32"], C: T.Buffer[(8, 16), "float32"]):
    for i, j, k in T.grid(8, 16, 24):
        with T.block("update"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]


def test_sums_that_go_on_from_tile_to_tile_start_once() -> None:
    TensorIntrin.register("test_starts", matmul, starts_by_itself, override=True)
    TensorIntrin.register("test_starts_by_init", matmul, matmul, override=True)
    whole = Schedule(matmul, debug_mask="all")
    whole.tensorize(whole.get_loops("update")[0], "test_starts")
    assert_product(whole)
    tiles = Schedule(longer, debug_mask="all")
    i, j, k = tiles.get_loops("update")
    outer, inner = tiles.split(k, [2, None])
    tiles.reorder(outer, i, j, inner)
    with pytest.raises(ScheduleError, match="starts its sums in each tile"):
        tiles.tensorize(i, "test_starts")
    tiles.tensorize(i, "test_starts_by_init")
    a, b = (np.random.default_rng(n).integers(-3, 4, (n, 24)).astype(np.float32) for n in (8, 16))
    np.testing.assert_array_equal(Interpreter(only(tiles.mod))([a, b])[0], a @ b.T)


@T.prim_func
def first_half(a: T.Buffer[(8,), "float32"], b: T.Buffer[(4,), "float32"]):
    for i in range(4):
        with T.block("copy"):
            vi = T.axis.spatial(4, i)
            b[vi] = a[vi]


def test_a_description_reaches_all_that_its_implementation_may_touch() -> None:
    TensorIntrin.register("test_half", first_half, first_half, override=True)
    schedule = Schedule(first_half)
    with pytest.raises(ScheduleError, match="does not reach all of %a"):
        schedule.tensorize(schedule.get_loops("copy")[0], "test_half")


def begun_in_tiles(beside: str = "") -> PrimFuncOp:
    """`matmul` in tiles, each an outer block that begins with zeros, with `beside` in front of the steps,
    on which a search has left a note."""
    return function(f"""
@T.prim_func
def f(A: T.Buffer[(8, 12), "float32"], B: T.Buffer[(16, 12), "float32"], C: T.Buffer[(8, 16), "float32"],
      D: T.Buffer[(8, 16), "float32"]):
    for i, j, k in T.grid(2, 2, 3):
        with T.block("update_o"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                for a, b in T.grid(4, 8):
                    with T.block("update_init"):
                        va, vb = T.axis.remap("SS", [a, b])
                        C[vi * 4 + va, vj * 8 + vb] = T.float32(0)
            {beside}
            for a, b, c in T.grid(4, 8, 4):
                with T.block("update"):
                    va, vb, vc = T.axis.remap("SSR", [a, b, c])
                    T.block_attr({{"meta_schedule.tiling_structure": "SSR"}})
                    C[vi * 4 + va, vj * 8 + vb] = C[vi * 4 + va, vj * 8 + vb] + (
                        A[vi * 4 + va, vk * 4 + vc] * B[vj * 8 + vb, vk * 4 + vc]
                    )
""")


def test_what_begins_the_steps_of_an_outer_block_stays() -> None:
    schedule = Schedule(begun_in_tiles(), debug_mask="all")
    TensorIntrin.register("begun_tile", tile_desc, plain_impl, override=True)
    schedule.tensorize(schedule.get_block("update_o"), "begun_tile")
    assert [each.block_name for each in schedule.mod.walk() if isinstance(each, BlockOp)] == ["update_init", "mma"]
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape, np.float32) for shape in ((8, 12), (16, 12)))
    c, d = np.empty((8, 16), np.float32), np.zeros((8, 16), np.float32)
    weft.build(schedule.mod["f"])(a, b, c, d)
    np.testing.assert_allclose(c, a @ b.T, rtol=1e-4, atol=1e-4)


def test_a_nest_that_begins_nothing_is_not_left_beside_an_intrinsic() -> None:
    beside = """
            for a in range(8):
                with T.block("other"):
                    va = T.axis.spatial(8, a)
                    D[vi * 4, vj * 8 + va] = T.float32(1)
"""
    schedule = Schedule(begun_in_tiles(beside))
    TensorIntrin.register("begun_tile", tile_desc, plain_impl, override=True)
    with pytest.raises(ScheduleError, match="@other is no beginning"):
        schedule.tensorize(schedule.get_block("update_o"), "begun_tile")

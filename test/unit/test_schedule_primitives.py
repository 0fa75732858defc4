"""Schedule primitives: what they leave computes the same, and what does not apply is refused with the reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from te_samples import batch_matmul, dense, layer_norm, reduction, softmax
from tir_run import Stage, assert_computes, prim_func
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from weft.dialects import te
from weft.dialects.tir.core import AllocBufferOp, BlockOp, ForKind, ForOp, PrimFuncOp, Scope, enclosing_loops
from weft.transforms.tir.analysis.producers import defining_block
from weft.transforms.tir.schedule.add_unit_loop import add_unit_loop
from weft.transforms.tir.schedule.cache_write import cache_write
from weft.transforms.tir.schedule.compute_at import compute_at
from weft.transforms.tir.schedule.decompose_reduction import decompose_reduction
from weft.transforms.tir.schedule.errors import ScheduleError
from weft.transforms.tir.schedule.fuse import fuse
from weft.transforms.tir.schedule.inline import compute_inline
from weft.transforms.tir.schedule.iters import fuse_buffer_dims, fuse_iters
from weft.transforms.tir.schedule.loops import bind_constant
from weft.transforms.tir.schedule.reorder import reorder
from weft.transforms.tir.schedule.set_kind import set_kind
from weft.transforms.tir.schedule.set_scope import set_scope
from weft.transforms.tir.schedule.split import split

pytestmark = pytest.mark.sampled(3)


def block_of(func: PrimFuncOp, name: str) -> BlockOp:
    return next(op for op in func.walk() if isinstance(op, BlockOp) and op.block_name == name)


def loops_of(func: PrimFuncOp, name: str) -> list[ForOp]:
    return enclosing_loops(block_of(func, name))


def matmul() -> tuple[PrimFuncOp, Stage]:
    stage = batch_matmul(2, 5, 12, 7)
    return prim_func(stage), stage


def refused(action: Callable[[], object], func: PrimFuncOp, reason: str) -> None:
    """`action` raises, and leaves `func` as it was."""
    before = str(func)
    with pytest.raises(ScheduleError, match=reason):
        action()
    assert str(func) == before


# split


@pytest.mark.parametrize("factors", [[4], [2, 3], [5], [16], [1], [2, 2, 2]])
@pytest.mark.parametrize("loop", range(4))
def test_split_loops_compute_the_same(loop: int, factors: list[int]) -> None:
    func, stage = matmul()
    extent = loops_of(func, "matmul")[loop].trip_count
    parts = split(loops_of(func, "matmul")[loop], factors)
    assert [part.trip_count for part in parts[1:]] == factors
    inner = 1
    for factor in factors:
        inner *= factor
    assert bool(block_of(func, "matmul").conditions) == (extent % inner != 0)
    assert_computes(func, stage, threads=[1])


def test_a_reduction_is_not_repeated_where_a_loop_that_it_does_not_bind_is_split() -> None:
    stage = batch_matmul(1, 2, 3, 4)
    func = prim_func(stage)
    unit = add_unit_loop(block_of(func, "matmul"))
    split(unit, [2])
    assert_computes(func, stage)


def test_a_split_without_a_factor_is_refused() -> None:
    func, _ = matmul()
    refused(lambda: split(loops_of(func, "matmul")[1], [0]), func, "factors must be positive")


def test_a_split_of_a_loop_that_does_not_start_at_0_is_refused() -> None:
    func, _ = matmul()
    loop = loops_of(func, "matmul")[1]
    loop.properties["min"] = type(loop.min)(1, loop.min.type)
    refused(lambda: split(loop, [2]), func, "starts at 1")


# fuse


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("first", [0, 1])
def test_fused_loops_compute_the_same(first: int, count: int) -> None:
    func, stage = matmul()
    loops = loops_of(func, "matmul")[first : first + count]
    trips = 1
    for loop in loops:
        trips *= loop.trip_count
    assert fuse(*loops).trip_count == trips
    assert_computes(func, stage, threads=[1])


def test_what_was_split_and_fused_again_is_as_before() -> None:
    func, stage = matmul()
    before = [str(e) for e in block_of(func, "matmul").bindings.data.results]
    fuse(*split(loops_of(func, "matmul")[2], [4]))
    assert [str(e) for e in block_of(func, "matmul").bindings.data.results] == before
    assert_computes(func, stage, threads=[1])


def test_loops_that_are_not_directly_nested_are_not_fused() -> None:
    func, _ = matmul()
    loops = loops_of(func, "matmul")
    refused(lambda: fuse(loops[0], loops[2]), func, "not directly nested")


# reorder


@pytest.mark.parametrize("order", [(1, 0), (3, 2, 1, 0), (3, 1), (2, 0, 3), (0,)])
def test_reordered_loops_compute_the_same(order: tuple[int, ...]) -> None:
    func, stage = matmul()
    loops = loops_of(func, "matmul")
    reorder(*(loops[n] for n in order))
    after = loops_of(func, "matmul")
    assert [loop for loop in after if loop in [loops[n] for n in order]] == [loops[n] for n in order]
    assert_computes(func, stage, threads=[1])


def test_a_loop_named_twice_is_not_reordered() -> None:
    func, _ = matmul()
    loop = loops_of(func, "matmul")[0]
    refused(lambda: reorder(loop, loop), func, "named twice")


def test_loops_of_two_nests_are_not_reordered() -> None:
    func = prim_func(dense(3, 4, 5))
    refused(
        lambda: reorder(loops_of(func, "dense")[0], loops_of(func, "relu")[0]), func, "one chain|not directly nested"
    )


# compute_inline


def test_an_inlined_stage_computes_the_same() -> None:
    x = te.placeholder((4, 6), f32, "x")
    twice = te.compute((4, 6), lambda i, j: x[i, j] + x[i, j], "twice")
    turned = te.compute((6, 4), lambda i, j: twice[j, i] * twice[j, i], "turned")
    stage = [x], [turned]
    func = prim_func(stage)
    compute_inline(block_of(func, "twice"))
    assert not [op for op in func.walk() if isinstance(op, AllocBufferOp)]
    assert_computes(func, stage, threads=[1])


def test_an_inlined_stage_may_leave_out_an_extent_of_one() -> None:
    x = te.placeholder((1, 6), f32, "x")
    flat = te.compute((6,), lambda i: x[0, i] * 2.0, "flat")
    stage = [x], [te.compute((1, 6), lambda i, j: flat[j] + x[i, j], "sum")]
    func = prim_func(stage)
    compute_inline(block_of(func, "flat"))
    assert_computes(func, stage, threads=[1])


def test_a_stage_with_several_readers_is_inlined_in_all() -> None:
    x = te.placeholder((5,), f32, "x")
    twice = te.compute((5,), lambda i: x[i] + x[i], "twice")
    stage = [x], [te.compute((5,), lambda i: twice[i] + 1.0, "a"), te.compute((5,), lambda i: twice[4 - i], "b")]
    func = prim_func(stage)
    compute_inline(block_of(func, "twice"))
    assert_computes(func, stage, threads=[1])


def test_an_inlined_stage_is_computed_once_for_reads_of_one_element() -> None:
    x = te.placeholder((1, 5), f32, "x")
    exp = te.compute((1, 5), lambda i, j: te.exp(x[i, j]), "exp")
    last = te.compute((1, 5), lambda i, j: exp[i, j] * exp[0, j] + exp[i, 4 - j], "last")
    func = prim_func(([x], [last]))
    compute_inline(block_of(func, "exp"))
    assert sum(op.name == "math.exp" for op in func.walk()) == 2
    assert_computes(func, ([x], [last]), threads=[1])


def test_a_reduction_is_not_inlined() -> None:
    func = prim_func(dense(3, 4, 5))
    refused(lambda: compute_inline(block_of(func, "dense")), func, "is a reduction or has a predicate")


def test_an_output_is_not_inlined() -> None:
    func = prim_func(dense(3, 4, 5))
    refused(lambda: compute_inline(block_of(func, "relu")), func, "writes an output")


def test_a_stage_with_a_predicate_is_not_inlined() -> None:
    func = prim_func(layer_norm(5, 8))
    split(loops_of(func, "mean")[0], [2])
    refused(lambda: compute_inline(block_of(func, "mean")), func, "has a predicate")


# compute_at


@pytest.mark.parametrize("depth", [0, 1])
def test_a_producer_moves_into_its_consumers_loop(depth: int) -> None:
    stage = dense(6, 8, 5)
    func = prim_func(stage)
    moved = compute_at(block_of(func, "dense"), loops_of(func, "relu")[depth])
    assert [loop.trip_count for loop in moved] == [8, 5][depth:]
    assert_computes(func, stage, threads=[1])


def test_a_producer_moves_into_a_tile_with_a_rest() -> None:
    stage = dense(7, 9, 5)
    func = prim_func(stage)
    rows, columns = loops_of(func, "relu")
    row_parts, column_parts = split(rows, [3]), split(columns, [4])
    reorder(row_parts[0], column_parts[0], row_parts[1], column_parts[1])
    moved = compute_at(block_of(func, "dense"), column_parts[0])
    assert [loop.trip_count for loop in moved] == [3, 4, 5]
    assert block_of(func, "dense").conditions
    assert_computes(func, stage, threads=[1])


def test_several_producers_move_into_one_loop() -> None:
    stage = softmax(4, 9)
    func = prim_func(stage)
    row = loops_of(func, "softmax")[0]
    for name in ("total", "power", "highest"):
        compute_at(block_of(func, name), row)
    for alloc in [op for op in func.walk() if isinstance(op, AllocBufferOp)]:
        set_scope(alloc.buffer, Scope.LOCAL)
    assert len([op for op in func.region.block.ops if isinstance(op, ForOp)]) == 1
    assert_computes(func, stage)


def test_a_producer_that_is_read_elsewhere_too_does_not_move() -> None:
    func = prim_func(softmax(4, 9))
    refused(lambda: compute_at(block_of(func, "power"), loops_of(func, "softmax")[0]), func, "read outside the loop")


def test_an_output_does_not_move() -> None:
    func = prim_func(dense(3, 4, 5))
    refused(lambda: compute_at(block_of(func, "relu"), loops_of(func, "dense")[0]), func, "@relu is an output block")


def test_a_producer_does_not_move_within_a_loop_of_its_own_that_its_readers_are_not_in() -> None:
    func = prim_func(softmax(4, 9))
    refused(
        lambda: compute_at(block_of(func, "power"), loops_of(func, "power")[0]), func, "an ancestor of block @power"
    )


# cache_write, decompose_reduction, set_scope


def test_a_cached_result_is_copied_to_its_place() -> None:
    func, stage = matmul()
    copy = cache_write(block_of(func, "matmul"), Scope.GLOBAL)
    assert copy.block_name == "out_global"
    assert_computes(func, stage)


def test_a_cached_result_moves_into_the_copys_loops() -> None:
    func, stage = matmul()
    copy = cache_write(block_of(func, "matmul"), Scope.LOCAL)
    compute_at(block_of(func, "matmul"), enclosing_loops(copy)[1])
    set_kind(enclosing_loops(copy)[0], ForKind.PARALLEL)
    assert_computes(func, stage)


@pytest.mark.parametrize("depth", range(4))
def test_init_apart_computes_the_same(depth: int) -> None:
    func, stage = matmul()
    init = decompose_reduction(block_of(func, "matmul"), loops_of(func, "matmul")[depth])
    assert block_of(func, "matmul").init is None and init.block_name == "matmul_init"
    assert_computes(func, stage, threads=[1])


def test_init_apart_stands_in_loops_with_rests() -> None:
    func, stage = matmul()
    parts = split(loops_of(func, "matmul")[2], [5])
    reorder(loops_of(func, "matmul")[4], *parts)
    decompose_reduction(block_of(func, "matmul"), loops_of(func, "matmul")[2])
    assert_computes(func, stage, threads=[1])


def test_a_split_reduction_is_set_once() -> None:
    func, stage = matmul()
    split(loops_of(func, "matmul")[3], [4])
    assert_computes(func, stage, threads=[1])


def test_init_does_not_move_into_a_reduction() -> None:
    func, _ = matmul()
    reorder(*reversed(loops_of(func, "matmul")))
    block = block_of(func, "matmul")
    refused(lambda: decompose_reduction(block, loops_of(func, "matmul")[1]), func, "lies outside the loop")


def test_a_block_without_init_is_not_taken_apart() -> None:
    func = prim_func(dense(3, 4, 5))
    block = block_of(func, "relu")
    refused(lambda: decompose_reduction(block, loops_of(func, "relu")[0]), func, "no init to take apart")


def test_init_does_not_move_to_a_loop_elsewhere() -> None:
    func = prim_func(dense(3, 4, 5))
    block = block_of(func, "dense")
    refused(lambda: decompose_reduction(block, loops_of(func, "relu")[0]), func, "not around block @dense")


def test_the_scope_of_an_argument_stays() -> None:
    func, _ = matmul()
    refused(lambda: set_scope(func.region.block.args[0], Scope.LOCAL), func, "only an allocated buffer")


# fuse_iters, fuse_buffer_dims


def test_fused_iterators_compute_the_same() -> None:
    func, stage = matmul()
    fuse_iters(block_of(func, "matmul"), 0)
    block = block_of(func, "matmul")
    assert block.extents == (10, 12, 7)
    fuse_iters(block, 0)
    assert block.extents == (120, 7)
    assert_computes(func, stage, threads=[1])


def test_fused_dimensions_of_a_buffer_hold_the_same() -> None:
    stage = dense(6, 8, 5)
    func = prim_func(stage)
    blocks = [block_of(func, "dense"), block_of(func, "relu")]
    buffer: SSAValue = blocks[0].writes[0]
    for block in blocks:
        fuse_iters(block, 0)
    assert isinstance(buffer.owner, AllocBufferOp)
    fuse_buffer_dims(buffer.owner, 0, blocks)
    assert str(buffer.type) == "memref<48xf32>"
    assert_computes(func, stage, threads=[1])


def test_iterators_of_two_kinds_are_not_fused() -> None:
    func, _ = matmul()
    refused(lambda: fuse_iters(block_of(func, "matmul"), 2), func, "of different kinds")


def test_split_iterators_are_not_fused() -> None:
    func, _ = matmul()
    split(loops_of(func, "matmul")[1], [2])
    refused(lambda: fuse_iters(block_of(func, "matmul"), 0), func, "each has one loop")


# bind_constant, defining_block


def test_a_loop_of_one_iteration_gives_way_to_its_body() -> None:
    func, stage = matmul()
    outer, *_ = split(loops_of(func, "matmul")[1], [5])
    bind_constant(outer)
    assert len(loops_of(func, "matmul")) == 4
    assert_computes(func, stage, threads=[1])


def test_a_buffer_knows_the_block_that_defines_it() -> None:
    func = prim_func(dense(3, 4, 5))
    block = block_of(func, "dense")
    assert defining_block(block.writes[0]) is block
    assert defining_block(func.region.block.args[0]) is None


def test_fused_steps_of_a_reduction_compute_the_same() -> None:
    stage = reduction((4, 3, 5), (1, 2), "max")
    func = prim_func(stage)
    fuse_iters(block_of(func, "max"), 1)
    assert block_of(func, "max").extents == (4, 15)
    assert_computes(func, stage, threads=[1])

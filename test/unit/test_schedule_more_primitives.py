"""What the primitives that `weft.tir.Schedule` adds refuse, with the reason; and what they compute, as machine code."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias, cast

import numpy as np
import pytest
from te_samples import batch_matmul, dense, layer_norm, softmax
from tir_run import Stage, assert_computes, module_of, prim_func
from tvmscript_texts import function, only, refused
from xdsl.dialects.builtin import IndexType, f32
from xdsl.ir.affine import AffineExpr

from weft.dialects import te
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.tir.core import AllocBufferOp, BlockOp, blocks_under
from weft.tir import IndexMap as TirIndexMap
from weft.tir import Interpreter, Schedule, ScheduleError, from_source
from weft.transforms.tir.scheduling.schedule import IndexMap

SEPARATOR = TirIndexMap.AXIS_SEPARATOR


def of(stage: Stage) -> Schedule:
    return Schedule(prim_func(stage), debug_mask="all")


DENSE = dense(8, 16, 12)


# bind, annotate


def test_an_unknown_thread_axis_is_refused() -> None:
    schedule = of(DENSE)
    i, j = schedule.get_loops(schedule.get_block("relu"))
    refused(lambda: schedule.bind(i, "threadIdx.w"), schedule, "unknown thread axis 'threadIdx.w'")
    schedule.bind(i, "blockIdx.x")
    refused(lambda: schedule.bind(j, "blockIdx.x"), schedule, "another loop of its nest is bound to blockIdx.x")


def test_a_reductions_loop_is_bound_to_threads_of_a_block_alone() -> None:
    schedule = of(DENSE)
    k = schedule.get_loops(schedule.get_block("dense"))[2]
    refused(lambda: schedule.bind(k, "blockIdx.x"), schedule, "its steps cannot run at the same time")
    refused(lambda: schedule.bind(k, "vthread.x"), schedule, "its steps cannot run at the same time")
    schedule.bind(k, "threadIdx.x")


def test_annotations_come_and_go() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("relu")
    i = schedule.get_loops(block)[0]
    before = str(schedule.mod)
    for handle in (block, i):
        schedule.annotate(handle, "word", [1, "two", 3.0, True])
        refused(
            lambda handle=handle: schedule.annotate(handle, "word", 2), schedule, "has the annotation 'word' already"
        )
    assert str(schedule.mod) != before
    for handle in (block, i):
        schedule.unannotate(handle, "word")
        refused(lambda handle=handle: schedule.unannotate(handle, "word"), schedule, "has no annotation 'word'")
    assert str(schedule.mod) == before


# cache_read, reindex


def test_readers_may_share_a_copy() -> None:
    stage = softmax(6, 10)
    schedule = of(stage)
    schedule.cache_read(schedule.get_block("total"), 0, "global")
    assert str(schedule.mod).count("%power_global[") >= 3
    assert_computes(only(schedule), stage, threads=[1])


def test_a_copy_moves_to_where_less_of_it_is_needed() -> None:
    schedule = of(DENSE)
    dense_block = schedule.get_block("dense")
    copy = schedule.cache_read(dense_block, 1, "global")
    schedule.compute_at(copy, schedule.get_loops(dense_block)[1])
    schedule.set_scope(copy, 0, "local")
    assert_computes(only(schedule), DENSE)


def test_what_is_written_in_the_same_nest_is_not_reindexed_before() -> None:
    schedule = of(DENSE)
    dense_block, relu = schedule.get_block("dense"), schedule.get_block("relu")
    schedule.compute_at(dense_block, schedule.get_loops(relu)[0])
    refused(lambda: schedule.reindex(relu, ("read", 0)), schedule, "where it would have been copied already")


def test_a_buffer_of_another_number_is_refused() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("relu")
    refused(lambda: schedule.cache_read(block, 7, "global"), schedule, "reads 2 buffers, none of number 7")
    refused(lambda: schedule.cache_read(block, 0, "attic.dyn"), schedule, 'unknown scope "attic.dyn"')
    refused(lambda: schedule.reindex(block, ("write", 7)), schedule, "writes 1 buffers, none of number 7")


def test_a_reindexed_input_computes_the_same() -> None:
    stage = batch_matmul(2, 5, 12, 7)
    schedule = of(stage)
    schedule.reindex(schedule.get_block("matmul"), ("read", 1))
    assert_computes(only(schedule), stage, threads=[1])


def test_a_reindexed_output_computes_the_same() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    copy = schedule.reindex(block, ("write", 0))
    (reader,) = schedule.get_consumers(copy)
    assert schedule.get(reader) is schedule.get(schedule.get_block("relu"))
    schedule.reindex(schedule.get_block("relu"), ("write", 0))
    assert_computes(only(schedule), DENSE, threads=[1])


def test_a_result_that_is_read_in_its_nest_is_not_reindexed() -> None:
    schedule = of(DENSE)
    relu, product = schedule.get_block("relu"), schedule.get_block("dense")
    schedule.compute_at(product, schedule.get_loops(relu)[0])
    refused(lambda: schedule.reindex(product, ("write", 0)), schedule, "in the same nest, before it would be copied")
    schedule.decompose_reduction(product, schedule.get_loops(product)[-1])
    refused(lambda: schedule.reindex(product, ("write", 0)), schedule, "is not alone in writing")


# reverse_compute_at, reverse_compute_inline


@pytest.mark.parametrize("depth", [0, 1])
def test_a_reader_moves_into_its_producers_loop(depth: int) -> None:
    schedule = of(DENSE)
    dense_block, relu = schedule.get_block("dense"), schedule.get_block("relu")
    schedule.reverse_compute_at(relu, schedule.get_loops(dense_block)[depth])
    assert_computes(only(schedule), DENSE, threads=[1])


def test_a_reader_moves_into_a_tile_with_a_rest() -> None:
    stage = dense(7, 9, 5)
    schedule = of(stage)
    dense_block, relu = schedule.get_block("dense"), schedule.get_block("relu")
    i, j, k = schedule.get_loops(dense_block)
    i_0, i_1 = schedule.split(i, [None, 3])
    j_0, j_1 = schedule.split(j, [None, 4])
    schedule.reorder(i_0, j_0, k, i_1, j_1)
    schedule.reverse_compute_at(relu, j_0)
    assert_computes(only(schedule), stage)


def test_a_reader_does_not_move_into_a_reduction() -> None:
    schedule = of(DENSE)
    dense_block, relu = schedule.get_block("dense"), schedule.get_block("relu")
    loops = schedule.get_loops(dense_block)
    refused(lambda: schedule.reverse_compute_at(relu, loops[2]), schedule, "has not finished its reduction")
    schedule.reorder(loops[2], loops[0])
    refused(lambda: schedule.reverse_compute_at(relu, loops[0]), schedule, "has not finished its reduction")


def test_a_reduction_does_not_move_where_a_part_of_its_input_is() -> None:
    schedule = of(softmax(4, 9))
    total, power = schedule.get_block("total"), schedule.get_block("power")
    j = schedule.get_loops(power)[1]
    refused(
        lambda: schedule.reverse_compute_at(total, j), schedule, "reduces along .*, of which an iteration has a part"
    )


def _reshaped(rows: int, columns: int, shape: tuple[int, ...], swap: bool = False) -> Stage:
    """Twice a matrix, plus a tensor of another shape that has the same elements, or those in another order."""
    x = te.placeholder((rows, columns), f32, "x")
    y = te.placeholder(shape, f32, "y")
    twice = te.compute((rows, columns), lambda i, j: x[i, j] + x[i, j], "twice")

    def element(*at: te.Expr) -> te.Expr:
        number: te.Expr = te.const(0, IndexType())
        for index, extent in zip(reversed(at) if swap else at, reversed(shape) if swap else shape, strict=True):
            number = number * extent + index
        return twice[number // columns, number % columns] * y[at]

    return [x, y], [te.compute(shape, element, "reshaped")]


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(
    ("rows", "columns", "shape"),
    [(6, 8, (2, 3, 4, 2)), (6, 8, (48,)), (6, 8, (1, 16, 1, 3)), (5, 7, (7, 5)), (1, 1, (1, 1)), (3, 4, (12, 1))],
)
def test_a_reader_of_another_shape_becomes_part_of_its_producer(
    rows: int, columns: int, shape: tuple[int, ...], swap: bool
) -> None:
    stage = _reshaped(rows, columns, shape, swap)
    schedule = of(stage)
    schedule.reverse_compute_inline(schedule.get_block("reshaped"))
    assert _order(schedule) == ["twice"]
    assert_computes(only(schedule), stage, threads=[1])


def test_a_reader_in_the_same_loop_becomes_part_of_its_producer() -> None:
    stage = _reshaped(6, 8, (6, 8))
    schedule = of(stage)
    loop = schedule.get_loops(schedule.get_block("reshaped"))[0]
    schedule.compute_at(schedule.get_block("twice"), loop)
    schedule.reverse_compute_inline(schedule.get_block("reshaped"))
    assert _order(schedule) == ["twice"]
    assert_computes(only(schedule), stage, threads=[1])


Element: TypeAlias = Callable[[te.Tensor, te.IterVar, te.IterVar], te.Expr]

READ: dict[str, Element] = {
    "at two places": lambda t, i, j: t[i, i] + t[i, j],
    "along the diagonal": lambda t, i, j: t[i, i] + j,
    "each row twice": lambda t, i, j: t[i // 2, j],
    "each column at the first": lambda t, i, j: t[i, j * 0],
}


@pytest.mark.parametrize("element", READ.values(), ids=READ)
def test_a_reader_that_does_not_read_every_element_once_is_refused(
    element: Element,
) -> None:
    x = te.placeholder((6, 6), f32, "x")
    twice = te.compute((6, 6), lambda i, j: x[i, j] + x[i, j], "twice")
    schedule = of(([x], [te.compute((6, 6), lambda i, j: element(twice, i, j), "read")]))
    read = schedule.get_block("read")
    refused(lambda: schedule.reverse_compute_inline(read), schedule, "every element of %twice once, at one place")


def _steps() -> Stage:
    x = te.placeholder((6, 5), f32, "x")
    a = te.compute((6, 5), lambda i, j: x[i, j] + 1, "a")
    b = te.compute((6, 5), lambda i, j: x[i, j] * 2, "b")
    c = te.compute((6, 5), lambda i, j: a[i, j] * b[i, j], "c")
    return [x], [te.compute((6, 5), lambda i, j: c[i, j] - x[i, j], "d")]


def _order(schedule: Schedule) -> list[str]:
    """The blocks, in order."""
    return [block.block_name for block in blocks_under(only(schedule))]


@pytest.mark.parametrize(("index", "order"), [(-1, "abcd"), (-2, "bacd"), (0, "bacd"), (1, "abcd")])
def test_a_block_moves_to_where_its_index_says(index: int, order: str) -> None:
    stage = _steps()
    schedule = of(stage)
    place = schedule.get_loops(schedule.get_block("c"))[0]
    schedule.compute_at(schedule.get_block("a"), place)
    schedule.compute_at(schedule.get_block("b"), place, index=index)
    assert "".join(_order(schedule)) == order
    schedule.reverse_compute_at(schedule.get_block("d"), place)
    assert "".join(_order(schedule)) == order
    assert_computes(only(schedule), stage)
    again = of(stage)
    schedule.trace.apply_to_schedule(again)
    assert str(again.mod) == str(schedule.mod)


def test_an_index_after_what_reads_the_block_is_refused() -> None:
    schedule = of(_steps())
    place = schedule.get_loops(schedule.get_block("c"))[0]
    a, d = schedule.get_block("a"), schedule.get_block("d")
    refused(lambda: schedule.compute_at(a, place, index=1), schedule, "before statements 0 to 0 of the loop, not 1")
    refused(lambda: schedule.reverse_compute_at(d, place, index=0), schedule, "at 1 to 1 of the statements")


def test_a_private_buffer_reaches_two_nests_of_one_thread() -> None:
    stage = _steps()
    schedule = of(stage)
    schedule.set_scope(schedule.get_block("c"), 0, "local")
    assert_computes(only(schedule), stage, threads=[1, 3])
    loop = schedule.get_loops(schedule.get_block("d"))[0]
    with pytest.raises(Diagnostic, match="each thread's own, but block @d and block @c"):
        schedule.parallel(loop)


def test_a_reader_that_runs_over_more_than_the_loop_gives_does_not_move() -> None:
    """Three of its seven values are of no iteration of the loop over four."""
    x = te.placeholder((4,), f32, "x")
    twice = te.compute((4,), lambda i: x[i] + x[i], "twice")
    padded = te.compute((7,), lambda i: te.select(te.all_of([i < 4]), twice[i], 0), "padded")
    schedule = of(([x], [padded]))
    loop = schedule.get_loops(schedule.get_block("twice"))[0]
    move = partial(schedule.reverse_compute_at, schedule.get_block("padded"), loop)
    refused(move, schedule, "takes values of %.* that %twice has no element for")


def test_a_reader_of_the_input_alone_does_not_move() -> None:
    schedule = of(DENSE)
    dense_block, relu = schedule.get_block("dense"), schedule.get_block("relu")
    loop = schedule.get_loops(relu)[0]
    refused(lambda: schedule.reverse_compute_at(dense_block, loop), schedule, "does not come after the loop")


def elementwise() -> Stage:
    x = te.placeholder((6, 8), f32, "x")
    twice = te.compute((6, 8), lambda i, j: x[i, j] + x[i, j], "twice")
    return [x], [te.compute((8, 6), lambda i, j: twice[j, i] * x[j, i], "turned")]


def test_a_reader_at_turned_indices_becomes_part_of_its_producer() -> None:
    stage = elementwise()
    schedule = of(stage)
    schedule.reverse_compute_inline(schedule.get_block("turned"))
    assert "@turned" not in str(schedule.mod)
    assert_computes(only(schedule), stage, threads=[1])


def test_a_reader_of_a_reduction_does_not_become_part_of_it() -> None:
    schedule = of(DENSE)
    relu = schedule.get_block("relu")
    refused(lambda: schedule.reverse_compute_inline(relu), schedule, "@dense is a reduction")
    dense_block = schedule.get_block("dense")
    refused(lambda: schedule.reverse_compute_inline(dense_block), schedule, "@dense is a reduction")


def test_one_of_several_readers_does_not_become_part_of_the_producer() -> None:
    schedule = of(softmax(4, 9))
    last = schedule.get_block("softmax")
    refused(lambda: schedule.reverse_compute_inline(last), schedule, "reads 2 buffers that are computed, not one")


def test_what_a_reduction_does_after_its_beginning_has_the_name_that_tvm_gives_it() -> None:
    schedule = of(DENSE)
    dense_block = schedule.get_block("dense")
    with pytest.raises(ScheduleError, match="has no block @dense_update"):
        schedule.get_block("dense_update")
    schedule.decompose_reduction(dense_block, schedule.get_loops(dense_block)[2])
    assert schedule.get(schedule.get_block("dense_update")) is schedule.get(dense_block)


# rfactor


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_partial_sums_add_up(axis: int) -> None:
    schedule = of(DENSE)
    dense_block = schedule.get_block("dense")
    k = schedule.get_loops(dense_block)[2]
    k_0, _ = schedule.split(k, [None, 4])
    partial = schedule.rfactor(k_0, axis)
    schedule.parallel(schedule.get_loops(partial)[2])
    assert len(schedule.get_loops(dense_block)) == 3
    assert_computes(only(schedule), DENSE)


def test_a_factored_reduction_leaves_nothing_of_its_old_body_behind() -> None:
    """What is left of it would still use the buffers that the old body read, which could then not be inlined."""
    schedule = of(DENSE)
    dense = schedule.get_block("dense")
    copy = schedule.cache_read(dense, 0, "global")
    schedule.rfactor(schedule.get_loops(dense)[2], 0)
    schedule.compute_inline(copy)
    assert_computes(only(schedule), DENSE, threads=[1])


def test_the_greatest_of_parts_is_the_greatest() -> None:
    stage = softmax(4, 9)
    schedule = of(stage)
    schedule.rfactor(schedule.get_loops(schedule.get_block("highest"))[1], 0)
    assert_computes(only(schedule), stage, threads=[1])


def test_a_reduction_whose_iterators_have_one_value_each_is_factored() -> None:
    text = """@T.prim_func
def f(A: T.Buffer((1, 1), "float32"), B: T.Buffer((1,), "float32")):
    for i, k in T.grid(1, 1):
        with T.block("sum"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
"""
    schedule = Schedule(from_source(text), debug_mask="all")
    schedule.rfactor(schedule.get_loops("sum")[1], 0)
    ((total,),) = Interpreter(only(schedule))([np.full((1, 1), 3, np.float32)])
    assert total == 3


def test_a_reduction_that_one_of_its_results_does_not_begin_is_not_factored() -> None:
    text = """@T.prim_func
def f(X: T.Buffer((4, 8), "float32"), P: T.Buffer((4,), "int32"), V: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 8):
        with T.block("most"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                P[vi] = -1
            p = T.Select(V[vi] >= X[vi, vk], P[vi], vk)
            v = T.Select(V[vi] >= X[vi, vk], V[vi], X[vi, vk])
            P[vi] = p
            V[vi] = v
"""
    schedule = Schedule(from_source(text), debug_mask="all")
    k = schedule.get_loops("most")[1]
    refused(lambda: schedule.rfactor(k, 0), schedule, "no init for %V")


def test_what_cannot_be_factored_is_refused() -> None:
    schedule = of(DENSE)
    dense_block = schedule.get_block("dense")
    i, _, k = schedule.get_loops(dense_block)
    refused(lambda: schedule.rfactor(i, 0), schedule, "is bound to .*, which is spatial")
    refused(lambda: schedule.rfactor(k, 3), schedule, "there is no axis 3")
    _, k_1 = schedule.split(k, [None, 5])
    refused(lambda: schedule.rfactor(k_1, 0), schedule, "has a predicate")
    other = of(DENSE)
    dense_block = other.get_block("dense")
    k = other.get_loops(dense_block)[2]
    other.decompose_reduction(dense_block, k)
    refused(lambda: other.rfactor(k, 0), other, "blocks, not one|has no init")


# layouts


def test_a_buffer_in_another_layout_holds_the_same() -> None:
    schedule = of(DENSE)
    schedule.transform_layout(schedule.get_block("dense"), ("write", 0), lambda i, j: (j // 4, i, j % 4))
    assert_computes(only(schedule), DENSE)


def test_a_block_without_loops_gets_one_for_each_new_iterator() -> None:
    x = te.placeholder((1,), f32, "x")
    twice = te.compute((1,), lambda i: x[i] + x[i], "twice")
    thrice = te.compute((1,), lambda i: twice[i] + x[i], "thrice")
    stage: Stage = ([x], [thrice])
    schedule = of(stage)
    block = schedule.get_block("twice")
    schedule.transform_block_layout(block, lambda i: (i, 0))
    assert len(schedule.get_loops(block)) == 2
    assert_computes(only(schedule), stage, threads=[1])


def test_a_layout_takes_memory_apart_and_is_given_for_a_buffer_itself() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    op = schedule.get(block)
    assert isinstance(op, BlockOp)

    def apart(*i: AffineExpr, j: AffineExpr) -> list[object]:
        return [j // 4, SEPARATOR, *i, j % 4]

    schedule.transform_layout(block, op.writes[0], cast("IndexMap", apart), pad_value=0)
    alloc = op.writes[0].owner
    assert isinstance(alloc, AllocBufferOp) and alloc.axis_separators == (1,)
    schedule.set_axis_separator(block, ("write", 0), [])
    assert_computes(only(schedule), DENSE, threads=[1])
    again = of(DENSE)
    schedule.trace.apply_to_schedule(again)
    assert str(again.mod) == str(schedule.mod)
    wrong: list[IndexMap] = [lambda i, j, k: [SEPARATOR, i, j, k], lambda i, j, k: [i, j, k, SEPARATOR]]
    for map in wrong:
        refused(lambda map=map: schedule.transform_layout(block, ("write", 0), map), schedule, "between two indices")
    reader = schedule.get(schedule.get_block("relu"))
    assert isinstance(reader, BlockOp)
    refused(lambda: schedule.set_axis_separator(block, reader.writes[0], [1]), schedule, "touches no buffer")


def test_layouts_that_lose_elements_are_refused() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    layouts: list[tuple[IndexMap, str]] = [
        (lambda i, j: (i,), "does not give each index a place of its own"),
        (lambda i, j: (i, j * 2), "leaves places of index 1 empty"),
        (lambda i, j: (i + j,), "does not give each index a place of its own"),
        (lambda i: (i,), "does not take 2 indices"),
        (lambda i, j: ("a", j), "is no affine expression"),
    ]
    for map, reason in layouts:
        refused(lambda map=map: schedule.transform_layout(block, ("write", 0), map), schedule, reason)
    called = Schedule(module_of(prim_func(DENSE), DENSE))
    block = called.get_block("dense", "k")
    refused(
        lambda: called.transform_layout(block, ("read", 0), lambda i, j: (j, i)), called, "its callers know its layout"
    )


def test_a_block_with_other_iterators_computes_the_same() -> None:
    stage = batch_matmul(2, 5, 12, 7)
    schedule = of(stage)
    block = schedule.get_block("matmul")
    schedule.transform_block_layout(block, lambda b, i, j, k: (b * 5 + i, j // 4, k, j % 4))
    assert_computes(only(schedule), stage, threads=[1])


def test_iterators_of_several_kinds_are_not_mixed() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    extent = DENSE[0][0].shape[1]
    refused(
        lambda: schedule.transform_block_layout(block, lambda i, j, k: (i, j * extent + k)), schedule, "mixes iterators"
    )


def test_a_block_in_shared_loops_keeps_its_iterators() -> None:
    schedule = of(DENSE)
    dense_block, relu = schedule.get_block("dense"), schedule.get_block("relu")
    schedule.compute_at(dense_block, schedule.get_loops(relu)[0])
    refused(
        lambda: schedule.transform_block_layout(relu, lambda i, j: (j, i)), schedule, "does not stand alone in serial"
    )


def test_a_buffer_may_hold_other_floats() -> None:
    stage = layer_norm(5, 8)
    schedule = of(stage)
    schedule.unsafe_set_dtype(schedule.get_block("mean"), 0, "float64")
    assert_computes(only(schedule), stage, threads=[1])
    block = schedule.get_block("mean")
    refused(lambda: schedule.unsafe_set_dtype(block, 0, "int32"), schedule, "only floats can be exchanged")


# buffers of a thread's own


def test_a_producer_does_not_leave_the_parallel_loop_of_its_private_buffer() -> None:
    schedule = of(DENSE)
    dense_block, relu = schedule.get_block("dense"), schedule.get_block("relu")
    i, j = schedule.get_loops(relu)
    schedule.compute_at(dense_block, j)
    schedule.set_scope(dense_block, 0, "local")
    schedule.parallel(j)
    refused(
        lambda: schedule.compute_at(dense_block, i), schedule, 'use a buffer of scope "local" outside of a parallel'
    )


def test_a_loop_around_some_uses_of_a_private_buffer_is_not_parallel() -> None:
    schedule = of(DENSE)
    dense_block, relu = schedule.get_block("dense"), schedule.get_block("relu")
    i, j = schedule.get_loops(relu)
    schedule.compute_at(dense_block, i)
    schedule.set_scope(dense_block, 0, "local")
    refused(lambda: schedule.parallel(j), schedule, "used in this loop and outside of it")
    refused(lambda: schedule.bind(j, "threadIdx.x"), schedule, "used in this loop and outside of it")
    schedule.set_scope(dense_block, 0, "global")
    schedule.parallel(j)
    refused(lambda: schedule.set_scope(dense_block, 0, "local"), schedule, "used in and outside of a parallel loop")


def test_what_starts_a_reduction_has_the_annotations_of_its_block() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    schedule.annotate(block, "word", 3)
    init = schedule.decompose_reduction(block, schedule.get_loops(block)[0])
    for each in (init, block):
        assert "word" in cast("BlockOp", schedule.get(each)).attributes
    assert_computes(only(schedule), DENSE, threads=(1,))


ROW = """@T.prim_func
def f(x: T.Buffer[(2, 8, 6), "float32"], y: T.Buffer[(3, 8, 6), "float32"]):
    t = T.alloc_buffer((2, 8, 6), "float32")
    for a, i, j in T.grid(3, 8, 6):
        with T.block("begin"):
            va, vi, vj = T.axis.remap("SSS", [a, i, j])
            y[va, vi, vj] = T.float32(0)
    for a, i, j in T.grid(2, 8, 6):
        with T.block("twice"):
            va, vi, vj = T.axis.remap("SSS", [a, i, j])
            t[va, vi, vj] = x[va, vi, vj] + x[va, vi, vj]
    for i, j in T.grid(8, 6):
        with T.block("square"):
            vi, vj = T.axis.remap("SS", [i, j])
            y[2, vi, vj] = t[1, vi, vj] * t[1, vi, vj]
"""


def test_a_reader_at_a_number_moves_where_all_of_that_dimension_is_there() -> None:
    func = function(ROW)
    schedule = Schedule(func, debug_mask="all")
    square = schedule.get_block("square")
    a, i, _ = schedule.get_loops("twice")
    refused(lambda: schedule.reverse_compute_at(square, a), schedule, "at more than its iterators")
    schedule.reorder(i, a)
    schedule.reverse_compute_at(square, i)
    assert [schedule.get(each) for each in schedule.get_loops("square")][:1] == [schedule.get(i)]
    x = np.random.default_rng(0).standard_normal((2, 8, 6)).astype(np.float32)
    (y,) = Interpreter(only(schedule))([x])
    wanted = np.zeros((3, 8, 6), np.float32)
    wanted[2] = (x[1] + x[1]) ** 2
    np.testing.assert_array_equal(np.asarray(y), wanted)


def test_a_word_may_be_said_again() -> None:
    schedule = Schedule(from_source(WINDOW))
    for _ in range(2):
        schedule.annotate(schedule.get_loops("window")[0], "pragma_unroll_explicit", 1)
    assert schedule.mod.script().count("pragma_unroll_explicit") == 1
    again = Schedule(from_source(WINDOW))
    schedule.trace.apply_to_schedule(again)
    assert str(again.mod) == str(schedule.mod)


WINDOW = """
@T.prim_func
def f(X: T.Buffer[(6, 4), "float32"], W: T.Buffer[(1, 4), "float32"], Y: T.Buffer[(6,), "float32"]):
    for h, r, c in T.grid(6, 1, 4):
        with T.block("window"):
            vh, vr, vc = T.axis.remap("SRR", [h, r, c])
            with T.init():
                Y[vh] = T.float32(0)
            Y[vh] = Y[vh] + X[vh + vr, vc] * W[vr, vc]
"""


def test_an_iterator_of_one_value_is_no_dimension_of_a_sum() -> None:
    schedule = Schedule(from_source(WINDOW))
    schedule.reindex("window", ("read", 0))
    schedule.reindex("window", ("read", 1))
    made = only(schedule)
    assert "X_reindex = T.alloc_buffer((6, 4)" in made.script()
    assert "W_reindex = T.alloc_buffer((1, 4)" in made.script()
    x, w = (
        np.random.default_rng(n).standard_normal(shape).astype(np.float32) for n, shape in ((0, (6, 4)), (1, (1, 4)))
    )
    (result,) = Interpreter(made)([x, w])
    assert np.allclose(np.asarray(result, np.float32).reshape(6), (x * w).sum(1), rtol=1e-5)

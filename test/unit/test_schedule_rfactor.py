"""`rfactor`: partial results, what they compute, and what is refused."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest
from te_samples import dense, softmax
from tir_run import Stage, assert_computes, prim_func
from tvmscript_texts import only, refused

from weft.dialects.tir.core import BlockOp, ForOp
from weft.tir import Interpreter, Schedule, ScheduleError, from_source


def of(stage: Stage) -> Schedule:
    return Schedule(prim_func(stage), debug_mask="all")


DENSE = dense(8, 16, 12)


def test_what_a_reduction_does_after_its_beginning_has_the_name_that_tvm_gives_it() -> None:
    schedule = of(DENSE)
    dense_block = schedule.get_block("dense")
    with pytest.raises(ScheduleError, match="has no block @dense_update"):
        schedule.get_block("dense_update")
    schedule.decompose_reduction(dense_block, schedule.get_loops(dense_block)[2])
    assert schedule.operation(schedule.get_block("dense_update")) is schedule.operation(dense_block)


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


IN_A_NEST = """@T.prim_func
def f(A: T.Buffer((4, 6, 8), "float32"), F: T.Buffer((4, 6), "float32")):
    C = T.alloc_buffer((4, 6), "float32")
    for i in range(4):
        for j in range(6):
            for k0, k1 in T.grid(2, 4):
                with T.block("C"):
                    ci, cj = T.axis.remap("SS", [i, j])
                    ck = T.axis.R(8, k0 * 4 + k1)
                    with T.init():
                        C[ci, cj] = T.float32(0)
                    C[ci, cj] = C[ci, cj] + A[ci, cj, ck]
        for j in range(6):
            for k in range(8):
                with T.block("F"):
                    fi, fj, fk = T.axis.remap("SSR", [i, j, k])
                    with T.init():
                        F[fi, fj] = T.float32(1)
                    F[fi, fj] = F[fi, fj] + A[fi, fj, fk] * C[fi, fj]
"""
"""Two reductions that share a loop, of which the second reads what the first gives."""


@pytest.mark.parametrize("place", [2, 3])
def test_parts_of_a_reduction_that_shares_a_loop_come_before_all_of_the_nest(place: int) -> None:
    schedule = Schedule(from_source(IN_A_NEST), debug_mask="all")
    block = schedule.get_block("C")
    partial = schedule.rfactor(schedule.get_loops(block)[place], 2)
    loops = [len(schedule.get_loops(each)) for each in (partial, block)]
    assert loops == [4, 3]
    assert not {*schedule.get_loops(partial)} & {*schedule.get_loops("F")}
    assert schedule.operation(schedule.get_loops(block)[0]) is schedule.operation(schedule.get_loops("F")[0])
    a = np.random.default_rng(0).random((4, 6, 8), np.float32)
    ((found),) = Interpreter(only(schedule))([a])
    assert np.allclose(found.astype(np.float32), 1 + a.sum(2) ** 2, rtol=1e-5)


def test_parts_are_not_computed_before_what_they_are_made_of() -> None:
    schedule = Schedule(from_source(IN_A_NEST), debug_mask="all")
    k = schedule.get_loops("F")[2]
    refused(lambda: schedule.rfactor(k, 0), schedule, "reads %C, which block @C writes in its nest")


def test_a_loop_of_the_reduction_that_is_around_other_blocks_too_keeps_its_parts_where_they_are() -> None:
    text = """@T.prim_func
def f(A: T.Buffer((4, 6, 8), "float32"), C: T.Buffer((6,), "float32"), D: T.Buffer((4,), "float32")):
    for i in range(4):
        for j, k in T.grid(6, 8):
            with T.block("C"):
                vj, vi, vk = T.axis.remap("SRR", [j, i, k])
                with T.init():
                    C[vj] = T.float32(0)
                C[vj] = C[vj] + A[vi, vj, vk]
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            D[vi] = A[vi, 0, 0]
"""
    schedule = Schedule(from_source(text), debug_mask="all")
    k = schedule.get_loops("C")[2]
    refused(lambda: schedule.rfactor(k, 0), schedule, "is a loop of the reduction of block @C, and around other blocks")


def test_what_a_reduction_begins_is_what_it_goes_on_with() -> None:
    text = """@T.prim_func
def f(A: T.Buffer((4, 4), "float32"), C: T.Buffer((4, 4), "float32")):
    for i, j, k in T.grid(4, 4, 4):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vj, vi] = C[vj, vi] + A[vi, vk]
"""
    schedule = Schedule(from_source(text))
    k = schedule.get_loops("C")[2]
    refused(lambda: schedule.rfactor(k, 0), schedule, "begins another element than it goes on with")


def test_what_puts_the_parts_together_has_the_loops_that_do_not_reduce() -> None:
    schedule = of(DENSE)
    dense_block = schedule.get_block("dense")
    i, _, k = schedule.get_loops(dense_block)
    schedule.split(i, [None, 4])
    k_0, _ = schedule.split(k, [None, 4])
    schedule.rfactor(k_0, 0)
    extents = [cast("ForOp", schedule.operation(each)).size for each in schedule.get_loops(dense_block)]
    assert extents == [2, 4, 16, 3]
    assert_computes(only(schedule), DENSE, threads=[1])


def test_what_starts_a_reduction_has_the_annotations_of_its_block() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    schedule.annotate(block, "word", 3)
    init = schedule.decompose_reduction(block, schedule.get_loops(block)[0])
    for each in (init, block):
        assert "word" in cast("BlockOp", schedule.operation(each)).attributes
    assert_computes(only(schedule), DENSE, threads=(1,))

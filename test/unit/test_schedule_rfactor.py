"""`rfactor`: partial results, what they compute, and what is refused."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest
from te_samples import dense, softmax
from tir_run import Stage, assert_computes, prim_func
from tvmscript_texts import only, refused

from weft.dialects.tir.core import BlockOp
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


def test_what_starts_a_reduction_has_the_annotations_of_its_block() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    schedule.annotate(block, "word", 3)
    init = schedule.decompose_reduction(block, schedule.get_loops(block)[0])
    for each in (init, block):
        assert "word" in cast("BlockOp", schedule.get(each)).attributes
    assert_computes(only(schedule), DENSE, threads=(1,))

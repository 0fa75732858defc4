"""`bind`, `annotate`: which threads and words there are, and what is refused."""

from __future__ import annotations

from te_samples import dense
from tir_run import Stage, prim_func
from tvmscript_texts import refused

from weft.tir import Schedule


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

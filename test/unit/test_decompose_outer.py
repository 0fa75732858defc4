"""`decompose_reduction` of blocks of blocks."""

from __future__ import annotations

import numpy as np
import pytest
from tvmscript_texts import scheduled

from weft.tir import Interpreter, Schedule, ScheduleError, Trace, from_source, structural_equal

SUMS = """
@T.prim_func
def sums(A: T.Buffer[(6, 4, 16), "float32"], B: T.Buffer[(6, 4), "float32"]):
    for i, k in T.grid(6, 4):
        with T.block("tile"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                for j in range(4):
                    with T.block("begin"):
                        vj = T.axis.spatial(4, j)
                        B[vi, vj] = T.float32(1)
            for j, k_1 in T.grid(4, 4):
                with T.block("add"):
                    vj = T.axis.spatial(4, j)
                    vs = T.axis.reduce(16, vk * 4 + k_1)
                    B[vi, vj] = B[vi, vj] + A[vi, vj, vs]
"""


def names(schedule: Schedule, around: str) -> list[str]:
    found = [schedule.operation(each) for each in schedule.get_child_blocks(schedule.get_block(around))]
    return [getattr(each, "block_name", "root") for each in found]


def assert_same(schedule: Schedule, text: str = SUMS) -> None:
    """It computes what it did; the trace gives the same; the text is read as the same."""
    a = np.arange(6 * 4 * 16, dtype=np.float32).reshape(6, 4, 16)
    (b,) = Interpreter(schedule.mod["sums"])([a])
    np.testing.assert_array_equal(np.asarray(b), 1 + a.sum(2))
    again = scheduled(text)
    Trace.apply_json_to_schedule(schedule.trace.as_json(), again)
    assert structural_equal(again.mod, schedule.mod)
    assert structural_equal(from_source(schedule.mod.script()), schedule.mod)


@pytest.mark.parametrize(("number", "around"), [(0, 1), (1, 1)])
def test_what_a_block_of_blocks_begins_with_becomes_a_block_before(number: int, around: int) -> None:
    schedule = scheduled(SUMS)
    loops = schedule.get_loops("tile")
    init = schedule.decompose_reduction("tile", loops[number])
    assert names(schedule, "root") == ["tile_init", "tile"]
    assert names(schedule, "tile_init") == ["begin"] and names(schedule, "tile") == ["add"]
    assert len(schedule.get_loops(init)) == around
    assert_same(schedule)


def test_an_init_is_taken_apart_once_and_not_past_its_reduction() -> None:
    steps_first = SUMS.replace("for i, k in T.grid(6, 4)", "for k, i in T.grid(4, 6)")
    schedule = scheduled(steps_first)
    k, i = schedule.get_loops("tile")
    with pytest.raises(ScheduleError, match="a reduction loop of @tile lies outside the loop"):
        schedule.decompose_reduction("tile", i)
    schedule.decompose_reduction("tile", k)
    assert_same(schedule, steps_first)
    with pytest.raises(ScheduleError, match="@tile has no init to take apart"):
        schedule.decompose_reduction("tile", k)
    with pytest.raises(ScheduleError, match="the loop is not around block @tile"):
        schedule.decompose_reduction("tile", schedule.get_loops("add")[0])


PEEK = """
        for j in range(4):
            with T.block("peek"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj]
"""


def test_what_others_in_the_loop_touch_is_not_begun_before_it() -> None:
    allocated = '    C = T.alloc_buffer((6, 4), "float32")\n    for i, k in'
    schedule = scheduled(SUMS.replace("    for i, k in", allocated) + PEEK)
    i, _ = schedule.get_loops("tile")
    before = str(schedule.mod)
    with pytest.raises(ScheduleError, match="@peek touches %B in the loop, too"):
        schedule.decompose_reduction("tile", i)
    assert str(schedule.mod) == before


def test_elements_that_each_iteration_begins_anew_are_not_begun_once() -> None:
    text = """
@T.prim_func
def sums(A: T.Buffer[(3, 4), "float32"], D: T.Buffer[(3, 4), "float32"]):
    S = T.alloc_buffer((1,), "float32")
    for i, k in T.grid(3, 4):
        with T.block("tile"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                for j in range(1):
                    with T.block("begin"):
                        vj = T.axis.spatial(1, j)
                        S[vj] = T.float32(0)
            for j in range(1):
                with T.block("add"):
                    vj = T.axis.spatial(1, j)
                    vs = T.axis.reduce(4, vk)
                    S[vj] = S[vj] + A[vi, vs]
            for j in range(1):
                with T.block("out"):
                    vj = T.axis.spatial(1, j)
                    D[vi, vk] = S[vj]
"""
    schedule = scheduled(text)
    i, k = schedule.get_loops("tile")
    with pytest.raises(ScheduleError, match="the init of block @tile begins anew in each iteration of the loop"):
        schedule.decompose_reduction("tile", i)
    given = [np.arange(12, dtype=np.float32).reshape(3, 4)]
    (wanted,) = Interpreter(schedule.mod["sums"])(given)
    schedule.decompose_reduction("tile", k)
    np.testing.assert_array_equal(Interpreter(schedule.mod["sums"])(given)[0], wanted)

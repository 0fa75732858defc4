"""`compute_at` of blocks of blocks: as many tiles are computed as are read, and the result is the same."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from tvmscript_texts import function, only

from weft.dialects.tir.interpreter import Interpreter
from weft.dialects.tir.loops import ForOp
from weft.kernel import build_kernel
from weft.tir import BlockRV, Schedule, ScheduleError

WINDOWS = """
@T.prim_func
def f(A: T.Buffer[(24, 36), "float32"], C: T.Buffer[(22, 36), "float32"]):
    B = T.alloc_buffer((24, 36), "float32")
    for i, j in T.grid(24, 36):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(22, 36):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + B[vi + 2, vj]
"""
SUMS = """
@T.prim_func
def f(A: T.Buffer[(24, 36), "float32"], C: T.Buffer[(24,), "float32"]):
    B = T.alloc_buffer((24,), "float32")
    for i, k in T.grid(24, 36):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
    for i in range(24):
        with T.block("C"):
            vi = T.axis.spatial(24, i)
            C[vi] = B[vi] - T.float32(1)
"""
DIVISORS = {24: (1, 2, 3, 4, 6, 8, 12, 24), 36: (1, 2, 3, 4, 6, 9, 12, 18, 36)}


def tiled(schedule: Schedule, random: Random) -> BlockRV:
    """The block of blocks that tiles of `B` are."""
    halves = [
        schedule.split(loop, [None, random.choice(DIVISORS[extent])])
        for loop, extent in zip(schedule.get_loops("B"), (24, 36), strict=True)
    ]
    schedule.reorder(*(outer for outer, _ in halves), *(inner for _, inner in halves))
    return schedule.blockize(halves[0][1])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("text", [WINDOWS, SUMS], ids=["windows", "sums"])
def test_tiles_that_are_read_are_computed_where_they_are(text: str, seed: int) -> None:
    random = Random(seed)
    schedule = Schedule(function(text))
    outer = tiled(schedule, random)
    halves = [schedule.split(loop, [None, random.randint(1, 12)]) for loop in schedule.get_loops("C")]
    schedule.reorder(*(half[0] for half in halves), *(half[1] for half in halves))
    place = random.choice(schedule.get_loops("C"))
    a = np.arange(24 * 36, dtype=np.float32).reshape(24, 36)
    (want,) = Interpreter(only(schedule))([a])
    schedule.compute_at(outer, place, preserve_unit_loops=random.random() < 0.5)
    schedule.mod.verify()
    (got,) = Interpreter(only(schedule))([a])
    np.testing.assert_array_equal(got, want)
    again = Schedule(function(text))
    schedule.trace.apply_to_schedule(again)
    assert str(again.mod) == str(schedule.mod)
    if seed % 8 == 0:
        (got,) = build_kernel(only(schedule), threads=2, start="schedule", codegen_level=1)(a)
        np.testing.assert_array_equal(got, want)


def test_just_the_tiles_that_are_read_are_computed() -> None:
    schedule = Schedule(function(WINDOWS))
    i, j = schedule.get_loops("B")
    i_0, i_1 = schedule.split(i, [None, 2])
    j_0, j_1 = schedule.split(j, [None, 6])
    schedule.reorder(i_0, j_0, i_1, j_1)
    outer = schedule.blockize(i_1)
    place, _ = schedule.split(schedule.get_loops("C")[0], [None, 4])
    schedule.compute_at(outer, place)
    loops = [schedule.operation(loop) for loop in schedule.get_loops(outer)]
    assert [loop.size for loop in loops if isinstance(loop, ForOp)] == [6, 3, 6]  # 4 + 2 rows, in tiles of 2


def test_threads_that_would_write_one_tile_are_refused() -> None:
    schedule = Schedule(function(WINDOWS))
    outer = tiled(schedule, Random(1))
    schedule.parallel(schedule.get_loops("C")[0])
    refused(schedule, outer, "perhaps block @B writes the same element of %B in several iterations of %i")


def refused(schedule: Schedule, outer: BlockRV, match: str, of: str | BlockRV = "C") -> None:
    before = str(schedule.mod)
    with pytest.raises(ScheduleError, match=match):
        schedule.compute_at(outer, schedule.get_loops(of)[0])
    assert str(schedule.mod) == before


def test_what_is_not_tiles_of_one_block_stays() -> None:
    schedule = Schedule(function(WINDOWS))
    outer = tiled(schedule, Random(1))
    refused(schedule, outer, "stands in the loop already", outer)
    schedule.annotate(schedule.get_loops(outer)[0], "pragma_unroll", 4)
    refused(schedule, outer, "has annotations, which would be lost")
    schedule.unannotate(schedule.get_loops(outer)[0], "pragma_unroll")
    schedule.parallel(schedule.get_loops(outer)[0])
    refused(schedule, outer, "is parallel")


def test_what_is_read_elsewhere_stays() -> None:
    text = (
        WINDOWS
        + """
    for i in range(22):
        with T.block("D"):
            vi = T.axis.spatial(22, i)
            C[vi, 0] = C[vi, 0] + B[vi, 1]
"""
    )
    schedule = Schedule(function(text))
    refused(schedule, tiled(schedule, Random(1)), "compute_at requires all the consumers to be in the loop")


def test_tiles_that_two_loops_lead_to_stay() -> None:
    schedule = Schedule(function(SUMS))
    i, _ = schedule.get_loops("B")
    *_, rows = schedule.split(i, [None, 2, 3])
    outer = schedule.blockize(rows)
    refused(schedule, outer, "does not lead @B to tiles of elements, one after the other")


def test_tiles_before_the_first_row_are_not_computed() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer[(24,), "float32"], C: T.Buffer[(24,), "float32"]):
    B = T.alloc_buffer((24,), "float32")
    for i in range(24):
        with T.block("B"):
            vi = T.axis.spatial(24, i)
            B[vi] = A[vi] * T.float32(2)
    for i in range(24):
        with T.block("C"):
            vi = T.axis.spatial(24, i)
            C[vi] = B[vi] + T.if_then_else(vi > 2, B[vi - 3], T.float32(0))
"""
    schedule = Schedule(function(text))
    a = np.arange(24, dtype=np.float32)
    (want,) = Interpreter(only(schedule))([a])
    outer = schedule.blockize(schedule.split(schedule.get_loops("B")[0], [None, 4])[1])
    place, _ = schedule.split(schedule.get_loops("C")[0], [None, 6])
    schedule.compute_at(outer, place)
    schedule.mod.verify()
    (got,) = Interpreter(only(schedule))([a])
    np.testing.assert_array_equal(got, want)


OVERWRITTEN = """
@T.prim_func
def f(A: T.Buffer[(24, 36), "float32"], C: T.Buffer[(22, 36), "float32"]):
    B = T.alloc_buffer((24, 36), "float32")
    for i, j in T.grid(24, 36):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(24, 36):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = T.float32(0)
    for i, j in T.grid(22, 36):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + B[vi + 2, vj]
"""


def test_tiles_of_what_is_written_anew_before_they_are_read_stay() -> None:
    schedule = Schedule(function(OVERWRITTEN))
    refused(schedule, tiled(schedule, Random(1)), "%A")


def test_tiles_with_a_predicate_that_is_no_bound_stay() -> None:
    schedule = Schedule(function(WINDOWS.replace("vi, vj =", "T.where(i < 22)\n            vi, vj =", 1)))
    outer = schedule.blockize(schedule.get_loops("B")[1])
    refused(schedule, outer, "has a predicate that would be lost")

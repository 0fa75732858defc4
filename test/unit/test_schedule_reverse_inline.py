"""`reverse_compute_inline` and `reverse_compute_at` of readers that take a part, or read in another shape."""

from __future__ import annotations

import numpy as np
import pytest

from weft.dialects.tir.interpreter import Interpreter
from weft.tir import Schedule, ScheduleError, from_source

PART = """@T.prim_func
def f(A: T.Buffer((6, 5), "float32"), C: T.Buffer((4, 3), "float32")):
    B = T.alloc_buffer((6, 5), "float32")
    for i, j in T.grid(6, 5):
        with T.block("twice"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(3, 4):
        with T.block("part"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vj, vi] = B[vj, vi] + T.cast(vi, "float32")
"""


def test_a_producer_computes_no_more_than_the_part_that_its_reader_takes() -> None:
    array = np.arange(30, dtype=np.float32).reshape(6, 5)
    schedule = Schedule(from_source(PART), debug_mask="all")
    schedule.split(schedule.get_loops("twice")[0], [None, 4])
    schedule.reverse_compute_inline("part")
    assert "where [" in str(schedule.mod)
    (given,) = Interpreter(schedule.mod["f"])([array])
    np.testing.assert_array_equal(given, array[:4, :3] * 2 + np.arange(3, dtype=np.float32))


def test_a_reader_of_elements_beside_its_iterators_is_no_part_of_its_producer() -> None:
    for old, new in (("B[vj, vi] +", "B[vj + 1, vi] +"), ("B[vj, vi] +", "B[vj, vj] +"), ("B[vj, vi] +", "B[1, vi] +")):
        schedule = Schedule(from_source(PART.replace(old, new)), debug_mask="all")
        before = str(schedule.mod)
        with pytest.raises(ScheduleError, match="once, at one place"):
            schedule.reverse_compute_inline("part")
        assert str(schedule.mod) == before


FLAT = """@T.prim_func
def f(A: T.Buffer((6, 5), "float32"), C: T.Buffer((30,), "float32")):
    B = T.alloc_buffer((6, 5), "float32")
    for i, j in T.grid(6, 5):
        with T.block("twice"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i in range(30):
        with T.block("flat"):
            v = T.axis.spatial(30, i)
            C[v] = B[v // 5, v % 5] + T.cast(v, "float32")
"""


@pytest.mark.parametrize("depth", [0, 1])
@pytest.mark.parametrize("tiles", [None, (4, 5), (2, 5), (4, 3)])
def test_a_reader_in_another_shape_is_computed_where_its_rows_are(depth: int, tiles: tuple[int, int] | None) -> None:
    array = np.arange(30, dtype=np.float32).reshape(6, 5)
    schedule = Schedule(from_source(FLAT), debug_mask="all")
    loops = schedule.get_loops("twice")
    if tiles is not None:
        (i, i_in), (j, j_in) = (schedule.split(loop, [None, n]) for loop, n in zip(loops, tiles, strict=True))
        schedule.reorder(i, j, i_in, j_in)
        loops = [i, j]
    before = str(schedule.mod)
    try:
        schedule.reverse_compute_at(schedule.get_block("flat"), loops[depth])
    except ScheduleError as error:
        assert tiles is not None and tiles[1] != 5, error
        assert str(schedule.mod) == before
        return
    (given,) = Interpreter(schedule.mod["f"])([array])
    np.testing.assert_array_equal(given, array.reshape(30) * 2 + np.arange(30, dtype=np.float32))

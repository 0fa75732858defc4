"""`reverse_compute_inline` into a producer of which the reader takes a part."""

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

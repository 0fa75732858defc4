"""`cache_index`: what is computed before, what is not, and that the results are the same."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray as Array
from tvmscript_texts import scheduled

import weft
from weft.dialects.tir.core import PrimFuncOp
from weft.tir import Interpreter, Schedule, ScheduleError

RESIZE = """
@T.prim_func
def resize(x: T.Buffer[(2, 5, 5), "float32"], y: T.Buffer[(2, 9, 7), "float32"]):
    for n, i, j in T.grid(2, 9, 7):
        with T.block("resize"):
            vn, vi, vj = T.axis.remap("SSS", [n, i, j])
            y[vn, vi, vj] = x[vn, (vi * 5 + 4) // 10, vj // 2] * T.float32(0.25) + (
                x[vn, (vi * 5 + 4) // 10, T.max(T.min(vj - 2, 4), 0)]
            )
"""


NDArray: TypeAlias = Array[np.generic]


def interpreted(schedule: Schedule, *arrays: NDArray) -> list[NDArray]:
    func = schedule.mod.body.block.first_op
    assert isinstance(func, PrimFuncOp)
    return Interpreter(func)(list(arrays), None)


X = np.random.default_rng(0).standard_normal((2, 5, 5)).astype(np.float32)


def test_each_index_is_computed_once_for_all_values_of_its_iterators() -> None:
    before, schedule = scheduled(RESIZE), scheduled(RESIZE)
    made = schedule.cache_index("resize", "global")
    assert len(made) == 3
    text = schedule.mod.script()
    for name, size in (("index_var", 9), ("index_var_1", 7), ("index_var_2", 7)):
        assert f"{name} = T.alloc_buffer(({size},)" in text
    assert [len(schedule.get_loops(block)) for block in made] == [1, 1, 1]
    (wanted,) = interpreted(before, X)
    np.testing.assert_array_equal(interpreted(schedule, X)[0], wanted)
    y = np.zeros((2, 9, 7), np.float32)
    weft.build(schedule.mod, threads=1)(X, y)
    np.testing.assert_array_equal(y, wanted)
    again = scheduled(RESIZE)
    schedule.trace.apply_to_schedule(again)
    assert str(again.mod) == str(schedule.mod)


def test_what_stands_often_enough_is_computed_before_and_what_stands_in_it_counts_no_more() -> None:
    schedule = scheduled(RESIZE)
    (made,) = schedule.cache_index("resize", "global", 2)
    assert "(v0 * 5 + 4) // 10" in schedule.mod.script()
    assert len(schedule.get_loops(made)) == 1
    with pytest.raises(ScheduleError, match="computes nothing of its iterators that it has 2 times"):
        schedule.cache_index("resize", "global", 2)


def test_what_depends_on_data_stays() -> None:
    schedule = scheduled("""
@T.prim_func
def gather(x: T.Buffer[(8,), "float32"], i: T.Buffer[(4,), "int32"], y: T.Buffer[(4,), "float32"]):
    for n in range(4):
        with T.block("gather"):
            vn = T.axis.spatial(4, n)
            y[vn] = x[T.max(T.min(i[vn], 7), 0)]
""")
    with pytest.raises(ScheduleError, match="computes nothing of its iterators that it reads at"):
        schedule.cache_index("gather", "global")


def test_no_division_is_moved_to_where_its_divisor_may_be_zero() -> None:
    schedule = scheduled("""
@T.prim_func
def f(x: T.Buffer[(8,), "float32"], y: T.Buffer[(8,), "float32"]):
    for i in range(8):
        with T.block("b"):
            vi = T.axis.spatial(8, i)
            y[vi] = x[T.min(T.max(T.Cast("int32", 7 // T.Cast("int32", vi)), 0), 7)]
""")
    before = str(schedule.mod)
    with pytest.raises(ScheduleError, match="computes nothing of its iterators"):
        schedule.cache_index("b", "global")
    assert str(schedule.mod) == before


def test_a_negative_number_of_times_is_refused() -> None:
    with pytest.raises(ScheduleError, match="cannot stand -1 times"):
        scheduled(RESIZE).cache_index("resize", "global", -1)


def test_sizes_that_are_known_when_a_function_is_called_are_those_of_the_buffers() -> None:
    text = """
@T.prim_func
def f(a: T.handle, b: T.handle, n: T.int32):
    x = T.match_buffer(a, (n,))
    y = T.match_buffer(b, (n,))
    for i in range(n):
        with T.block("b"):
            vi = T.axis.spatial(n, i)
            y[vi] = x[vi // 2]
"""
    schedule = scheduled(text)
    schedule.cache_index("b", "global")
    x = np.arange(7, dtype=np.float32)
    (y,) = interpreted(schedule, x)
    np.testing.assert_array_equal(y, x[np.arange(7) // 2])


def test_an_index_may_be_a_part_of_another() -> None:
    text = """
@T.prim_func
def f(x: T.Buffer[(8, 8), "float32"], y: T.Buffer[(6,), "float32"]):
    for i in range(6):
        with T.block("sum"):
            v = T.axis.spatial(6, i)
            y[v] = x[v + 2, (v + 2) // 3] + x[((v + 2) // 3) * 2, v + 2]
"""
    before, schedule = scheduled(text), scheduled(text)
    made = schedule.cache_index("sum", "global")
    assert len(made) == 3
    sum_of = schedule.mod.script().partition('with T.block("sum")')[2]
    assert "+ 2" not in sum_of and "//" not in sum_of
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    (wanted,) = interpreted(before, x)
    np.testing.assert_array_equal(interpreted(schedule, x)[0], wanted)

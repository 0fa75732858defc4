"""Elements that several values of spatial iterators write: the order of these stays."""

from __future__ import annotations

import numpy as np
import pytest
from tvmscript_texts import function, only

from weft.kernel import build_kernel
from weft.tir import Interpreter, Schedule, ScheduleError

ROWS = """
@T.prim_func
def f(x: T.Buffer[(2, 3, 4), "int32"], y: T.Buffer[(2,), "int32"]):
    for i, j, k in T.grid(2, 3, 4):
        with T.block("y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                y[vi] = 0
            y[vi] = y[vi] + x[vi, vj, vk]
"""
ARGMAX = """
@T.prim_func
def f(hx: T.handle, hp: T.handle, hv: T.handle):
    n = T.var("int32")
    m = T.var("int32")
    x = T.match_buffer(hx, (n, m), "int32")
    p = T.match_buffer(hp, (n,), "int32")
    v = T.match_buffer(hv, (n,), "int32")
    for i, k in T.grid(n, m):
        with T.block("y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                p[vi] = -1
                v[vi] = T.min_value("int32")
            a: T.int32 = T.Select(v[vi] >= x[vi, vk], p[vi], vk)
            b: T.int32 = T.Select(v[vi] >= x[vi, vk], v[vi], x[vi, vk])
            p[vi] = a
            v[vi] = b
"""


def test_the_last_of_several_sums_into_one_element_stays() -> None:
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    for number, other in ((0, "anew"), (1, "anew"), (2, None)):
        schedule = Schedule(function(ROWS))
        loop = schedule.get_loops("y")[number]
        if other is not None:
            with pytest.raises(ScheduleError, match="into one element in several iterations, each time anew"):
                schedule.decompose_reduction("y", loop)
        else:
            schedule.decompose_reduction("y", loop)
        (found,) = Interpreter(only(schedule))([x], None)
        assert np.asarray(found).tolist() == x[:, 2].sum(1).tolist()
    schedule = Schedule(function(ROWS))
    _, j, k = schedule.get_loops("y")
    with pytest.raises(ScheduleError, match="for several values of its spatial iterators: their order stays"):
        schedule.reorder(k, j)
    with pytest.raises(ScheduleError, match="for several values of its spatial iterators: their order stays"):
        schedule.transform_block_layout("y", lambda i, j, k: (i, 2 - j, k))
    schedule.reorder(*schedule.get_loops("y"))


def test_places_that_tell_their_iterators_as_digits_are_reordered() -> None:
    text = ROWS.replace("y[vi]", "y[vj, (vi * 3 + vj) // 4, (vi * 3 + vj) % 4]").replace(
        'y: T.Buffer[(2,), "int32"]', 'y: T.Buffer[(3, 2, 4), "int32"]'
    )
    text = text.replace("y[vj, (vi", "y[0, (vi")
    schedule = Schedule(function(text))
    i, j, k = schedule.get_loops("y")
    schedule.reorder(k, j, i)
    schedule.decompose_reduction("y", k)
    schedule = Schedule(function(text.replace("vi * 3 + vj", "vi + vj")))
    _, j, k = schedule.get_loops("y")
    with pytest.raises(ScheduleError, match="their order stays"):
        schedule.reorder(k, j)


def test_a_reduction_of_several_results_begins_in_a_block_of_its_own_and_runs_at_any_size() -> None:
    x = np.array([[3, 1, 3], [0, 7, 2]], np.int32)
    schedule = Schedule(function(ARGMAX))
    init = schedule.decompose_reduction("y", schedule.get_loops("y")[0])
    assert schedule.get_loops(init) and "init" not in str(only(schedule)).split("@y")[-1]
    for made in (function(ARGMAX), only(schedule)):
        place, value = Interpreter(made)([x], None)
        assert np.asarray(place).tolist() == [0, 1] and np.asarray(value).tolist() == [3, 7]
    kernel = build_kernel(function(ARGMAX), start="schedule", codegen_level=1)
    place, value = kernel(x)
    assert place.tolist() == [0, 1] and value.tolist() == [3, 7]
    place, _ = kernel(np.zeros((2, 0), np.int32))
    assert place.tolist() == [-1, -1], "of no steps, what it begins with"

"""`transform_layout` of buffers whose extents are symbols."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tvmscript_texts import function, only, scheduled

import weft
from weft.dialects.tir.interpreter import Interpreter
from weft.tir import ScheduleError
from weft.transforms.tir.scheduling.index_maps import IndexMap

TEXT = """
@T.prim_func
def f(a: T.handle, b: T.handle, n: T.int32, m: T.int32):
    A = T.match_buffer(a, (n, m * 8), "int32")
    B = T.match_buffer(b, (n, m * 8), "int32")
    C = T.alloc_buffer((n, m * 8), "int32")
    for i, j in T.grid(n, m * 8):
        with T.block("first"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * 2
    for i, j in T.grid(n, m * 8):
        with T.block("second"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = C[vi, vj] + 1
"""
LAYOUTS: dict[str, tuple[IndexMap, Callable[[np.ndarray], np.ndarray], str]] = {
    "turned": (lambda i, j: (j, i), lambda x: x.T, "(m * 8, n)"),
    "divided": (lambda i, j: (i, j // 4, j % 4), lambda x: x.reshape(x.shape[0], -1, 4), "(n, m * 2, 4)"),
    "divided twice": (
        lambda i, j: (j // 8, i, j // 2 % 4, j % 2),
        lambda x: x.reshape(x.shape[0], -1, 4, 2).transpose(1, 0, 2, 3),
        "(m, n, 4, 2)",
    ),
    "with an index of its own": (lambda i, j: (i, 0, j), lambda x: x[:, None], "(n, 1, m * 8)"),
}


@pytest.mark.parametrize("case", LAYOUTS)
def test_buffers_of_open_extents_are_laid_out_anew(case: str) -> None:
    layout, _, shape = LAYOUTS[case]
    schedule = scheduled(TEXT)
    schedule.transform_layout("first", ("write", 0), layout)
    func = only(schedule)
    assert f"alloc_buffer({shape}" in func.script()
    for n, m in ((3, 2), (1, 1), (0, 3), (5, 0), (17, 3)):
        array = np.random.default_rng(0).integers(-9, 9, (n, m * 8), dtype=np.int32)
        np.testing.assert_array_equal(Interpreter(func)([array], sizes={"n": n, "m": m})[0], array * 2 + 1)
        for threads in (1, 3):
            result = np.zeros_like(array)
            weft.build(func, threads=threads)(array, result)
            np.testing.assert_array_equal(result, array * 2 + 1)


@pytest.mark.parametrize("case", LAYOUTS)
def test_callers_give_arguments_as_they_are_laid_out(case: str) -> None:
    layout, meaning, _ = LAYOUTS[case]
    schedule = scheduled(TEXT)
    schedule.transform_layout("first", ("read", 0), layout)
    array = np.random.default_rng(0).integers(-9, 9, (5, 24), dtype=np.int32)
    result = np.zeros_like(array)
    weft.build(only(schedule))(np.ascontiguousarray(meaning(array)), result)
    np.testing.assert_array_equal(result, array * 2 + 1)


@pytest.mark.parametrize(
    ("layout", "reason"),
    [
        (lambda i, j: (i, j // 3, j % 3), "leaves gaps where 3 does not divide extent 1"),
        (lambda i, j: (i // 2, i % 2, j), "leaves gaps where 2 does not divide extent 0"),
        (lambda i, j: (i, j // 4), "index 1 is not told by its parts"),
        (lambda i, j: (i, j % 4), "index 1 is not told by its parts"),
        (lambda i, j: (i, i), "index 0 is not told by its parts"),
        (lambda i, j: (i,), "it does without index 1"),
        (lambda i, j: (i, j // 4, j % 2), "index 1 is not told by its parts"),
        (lambda i, j: (i + j, j), "which is no index"),
        (lambda i, j: (i, j + 1), "which is no index"),
    ],
)
def test_layouts_that_depend_on_sizes_are_refused(layout: IndexMap, reason: str) -> None:
    schedule = scheduled(TEXT)
    before = schedule.mod.script()
    with pytest.raises(ScheduleError, match=reason):
        schedule.transform_layout("first", ("write", 0), layout)
    assert schedule.mod.script() == before
    assert function(TEXT)

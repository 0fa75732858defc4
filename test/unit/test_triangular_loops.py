"""Loops that begin or end where loops around them say, and what never runs of a loop."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from tvmscript_texts import function

import weft
from weft import te
from weft.dialects.tir.functions import PrimFuncOp
from weft.script import tir as T
from weft.tir import assert_structural_equal

pytestmark = pytest.mark.sampled(6)

N = 37

TRIANGLE = """
@T.prim_func
def f(A: T.Buffer[(37, 37), "int32"], B: T.Buffer[(37, 37), "int32"]):
    for i, j in T.grid(37, 37):
        B[i, j] = -1
    for i in {outer}(37):
        for j in {inner}(i + 1):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2
"""
CHAIN = """
@T.prim_func
def f(A: T.Buffer[(37, 37), "int32"], B: T.Buffer[(37, 37), "int32"]):
    for i, j in T.grid(37, 37):
        B[i, j] = 0
    for i in range(37):
        for j in range(i // 2, i):
            for k in range(j % 5, j + 1):
                B[i, j] = B[i, j] + A[j, k]
"""
ELIMINATION = """
@T.prim_func
def f(A: T.Buffer[(37, 37), "int32"], B: T.Buffer[(37, 37), "int32"]):
    for i, j in T.grid(37, 37):
        B[i, j] = A[i, j]
    for k in range(37):
        for i, j in T.grid(36 - k, 36 - k):
            B[i + k + 1, j + k + 1] = B[i + k + 1, j + k + 1] - B[i + k + 1, k] * B[k, j + k + 1]
"""
IN_A_BLOCK = """
@T.prim_func
def f(A: T.Buffer[(37, 37), "int32"], B: T.Buffer[(37, 37), "int32"]):
    for i, j in T.grid(37, 37):
        B[i, j] = -1
    for o in range(4):
        with T.block("outer"):
            vo = T.axis.spatial(4, o)
            for i in range(10):
                for j in range(vo * 9 + i):
                    with T.block("b"):
                        vi = T.axis.spatial(37, vo * 9 + i)
                        vj = T.axis.spatial(37, j)
                        T.where(i < 9)
                        B[vi, vj] = A[vi, vj] * 2
"""
SUMS = """
@T.prim_func
def f(a: T.handle, b: T.handle, n: T.int32, m: T.int32):
    A = T.match_buffer(a, (n, n + m), "int32")
    B = T.match_buffer(b, (n,), "int32")
    for i in T.parallel(n):
        for j in range(i, n + m):
            with T.block("b"):
                vi = T.axis.spatial(n, i)
                vj = T.axis.reduce(n + m, j - i)
                with T.init():
                    B[vi] = 100
                B[vi] = B[vi] + A[vi, vi + vj]
"""


def chain(a: np.ndarray) -> np.ndarray:
    b = np.zeros_like(a)
    for i in range(N):
        for j in range(i // 2, i):
            b[i, j] = a[j, j % 5 : j + 1].sum()
    return b


def elimination(a: np.ndarray) -> np.ndarray:
    b = a.copy()
    for k in range(N):
        b[k + 1 :, k + 1 :] -= np.outer(b[k + 1 :, k], b[k, k + 1 :])
    return b


def below(a: np.ndarray, diagonal: int = 0) -> np.ndarray:
    return np.where(np.tri(N, N, diagonal, dtype=bool), a * 2, -1)


FROM_THE_DIAGONAL = (
    TRIANGLE[: TRIANGLE.index("    for i in {outer}")]
    + """
    for i in {outer}(37):
        for j in range(i, 37):
            B[i, j] = B[i, j] * 0 + A[i, j] * 2
"""
)
EMPTY = """
@T.prim_func
def f(A: T.Buffer[(37, 37), "int32"], B: T.Buffer[(37, 37), "int32"]):
    for i, j in T.grid(37, 37):
        B[i, j] = A[i, j]
    for i in range(37):
        for j in range({bounds}):
            B[i, j] = 7
            for k in range(j, 9):
                B[i, k] = 8
"""


CASES: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "a triangle": (TRIANGLE.format(outer="range", inner="range"), below),
    "a triangle by threads": (TRIANGLE.format(outer="T.parallel", inner="range"), below),
    "vectors": (TRIANGLE.format(outer="range", inner="T.vectorized"), below),
    "unrolled": (TRIANGLE.format(outer="range", inner="T.unroll"), below),
    "threads within": (TRIANGLE.format(outer="range", inner="T.parallel"), below),
    "from the diagonal": (FROM_THE_DIAGONAL.format(outer="range"), lambda a: np.where(np.tri(N, N, -1), -1, a * 2)),
    "the same by threads": (
        FROM_THE_DIAGONAL.format(outer="T.parallel"),
        lambda a: np.where(np.tri(N, N, -1), -1, a * 2),
    ),
    "nothing": (EMPTY.format(bounds="3, 3"), np.copy),
    "less than nothing": (EMPTY.format(bounds="5, 2"), np.copy),
    "never anything": (EMPTY.format(bounds="i + 5, i + 2"), np.copy),
    "ends below zero": (EMPTY.format(bounds="i // 2, i - 40"), np.copy),
    "a chain": (CHAIN, chain),
    "grids within": (ELIMINATION, elimination),
    "iterators of a block around": (IN_A_BLOCK, lambda a: np.where(np.arange(N)[:, None] < 36, below(a, -1), -1)),
}


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(-3, 4, shape, dtype=np.int32)


def runs(func: PrimFuncOp, array: np.ndarray, shape: tuple[int, ...], sizes: dict[str, int] | None = None):
    """What a function gives on the interpreter, and as machine code of both kinds, with 1 and 3 threads."""
    (interpreted,) = T.Interpreter(func)([array], sizes=sizes)
    yield interpreted
    for target in ("llvm", "c"):
        for threads in (1, 3):
            result = np.full(shape, 7, np.int32)
            weft.build(func, target=target, threads=threads)(array, result, *(sizes or {}).values())
            yield result


@pytest.mark.parametrize("case", CASES)
def test_a_loop_ends_where_a_loop_around_it_says(case: str) -> None:
    text, meaning = CASES[case]
    func, array = function(text), numbers(N, N)
    for result in runs(func, array, (N, N)):
        np.testing.assert_array_equal(result, meaning(array))


@pytest.mark.parametrize("case", CASES)
def test_such_loops_are_written_as_what_they_are_read_as(case: str) -> None:
    func = function(CASES[case][0])
    assert_structural_equal(function(func.script()), func)


@pytest.mark.parametrize("bounds", ["n, n - 5", "i, 0", "4, 3"])
@pytest.mark.parametrize("n", [0, 3, 9])
def test_loops_that_never_run_stand_in_those_of_sizes(bounds: str, n: int) -> None:
    text = f"""
@T.prim_func
def f(a: T.handle, b: T.handle, n: T.int32):
    A = T.match_buffer(a, (n, n), "int32")
    B = T.match_buffer(b, (n, n), "int32")
    for i, j in T.grid(n, n):
        B[i, j] = A[i, j]
    for i in range(n):
        for j in range({bounds}):
            B[i, 0] = 7 + j
"""
    array = numbers(n, n)
    for result in runs(function(text), array, (n, n), {"n": n}):
        np.testing.assert_array_equal(result, array)


@pytest.mark.parametrize("n, m", [(0, 0), (0, 3), (1, 0), (5, 0), (37, 4)])
def test_sums_over_what_a_loop_around_leaves_have_any_sizes(n: int, m: int) -> None:
    array = numbers(n, n + m)
    for result in runs(function(SUMS), array, (n,), {"n": n, "m": m}):
        np.testing.assert_array_equal(result, 100 + np.triu(array).sum(1))


SCHEDULES: dict[str, Callable[[T.Schedule], object]] = {
    "split the inner": lambda s: s.split(s.get_loops("b")[1], [None, 8]),
    "split the outer": lambda s: s.split(s.get_loops("b")[0], [None, 5]),
    "reorder": lambda s: s.reorder(*s.get_loops("b")[::-1]),
    "fuse": lambda s: s.fuse(*s.get_loops("b")),
    "tile": lambda s: (
        [s.split(loop, [None, 4]) for loop in s.get_loops("b")],
        s.reorder(*(s.get_loops("b")[n] for n in (0, 2, 1, 3))),
    ),
    "vectorize": lambda s: s.vectorize(s.split(s.get_loops("b")[1], [None, 8])[1]),
    "unroll": lambda s: s.unroll(s.split(s.get_loops("b")[1], [None, 4])[1]),
    "parallel": lambda s: s.parallel(s.get_loops("b")[0]),
    "parallel, reordered": lambda s: (s.reorder(*s.get_loops("b")[::-1]), s.parallel(s.get_loops("b")[0])),
    "cache_read": lambda s: s.compute_at(s.cache_read("b", 0, "local"), s.get_loops("b")[0]),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_primitives_keep_what_triangles_compute(name: str) -> None:
    text = """
@T.prim_func
def f(A: T.Buffer[(37, 37), "int32"], B: T.Buffer[(37, 37), "int32"]):
    for i in range(37):
        for j in range(i + 1):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2
    for i in range(37):
        for j in range(i + 1, 37):
            with T.block("c"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = -1
"""
    schedule = T.Schedule(function(text))
    SCHEDULES[name](schedule)
    array = numbers(N, N)
    for result in runs(schedule.mod["f"], array, (N, N)):
        np.testing.assert_array_equal(result, below(array))


def test_machine_code_of_a_triangle_takes_no_more_steps_than_it_has() -> None:
    source = weft.build(function(CASES["a triangle"][0]), target="c").get_source()
    kernel = source.partition("f_kernel(")[0]
    assert "if (" not in kernel
    assert "(i + 1)" in kernel


def test_what_goes_beyond_its_memory_is_refused() -> None:
    text = CASES["a triangle"][0].replace("range(i + 1)", "range(i + 2)")
    with pytest.raises(weft.Diagnostic, match="index 37 in dimension 1 where %vj = 37"):
        weft.build(function(text))


@pytest.mark.parametrize("low, stop", [("i - 3", "i"), ("0", "i * i"), ("0", "A[i, 0] * 0 + i")])
def test_loops_that_end_by_what_is_not_affine_are_counted(low: str, stop: str) -> None:
    text = f"""
@T.prim_func
def f(A: T.Buffer[(37, 37), "int32"], B: T.Buffer[(37,), "int32"]):
    for i in range(37):
        B[i] = 0
    for i in range(37):
        for j in range({low}, {stop}):
            B[i] = B[i] + j
"""
    array = numbers(N, N)
    expected = [sum(range(eval(low, {"i": i}), eval(stop, {"i": i, "A": array}))) for i in range(N)]
    (result,) = T.Interpreter(function(text))([array])
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("factor", [1, 3, 10, 1 << 20, 1 << 40, 1 << 62])
@pytest.mark.parametrize("target", ["llvm", "c"])
def test_a_split_by_a_size_takes_no_longer_than_there_is_to_do(factor: int, target: str) -> None:
    n, size = te.var("n"), te.var("size")
    x = te.placeholder((n,), name="x")
    y = te.compute((n,), lambda i: x[i] + 1, name="y")
    s = te.create_schedule(y.op)
    s[y].split(y.op.axis[0], factor=size)
    values, result = np.arange(10, dtype=np.float32), np.empty(10, np.float32)
    weft.build(s, [x, y, size], target=target)(values, result, factor)
    np.testing.assert_array_equal(result, values + 1)
    if factor >= 1 << 40:
        interpreter = T.Interpreter(weft.lower(s, [x, y, size])["main"])
        np.testing.assert_array_equal(interpreter([values], sizes={"size": factor})[0], values + 1)


@pytest.mark.parametrize("factor", [None, 7])
@pytest.mark.parametrize("shape", [(3, 5), (0, 4), (4, 0), (1, 1), (0, 0), (17, 3)])
def test_elements_and_steps_are_one_loop_of_open_sizes(shape: tuple[int, int], factor: int | None) -> None:
    n, m = te.var("n"), te.var("m")
    x, k = te.placeholder((n, m), "int32", name="x"), te.reduce_axis((0, m), "k")
    y = te.compute((n,), lambda i: te.sum(x[i, k], axis=k), name="y")
    s = te.create_schedule(y.op)
    fused = s[y].fuse(y.op.axis[0], y.op.reduce_axis[0])
    if factor is not None:
        s[y].split(fused, factor=factor)
    array, func = numbers(*shape), weft.lower(s, [x, y])["main"]
    for result in runs(func, array, shape[:1]):
        np.testing.assert_array_equal(result, array.sum(1))


def test_iterators_may_have_the_names_of_loops_they_are_not_bound_to() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer[(4, 5), "int32"], B: T.Buffer[(5, 4), "int32"]):
    for i, j in T.grid(4, 5):
        with T.block("b"):
            i, j = T.axis.remap("SS", [j, i])
            B[i, j] = A[j, i]
"""
    array = numbers(4, 5)
    (result,) = T.Interpreter(function(text))([array])
    np.testing.assert_array_equal(result, array.T)


@pytest.mark.parametrize("box, message", [
    ("B[0:3]", "T.realize gives all of 'B' memory, 0:4 in dimension 0"),
    ("B[1:5]", "T.realize gives all of 'B' memory, 0:4 in dimension 0"),
    ("B[0:4, 0:1]", "'B' has 1 dimensions"),
])  # fmt: skip
def test_memory_is_realized_of_whole_buffers(box: str, message: str) -> None:
    text = f"""
@T.prim_func
def f(A: T.Buffer[(4,), "int32"]):
    B = T.Buffer((4,), "int32")
    T.realize({box}, "")
    for i in range(4):
        B[i] = i
        A[i] = B[i]
"""
    with pytest.raises(weft.Diagnostic, match=re.escape(message)):
        function(text)

"""Extents of tensor expressions that are products and quotients of sizes, loops that are split by a size, and
variables of `tir` as sizes: on the interpreter of `tir` and as machine code."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tvmscript_texts import function

import weft
from weft import te, tir
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.dialects.te.dims import as_dim, to_text, value_of
from weft.dialects.tir.interpreter import Interpreter


def test_quotients_of_named_sizes_are_extents_in_their_normal_form() -> None:
    n, x = te.size_var("n"), te.size_var("x")
    assert n // x is n // x and n * x // x is n and n - n // x * x is n - x * (n // x)
    assert n * 4 % n == 0 and to_text(as_dim(n % x)) == "(n % x)"
    assert value_of(as_dim(n // x), {n: 7, x: 2}) == 3
    with pytest.raises(UsageError, match=r"n // x.* is no extent where x is 0"):
        value_of(as_dim(n // x), {n: 7, x: 0})


def test_a_difference_of_sizes_divides_extents_where_it_is_positive() -> None:
    n, x = te.size_var("n"), te.size_var("x")
    for dim, value in ((n // (5 - x), 5), (n % (5 - x), 1), ((n + x) // (n - x), 1), ((n + x) % (n - x + 2), 4)):
        assert value_of(as_dim(dim), {n: 11, x: 3}) == value
    A = te.placeholder((n,), name="A")
    C = te.compute((n // (5 - x), 5 - x), lambda i, j: A[i * (5 - x) + j] * 2.0, name="C")
    built = weft.build(te.create_schedule(C.op), [A, C, x])
    for size, given in ((11, 3), (11, 0), (4, 4), (0, 2), (1, 1)):
        a, c = np.arange(size, dtype=np.float32), np.zeros((size // (5 - given), 5 - given), np.float32)
        built(a, c, given)
        np.testing.assert_array_equal(c, a[: c.size].reshape(c.shape) * 2)
    for given in (5, 6):
        with pytest.raises(Diagnostic, match="the function is not for %x ="):
            built(np.zeros(4, np.float32), np.zeros((0, 0), np.float32), given)


def test_what_divides_an_extent_is_asked_of_each_call() -> None:
    n, x = te.size_var("n"), te.size_var("x")
    A = te.placeholder((n,), name="A")
    B = te.compute((n // (x - 1),), lambda i: A[i] + 1.0, name="B")
    built = weft.build(te.create_schedule(B.op), [A, B, x], threads=1)
    a, b = np.arange(7, dtype=np.float32), np.zeros(3, np.float32)
    built(a, b, 3)
    np.testing.assert_array_equal(b, a[:3] + 1)
    with pytest.raises(Diagnostic, match="the function is not for %x = 1"):
        built(a, b, 1)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_extent_that_is_divided_by_a_size_is_asked_of_each_call(threads: int) -> None:
    n, m, x = te.size_var("n"), te.size_var("m"), te.size_var("x")
    A = te.placeholder((n, m), name="A")
    B = te.compute((m, n // x), lambda i, j: A[j, i] + 1.0, name="B")
    s = te.create_schedule(B.op)
    s[B].parallel(B.op.axis[0])
    built = weft.build(s, [A, B, x], threads=threads)
    func = te.create_prim_func([A, B, x])
    for (rows, columns), by in product([(3, 4), (7, 1), (0, 5)], [1, 2, 5]):
        a = np.random.default_rng(by).standard_normal((rows, columns)).astype(np.float32)
        b = np.zeros((columns, rows // by), np.float32)
        built(a, b, by)
        np.testing.assert_array_equal(b, a.T[:, : rows // by] + 1)
        (found,) = Interpreter(func)([a], sizes={"x": by})
        np.testing.assert_array_equal(found, b)
    with pytest.raises(Diagnostic, match="the function is not for %x = 0"):
        built(np.zeros((3, 4), np.float32), np.zeros((4, 3), np.float32), 0)
    with pytest.raises(Diagnostic, match="%B has the extent 2 where it should have 3"):
        built(np.zeros((3, 4), np.float32), np.zeros((4, 2), np.float32), 1)


def test_an_extent_may_be_the_product_of_sizes() -> None:
    n, m = te.size_var("n"), te.size_var("m")
    A = te.placeholder((n, m), name="A")
    B = te.compute((n * m,), lambda i: A[i // m, i % m] + 1.0, name="B")
    built = weft.build(te.create_schedule(B.op), [A, B], threads=1)
    for shape in ((3, 4), (1, 7), (0, 3), (3, 0)):
        a = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        b = np.zeros(a.size, np.float32)
        built(a, b)
        np.testing.assert_array_equal(b, a.ravel() + 1)
    with pytest.raises(Diagnostic, match="%B has the extent 11 where it should have 12"):
        built(np.zeros((3, 4), np.float32), np.zeros(11, np.float32))


def doubled() -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    A1 = te.compute((n, m), lambda i, j: A[i, j] * 2.0, name="A1")
    return A, A1, te.compute((n, m), lambda i, j: A1[i, j] + 3.0, name="A2")


@pytest.mark.parametrize(("fused", "threads"), [(False, 1), (False, 3), (True, 1)])
def test_a_loop_is_split_by_a_size_that_a_call_tells(fused: bool, threads: int) -> None:
    A, A1, A2 = doubled()
    size = te.var("s")
    s = te.create_schedule(A2.op)
    outer, _ = s[A2].split(s[A2].fuse(*A2.op.axis) if fused else A2.op.axis[0], size)
    s[A1].compute_inline()
    if not fused:
        s[A2].parallel(outer)
    built = weft.build(s, [A, A2, size], threads=threads)
    loops = weft.lower(s, [A, A2, size])["main"]
    for shape, factor in product([(3, 4), (5, 7), (1, 1), (0, 4)], [1, 3, 100]):
        a = np.random.default_rng(factor).standard_normal(shape).astype(np.float32)
        b = np.zeros(shape, np.float32)
        built(a, b, factor)
        np.testing.assert_array_equal(b, a * 2 + 3)
        (found,) = Interpreter(loops)([a], sizes={"s": factor})
        np.testing.assert_array_equal(found, b)
    with pytest.raises(Diagnostic, match="the function is not for %s = 0"):
        built(np.zeros((3, 4), np.float32), np.zeros((3, 4), np.float32), 0)


def test_a_size_that_splits_a_loop_is_an_argument() -> None:
    A, _, A2 = doubled()
    s = te.create_schedule(A2.op)
    s[A2].split(A2.op.axis[0], te.var("s"))
    with pytest.raises(tir.ScheduleError, match="the loop i is split by 's', which is no size of the function"):
        weft.lower(s, [A, A2])


def test_bounds_of_what_is_computed_in_a_loop_of_a_size() -> None:
    _, A1, A2 = doubled()
    size = te.var("s")
    s = te.create_schedule(A2.op)
    outer, _ = s[A2].split(s[A2].fuse(*A2.op.axis), size)
    s[A1].compute_at(s[A2], outer)
    found = te.InferBound(s)[A1.op.axis[0]]
    assert tir.structural_equal(found.min, te.floordiv(outer * size, A2.op.axis[1].dom.extent))


def test_variables_of_tir_are_sizes() -> None:
    n = tir.Var("n", "int32")
    A = te.placeholder((n + 1,), name="A")
    B = te.compute((n + 1,), lambda i: A[i], name="B")
    func = te.create_prim_func([A, B, n])
    assert func.params[2] == n and len(func.params) == 3
    a, b = np.arange(10, dtype=np.float32), np.zeros(10, np.float32)
    for built in (weft.build(func), weft.build(te.create_schedule(B.op), [A, B, n])):
        b[:] = 0
        built(a, b, 9)
        np.testing.assert_array_equal(a, b)
    with pytest.raises(UsageError, match="the variable 'x' is of no integers"):
        te.create_prim_func([A, B, tir.Var("x", "float32")])


def test_a_loop_of_tvmscript_runs_as_often_as_a_difference_divides() -> None:
    text = """
@T.prim_func
def ones(A: T.Buffer[(16,), "int32"], m: T.int32):
    for i in range(16):
        A[i] = 0
    for i in range(16 // (5 - m)):
        with T.block("b"):
            vi = T.axis.spatial(16, i, partial=True)
            A[vi] = 1
"""
    ones = function(text)
    built = weft.build(ones)
    for m in (0, 2, 4):
        (interpreted,) = Interpreter(ones)([], sizes={"m": m})
        result = np.full(16, 7, np.int32)
        built(result, m)
        np.testing.assert_array_equal(result, np.arange(16) < 16 // (5 - m))
        np.testing.assert_array_equal(interpreted, result)
    with pytest.raises(Diagnostic, match="the function is not for %m = 5"):
        built(np.zeros(16, np.int32), 5)

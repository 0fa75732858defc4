"""Python functions in TVMScript that give several values of scalars, and `T.meta_var`."""

# pyright: basic, reportIndexIssue=false, reportInvalidTypeForm=false, reportUndefinedVariable=false
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportOperatorIssue=false, reportGeneralTypeIssues=false, reportCallIssue=false, reportAssignmentType=false
# ruff: noqa: F821, RUF059

from typing import Any

import numpy as np
import pytest

import weft
from weft import tir
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.tir.functions import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.script import tir as T


def fragment(i: Any, j: Any) -> object:
    """Which thread holds an element of a tile of 16 x 16, and where."""
    return T.meta_var(((i % 8) * 4 + (j % 8) // 2, (j // 8) * 4 + (i // 8) * 2 + (j % 2)))


def sum_and_product(x: Any, y: Any) -> tuple[object, object]:
    return x + y, x * y


def texts(x: Any) -> tuple[str, str]:
    return "x", str(x)


@T.prim_func
def places(A: T.Buffer[(16, 16), "float32"], C: T.Buffer[(32, 8), "float32"], D: T.Buffer[(16, 16), "float32"]):
    for i, j in T.grid(16, 16):
        with T.block("places"):
            vi, vj = T.axis.remap("SS", [i, j])
            thread, local = fragment(vi, vj)
            T.reads(A[vi, vj])
            T.writes(C[thread, local])
            C[thread, local] = A[vi, vj]
    for i, j in T.grid(16, 16):
        with T.block("both"):
            vi, vj = T.axis.remap("SS", [i, j])
            total, scaled = sum_and_product(A[vi, vj], 2.0)
            D[vi, vj] = total - scaled


def test_one_call_gives_several_names_values() -> None:
    a = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float32)
    expected = np.zeros((32, 8), np.float32)
    for i in range(16):
        for j in range(16):
            expected[(i % 8) * 4 + (j % 8) // 2, (j // 8) * 4 + (i // 8) * 2 + (j % 2)] = a[i, j]
    for threads in (1, 3):
        c, d = np.zeros((32, 8), np.float32), np.zeros((16, 16), np.float32)
        weft.build(places, threads=threads)(a, c, d)
        np.testing.assert_array_equal(c, expected)
        np.testing.assert_allclose(d, (a + 2) - a * 2, rtol=1e-5, atol=1e-6)
    for found, wanted in zip(Interpreter(places)([a]), (expected, (a + 2) - a * 2), strict=True):
        np.testing.assert_allclose(np.asarray(found, np.float32), wanted, rtol=1e-5, atol=1e-6)
    assert isinstance(places, PrimFuncOp)
    tir.assert_structural_equal(tir.from_source(places.script()), places)


def test_more_values_than_names_are_refused() -> None:
    with pytest.raises(Diagnostic, match="'sum_and_product' gives 2 values for 3 names"):

        @T.prim_func
        def f(A: T.Buffer[(4,), "float32"]):
            for i in range(4):
                with T.block("b"):
                    vi = T.axis.spatial(4, i)
                    x, y, z = sum_and_product(A[vi], 1.0)
                    A[vi] = x


def test_what_is_no_expression_is_refused() -> None:
    with pytest.raises(Diagnostic, match="'texts' gives a str, and not an expression"):

        @T.prim_func
        def f(A: T.Buffer[(4,), "float32"]):
            for i in range(4):
                with T.block("b"):
                    vi = T.axis.spatial(4, i)
                    x, y = texts(A[vi])
                    A[vi] = x


def test_names_alone_are_given_values() -> None:
    with pytest.raises(Diagnostic, match="a block's body has no 'x, A"):

        @T.prim_func
        def f(A: T.Buffer[(4,), "float32"]):
            for i in range(4):
                with T.block("b"):
                    vi = T.axis.spatial(4, i)
                    x, A[vi] = sum_and_product(A[vi], 1.0)

"""Forms in which programs for TVM say things: loops by the number of a kind, `astype` in text, exceptions."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821

import numpy as np
import pytest

import weft
from weft import tir
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.dialects.tir.core import PrimFuncOp
from weft.script import tir as T
from weft.tir import stmt_functor


def test_what_differs_is_told_by_both_exceptions() -> None:
    x = tir.Var("x")
    for kind in (AssertionError, ValueError):
        with pytest.raises(kind, match="differ"):
            tir.assert_structural_equal(x + 1, x + 2)
        with pytest.raises(kind, match="differ"):
            tir.assert_structural_equal(converted, other)


@T.prim_func
def converted(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "int32"]):
    for i in range(8):
        B[i] = (A[i] * T.float32(2)).astype("int32") + A[i].astype("int32")


@T.prim_func
def other(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "int32"]):
    for i in range(8):
        B[i] = T.cast(A[i], "int32")


def test_scalars_of_a_text_are_converted_by_astype() -> None:
    numbers, result = np.linspace(-3, 3, 8, dtype=np.float32), np.zeros(8, np.int32)
    weft.build(converted)(numbers, result)
    np.testing.assert_array_equal(result, (numbers * 2).astype(np.int32) + numbers.astype(np.int32))
    text = converted.script().replace('T.cast(A[i], "int32")', "A[i].astype()")
    with pytest.raises(Diagnostic, match="astype takes a dtype"):
        tir.from_source(text)


def test_buffers_are_told_from_other_nodes() -> None:
    buffer = tir.decl_buffer((4,), "float32", name="A")
    assert isinstance(buffer, tir.Buffer) and not isinstance(buffer[0], tir.Buffer)


def test_a_loop_has_a_kind_by_number() -> None:
    i, buffer = tir.Var("i"), tir.decl_buffer((4,), "float32", name="A")
    loops = [tir.For(i, 0, 4, kind, tir.BufferStore(buffer, 0.0, [i])) for kind in (0, 1, 2, 3, 4)]
    assert [loop.kind for loop in loops] == ["serial", "parallel", "vectorized", "unrolled", "thread_binding"]
    assert tir.For(i, 0, 4, tir.ForKind.PARALLEL, loops[0].body).kind == "parallel"
    with pytest.raises(UsageError, match="no loops of kind 5"):
        tir.For(i, 0, 4, 5, loops[0].body)


def test_a_literal_beyond_all_numbers_is_refused() -> None:
    assert tir.FloatImm("float16", float("inf")).value == float("inf")
    for dtype, value in (("float16", 1e5), ("float32", -1e39)):
        with pytest.raises(UsageError, match="is beyond all numbers"):
            tir.FloatImm(dtype, value)
    with pytest.raises(UsageError, match="is beyond all numbers of f32"):
        tir.const(10**400, "float32")
    with pytest.raises(UsageError, match="is no i64"):
        tir.const(10**400)


def test_a_name_for_a_size_stands_around_loops() -> None:
    a, b = (tir.decl_buffer((16,), "float32", name=name) for name in "AB")
    i, n, m = tir.Var("i"), tir.Var("n"), tir.Var("m")
    loop = tir.For(i, 0, n, "serial", tir.BufferStore(b, a[i] + tir.Cast("float32", m), [i]))
    func = tir.PrimFunc([a, b], tir.LetStmt(n, tir.IntImm("int32", 10), tir.LetStmt(m, n * 2, loop)))
    values, result = np.ones(16, np.float32), np.zeros(16, np.float32)
    weft.build(func)(values, result)
    np.testing.assert_array_equal(result, np.where(np.arange(16) < 10, 21, 0))
    told = tir.LetStmt(n, tir.Cast("int32", a[0]), stmt_functor.substitute(loop, {m: 2}))
    values[0], result[:] = 5, 0
    weft.build(tir.PrimFunc([a, b], told))(values, result)
    np.testing.assert_array_equal(result, np.where(np.arange(16) < 5, values + 2, 0))


def branching(condition: str) -> str:
    return (
        "from weft.script import tir as T\n@T.prim_func\ndef f(A: T.Buffer[(16,), 'int32']):\n    for i in range(16):\n"
        f"        with T.block('b'):\n            v = T.axis.spatial(16, i)\n            if {condition}:\n"
        "                A[v] = 1\n            else:\n                A[v] = 0\n"
    )


SAME = [
    ("v == 4", "v + 2 == 6"),
    ("v == 4", "4 == v"),
    ("v < 4", "v <= 3"),
    ("v < 4", "4 > v"),
    ("v + 1 >= 4", "v > 2"),
]
OTHER = [("v == 4", "v == 5"), ("v == 4", "v != 4"), ("v < 4", "v > 4"), ("v < 4", "v <= 4"), ("v < 4", "v * 2 < 4")]


@pytest.mark.parametrize(("a", "b", "wanted"), [(*pair, True) for pair in SAME] + [(*pair, False) for pair in OTHER])
def test_comparisons_of_indices_are_told_by_their_difference(a: str, b: str, wanted: bool) -> None:
    one, other = (tir.from_source(branching(condition)) for condition in (a, b))
    assert tir.structural_equal(one, other) == wanted
    assert not wanted or tir.structural_hash(one) == tir.structural_hash(other)
    assert isinstance(one, PrimFuncOp) and isinstance(other, PrimFuncOp)
    (first,), (second,) = (tir.Interpreter(func)([]) for func in (one, other))
    assert not wanted or (first == second).all()

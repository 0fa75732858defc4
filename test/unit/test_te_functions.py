"""TVM's functions of scalars, in formulas and in TVMScript, against NumPy."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821

import math
from typing import Any

import numpy as np
import pytest

import weft
from weft import arith, te, tir
from weft.dialects.support.diagnostics import UsageError
from weft.script import tir as T
from weft.tir import Interpreter

RANDOM = np.random.default_rng(5)
FLOATS = RANDOM.uniform(-3, 3, 16).astype(np.float32)
POSITIVE = RANDOM.uniform(0.5, 4, 16).astype(np.float32)
SMALL = RANDOM.integers(-4, 4, 16).astype(np.int32)
INTEGERS = np.array([0, 1, 2, 3, 255, 2**30, 2**31 - 1, 7] * 2, np.int32)

FUNCTIONS: dict[str, tuple[Any, Any, np.ndarray, np.ndarray]] = {
    "exp2": (lambda x, y: te.exp2(x), lambda x, y: np.exp2(x), FLOATS, FLOATS),
    "log1p": (lambda x, y: tir.log1p(x), lambda x, y: np.log1p(x), POSITIVE, FLOATS),
    "exp10": (lambda x, y: tir.exp10(x), lambda x, y: np.power(10.0, x), FLOATS, FLOATS),
    "atan2": (tir.atan2, np.arctan2, FLOATS, FLOATS[::-1].copy()),
    "copysign": (tir.copysign, np.copysign, POSITIVE, FLOATS),
    "hypot": (tir.hypot, np.hypot, FLOATS * np.float32(1e30), POSITIVE * np.float32(1e30)),
    "ldexp": (tir.ldexp, np.ldexp, FLOATS, SMALL),
    "nextafter": (tir.nextafter, np.nextafter, POSITIVE, FLOATS),
    "popcount": (lambda x, y: te.popcount(x), lambda x, y: [n.bit_count() for n in x.tolist()], INTEGERS, SMALL),
    "clz": (lambda x, y: tir.clz(x), lambda x, y: [32 - n.bit_length() for n in x.tolist()], INTEGERS, SMALL),
    "ceildiv": (lambda x, y: tir.ceildiv(x, 7), lambda x, y: [-(-n // 7) for n in x.tolist()], INTEGERS, SMALL),
    "reinterpret": (lambda x, y: tir.reinterpret("int32", x), lambda x, y: x.view(np.int32), FLOATS, FLOATS),
    "shift_left": (lambda x, y: te.shift_left(x, 3), lambda x, y: x << 3, SMALL, SMALL),
    "subtract": (te.subtract, np.subtract, FLOATS, POSITIVE),
    "bitwise_xor": (tir.bitwise_xor, np.bitwise_xor, INTEGERS, SMALL),
    "call": (lambda x, y: tir.call_pure_extern("float32", "cosf", x), lambda x, y: np.cos(x), FLOATS, FLOATS),
    "q_multiply_shift": (
        lambda x, y: tir.q_multiply_shift(x, 1717986918, 31, -2),
        lambda x, y: [math.floor(n * 1717986918 / 2**33 + 0.5) for n in x.tolist()],
        INTEGERS,
        SMALL,
    ),
    "q_multiply_shift_per_axis": (
        lambda x, y: tir.q_multiply_shift_per_axis(x, 1717986918, 2, y + 4, 31, y > 0, True),
        lambda x, y: [
            math.floor(n * 1717986918 * 2 ** (2 if s > 0 else 0) / 2 ** (35 + s) + 0.5)
            for n, s in zip(x.tolist(), y.tolist(), strict=True)
        ],
        INTEGERS,
        SMALL,
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_scalars_is_numpys(name: str) -> None:
    function, wanted, a, b = FUNCTIONS[name]
    x, y = (te.placeholder((16,), str(array.dtype), label) for label, array in (("x", a), ("y", b)))
    z = te.compute((16,), lambda i: function(x[i], y[i]), name="z")
    out = np.zeros(16, z.dtype)
    weft.build(te.create_schedule(z.op), [x, y, z])(a, b, out)
    np.testing.assert_allclose(out, wanted(a, b), rtol=1e-6)


def test_a_call_is_scheduled_as_what_is_computed() -> None:
    x = te.placeholder((64,), name="x")
    y = te.compute((64,), lambda i: tir.call_pure_extern("float32", "sinf", x[i]) + 1.0, name="y")
    z = te.compute((64,), lambda i: y[i] * y[i], name="z")
    s = te.create_schedule(z.op)
    s[y].compute_inline()
    outer, _ = s[z].split(z.op.axis[0], factor=16)
    s[z].parallel(outer)
    array, out = np.linspace(0, 1, 64, dtype=np.float32), np.empty(64, np.float32)
    weft.build(s, [x, z])(array, out)
    np.testing.assert_allclose(out, (np.sin(array) + 1) ** 2, rtol=1e-6)


@T.prim_func
def in_text(A: T.Buffer[(16,), "int32"], B: T.Buffer[(16,), "int32"], C: T.Buffer[(16,), "float32"]):
    for i in range(16):
        B[i] = T.popcount(A[i]) + T.clz(A[i]) * 100
        C[i] = T.hypot(T.cast(A[i], "float32"), T.float32(4)) + T.min(T.infinity("float32"), T.exp10(T.float32(2)))  # pyright: ignore[reportArgumentType]


def test_functions_are_words_of_tvmscript() -> None:
    bits, lengths = np.zeros(16, np.int32), np.zeros(16, np.float32)
    weft.build(in_text)(INTEGERS, bits, lengths)
    numbers = INTEGERS.tolist()
    assert bits.tolist() == [n.bit_count() + (32 - n.bit_length()) * 100 for n in numbers]
    np.testing.assert_allclose(lengths, np.hypot(INTEGERS.astype(np.float32), np.float32(4)) + 100, rtol=1e-6)
    assert tir.structural_equal(tir.from_source(in_text.script()), in_text)
    again = Interpreter(in_text)([INTEGERS])
    np.testing.assert_array_equal(again[0], bits)


def test_what_has_no_meaning_is_refused() -> None:
    x = te.placeholder((4,), "int32", "x")
    i = te.var("i")
    for make, message in (
        (lambda: tir.infinity("int32"), "has no infinity"),
        (lambda: tir.exp10(x[i]), "is of floats"),
        (lambda: tir.popcount(x[i].astype("float32")), "bits of an integer"),
        (lambda: tir.reinterpret("float64", x[i]), "have not the same bits"),
    ):
        with pytest.raises(UsageError, match=message):
            make()
    called = te.compute((4,), lambda j: tir.call_packed("show", x[j]), name="called")
    with pytest.raises(UsageError, match="gives no number"):
        weft.build(te.create_schedule(called.op), [x, called])


def test_modules_are_made_of_functions() -> None:
    module = tir.IRModule.from_expr(in_text.with_attr("global_symbol", "other"))
    assert list(module.functions) == ["other"]
    module.update_func("other", in_text.with_attr("marked", 1))
    assert "marked" in module["other"].attributes and "marked" not in module["other"].without_attr("marked").attributes
    with pytest.raises(UsageError, match="has a name"):
        in_text.without_attr("global_symbol")


def test_functions_are_called_by_the_names_of_operators() -> None:
    x, y = tir.Var("x", "float32"), tir.Var("y", "float32")
    n = te.var("n")
    same = tir.structural_equal
    assert same(tir.call_intrin("float32", "tir.atan2", x, y), tir.atan2(x, y))
    assert same(tir.call_intrin("float32", "tir.fabs", x), tir.abs(x))
    assert same(tir.call_intrin("float32", "tir.if_then_else", n > 0, x, 1.0), tir.if_then_else(n > 0, x, 1.0))
    assert same(tir.call_intrin("int32", "tir.reinterpret", x), tir.reinterpret("int32", x))
    assert same(tir.call_intrin("int32", "tir.shift_left", 1, 10), tir.const(1024, "int32"))
    with pytest.raises(UsageError, match=r"did you mean 'tir\.round'"):
        tir.call_intrin("float32", "tir.rouned", x)
    with pytest.raises(UsageError, match=r"tir\.exp gives float32 here, and not float64"):
        tir.call_intrin("float64", "tir.exp", x)


def test_nothing_is_known_of_any_extent() -> None:
    a, b = tir.Any(), tir.Any()
    assert te.placeholder((a, b), name="X").shape[0] is a
    assert isinstance(a, tir.Any) and not isinstance(te.var("n"), tir.Any) and not isinstance(4, tir.Any)
    analyzer = arith.Analyzer()
    assert analyzer.can_prove_equal(a - a, 0) and not analyzer.can_prove_equal(a, b)

"""A literal is a number of its type, and arithmetic of literals gives what the machine does."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from math import inf, nan

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from tir_run import compiled, prim_func

from weft.dialects import te
from weft.dialects.support.dtypes import numpy_dtype, scalar_type
from weft.dialects.te import literals
from weft.dialects.te.expr import BinaryKind as B
from weft.dialects.te.text import text_of

FLOATS = ("float16", "bfloat16", "float32", "float64")
AWKWARD = [0.0, -0.0, 0.1, -1 / 3, 1.0, 3.0, 1e-3, 6e-8, 7e-40, 65504.0, -65519.0, 3.3e38, 1.7e308, inf, -inf, nan]


def literal(value: float, dtype: str) -> float:
    """The number that a literal of a type is."""
    return te.const(value, scalar_type(dtype)).value


def bits(values: npt.ArrayLike, dtype: str) -> npt.NDArray[np.generic]:
    """Numbers as the bits of a type, all NaNs being one."""
    array = np.array(values, numpy_dtype(scalar_type(dtype)))
    return np.where(np.isnan(array), array.dtype.type(nan), array).view(f"u{array.itemsize}")


@pytest.mark.parametrize("dtype", FLOATS)
def test_arithmetic_of_float_literals_gives_what_the_machine_gives(dtype: str):
    kinds = (B.ADD, B.SUB, B.MUL, B.DIV)
    type = scalar_type(dtype)
    with np.errstate(all="ignore"):
        values = np.array(AWKWARD, numpy_dtype(type))
    n = len(values)
    x = te.placeholder((n,), type)

    def cell(kind: B, i: te.IterVar, j: te.IterVar) -> te.Expr:
        return te.binary(kind, x[i], x[j])

    outputs = [te.compute((n, n), partial(cell, kind)) for kind in kinds]
    stage = ([x], outputs)
    found = compiled(prim_func(stage), stage)(values)
    for kind, machine in zip(kinds, found, strict=True):
        for (i, a), (j, b) in product(enumerate(AWKWARD), repeat=2):
            made = te.binary(kind, te.const(a, type), te.const(b, type))
            if isinstance(made, te.Const):
                assert bits(made.value, dtype) == bits(machine[i, j], dtype), (kind, a, b)


def nearest(value: float, numbers: npt.NDArray[np.float64], end: float) -> float:
    """Of ascending numbers, the nearest to one; of two the even one; infinite from halfway to `end` on."""
    exact = Fraction(abs(value))
    if exact >= (Fraction(float(numbers[-1])) + Fraction(end)) / 2:
        return inf
    place = min(int(np.searchsorted(numbers, abs(value))), len(numbers) - 1)
    places = range(max(place - 1, 0), place + 1)
    return float(numbers[min(places, key=lambda i: (abs(Fraction(float(numbers[i])) - exact), i % 2))])


@pytest.mark.parametrize(("dtype", "end"), [("float16", 2.0**16), ("bfloat16", 2.0**128)])
def test_a_short_literal_is_the_nearest_number_of_its_type(dtype: str, end: float):
    type = scalar_type(dtype)
    with np.errstate(all="ignore"):
        every = np.arange(1 << 15, dtype=np.uint16).view(numpy_dtype(type)).astype(np.float64)
    numbers = every[np.isfinite(every)]
    random = np.random.default_rng(0)
    halves = (numbers + np.array([*numbers[1:], end])) / 2
    given = [*random.choice(numbers, 300), *(halves := [float(h) for h in random.choice(halves, 300)]), halves[-1]]
    given += [float(np.nextafter(h, side)) for h in halves for side in (0.0, inf)]
    for value in given:
        for sign in (1.0, -1.0):
            held = literal(sign * value, dtype)
            assert held == sign * nearest(value, numbers, end), value
            assert np.signbit(held) == (sign < 0)


def test_a_float_literal_is_rounded_to_its_type_and_written_with_few_digits():
    tenth = te.const(0.1, scalar_type("float32"))
    assert literal(0.1, "float32") == float(np.float32(0.1))
    assert text_of(tenth) == "T.float32(0.1)"
    x = te.placeholder((4,), scalar_type("float32"), "x")
    assert text_of(x[0] * 0.1) == "x[0] * 0.1"
    assert text_of(tenth - 0.1000000001) == "T.float32(0.0)"
    assert text_of(te.const(1e-45, scalar_type("float32"))) == "T.float32(1e-45)"
    assert literal(70000.0, "float16") == inf
    assert literal(-1e300, "float32") == -inf
    assert literal(0.1, "float64") == 0.1
    assert np.signbit(literal(-0.0, "bfloat16"))


def test_an_integer_is_rounded_once():
    for value in (2**24 + 1, 2**60 + 2**36 + 1, 2**60 + 2**36, -(2**63) - 2**39 - 1):
        assert literal(value, "float32") == float(np.float32(np.longdouble(value))), value
    assert literal(10**400, "float32") == inf
    assert literal(-(10**400), "float64") == -inf
    assert literals.converted(2**60 + 2**36 + 1, scalar_type("int64"), scalar_type("float32")) == 2.0**60 + 2.0**37


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float8_e8m0fnu", "float4_e2m1fn"])
def test_a_literal_to_keep_is_one_of_its_type(dtype: str):
    for value in (0.1, -3.3, 1.0, 449.0, 1e9, -0.0, inf, nan):
        held = literal(value, dtype)
        expected = float(np.dtype(getattr(ml_dtypes, dtype)).type(value))
        assert np.array_equal(held, expected, equal_nan=True)
        assert literals.held(held, scalar_type(dtype)) == held or np.isnan(held)

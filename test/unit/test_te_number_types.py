"""Numbers of `weft.te`: their types, where they meet, and what no type holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from te_run import computed

import weft
from weft import te, tir
from weft.dialects.support.arguments import ArgumentError
from weft.dialects.te.evaluate import evaluate
from weft.dialects.te.expr import Const


def test_extreme_values_are_those_of_the_type() -> None:
    values = [te.min_value("int8"), te.max_value("uint16"), te.max_value("float32"), te.min_value("float64")]
    finite = [-128, 65535, float(np.finfo("float32").max), float(np.finfo("float64").min)]
    assert [getattr(value, "value", None) for value in values] == finite


@pytest.mark.parametrize(
    ("one", "other", "dtype"),
    [
        ("int32", "float32", "float32"),
        ("float16", "float32", "float32"),
        ("int8", "int32", "int32"),
        ("uint8", "uint16", "uint16"),
        ("int64", "float16", "float16"),
    ],
)
def test_numbers_meet_in_the_wider_type(one: str, other: str, dtype: str) -> None:
    x, y = te.placeholder((4,), one, "x"), te.placeholder((4,), other, "y")
    for z in (
        te.compute((4,), lambda i: x[i] * y[i], name="z"),
        te.compute((4,), lambda i: te.if_then_else(i < 2, y[i], x[i]), name="z"),
    ):
        assert z.dtype == dtype
    a, b = np.arange(4).astype(one), np.arange(4, 8).astype(other)
    np.testing.assert_array_equal(evaluate([te.compute((4,), lambda i: x[i] + y[i])], {x: a, y: b})[0], a + b)


def test_numbers_that_do_not_meet_are_refused() -> None:
    x, y = te.placeholder((4,), "float16", "x"), te.placeholder((4,), "bfloat16", "y")
    with pytest.raises(TypeError, match="different types"):
        te.compute((4,), lambda i: x[i] * y[i])


def test_a_fraction_makes_integers_floats() -> None:
    x = te.placeholder((4,), "int32", "x")
    for y in (te.compute((4,), lambda i: x[i] * 0.5, name="y"), te.compute((4,), lambda i: 0.5 * x[i], name="y")):
        got, a = computed(y, x)
        assert y.dtype == "float32"
        np.testing.assert_array_equal(got, a * np.float32(0.5))


def test_types_are_called_by_name() -> None:
    x = te.placeholder((4,), name="x")
    assert (x[0].astype("float16").dtype, x[0].dtype, te.const(1).astype("uint8").dtype) == (
        "float16",
        "float32",
        "uint8",
    )
    with pytest.raises(TypeError, match="float33"):
        x[0].astype("float33")


def test_literals_are_of_the_dtypes_of_numpys_numbers() -> None:
    values: list[Any] = [np.uint8(3), np.int64(-3), np.float16(1.5), np.float64(2.0)]
    for value in values:
        made = te.const(value)
        assert isinstance(made, Const) and made.dtype == str(value.dtype) and made.value == value.item()
    assert te.const(values[2], "float32").dtype == "float32"


def test_literals_beyond_all_numbers_of_a_type_are_refused() -> None:
    for value, dtype in ((70000.0, "float16"), (-3.402e39, "float32"), (300, "uint8")):
        with pytest.raises(ArgumentError):
            te.const(value, dtype)
    assert te.const(float("-inf"), "float16").dtype == "float16"


def test_bits_are_those_of_integers() -> None:
    f, n = tir.Var("f", "float32"), tir.Var("n", "int32")
    with pytest.raises(ArgumentError, match="is of the bits of integers, and not of f32"):
        _ = f & 1.0
    with pytest.raises(ArgumentError, match="is of the bits of integers"):
        _ = ~f
    with pytest.raises(ArgumentError, match="is of the bits of integers"):
        te.shift_left(f, 2)
    assert (n << 2).dtype == "int32"


def test_integers_are_round_and_finite() -> None:
    n = tir.Var("n", "int32")
    assert te.floor(n) is n and te.ceil(n) is n and te.trunc(n) is n and te.round(n) is n
    known = [te.isnan(n), te.isinf(n), te.isfinite(n)]
    assert [each.value for each in known if isinstance(each, Const)] == [False, False, True]


@pytest.mark.parametrize(
    "a, b, wanted",
    [
        ("bool", "int32", "int32"),
        ("bool", "float32", "float32"),
        ("uint32", "int32", "uint32"),
        ("int8", "uint32", "uint32"),
        ("uint8", "int16", "int16"),
        ("int64", "uint32", "int64"),
    ],
)
def test_numbers_of_two_types_meet_as_in_tvm(a: str, b: str, wanted: str) -> None:
    x, y = tir.Var("x", a), tir.Var("y", b)
    assert (x + y).dtype == (y + x).dtype == wanted
    assert te.if_then_else(te.var("n") > 0, x, y).dtype == wanted
    assert (x < y).dtype == "bool"


@pytest.mark.parametrize("a, b, wanted", [("bool", "int32", "int32"), ("int8", "uint32", "uint32")])
def test_numbers_of_two_types_are_converted_where_they_meet(a: str, b: str, wanted: str) -> None:
    x, y = te.placeholder((4,), a, "x"), te.placeholder((4,), b, "y")
    z = te.compute((4,), lambda i: x[i] + y[i], name="z")
    left = np.array([0, 1, -1, 7]).astype(a)
    right = np.array([5, 6, 7, 8], b)
    found = np.zeros(4, wanted)
    weft.build(te.create_schedule(z.op), [x, y, z])(left, right, found)
    np.testing.assert_array_equal(found, left.astype(wanted) + right)
    np.testing.assert_array_equal(evaluate([z], {x: left, y: right})[0], found)


def test_a_condition_counts_as_an_index_where_it_meets_one() -> None:
    n, flag = te.var("n"), tir.Var("flag", "bool")
    assert (n + flag).type == (flag + n).type == n.type

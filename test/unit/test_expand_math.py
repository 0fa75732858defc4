"""Expanded functions are accurate over their whole range, and right at the special values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from native import Native, aligned, lower

import weft
from weft import relay
from weft.lowering.math import expand_math

pytestmark = pytest.mark.sampled(5)

Doubles: TypeAlias = npt.NDArray[np.float64]
Singles: TypeAlias = npt.NDArray[np.float32]

IN_F32, IN_F64, OF_F64 = 2.0, 0.51, 3.0
"""Units in the last place: of f32 computed in f32, of f32 computed in f64, and of f64."""

_SMALL = [0.0, 1e-45, 1e-38, 1e-10, 0.5, 0.625, 0.92, 0.99999994, 1, 1.0000001, 1.5, 2, 3, 4]
_LARGE = [9, 10, 88.7, 88.8, 89, 104, 1e10, 2.0**24, 2.0**30, 2.0**100, 3e38, np.inf, np.nan]
SPECIAL = np.array([*_SMALL, *_LARGE], np.float32)


def erf(x: Doubles) -> Doubles:
    return np.array([math.erf(element) for element in x])


def numpy_function(name: str) -> Callable[..., Doubles]:
    """By name: what forms a function of NumPy's has would take the type checker seconds."""
    function: Callable[..., Doubles] = getattr(np, name)
    return function


UNARY: dict[str, tuple[Callable[..., Doubles], float]] = {
    "exp": (numpy_function("exp"), IN_F32),
    "log": (numpy_function("log"), IN_F32),
    "tanh": (numpy_function("tanh"), IN_F32),
    "erf": (erf, IN_F32),
    "exp2": (numpy_function("exp2"), IN_F64),
    "expm1": (numpy_function("expm1"), IN_F64),
    "log1p": (numpy_function("log1p"), IN_F64),
    "log2": (numpy_function("log2"), IN_F64),
    "log10": (numpy_function("log10"), IN_F64),
    "sin": (numpy_function("sin"), IN_F64),
    "cos": (numpy_function("cos"), IN_F64),
    "tan": (numpy_function("tan"), IN_F64),
    "asin": (numpy_function("arcsin"), IN_F32),
    "acos": (numpy_function("arccos"), IN_F32),
    "atan": (numpy_function("arctan"), IN_F64),
    "sinh": (numpy_function("sinh"), IN_F64),
    "cosh": (numpy_function("cosh"), IN_F64),
    "asinh": (numpy_function("arcsinh"), IN_F64),
    "acosh": (numpy_function("arccosh"), IN_F64),
    "atanh": (numpy_function("arctanh"), IN_F64),
    "cbrt": (numpy_function("cbrt"), IN_F64),
}

BINARY: dict[str, tuple[Callable[..., Doubles], float]] = {
    "powf": (numpy_function("power"), IN_F64),
    "atan2": (numpy_function("arctan2"), IN_F64),
}


def arguments(count: int, seed: int) -> Singles:
    """Special values of both signs, random bits, and numbers of the sizes that occur."""
    generator = np.random.default_rng(seed)
    bits = generator.integers(0, 1 << 32, count // 2, dtype=np.uint64).astype(np.uint32).view(np.float32)
    near, wide = generator.uniform(-10, 10, count // 4), generator.uniform(-110, 110, count // 4)
    drawn = np.concatenate([near, wide]).astype(np.float32)
    return np.concatenate([SPECIAL, -SPECIAL, bits, drawn])[:count]


def loop(op: str, element: str, count: int, operands: int = 1, width: int = 1) -> str:
    """`op` on every element of arrays, one by one or in vectors."""
    type = f"vector<{width}x{element}>" if width > 1 else element
    memref = f"memref<{count}x{element}>"
    load = f"vector.load {{}}[%i] : {memref}, {type}" if width > 1 else f"memref.load {{}}[%i] : {memref}"
    store = f"vector.store %z, %C[%i] : {memref}, {type}" if width > 1 else f"memref.store %z, %C[%i] : {memref}"
    second = f"%y = {load.format('%B')}" if operands == 2 else ""
    return f"""
func.func @f(%A: {memref}, %B: {memref}, %C: {memref}) {{
  %c0 = arith.constant 0 : index
  %step = arith.constant {width} : index
  %end = arith.constant {count} : index
  scf.for %i = %c0 to %end step %step {{
    %x = {load.format("%A")}
    {second}
    %z = math.{op} {"%x, %y" if operands == 2 else "%x"} : {type}
    {store}
  }}
  func.return
}}"""


def run(
    op: str, element: str, dtype: npt.DTypeLike, *operands: npt.NDArray[np.generic], width: int = 1
) -> npt.NDArray[np.generic]:
    count = len(operands[0])
    arrays = [aligned((count,), dtype) for _ in range(3)]
    for array, operand in zip(arrays, operands, strict=False):
        array[...] = operand
    Native(loop(op, element, count, len(operands), width))("f", *arrays)
    return arrays[2]


def ulps(got: npt.NDArray[np.generic], wanted: Doubles, digits: int, smallest: int) -> Doubles:
    """The distance in units of the last place of a format with `digits` digits and this smallest exponent.

    NaN is right where NaN is wanted, and infinity where rounding overflows; other specials are infinitely wrong.
    """
    found = got.astype(np.float64)
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(np.maximum(np.abs(wanted), 2.0**smallest)))
        distance = np.abs(found - wanted) / 2.0 ** (exponent - digits + 1)
        same = (np.isnan(found) & np.isnan(wanted)) | (wanted.astype(got.dtype) == got)
    return np.where(np.isfinite(distance), distance, np.where(same, 0.0, np.inf))


def assert_accurate(got: npt.NDArray[np.generic], wanted: Doubles, limit: float, *operands: Singles) -> None:
    distance = ulps(got, wanted, 24, -126)
    worst = int(np.argmax(distance))
    at = ", ".join(repr(operand[worst]) for operand in operands)
    assert distance[worst] <= limit, f"{distance[worst]:.2f} ulp at {at}: {got[worst]!r} instead of {wanted[worst]!r}"
    zeros = (wanted == 0) & (np.signbit(wanted) != np.signbit(got.astype(np.float64)))
    assert not zeros.any(), f"a zero of the wrong sign at {[operand[zeros] for operand in operands]}"


@pytest.mark.parametrize("op", UNARY)
def test_functions_of_f32_are_accurate_everywhere(op: str) -> None:
    function, limit = UNARY[op]
    x = arguments(1 << 14, 1)
    with np.errstate(all="ignore"):
        wanted = function(x.astype(np.float64))
    assert_accurate(run(op, "f32", np.float32, x), wanted, limit, x)


@pytest.mark.parametrize(("op", "end"), [("tanh", 10.0), ("erf", 4.0), ("asin", 1.0), ("acos", 1.0)])
def test_functions_of_one_interval_are_accurate_all_over_it(op: str, end: float) -> None:
    function, limit = UNARY[op]
    generator = np.random.default_rng(11)
    sizes = np.concatenate([generator.uniform(0, end, 1 << 17), np.exp(generator.uniform(-12, 2, 1 << 17))])
    x = (sizes * generator.choice([-1, 1], sizes.size)).astype(np.float32)
    with np.errstate(invalid="ignore"):  # beyond 1 there is no arc
        wanted = function(x.astype(np.float64))
    assert_accurate(run(op, "f32", np.float32, x, width=16), wanted, limit, x)


@pytest.mark.parametrize("op", BINARY)
def test_functions_of_two_f32_are_accurate_everywhere(op: str) -> None:
    function, limit = BINARY[op]
    both = np.concatenate([SPECIAL, -SPECIAL])
    grid = np.array(np.meshgrid(both, both), np.float32).reshape(2, -1)
    x = np.concatenate([grid[0], arguments(1 << 13, 2)])
    y = np.concatenate([grid[1], np.random.default_rng(3).permutation(arguments(1 << 13, 4))])
    count = len(x) // 16 * 16
    x, y = x[:count], y[:count]
    with np.errstate(all="ignore"):
        wanted = function(x.astype(np.float64), y.astype(np.float64))
    assert_accurate(run(op, "f32", np.float32, x, y), wanted, limit, x, y)


@pytest.mark.parametrize(("element", "dtype"), [("f16", np.float16), ("f32", np.float32), ("f64", np.float64)])
def test_the_power_of_one_half_is_a_root_with_the_special_cases_of_powers(element: str, dtype: npt.DTypeLike) -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 2.0, 9.0], dtype)
    source, unused, found = (aligned((8,), dtype) for _ in range(3))
    source[...] = x
    text = loop("powf", element, 8).replace("math.powf %x", "math.powf %x, %half")
    text = text.replace("%c0 =", f"%half = arith.constant 0.5 : {element}\n  %c0 =")
    Native(text)("f", source, unused, found)
    wanted = np.array([0.0, 0.0, np.inf, np.inf, np.nan, np.nan, math.sqrt(2.0), 3.0], dtype)
    np.testing.assert_array_equal(found, wanted)
    assert not np.signbit(found[:2]).any()


@pytest.mark.parametrize("op", [*UNARY, *BINARY])
def test_vectors_give_what_scalars_give(op: str) -> None:
    operands = [arguments(256, seed) for seed in ((5, 6) if op in BINARY else (5,))]
    scalars, vectors = (run(op, "f32", np.float32, *operands, width=width) for width in (1, 16))
    is_nan = np.isnan(scalars)  # whose sign processors choose
    np.testing.assert_array_equal(is_nan, np.isnan(vectors))
    np.testing.assert_array_equal(scalars.view(np.uint32)[~is_nan], vectors.view(np.uint32)[~is_nan])


@pytest.mark.parametrize("op", ["exp", "sin", "cos", "tan"])
def test_vectors_of_ordinary_numbers_are_accurate(op: str) -> None:
    function, limit = UNARY[op]
    generator, reach = np.random.default_rng(7), 86.9 if op == "exp" else 2.0**18
    turns = np.arange(1 << 12) * (np.pi / 2) % reach
    x = np.concatenate([turns, -turns, generator.uniform(-4, 4, 1 << 12), generator.uniform(-reach, reach, 1 << 12)])
    x = x.astype(np.float32)
    x[-16:] = [0.0, -0.0, 1e-45, -1e-45, 1e-30, 0.1] + [1.0] * 10
    assert_accurate(run(op, "f32", np.float32, x, width=16), function(x.astype(np.float64)), limit, x)


@pytest.mark.parametrize("width", [1, 16])
def test_remainders_are_exact(width: int) -> None:
    generator = np.random.default_rng(9)
    both = np.concatenate([SPECIAL, -SPECIAL])
    special = np.array(np.meshgrid(both, both), np.float32).reshape(2, -1)
    drawn = generator.integers(0, 1 << 32, (2, 1 << 12), dtype=np.uint64).astype(np.uint32).view(np.float32)
    divisor = generator.uniform(0.1, 9, 1 << 13).astype(np.float32)
    # Multiples, and their neighbours on both sides, up to where quotients are taken for large.
    multiple = (divisor * np.exp2(generator.uniform(0, 22, 1 << 13)).astype(np.int32)).astype(np.float32)
    multiple = np.nextafter(multiple, multiple + generator.integers(-1, 2, 1 << 13), dtype=np.float32)
    small = np.trunc(generator.uniform(-99, 99, (2, 1 << 12))).astype(np.float32)
    x, y = np.concatenate([special, drawn, [multiple, divisor], [-multiple, divisor], small], axis=1)
    count = len(x) // 16 * 16
    x, y = x[:count].astype(np.float32), y[:count].astype(np.float32)
    with np.errstate(all="ignore"):
        wanted = np.fmod(x, y)
    got = run_remainder(x, y, width)
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(np.signbit(got[wanted == 0]), np.signbit(wanted[wanted == 0]))


def run_remainder(x: Singles, y: Singles, width: int) -> Singles:
    a, b, c = (aligned(x.shape, np.float32) for _ in range(3))
    a[...], b[...] = x, y
    Native(loop("powf", "f32", len(x), 2, width).replace("math.powf", "arith.remf"))("f", a, b, c)
    return c.astype(np.float32)


@pytest.mark.parametrize("op", ["exp", "log", "tanh", "expm1"])
def test_functions_of_f64_are_accurate(op: str) -> None:
    generator = np.random.default_rng(8)
    special = [0.0, 5e-324, 1e-17, 1.0, 36.0, 40.0, 709.7, 710.0, 745.2, 1e300, np.inf, np.nan]
    x = np.concatenate([special, np.negative(special), generator.uniform(-30, 30, 2000), generator.uniform(0, 3, 1000)])
    function = UNARY[op][0]
    with np.errstate(all="ignore"):
        wanted = function(x)
    distance = ulps(run(op, "f64", np.float64, x), wanted, 53, -1022)
    assert distance.max() <= OF_F64, f"{distance.max()} ulp at {x[np.argmax(distance)]!r}"


@pytest.mark.parametrize(("element", "dtype"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
@pytest.mark.parametrize("op", ["exp", "tanh", "erf", "sin", "log2", "atan", "acos"])
def test_short_floats_are_rounded_from_longer_ones(op: str, element: str, dtype: npt.DTypeLike) -> None:
    x = np.linspace(-6, 6, 512).astype(dtype)
    with np.errstate(all="ignore"):
        wanted = UNARY[op][0](x.astype(np.float64)).astype(np.float32).astype(dtype)
    np.testing.assert_array_equal(run(op, element, dtype, x).astype(np.float64), wanted.astype(np.float64))


@pytest.mark.parametrize("op", ["erf", "cbrt", "atanh", "log1p"])
def test_functions_that_stay_are_calls_of_the_c_library(op: str) -> None:
    x = np.linspace(-0.9, 0.9, 64)
    got = run(op, "f64", np.float64, x, width=4)
    np.testing.assert_allclose(got.astype(np.float64), UNARY[op][0](x), rtol=1e-15)


def test_the_logistic_function_is_exact_where_it_is_normal_and_zero_below() -> None:
    x = relay.var("x", shape=(4096,))
    sigmoid = weft.compile(relay.Function([x], relay.sigmoid(x)), threads=1)
    data = np.linspace(-87.2, 87.2, 4096, dtype=np.float32)
    got, wanted = np.asarray(sigmoid(data), np.float64), 1 / (1 + np.exp(-data.astype(np.float64)))
    assert np.abs((got - wanted) / np.spacing(wanted.astype(np.float32))).max() < 2.5
    data[:7] = [-np.inf, np.inf, np.nan, -0.0, -1000, 1000, -88]
    np.testing.assert_array_equal(np.asarray(sigmoid(data))[:7], [0, 1, np.nan, 0.5, 0, 1, 0])


@pytest.mark.parametrize("width", [1, 8])
def test_integer_powers_are_exact(width: int) -> None:
    base = np.array([-3, -2, -1, 0, 1, 2, 3, 7] * 8, np.int32)
    exponent = np.repeat(np.array([-3, -2, -1, 0, 1, 2, 5, 9], np.int32), 8)
    got = run("ipowi", "i32", np.int32, base, exponent, width=width)
    pairs = zip(base.tolist(), exponent.tolist(), strict=True)
    wanted = [b**e if e >= 0 else b**-e if abs(b) == 1 else 0 for b, e in pairs]
    np.testing.assert_array_equal(got, wanted)


def test_a_float_to_an_integer_power() -> None:
    text = """
func.func @f(%A: memref<8xf32>, %E: memref<8xi32>, %C: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %x = vector.load %A[%c0] : memref<8xf32>, vector<8xf32>
  %e = vector.load %E[%c0] : memref<8xi32>, vector<8xi32>
  %z = math.fpowi %x, %e : vector<8xf32>, vector<8xi32>
  vector.store %z, %C[%c0] : memref<8xf32>, vector<8xf32>
  func.return
}"""
    x, e, c = aligned((8,), np.float32), aligned((8,), np.int32), aligned((8,), np.float32)
    x[...], e[...] = [2, -2, 0.5, -0.5, 0, 3, -3, 1e20], [3, 3, -2, -3, 0, 4, 4, 2]
    Native(text)("f", x, e, c)
    np.testing.assert_array_equal(c, [8, -8, 4, -8, 1, 81, 81, np.inf])


@pytest.mark.parametrize("op", [*UNARY, *BINARY])
def test_no_calls_are_left_in_f32(op: str) -> None:
    text = loop(op, "f32", 16, 2 if op in BINARY else 1)
    names = {op.name for op in lower(text).walk() if op.name.startswith(("llvm.call", "llvm.intr"))}
    allowed = {"fabs", "sqrt", "copysign", "roundeven", "trunc"}
    assert {name.removeprefix("llvm.intr.") for name in names} <= allowed


def test_the_tables_name_every_function_once() -> None:
    assert not expand_math.IN_F32.keys() & expand_math.IN_F64.keys()

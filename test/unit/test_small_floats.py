"""Floats of at most 8 bits: every number of every format, to and from longer floats, as `ml_dtypes` converts them."""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import Float8E8M0FNUType, FloatNonfiniteBehavior, ReducedPrecisionFloatType

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.dtypes import SMALL_FLOATS, byte_width, dtype_name, is_storage, numpy_dtype, scalar_type

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from native import Native, lower

pytestmark = pytest.mark.sampled(5)

NDArray = npt.NDArray[np.generic]
FORMATS = [type() for type in SMALL_FLOATS]
HAS_ZERO = [type for type in FORMATS if not isinstance(type, Float8E8M0FNUType)]
LANES = 16

CONVERT = """
func.func @f(%A: memref<{n}x{source}>, %C: memref<{n}x{target}>) {{
  %c0 = arith.constant 0 : index
  %n = arith.constant {n} : index
  %step = arith.constant {lanes} : index
  scf.for %i = %c0 to %n step %step {{
    {body}
  }}
  func.return
}}
"""
SCALAR = """%x = memref.load %A[%i] : memref<{n}x{source}>
    %y = {operation} %x : {source} to {target}
    memref.store %y, %C[%i] : memref<{n}x{target}>"""
VECTOR = """%x = vector.load %A[%i] : memref<{n}x{source}>, vector<16x{source}>
    %y = {operation} %x : vector<16x{source}> to vector<16x{target}>
    vector.store %y, %C[%i] : memref<{n}x{target}>, vector<16x{target}>"""


def converted(x: NDArray, source: str, target: str, dtype: npt.DTypeLike, operation: str, lanes: int) -> NDArray:
    """`x`, padded to whole vectors, as machine code converts it."""
    count = -(-len(x) // LANES) * LANES
    padded = np.concatenate([x, np.zeros(count - len(x), x.dtype)])
    names = {"n": count, "source": source, "target": target, "operation": operation, "lanes": lanes}
    body = (VECTOR if lanes > 1 else SCALAR).format(**names)
    result = np.empty(count, dtype)
    Native(CONVERT.format(body=body, **names))("f", padded, result)
    return result[: len(x)]


def bits(array: NDArray) -> NDArray:
    return array.view(np.dtype(f"u{array.dtype.itemsize}"))


def all_numbers(dtype: np.dtype[np.generic], width: int) -> NDArray:
    return np.arange(1 << width, dtype=np.uint8).view(dtype)


def around(dtype: np.dtype[np.generic], width: int, wide: "type[np.floating]") -> NDArray:
    """Every number of a format, those halfway to the next, their neighbours, and what is far beyond."""
    with np.errstate(all="ignore"):
        numbers = np.unique(all_numbers(dtype, width).astype(wide))
        numbers = numbers[np.isfinite(numbers)]
        halves = (numbers[1:] / 2 + numbers[:-1] / 2).astype(wide)
        beyond = np.array([numbers[-1] * 1.0624, numbers[-1] * 1.0626, numbers[-1] * 4, 1e30, np.inf, np.nan], wide)
        near = np.concatenate([numbers, halves, beyond, -beyond, np.array([0.0, -0.0, 1e-30, -1e-30], wide)])
        return np.concatenate([near, np.nextafter(near, wide(np.inf)), np.nextafter(near, wide(-np.inf))])


@pytest.mark.parametrize("lanes", [1, LANES])
@pytest.mark.parametrize("element", FORMATS, ids=str)
def test_every_small_float_becomes_the_f32_that_it_is(element: ReducedPrecisionFloatType, lanes: int) -> None:
    x = all_numbers(numpy_dtype(element), element.bitwidth)
    got = converted(x, str(element), "f32", np.float32, "arith.extf", lanes)
    wanted = x.astype(np.float32)
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(np.signbit(got[~np.isnan(got)]), np.signbit(wanted[~np.isnan(wanted)]))


@pytest.mark.parametrize("element", HAS_ZERO, ids=str)
def test_an_f32_is_rounded_as_numpy_rounds_it(element: ReducedPrecisionFloatType) -> None:
    dtype = numpy_dtype(element)
    x = around(dtype, element.bitwidth, np.float32)
    got = converted(x, "f32", str(element), dtype, "arith.truncf", LANES)
    with np.errstate(all="ignore"):
        wanted = x.astype(dtype)
    nan = np.isnan(x)
    if element.SEMANTICS.nonfinite is FloatNonfiniteBehavior.FINITE_ONLY:
        assert not got[nan].astype(np.float32).any()
    else:
        np.testing.assert_array_equal(np.isnan(got.astype(np.float32)), np.isnan(wanted.astype(np.float32)))
    same = ~(nan | np.isnan(wanted.astype(np.float32)))
    np.testing.assert_array_equal(bits(got)[same], bits(wanted)[same])


@pytest.mark.parametrize("element", HAS_ZERO, ids=str)
def test_an_f64_is_rounded_once(element: ReducedPrecisionFloatType) -> None:
    dtype = numpy_dtype(element)
    x = around(dtype, element.bitwidth, np.float64)
    x = x[np.isfinite(x)]
    got = converted(x, "f64", str(element), dtype, "arith.truncf", 1)
    wanted = np.frombuffer(element.pack(x.tolist()), dtype)
    numbers = ~np.isnan(wanted.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(got.astype(np.float32)), ~numbers)
    np.testing.assert_array_equal(got[numbers].astype(np.float32), wanted[numbers].astype(np.float32))


def test_halves_go_through_f32() -> None:
    x = np.linspace(-500, 500, 333).astype(np.float16)
    dtype = np.dtype(ml_dtypes.float8_e4m3fn)
    got = converted(x, "f16", "f8E4M3FN", dtype, "arith.truncf", LANES)
    np.testing.assert_array_equal(bits(got), bits(x.astype(dtype)))
    back = converted(got, "f8E4M3FN", "f16", np.float16, "arith.extf", LANES)
    np.testing.assert_array_equal(back, got.astype(np.float16))


@pytest.mark.parametrize(("name", "numbers"), [("i4", range(-8, 8)), ("i2", range(-2, 2))])
@pytest.mark.parametrize("lanes", [1, LANES])
def test_integers_of_a_few_bits_have_a_byte_each(name: str, numbers: range, lanes: int) -> None:
    wide = np.resize(np.array(numbers, np.int32), LANES)
    dtype = numpy_dtype_of(name)
    narrow = converted(wide, "i32", name, dtype, "arith.trunci", lanes)
    np.testing.assert_array_equal(narrow.astype(np.int32), wide)
    np.testing.assert_array_equal(bits(narrow), bits(wide.astype(dtype)))
    np.testing.assert_array_equal(converted(narrow, name, "i32", np.int32, "arith.extsi", lanes), wide)


def numpy_dtype_of(name: str) -> np.dtype[np.generic]:
    return np.dtype({"i4": ml_dtypes.int4, "i2": ml_dtypes.int2}[name])


@pytest.mark.parametrize("element", FORMATS, ids=str)
def test_a_format_has_one_name_and_one_dtype(element: ReducedPrecisionFloatType) -> None:
    assert scalar_type(dtype_name(element)) == element == scalar_type(numpy_dtype(element))
    assert is_storage(element) and byte_width(element) == 1


def test_arithmetic_on_small_floats_is_refused() -> None:
    text = (
        "func.func @f(%x: f8E4M3FN) -> f8E4M3FN {\n  %y = arith.addf %x, %x : f8E4M3FN\n  func.return %y : f8E4M3FN\n}"
    )
    with pytest.raises(Diagnostic, match="kept and moved"):
        lower(text)


def test_a_constant_is_its_bits() -> None:
    text = (
        "func.func @f(%C: memref<1xf8E5M2>) {\n  %c0 = arith.constant 0 : index\n"
        "  %x = arith.constant -1.5 : f8E5M2\n  memref.store %x, %C[%c0] : memref<1xf8E5M2>\n  func.return\n}"
    )
    result = np.empty(1, ml_dtypes.float8_e5m2)
    Native(text)("f", result)
    assert float(result[0]) == -1.5

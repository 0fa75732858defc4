"""A double becomes a bf16 or f16 by rounding once, in machine code, in C, by NumPy, as a literal and in `tir`."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from native import parse

import weft
from weft import relay
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.lowering.loops_to_c.compile import has_compiler

NDArray = npt.NDArray[Any]
CAST = """tir.prim_func @f(%x: memref<{n}xf64>, %y: memref<{n}xbf16>) {{
  tir.for %i = 0 to {n} {{
    tir.block @cast(%vi: spatial {n}) = [%i] reads(%x[%vi] : memref<{n}xf64>) writes(%y[%vi] : memref<{n}xbf16>) {{
      %0 = memref.load %x[%vi] : memref<{n}xf64>
      %1 = arith.truncf %0 : f64 to bf16
      memref.store %1, %y[%vi] : memref<{n}xbf16>
    }}
  }}
}}
"""


def once(value: float) -> float:
    """The bf16 nearest to a number, halves to even, by exact arithmetic."""
    if not math.isfinite(value):
        return value
    unit = Fraction(2) ** (max(math.frexp(value)[1] - 1, -126) - 7)
    steps = round(Fraction(abs(value)) / unit)
    size = steps * unit
    return math.copysign(float(size) if size < Fraction(2) ** 128 else math.inf, value)


def doubles() -> NDArray:
    """Around the middles of neighbours: those of every exponent, and all of the least ones."""
    shorts = np.concatenate([np.arange(0, 256), np.arange(256, 0x7F80, 61)]).astype(np.uint16)
    low, high = (each.view(ml_dtypes.bfloat16).astype(np.float64) for each in (shorts, shorts + np.uint16(1)))
    middles = (low + np.where(np.isfinite(high), high, 2.0**128)) / 2
    sides = [middles, np.nextafter(middles, 0), np.nextafter(middles, np.inf), middles * (1 + 2.0**-26)]
    rest = [0.0, 1e300, 3.4e38, 1e39, 5e-324, 1e-46, np.inf, np.nan]
    some = np.concatenate([*sides, rest])
    return np.concatenate([some, -some])


def test_a_double_is_rounded_to_bf16_once() -> None:
    given = doubles()
    wanted = np.array([once(float(each)) for each in given])
    x = relay.var("x", shape=given.shape, dtype="float64")
    function = relay.Function([x], relay.cast(x, "bfloat16"))
    kernel = parse(CAST.format(n=len(given))).body.block.first_op
    assert isinstance(kernel, PrimFuncOp)
    found: dict[str, Any] = {
        "machine": weft.compile(function)(given),
        "folded": weft.compile(relay.Function([], relay.cast(relay.const(given, given.dtype.name), "bfloat16")))(),
        "tir": Interpreter(kernel)([given])[0],
    }
    if has_compiler():
        found["C"] = weft.compile(function, target="c")(given)
    for where, result in found.items():
        np.testing.assert_array_equal(np.asarray(result).astype(np.float64), wanted, where)
        given_signs, wanted_signs = (np.signbit(each) for each in (np.asarray(result).astype(np.float64), wanted))
        np.testing.assert_array_equal(given_signs[wanted == 0], wanted_signs[wanted == 0], where)


@pytest.mark.parametrize("scale", [1.0, 2.0**-10])
def test_a_double_is_rounded_to_f16_once(scale: float) -> None:
    shorts = np.arange(0, 0x7C00, 7, dtype=np.uint16)
    low, high = (each.view(np.float16).astype(np.float64) for each in (shorts, shorts + np.uint16(1)))
    middles = (low + np.where(np.isfinite(high), high, 65536.0)) / 2 * scale
    given = np.concatenate([middles, -np.nextafter(middles, 0), np.nextafter(middles, np.inf), [0.0, -0.0, 1e300]])
    x = relay.var("x", shape=given.shape, dtype="float64")
    with np.errstate(over="ignore"):
        wanted = given.astype(np.float16)
    np.testing.assert_array_equal(weft.compile(relay.Function([x], relay.cast(x, "float16")))(given), wanted)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_an_integer_is_rounded_to_bf16_once(dtype: str) -> None:
    bits = np.iinfo(dtype).bits
    tops = [(128 + at) << (shift - 8) for shift in range(9, bits + 1) for at in (0, 1, 77, 127)]
    middles = [top + (1 << (top.bit_length() - 9)) for top in tops]
    numbers = [each + side for each in (*tops, *middles) for side in (-1, 0, 1, 4095, 4096)] + [0, 1, 255, 257]
    limits = np.iinfo(dtype)
    both = [*numbers, *(-each for each in numbers)]
    given = np.array([each for each in both if limits.min <= each <= limits.max], dtype)
    wanted = np.array([once_of(int(each)) for each in given])
    x = relay.var("x", shape=given.shape, dtype=dtype)
    function = relay.Function([x], relay.cast(x, "bfloat16"))
    found: dict[str, Any] = {
        "machine": weft.compile(function)(given),
        "folded": weft.compile(relay.Function([], relay.cast(relay.const(given, given.dtype.name), "bfloat16")))(),
        "interpreter": evaluate_function(function, [given])[0],
    }
    if dtype.startswith("i"):
        text = CAST.format(n=len(given)).replace("f64", dtype.replace("int", "i")).replace("truncf", "sitofp")
        kernel = parse(text).body.block.first_op
        assert isinstance(kernel, PrimFuncOp)
        found["tir"] = Interpreter(kernel)([given])[0]
    if has_compiler():
        found["C"] = weft.compile(function, target="c")(given)
    for where, result in found.items():
        np.testing.assert_array_equal(np.asarray(result).astype(np.float64), wanted, where)


def once_of(number: int) -> float:
    """The bf16 nearest to an integer, halves to even."""
    unit = 1 << max(abs(number).bit_length() - 8, 0)
    return float(round(Fraction(number, unit)) * unit)

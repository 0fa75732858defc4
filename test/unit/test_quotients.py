"""Quotients by one number, which `expand-math{fma=true}` computes without dividing, are a division's bit for bit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from native import parse

import weft
from weft import te, tir
from weft.dialects.te import select
from weft.lowering.machine.target import Target
from weft.lowering.math.expand_math import ExpandMathPass
from weft.runtime.module import Module
from weft.transforms.infra.registry import new_ir_context

ROWS, LANES = 512, 16
SHAPE = (ROWS, LANES)
on_vectors = pytest.mark.skipif(
    not Target("llvm").vector_unit().fma, reason="this processor has no fused multiply-adds"
)
Singles = npt.NDArray[np.float32]


def built(dtype: str) -> Module:
    """`round(x / d)` in vectors; of a byte, within its bounds."""
    x, d = te.placeholder(SHAPE, "float32", name="x"), te.placeholder((1,), "float32", name="d")

    def quotient(i: te.IterVar, j: te.IterVar) -> te.Expr:
        rounded = te.round(x[i, j] / d[0])
        if dtype == "float32":
            return rounded
        least, most = (0.0, 255.0) if dtype == "uint8" else (-128.0, 127.0)
        low, high = te.const(least, "float32"), te.const(most, "float32")
        raised = select(low > rounded, low, rounded)
        return select(high < raised, high, raised).astype(dtype)

    schedule = tir.Schedule(te.create_prim_func([x, d, te.compute(SHAPE, quotient, name="y")]))
    schedule.vectorize(schedule.get_loops(schedule.get_block("y"))[1])
    return weft.build(schedule.mod, target="llvm")


def numbers(divisor: np.float32) -> Singles:
    """Halves of steps and their neighbours, whatever bits there are, and what is special."""
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        halves = ((rng.integers(-600, 600, SHAPE) + 0.5) * divisor).astype(np.float32)
        beside = np.nextafter(halves, np.where(rng.integers(0, 2, SHAPE), np.inf, -np.inf).astype(np.float32))
    bits = rng.integers(0, 2**32, SHAPE, dtype=np.uint32).view(np.float32)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3.4e38], np.float32)
    halves[::5], halves[1::5], halves[2::5] = beside[::5], bits[1::5], np.tile(special, 2)
    return halves


@on_vectors
@pytest.mark.parametrize("dtype", ["float32", "uint8", "int8"])
def test_rounded_quotients_are_those_of_a_division(dtype: str) -> None:
    run = built(dtype)
    divisors = [0.0371, 0.1, 1 / 3, 3.0, 2.0, 123.456, 1e-30, 1e30, -0.1, 1.7e-38, 3e38, 1e-45, 0.0, np.inf, np.nan]
    for divisor in map(np.float32, divisors):
        x, y = numbers(divisor), np.zeros(SHAPE, dtype)
        run(x, np.array([divisor]), y)
        with np.errstate(all="ignore"):
            exact = np.round(x / divisor)
        if dtype == "float32":
            same = (y.view(np.uint32) == exact.view(np.uint32)) | (np.isnan(y) & np.isnan(exact))
        else:
            limits = np.iinfo(dtype)
            same = y == np.where(np.isnan(exact), 0, np.clip(exact, limits.min, limits.max)).astype(dtype)
        assert same.all(), f"by {divisor}: {x[~same][:4]} gives {y[~same][:4]}, not {exact[~same][:4]}"


BODY = """
func.func @f(%x: vector<16xf32>, %d: f32) -> vector<16xi8> {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %most = arith.constant dense<MOST> : vector<16xf32>
  %s = vector.broadcast %d : f32 to vector<16xf32>
  %0 = arith.divf %x, %s : vector<16xf32>
  %1 = math.roundeven %0 : vector<16xf32>
  %2 = arith.cmpf ogt, %zero, %1 : vector<16xf32>
  %3 = arith.select %2, %zero, %1 : vector<16xi1>, vector<16xf32>
  %4 = arith.cmpf olt, %most, %3 : vector<16xf32>
  %5 = arith.select %4, %most, %3 : vector<16xi1>, vector<16xf32>
  %6 = arith.fptoui %5 : vector<16xf32> to vector<16xi8>
  func.return %6 : vector<16xi8>
}
"""


def expanded(most: str, *, fma: bool, body: str = BODY) -> str:
    module = parse(body.replace("MOST", most))
    ExpandMathPass(fma=fma).apply(new_ir_context(), module)
    return str(module)


def test_a_target_without_fused_multiply_adds_divides() -> None:
    text = expanded("255.0", fma=False)
    assert "arith.divf %x" in text and "math.fma" not in text and "arith.fptoui" in text


def test_a_conversion_rounds_what_integers_bound() -> None:
    text = expanded("255.0", fma=True)
    assert text.count("math.fma") == 2 and "llvm.lrint.v16i32.v16f32" in text and "math.roundeven" not in text


@pytest.mark.parametrize("most", ["254.5", "256.0"])
def test_it_does_not_round_what_has_other_bounds_or_may_not_fit(most: str) -> None:
    text = expanded(most, fma=True)
    assert "lrint" not in text and "math.roundeven" in text and "arith.fptoui" in text


def test_words_of_32_bits_are_rounded_by_their_conversion_and_longer_ones_before_it() -> None:
    assert "lrint" in expanded("255.0", fma=True, body=BODY.replace("fptoui", "fptosi").replace("xi8>", "xi32>"))
    for conversion in ("fptosi", "fptoui"):
        text = expanded("255.0", fma=True, body=BODY.replace("fptoui", conversion).replace("xi8>", "xi64>"))
        assert "lrint" not in text and "math.roundeven" in text and f"arith.{conversion}" in text
    text = expanded("4294967040.0", fma=True, body=BODY.replace("xi8>", "xi32>"))
    assert "lrint" not in text and "arith.fptoui" in text


@pytest.mark.parametrize("beside", ["%1", "%3", "%5"])
def test_what_is_rounded_and_read_elsewhere_too_stays_rounded(beside: str) -> None:
    body = BODY.replace("-> vector<16xi8>", "-> (vector<16xi8>, vector<16xf32>)")
    text = expanded(
        "255.0", fma=True, body=body.replace("%6 : vector<16xi8>", f"%6, {beside} : vector<16xi8>, vector<16xf32>")
    )
    assert "lrint" not in text and "math.roundeven" in text


def test_a_quotient_that_is_read_unrounded_too_is_divided() -> None:
    body = BODY.replace("-> vector<16xi8>", "-> (vector<16xi8>, vector<16xf32>)")
    text = expanded(
        "255.0", fma=True, body=body.replace("%6 : vector<16xi8>", "%6, %0 : vector<16xi8>, vector<16xf32>")
    )
    assert "arith.divf %x" in text and "math.fma" not in text

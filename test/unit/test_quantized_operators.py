"""Operators on quantised tensors, against integers computed exactly, alone and in a graph that is compiled."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay
from weft.dialects.relay.core import ConstantOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.relay.ops.qnn.arithmetic import QnnAddOp
from weft.dialects.relay.ops.qnn.quantization import RequantizeOp
from weft.dialects.relay.reference import evaluate_op
from weft.dialects.support.diagnostics import UsageError
from weft.transforms.relay.canonicalize_ops import CanonicalizeOpsPass

NDArray = npt.NDArray[Any]


def constant(value: Any, dtype: Any) -> ConstantOp:
    return ConstantOp.from_numpy(np.asarray(value, dtype), "c")


def moved(x: int, ratio: Fraction, rounding: str) -> int:
    """`x * ratio` with the ratio a fraction of 31 bits, rounded."""
    bits = 0
    while ratio * 2**bits < 2**30:
        bits += 1
    while ratio * Fraction(2) ** bits >= 2**31:
        bits -= 1
    fraction = round(ratio * Fraction(2) ** bits)
    product = Fraction(x * fraction) / Fraction(2) ** bits
    if rounding == "TONEAREST" and product < 0:
        return -floor(-product + Fraction(1, 2))
    return floor(product + Fraction(1, 2))


EDGES = [0, 1, -1, 2, -3, 5, 127, -128, 1000, -1001, 2**20 + 1, 2**30, 2**31 - 1, -(2**31)]


@pytest.mark.parametrize("rounding", ["UPWARD", "TONEAREST"])
@pytest.mark.parametrize("scales", [(0.5, 1.0), (1.0, 1.0), (0.1, 0.3), (3.0, 0.25), (1e-6, 0.7), (1e-30, 1.0)])
def test_a_ratio_of_scales_is_a_fraction_of_31_bits(rounding: str, scales: tuple[float, float]):
    x = np.array([n for n in EDGES if abs(n) * scales[0] / scales[1] < 2**31 - 1], np.int32)
    given, wanted = (np.float32(scale) for scale in scales)
    zero = constant(0, np.int32)
    op = RequantizeOp(
        constant(x, np.int32), constant(given, np.float32), zero, constant(wanted, np.float32), zero,
        rounding=rounding, out_dtype="int32",
    )  # fmt: skip
    ratio = Fraction(float(given) / float(wanted))
    expected = [moved(int(n), ratio, rounding) for n in x]
    arrays = [x, given, np.int32(0), wanted, np.int32(0)]
    np.testing.assert_array_equal(evaluate_op(op, [np.asarray(each) for each in arrays])[0], expected)


def test_a_sum_saturates():
    x = np.array([127, -128, 100], np.int8)
    one, zero = constant(1.0, np.float32), constant(0, np.int32)
    operand = constant(x, np.int8)
    op = QnnAddOp(operand, operand, one, zero, one, zero, one, zero)
    numbers = [np.float32(1), np.int32(0)] * 3
    result = evaluate_op(op, [x, x, *(np.asarray(each) for each in numbers)])[0]
    np.testing.assert_array_equal(result, [127, -128, 127])


def test_what_an_operator_is_written_as_leaves_no_uses():
    x, one, zero = constant([1, 2], np.int8), constant(1.0, np.float32), constant(0, np.int32)
    op = QnnAddOp(x, x, one, zero, one, zero, one, zero)
    op.verify_()
    numbers = [np.asarray(each) for each in [np.float32(1), np.int32(0)] * 3]
    evaluate_op(op, [np.array([1, 2], np.int8)] * 2 + numbers)
    assert {use.operation for value in (x, one, zero) for use in value.result.uses} == {op}


def test_a_quantised_network_is_compiled():
    """A scale for each channel, zero points on both sides, a convolution, a dense layer, functions."""
    rng = np.random.default_rng(0)

    def number(value: float) -> Any:
        return relay.const(np.float32(value))

    def zero(value: int) -> Any:
        return relay.const(np.int32(value))

    x = relay.var("x", shape=(1, 3, 6, 6))
    kernel, weight = (relay.const(rng.integers(-127, 127, shape).astype(np.int8)) for shape in ((4, 3, 3, 3), (5, 144)))
    per_channel = relay.const(rng.uniform(0.001, 0.01, 4).astype(np.float32))
    q = relay.qnn.quantize(x, number(0.05), zero(3))
    conv = relay.qnn.conv2d(
        q, kernel, zero(3), zero(0), number(0.05), per_channel, kernel_size=(3, 3), channels=4, padding=(1, 1)
    )
    total = relay.multiply(per_channel, number(0.05))
    y = relay.qnn.requantize(conv, total, zero(0), number(0.02), zero(-7), axis=1)
    y = relay.qnn.sigmoid(y, number(0.02), zero(-7), number(1 / 256), zero(-128))
    y = relay.qnn.dense(relay.nn.batch_flatten(y), weight, zero(-128), zero(5), number(1 / 256), number(0.01), units=5)
    y = relay.qnn.op.dequantize(y, number(0.01 / 256), zero(0))
    exe = weft.compile(relay.Function([x], y), threads=1)
    array = rng.standard_normal((1, 3, 6, 6)).astype(np.float32)

    quantised = np.clip(np.round(array / np.float32(0.05)) + 3, -128, 127).astype(np.int64) - 3
    padded = np.pad(quantised, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    sums = np.einsum("nchwij,ocij->nohw", windows, array_of(kernel).astype(np.int64))
    ratios: NDArray = (array_of(per_channel) * np.float32(0.05)).astype(np.float64) / np.float64(np.float32(0.02))
    image = np.empty_like(sums)
    for c in range(4):
        values = [moved(int(n), Fraction(ratios[c]), "UPWARD") for n in sums[0, c].ravel()]
        image[0, c] = np.clip(np.array(values).reshape(6, 6) - 7, -128, 127) + 7
    gate: NDArray = 1 / (1 + np.exp(-image * np.float32(0.02).astype(np.float64)))
    flat: NDArray = np.clip(np.round(gate * 256) - 128, -128, 127).reshape(1, -1) + 128
    wanted: NDArray = flat @ (array_of(weight).astype(np.int64) - 5).T * np.float64(np.float32(0.01 / 256))
    found: Any = exe(array)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def array_of(value: Any) -> NDArray:
    owner = value.value.owner
    assert isinstance(owner, ConstantOp)
    array = owner.numpy()
    assert array is not None
    return array


@pytest.mark.parametrize("compute", ["int64", "float32", "float64"])
@pytest.mark.parametrize(("rounding", "halves"), [("UPWARD", [-1, 0, 1, 2]), ("TONEAREST", [-2, -1, 1, 2])])
def test_requantized_halves_are_rounded_as_is_said(compute: str, rounding: str, halves: list[int]) -> None:
    x = relay.var("x", shape=(4,), dtype="int32")
    half, one, zero = relay.const(0.5), relay.const(1.0), relay.const(0)
    made = relay.qnn.requantize(x, half, zero, one, zero, rounding=rounding, compute_dtype=compute)
    data = np.array([-3, -1, 1, 3], np.int32)
    (found,) = evaluate_function(relay.Function([x], made), [data])
    assert found.tolist() == halves
    many = relay.qnn.requantize(x, relay.const(1e9), zero, one, zero, compute_dtype=compute, out_dtype="int32")
    (kept,) = evaluate_function(relay.Function([x], many), [data])
    assert kept.tolist() == [-(2**31), -(10**9), 10**9, 2**31 - 1]


def test_numbers_of_one_scale_are_not_multiplied() -> None:
    x = relay.var("x", shape=(4,), dtype="int32")
    scale = relay.const(0.3)
    for other in (scale, relay.const(0.3)):
        made = relay.qnn.requantize(x, scale, relay.const(3), other, relay.const(-2))
        written = str(CanonicalizeOpsPass()(relay.IRModule.from_expr(made)))
        assert "relay.multiply" not in written and "right_shift" not in written
        (found,) = evaluate_function(relay.Function([x], made), [np.array([-300, 3, 4, 200], np.int32)])
        assert found.tolist() == [-128, -2, -1, 127]


def test_the_axis_of_one_scale_for_all_says_nothing() -> None:
    """As in TVM: it may lie outside of a vector."""
    x, scale, zero = relay.var("x", shape=(4,), dtype="uint8"), relay.const(0.5), relay.const(3)
    body = relay.qnn.add(x, x, scale, zero, scale, zero, scale, zero, lhs_axis=1, rhs_axis=1)
    given = np.array([3, 5, 100, 255], np.uint8)
    run: Any = relay.create_executor("vm").evaluate(relay.Function([x], body))
    np.testing.assert_array_equal(run(given), [3, 7, 197, 255])
    scales = relay.const(np.array([0.5, 1, 2, 4], np.float32))
    with pytest.raises(UsageError, match="axis 1 is out of range"):
        relay.qnn.dequantize(x, scales, zero, axis=1)

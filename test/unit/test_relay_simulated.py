"""Quantization that is simulated on floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import relay
from weft.dialects.support.diagnostics import Diagnostic, UsageError

relay: Any = relay

DATA = np.array([[-40.2, 0.26, 300.7], [3.3, -7.1, 12.4]], np.float32)
SCALES, ZEROS = np.array([0.1, 0.5, 0.25], np.float32), np.array([1, -2, 3], np.int32)
CODES = {"disable": 0, "int8": 1, "uint8": 2, "int32": 3}


def simulated(dtype: str | None, code: int = 0) -> Any:
    """Data that are quantized and back, of a type that is known, or said by a number."""
    x, t = relay.var("x", shape=(2, 3)), relay.var("t", "int32")
    kind = t if dtype is None else dtype
    quantized = relay.qnn.simulated_quantize(x, relay.const(SCALES), relay.const(ZEROS), out_dtype=kind)
    back = relay.qnn.simulated_dequantize(quantized, relay.const(SCALES), relay.const(ZEROS), in_dtype=kind)
    run = relay.create_executor().evaluate(relay.Function([x, t], relay.Tuple([quantized, back])))
    return run(DATA, np.array(code, np.int32))


@pytest.mark.parametrize("dtype", CODES)
def test_floats_are_what_integers_would_be(dtype: str) -> None:
    quantized, back = simulated(dtype)
    if dtype == "disable":
        np.testing.assert_array_equal(quantized, DATA)
        np.testing.assert_array_equal(back, DATA)
        return
    bounds = np.iinfo(dtype)
    wanted = np.clip(np.round(DATA / SCALES) + ZEROS, bounds.min, bounds.max)
    np.testing.assert_array_equal(quantized, wanted.astype(np.float32))
    np.testing.assert_allclose(back, (wanted - ZEROS) * SCALES, rtol=1e-6)


@pytest.mark.parametrize("dtype", CODES)
def test_a_number_may_say_the_type_when_it_runs(dtype: str) -> None:
    for found, wanted in zip(simulated(None, CODES[dtype]), simulated(dtype), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_vector_of_one_number_serves_all() -> None:
    x = relay.var("x", shape=(2, 3))
    quantized = relay.qnn.simulated_quantize(x, relay.const(SCALES[:1]), relay.const(ZEROS[:1]))
    found = relay.create_executor().evaluate(relay.Function([x], quantized))(DATA)
    np.testing.assert_array_equal(found, np.clip(np.round(DATA / SCALES[:1]) + ZEROS[:1], -128, 127))


@pytest.mark.parametrize(("columns", "count"), [(3, relay.Any()), (relay.Any(), 3)], ids=["numbers", "data"])
def test_how_many_there_are_may_be_known_when_it_runs(columns: Any, count: Any) -> None:
    x, scales = relay.var("x", shape=(2, columns)), relay.var("scales", shape=(count,))
    quantized = relay.qnn.simulated_quantize(x, scales, 0)
    found = relay.create_executor().evaluate(relay.Function([x, scales], quantized))(DATA, SCALES)
    np.testing.assert_array_equal(found, np.clip(np.round(DATA / SCALES), -128, 127))


def test_what_does_not_fit_is_refused() -> None:
    x = relay.var("x", shape=(2, 3))
    with pytest.raises(UsageError, match="there is no type 'int4' to simulate"):
        relay.qnn.simulated_quantize(x, 1.0, 0, out_dtype="int4")
    with pytest.raises(UsageError, match="does not have one number for each along axis -1"):
        relay.qnn.simulated_quantize(x, relay.const([0.5, 0.5]), 0)
    with pytest.raises(UsageError, match="is not one number, nor one for each along axis 2"):
        relay.qnn.simulated_dequantize(x, relay.const([0.5, 0.5]), 0, axis=2)


@pytest.mark.parametrize("executor", ["debug", "vm"])
def test_one_program_takes_one_number_and_one_for_each_channel(executor: str) -> None:
    x, scale = relay.var("x", shape=(2, 3)), relay.var("scale", relay.TensorType((relay.Any(),)))
    zero = relay.var("zero", relay.TensorType((relay.Any(),), "int32"))
    quantized = relay.qnn.simulated_quantize(x, scale, zero, out_dtype="int32")
    back = relay.qnn.simulated_dequantize(quantized, scale, zero, in_dtype="int32")
    run = relay.create_executor(executor).evaluate(relay.Function([x, scale, zero], relay.Tuple([quantized, back])))
    for scales, zeros in ((SCALES, ZEROS), (SCALES[:1], ZEROS[:1]), (SCALES, ZEROS[:1])):
        steps = np.round(DATA / scales)
        found = run(DATA, scales, zeros)
        np.testing.assert_array_equal(found[0], steps + zeros)
        np.testing.assert_allclose(found[1], steps * scales, rtol=1e-6)
    with pytest.raises(Diagnostic, match="outside of an axis of 2"):
        run(DATA, SCALES[:2], ZEROS)

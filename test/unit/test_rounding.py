"""Where two integers are equally near, each operator takes the one that its standard says: docs/numbers.md."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import relay

HALVES = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5], np.float32)
EVEN, UP, AWAY = [-2, -2, 0, 0, 2, 2], [-2, -1, 0, 1, 2, 3], [-3, -2, -1, 1, 2, 3]


def requantized(rounding: str, compute: str = "None") -> Any:
    odd = relay.const(np.array([-5, -3, -1, 1, 3, 5], np.int32))
    one, two, zero = relay.const(1.0), relay.const(2.0), relay.const(0)
    return relay.qnn.requantize(odd, one, zero, two, zero, rounding=rounding, compute_dtype=compute, out_dtype="int32")


CASES = {
    "round": (lambda: relay.round(relay.const(HALVES)), EVEN),
    "quantize": (lambda: relay.qnn.quantize(relay.const(HALVES), relay.const(1.0), relay.const(0)), EVEN),
    "requantize": (lambda: requantized("None"), UP),
    "requantize upward": (lambda: requantized("UPWARD"), UP),
    "requantize to the nearest": (lambda: requantized("TONEAREST"), AWAY),
    "requantize upward in floats": (lambda: requantized("UPWARD", "float32"), UP),
    "requantize to the nearest in floats": (lambda: requantized("TONEAREST", "float64"), AWAY),
    "fixed_point_multiply": (
        lambda: relay.fixed_point_multiply(relay.const(np.array([-5, -3, -1, 1, 3, 5], np.int32)), 1 << 30, 0),
        UP,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_halves_go_where_the_operator_says(name: str) -> None:
    make, expected = CASES[name]
    found: Any = relay.create_executor().evaluate(make())
    assert found.tolist() == expected

"""What is left of divisions of floats, in machine code, in C and on the interpreter, is what NumPy says."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay
from weft.lowering.loops_to_c.compile import has_compiler

NDArray = npt.NDArray[Any]
DIVIDENDS = np.array([0.0, 4, 5, 0.5, 1e-5, np.inf, np.nan], np.float32)
DIVISORS = np.array([2.0, 3, 0.25, np.inf, np.nan], np.float32)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16], ids=lambda d: d.__name__)
def test_a_floored_remainder_has_the_divisors_sign_also_where_it_is_zero(dtype: type[np.generic]) -> None:
    pairs = [(a, b) for x in DIVIDENDS for y in DIVISORS for a in (x, -x) for b in (y, -y)]
    a, b = (np.array(side).astype(dtype) for side in zip(*pairs, strict=True))
    name = np.dtype(dtype).name
    x, y = (relay.var(k, shape=a.shape, dtype=name) for k in "xy")
    function = relay.Function([x, y], relay.floor_mod(x, y))
    folded = relay.Function([], relay.floor_mod(relay.const(a, a.dtype.name), relay.const(b, b.dtype.name)))
    with np.errstate(all="ignore"):
        wanted = np.mod(a.astype(np.float64), b.astype(np.float64)).astype(dtype)
        found: dict[str, Any] = {"machine": weft.compile(function)(a, b), "folded": weft.compile(folded)()}
        if has_compiler():
            found["C"] = weft.compile(function, target="c")(a, b)
    wide = wanted.astype(np.float64)
    for where, result in found.items():
        given = np.asarray(result).astype(np.float64)
        np.testing.assert_array_equal(given, wide, where)
        zeros = wide == 0
        np.testing.assert_array_equal(np.signbit(given[zeros]), np.signbit(wide[zeros]), where)

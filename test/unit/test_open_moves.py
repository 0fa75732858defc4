"""Data that is moved across along extents that are known when a kernel is called: by squares of vectors, as where they
are known before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.ir.affine import AffineExpr

import weft
from weft import relay
from weft.dialects.tir.affine import Linear, linear
from weft.dialects.tir.symbols import product

pytestmark = pytest.mark.sampled(5)

CASES = [
    ((None, 8, 64), (1, 2, 0)),  # the columns are open
    ((8, 64, None), (0, 2, 1)),  # the rows are
    ((None, None), (1, 0)),
    ((16, None, None), (1, 2, 0)),
    ((None, None, 16), (2, 0, 1)),
    ((None, 6), (1, 0)),  # few rows
]


@pytest.mark.parametrize(("shape", "axes"), CASES)
def test_what_is_moved_across_goes_by_squares(shape: Sequence[int | None], axes: Sequence[int]):
    x = relay.var("x", shape=[relay.Any() if n is None else n for n in shape])
    exe = weft.compile(relay.Function([x], relay.transpose(relay.nn.relu(x), axes=axes)), threads=1)
    assert "vector.shuffle" in str(exe.ir["loops"])
    for seed, size in enumerate((0, 1, 2, 7, 8, 15, 16, 17, 31, 33, 50)):
        sizes = iter((size, 40 - size // 2))
        array = np.random.default_rng(seed).standard_normal([next(sizes) if n is None else n for n in shape])
        array = array.astype(np.float32)
        np.testing.assert_array_equal(exe(array), np.maximum(array, 0).transpose(axes))


@pytest.mark.parametrize("dtype", ["float16", "int8", "float64", "bool"])
def test_elements_of_any_width_are_moved(dtype: str):
    x = relay.var("x", shape=(relay.Any(), relay.Any()), dtype=dtype)
    exe = weft.compile(relay.Function([x], relay.transpose(x)), threads=1)
    for shape in ((3, 70), (64, 33), (19, 5)):
        array = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
        np.testing.assert_array_equal(exe(array), array.T)


def test_the_distance_of_rows_may_be_a_symbol():
    rows, column, n = AffineExpr.dimension(0), AffineExpr.dimension(1), AffineExpr.symbol(0)
    form = linear(product(rows * 16 + column, n + 3) + column)
    assert form.stride(column) == Linear({n: 1}, 4)
    assert form.stride(rows) == Linear({n: 16}, 48)
    assert form.step(rows) is None
    assert linear(column + rows // 4).stride(rows) is None
    assert linear(product(rows, column)).stride(rows) is None  # nothing that is the same everywhere

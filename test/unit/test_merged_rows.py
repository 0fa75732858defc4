"""Fully connected layers of several open extents are kernels of matrices, where they go row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay

NDArray = npt.NDArray[np.float32]
OPEN = relay.Any()
RANDOM = np.random.default_rng(0)
WEIGHT, BIAS = (RANDOM.standard_normal(shape).astype(np.float32) for shape in ((16, 8), (16,)))


def is_of_matrices(exe: Any) -> bool:
    return "_rows_" in exe.ir["tir"]


def var(name: str, shape: Any) -> Any:
    return relay.var(name, shape=shape)


def floats(*shape: int) -> NDArray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def layer(x: Any) -> Any:
    return relay.nn.relu(relay.add(relay.nn.dense(x, relay.const(WEIGHT)), relay.const(BIAS)))


def expected(x: NDArray) -> NDArray:
    return np.maximum(x @ WEIGHT.T + BIAS, 0)


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_of_several_open_extents_are_those_of_a_matrix(threads: int) -> None:
    x = var("x", (OPEN, OPEN, 8))
    exe: Any = weft.compile(relay.Function([x], layer(x)), threads=threads)
    assert is_of_matrices(exe)
    for shape in ((2, 3, 8), (1, 1, 8), (0, 5, 8), (4, 0, 8), (7, 13, 8)):
        np.testing.assert_allclose(exe(given := floats(*shape)), expected(given), rtol=1e-5, atol=1e-5)


def test_what_is_added_to_each_row_is_one_too_and_has_to_be_of_the_same_extents() -> None:
    x, y = (var("x", (OPEN, OPEN, OPEN, 8)), var("y", (OPEN, OPEN, OPEN, 16)))
    exe: Any = weft.compile(relay.Function([x, y], relay.add(layer(x), y)))
    assert is_of_matrices(exe)
    a, b = floats(2, 3, 4, 8), floats(2, 3, 4, 16)
    np.testing.assert_allclose(exe(a, b), expected(a) + b, rtol=1e-5, atol=1e-5)
    with pytest.raises(weft.Diagnostic, match="input 'y' has shape"):
        exe(a, floats(3, 2, 4, 16))


def test_what_differs_from_row_to_row_of_one_extent_alone_leaves_the_rows_apart() -> None:
    x, y = var("x", (OPEN, OPEN, 8)), var("y", (OPEN, 16))
    exe: Any = weft.compile(relay.Function([x, y], relay.add(layer(x), y)))
    assert not is_of_matrices(exe)
    a, b = floats(2, 3, 8), floats(3, 16)
    np.testing.assert_allclose(exe(a, b), expected(a) + b, rtol=1e-5, atol=1e-5)


def test_an_open_and_a_known_extent_are_one_and_a_single_open_one_stays_as_it_is() -> None:
    for shape, is_one in (((OPEN, 4, 8), True), ((1, OPEN, 8), False), ((3, 4, 8), False)):
        x = var("x", shape)
        exe: Any = weft.compile(relay.Function([x], layer(x)))
        assert is_of_matrices(exe) == is_one
        given = floats(*(n if isinstance(n, int) else 3 for n in shape))
        np.testing.assert_allclose(exe(given), expected(given), rtol=1e-5, atol=1e-5)


def test_rows_that_have_weights_of_their_own_stay_apart() -> None:
    x, weights = var("x", (3, OPEN, 8)), floats(3, 16, 8)
    exe: Any = weft.compile(relay.Function([x], relay.nn.relu(relay.nn.batch_matmul(x, relay.const(weights)))))
    assert not is_of_matrices(exe)
    given = floats(3, 5, 8)
    np.testing.assert_allclose(exe(given), np.maximum(given @ weights.swapaxes(1, 2), 0), rtol=1e-5, atol=1e-5)

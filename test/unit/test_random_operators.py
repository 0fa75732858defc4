"""Random numbers follow from a key alone, and are what their distribution says."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay
from weft.dialects.relay.ops.random import MultinomialOp, NormalOp, ThreefryGenerateOp, ThreefrySplitOp, UniformOp
from weft.dialects.support.diagnostics import UsageError
from weft.testing.operators import run_results

NDArray = npt.NDArray[Any]
ZEROS = np.zeros(10, np.uint64)


def words(key: NDArray, count: int) -> NDArray:
    return run_results(ThreefryGenerateOp, [key], out_shape=[count])[1]


def test_words_are_those_of_the_published_test_vectors() -> None:
    """Random123's `kat_vectors`, threefry4x64 of 20 rounds."""
    first = [0x09218EBDE6C85537, 0x55941F5266D86105, 0x4BD25E16282434DC, 0xEE29EC846BD2E40B]
    assert [*words(ZEROS, 4)] == first
    ones = np.full(10, 2**64 - 1, np.uint64)
    second = [0x29C24097942BBA1B, 0x0371BBFB0F6F4E11, 0x3C231FFA33F83A1C, 0xCD29113FDE32D168]
    assert [*words(ones, 4)] == second


def test_a_key_counts_what_was_drawn_beyond_its_lowest_word() -> None:
    key = ZEROS.copy()
    key[4] = 2**64 - 1
    following, drawn = run_results(ThreefryGenerateOp, [key], out_shape=[8])
    assert [*following[4:6]] == [1, 1]
    assert [*drawn[:4]] == [*words(key, 4)]
    key[4:6] = 0, 1
    assert [*drawn[4:]] == [*words(key, 4)]


def test_numbers_drawn_one_after_the_other_are_those_drawn_at_once() -> None:
    key, first = run_results(ThreefryGenerateOp, [ZEROS], out_shape=[8])
    assert [*first, *words(key, 4)] == [*words(ZEROS, 12)]


def test_keys_that_were_split_have_numbers_of_their_own() -> None:
    key = ZEROS.copy()
    left, right = run_results(ThreefrySplitOp, [key])
    drawn = {*words(left, 8), *words(right, 8), *words(key, 8), *words(run_results(ThreefrySplitOp, [left])[0], 8)}
    assert len(drawn) == 32


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_uniform_numbers_fill_their_range(dtype: str) -> None:
    low, high = np.asarray(2, dtype), np.asarray(4, dtype)
    key, x = run_results(UniformOp, [ZEROS, low, high], out_shape=[50, 40], out_dtype=dtype)
    assert key[4] == 500 and x.dtype == dtype
    assert x.min() >= 2 and x.max() < 4 and abs(x.mean() - 3) < 0.03 and np.unique(x).size > 1990
    assert all(abs(np.mean(x < edge) - (edge - 2) / 2) < 0.04 for edge in (2.5, 3, 3.5))


def test_normal_numbers_have_their_mean_and_deviation() -> None:
    mean, scale = np.array([1, -1], np.float32), np.asarray(2, np.float32)
    _, x = run_results(NormalOp, [ZEROS, mean, scale], out_shape=[2000, 2])
    assert np.abs(x.mean(0) - mean).max() < 0.1 and np.abs(x.std(0) - 2).max() < 0.1
    assert abs(np.mean(np.abs(x - mean) < 2) - 0.683) < 0.03


def test_indices_are_drawn_as_often_as_their_parts_say() -> None:
    parts = np.array([[1, 2, 1], [0, 0, 3]], np.float32)
    _, x = run_results(MultinomialOp, [ZEROS, parts], num_samples=1000)
    assert x.dtype == np.int64
    assert np.abs(np.bincount(x[0], minlength=3) / 1000 - [0.25, 0.5, 0.25]).max() < 0.05
    assert (x[1] == 2).all()


@pytest.mark.parametrize("draw", [relay.random.uniform, relay.random.normal])
def test_an_extent_may_be_that_of_the_first_parameter(draw: Any) -> None:
    key, x = relay.random.threefry_key(5), relay.var("x", shape=(relay.Any(), 3))
    following, numbers = draw(key, (-1, 3), "float32", x, 1.0)
    exe = weft.compile(relay.Function([x], relay.Tuple([following, numbers])), threads=1)
    for rows in (4, 0, 7):
        expected = weft.compile(relay.Function([], relay.Tuple([*draw(key, (rows, 3))])), executor="interpreter")
        for ours, theirs in zip(exe(np.zeros((rows, 3), np.float32)), expected(), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6, strict=True)


def test_machine_code_draws_the_numbers_of_the_interpreter() -> None:
    key = relay.random.threefry_key(2**200 + 5)
    normal = relay.random.normal(key, (3, 5), mean=1.0)
    uniform = relay.random.uniform(normal[0], (5,), high=2.0)
    function = relay.Function([], relay.Tuple([key, normal[1] + uniform[1]]))
    module = relay.IRModule.from_expr(function)
    run: list[Any] = [relay.create_executor(kind, module).evaluate() for kind in ("debug", "graph")]
    interpreted, compiled = (each() for each in run)
    assert [*interpreted[0]] == [2**8, 0, 0, 5, 0, 0, 0, 0, 2**63, 0]
    np.testing.assert_array_equal(interpreted[0], compiled[0])
    np.testing.assert_allclose(interpreted[1], compiled[1], rtol=1e-5, atol=1e-6)


def test_numbers_of_other_types_are_refused() -> None:
    with pytest.raises(UsageError, match="must be float32 or float64"):
        relay.random.uniform(relay.random.threefry_key(1), (3,), "float16")

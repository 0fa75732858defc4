"""Operators of Relay with indices against NumPy: gathering, scattering and sorting, their corner cases.

The usual case of each is its docstring's example, which `test_relay_examples.py` runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from weft import relay
from weft.dialects.relay.ops import (
    advanced_indexing,
    gather,
    scatter,
    sort,
)
from weft.testing.operators import NDArray, assert_close, random_floats, run_operator, run_results

X = random_floats(2, 3, 4)
NAN, INF = np.nan, np.inf


def floats(*values: float) -> NDArray:
    return np.array(values, np.float32)


def ints(values: npt.ArrayLike, dtype: str = "int64") -> NDArray:
    return np.asarray(values, dtype)


# Indices that are data


@pytest.mark.parametrize("mode", ["clip", "wrap"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_take_brings_indices_into_range(axis: int | None, mode: Any):
    indices = ints([[0, -1, 9], [1, 2, -7]])
    assert_close(run_operator(gather.TakeOp, [X, indices], axis=axis, mode=mode), X.take(indices, axis, mode=mode))


def test_take_may_run_along_batches():
    indices = ints([[0, 2], [3, 3]], "int32")
    result = run_operator(gather.TakeOp, [X, indices], axis=2, batch_dims=1)
    assert_close(result, np.stack([X[b][:, indices[b]] for b in range(2)]))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather_counts_negative_indices_from_the_end(axis: int):
    indices = ints(np.random.default_rng(0).integers(-2, 2, (2, 3, 4)))
    assert_close(run_operator(gather.GatherOp, [X, indices], axis=axis), np.take_along_axis(X, indices, axis))


def test_gather_may_look_at_a_part_of_the_data():
    assert_close(run_operator(gather.GatherOp, [X, ints([[[3], [0]]])], axis=2), [[[X[0, 0, 3]], [X[0, 1, 0]]]])


@pytest.mark.parametrize("number", [0, 7, 19, 25])
def test_one_number_is_taken_of_a_tensor_of_open_extents(number: int):
    names: Any = relay
    x, index = names.var("x", shape=(names.Any(), names.Any())), names.var("index", shape=(), dtype="int32")
    run = names.create_executor("vm").evaluate(names.Function([x, index], names.take(x, index)))
    data = random_floats(4, 5)
    assert_close(run(data, np.int32(number)), data.take(number, mode="clip"))


def test_index_vectors_name_slices():
    indices = ints([[0, 1, -1], [2, 0, -3]])
    assert_close(run_operator(gather.GatherNdOp, [X, indices]), X[tuple(indices)])
    batched = run_operator(gather.GatherNdOp, [X, ints([[0, 2]])], batch_dims=1)
    assert_close(batched, np.stack([X[0, 0], X[1, 2]]))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_one_hot_puts_a_dimension_anywhere(axis: int):
    indices, on, off = ints([[0, 2, 7], [1, 1, -1]]), np.array(5, np.float32), np.array(-1, np.float32)
    result = run_operator(gather.OneHotOp, [indices, on, off], depth=3, axis=axis, dtype="int32")
    expected = np.where(np.arange(3) == indices[..., None], 5, -1)
    np.testing.assert_array_equal(result, np.moveaxis(expected, -1, axis))


def scattered(data: NDArray, indices: NDArray, updates: NDArray, axis: int, how: str) -> NDArray:
    result = data.copy()
    for place in np.ndindex(*indices.shape):
        target = (*place[:axis], int(indices[place]), *place[axis + 1 :])
        if not -data.shape[axis] <= indices[place] < data.shape[axis]:
            continue
        old, new = result[target], updates[place]
        combined = {"update": new, "add": old + new, "mul": old * new, "min": min(old, new), "max": max(old, new)}
        result[target] = combined[how]
    return result


@pytest.mark.parametrize("how", ["update", "add", "mul", "min", "max"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_scatter_takes_the_last_of_several_updates(axis: int, how: str):
    """Indices repeat, count from the end, and leave the data; there are fewer than the data has elements."""
    indices = ints(np.random.default_rng(axis).integers(-5, 5, (2, 2, 3)))
    updates = random_floats(2, 2, 3)
    expected = scattered(X, indices, updates, axis, how)
    assert_close(run_operator(scatter.ScatterElementsOp, [X, indices, updates], axis=axis, reduction=how), expected)
    if how == "update":
        assert_close(run_operator(scatter.ScatterOp, [X, indices, updates], axis=axis), expected)
    if how == "add":
        assert_close(run_operator(scatter.ScatterAddOp, [X, indices, updates], axis=axis), expected)


def test_slices_are_scattered_at_index_vectors():
    indices, updates = ints([[0, 1, 0], [2, -1, -1]]), random_floats(3, 4)
    written, added = X.copy(), X.copy()
    for k in range(3):
        written[tuple(indices[:, k])] = updates[k]
        added[tuple(indices[:, k])] += updates[k]
    assert_close(run_operator(scatter.ScatterNdOp, [X, indices, updates]), written)
    assert_close(run_operator(scatter.ScatterNdOp, [X, indices, updates], mode="add"), added)
    one = run_operator(scatter.ScatterNdOp, [X, ints([1]), random_floats(3, 4)])
    assert_close(one, np.stack([X[0], random_floats(3, 4)]))


def test_a_scatter_of_nothing_changes_nothing():
    indices, updates = np.zeros((2, 0, 4), np.int64), np.zeros((2, 0, 4), np.float32)
    assert_close(run_operator(scatter.ScatterOp, [X, indices, updates], axis=1), X)


def test_arrays_index_the_first_dimensions():
    rows, columns = ints([[0], [1]]), ints([2, -1])
    assert_close(run_operator(advanced_indexing.AdvIndexOp, [(X, rows, columns)]), X[rows, columns])


# Order and running sums

TIES = floats(3, NAN, 1, 3, -INF, 1, NAN, INF)


def test_the_order_is_stable_and_nan_comes_last():
    np.testing.assert_array_equal(run_operator(sort.ArgsortOp, [TIES]), np.argsort(TIES, kind="stable"))
    assert_close(run_operator(sort.SortOp, [TIES]), np.sort(TIES))


def test_the_descending_order_is_stable_too_and_nan_comes_first():
    np.testing.assert_array_equal(run_operator(sort.ArgsortOp, [TIES], is_ascend=False), [1, 6, 7, 0, 3, 2, 5, 4])


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("is_ascend", [False, True])
@pytest.mark.parametrize("k", [0, 1, 2])
def test_the_first_k_in_order(axis: int, is_ascend: bool, k: int):
    full = np.sort(X, axis=axis) if is_ascend else -np.sort(-X, axis=axis)
    expected = full if k == 0 else np.take(full, range(k), axis)
    values, indices = run_results(sort.TopkOp, [X], k=k, axis=axis, is_ascend=is_ascend, dtype="int64")
    assert_close(values, expected)
    assert_close(np.take_along_axis(X, indices, axis), expected)
    (alone,) = run_results(sort.TopkOp, [X], k=k, axis=axis, is_ascend=is_ascend, ret_type="indices")
    np.testing.assert_array_equal(alone, indices)
    (alone,) = run_results(sort.TopkOp, [X], k=k, axis=axis, is_ascend=is_ascend, ret_type="values")
    assert_close(alone, values)


@pytest.mark.parametrize("right", [False, True])
def test_values_are_found_in_sorted_rows(right: bool):
    rows, values = np.sort(random_floats(2, 5)), random_floats(2, 3)
    values[0, 0] = rows[0, 2]
    side = "right" if right else "left"
    each: list[NDArray] = [np.searchsorted(r, v, side) for r, v in zip(rows, values, strict=True)]
    expected = np.stack(each)
    np.testing.assert_array_equal(run_operator(sort.SearchsortedOp, [rows, values], right=right), expected)
    np.testing.assert_array_equal(
        run_operator(sort.SearchsortedOp, [rows[0], values], right=right), np.searchsorted(rows[0], values, side)
    )

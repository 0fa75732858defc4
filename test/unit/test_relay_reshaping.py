"""Operators of Relay that move elements against NumPy: shapes, slices and joins, their corner cases.

The usual case of each is its docstring's example, which `test_relay_examples.py` runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft.dialects.relay.base import DYNAMIC
from weft.dialects.relay.ops import (
    slicing,
    tiling,
    transform,
)
from weft.dialects.relay.ops.transform import infer_new_shape
from weft.testing.operators import assert_close, random_floats, run_operator, run_results

X = random_floats(2, 3, 4)


# Shapes


@pytest.mark.parametrize(
    ("newshape", "shape", "expected"),
    [
        ([6, 4], (2, 3, 4), (6, 4)),
        ([0, -1], (2, 3, 4), (2, 12)),
        ([-2], (2, 3, 4), (2, 3, 4)),
        ([2, -2], (2, 3, 4), (2, 3, 4)),
        ([-3, -2], (2, 3, 4, 5), (6, 4, 5)),
        ([-4, 1, 2, -2], (2, 3, 4), (1, 2, 3, 4)),
        ([2, -4, -1, 3, -2], (2, 3, 4), (2, 1, 3, 4)),
        ([-1, 3], (DYNAMIC, 3), (DYNAMIC, 3)),
        ([0, -1], (DYNAMIC, 3, 4), (DYNAMIC, 12)),
        ([-1, 0], (3, DYNAMIC), (3, DYNAMIC)),
        ([-3, 4], (DYNAMIC, 3, 4), (DYNAMIC, 4)),
        ([-4, 2, -1], (DYNAMIC,), (2, DYNAMIC)),
        ([2, -1], (DYNAMIC, DYNAMIC), (2, DYNAMIC)),
    ],
)
def test_the_numbers_that_mean_something_in_a_new_shape(newshape: list[int], shape: tuple[int, ...], expected: Any):
    assert infer_new_shape(newshape, shape) == expected
    if DYNAMIC not in shape:
        x = random_floats(*shape)
        assert_close(run_operator(transform.ReshapeOp, [x], newshape=newshape), x.reshape(expected))


def test_zero_is_an_extent_where_it_is_allowed():
    empty = np.zeros((0, 3), np.float32)
    assert run_operator(transform.ReshapeOp, [empty], newshape=[3, 0], allowzero=True).shape == (3, 0)
    assert infer_new_shape([0, 3], (0, 3)) == (0, 3)


@pytest.mark.parametrize(("old", "new"), [((6,), (2, 3)), ((2, 3, 4), (4, 3, 2)), ((2, 1, 6), (3, 4, 1)), ((1, 1), ())])
def test_elements_keep_their_order_in_a_reshape(old: tuple[int, ...], new: tuple[int, ...]):
    x = random_floats(*old)
    assert_close(run_operator(transform.ReshapeOp, [x], newshape=list(new), allowzero=True), x.reshape(new))


def test_part_of_a_shape_is_taken_from_another_tensor():
    like = random_floats(9, 6, 2)
    result = run_operator(transform.ReshapeLikeOp, [X, like], lhs_begin=1, rhs_begin=1)
    assert_close(result, X.reshape(2, 6, 2))


def test_without_an_axis_all_extents_of_one_are_dropped():
    assert run_operator(transform.SqueezeOp, [random_floats(1, 3, 1)]).shape == (3,)
    assert run_operator(transform.SqueezeOp, [random_floats(1, 3, 1)], axis=[]).shape == (1, 3, 1)


@pytest.mark.parametrize(("axis", "shape"), [(0, (1, 2, 3)), (-1, (2, 3, 1)), (1, (2, 1, 3))])
def test_a_dimension_is_put_before_an_axis_or_at_the_end(axis: int, shape: tuple[int, ...]):
    assert run_operator(transform.ExpandDimsOp, [random_floats(2, 3)], axis=axis).shape == shape


@pytest.mark.parametrize("axes", [None, [0, 1, 2], [2, 0, 1], [-1, 1, 0]])
def test_dimensions_are_reordered(axes: list[int] | None):
    assert_close(run_operator(transform.TransposeOp, [X], axes=axes), X.transpose(axes))


def test_repeats_and_tiles():
    x = random_floats(2, 3)
    assert_close(run_operator(tiling.RepeatOp, [x], repeats=2), np.repeat(x, 2))
    assert_close(run_operator(tiling.RepeatOp, [x], repeats=3, axis=-1), np.repeat(x, 3, axis=-1))
    for reps in ([2], [1, 2], [2, 1, 3], [0, 1]):
        assert_close(run_operator(tiling.TileOp, [x], reps=reps), np.tile(x, reps))
    assert_close(run_operator(tiling.BroadcastToOp, [x[:, :1]], shape=[4, 2, 3]), np.broadcast_to(x[:, :1], (4, 2, 3)))


# Slices and joins

BIG = 1 << 62


@pytest.mark.parametrize(
    ("begin", "end", "strides"),
    [
        ([0, 0, 0], [2, 3, 4], [1]),
        ([1], [2], []),
        ([0, 1, 1], [BIG, BIG, -1], [1, 1, 2]),
        ([-1, -2, -BIG], [BIG, BIG, BIG], [1, 1, 3]),
        ([1, 2, 3], [-BIG, -BIG, -BIG], [-1, -1, -2]),
        ([0, -1, BIG], [0, 0, 0], [1, -1, -1]),
        ([5, 0, 0], [9, 1, 1], [1, 1, 1]),
        ([-9, 0, -9], [-5, 1, -5], [-1, 1, -1]),
    ],
)
def test_slices_are_pythons(begin: list[int], end: list[int], strides: list[int]):
    steps = strides + [1] * (len(begin) - len(strides))
    expected = X[tuple(slice(b, e, s) for b, e, s in zip(begin, end, steps, strict=True))]
    assert_close(run_operator(slicing.StridedSliceOp, [X], begin=begin, end=end, strides=strides), expected)


def test_slices_name_axes_and_sizes():
    result = run_operator(slicing.StridedSliceOp, [X], begin=[1, 0], end=[3, 1], axes=[-1, 0])
    assert_close(result, X[0:1, :, 1:3])
    sizes = run_operator(slicing.StridedSliceOp, [X], begin=[0, 1, -3], end=[-1, 1, 2], slice_mode="size")
    assert_close(sizes, X[:, 1:2, 1:3])


def test_a_slice_like_another_tensor_may_name_axes():
    assert_close(run_operator(slicing.SliceLikeOp, [X, random_floats(1, 2, 2)], axes=[2]), X[:, :, :2])


@pytest.mark.parametrize("cut", [1, 2, [1], [0, 0, 3], [2, 4]])
def test_splits(cut: int | list[int]):
    parts = run_results(slicing.SplitOp, [X], indices_or_sections=cut, axis=-1)
    for part, expected in zip(parts, np.split(X, cut, axis=-1), strict=True):
        assert_close(part, expected)


@pytest.mark.parametrize("counts", [(1,), (2, 3), (1, 2, 3, 4, 5), (0, 2), (0, 0)])
def test_concatenations(counts: tuple[int, ...]):
    parts = tuple(random_floats(2, n) for n in counts)
    assert_close(run_operator(slicing.ConcatenateOp, [parts], axis=-1), np.concatenate(parts, axis=-1))


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_stacks(axis: int):
    parts = tuple(random_floats(2, 3) + k for k in range(3))
    assert_close(run_operator(slicing.StackOp, [parts], axis=axis), np.stack(parts, axis=axis))

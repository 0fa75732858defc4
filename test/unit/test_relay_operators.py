"""Relay operators against NumPy: their corner cases, by `compute` and by the direct evaluation where there is one.

The usual case of each is its docstring's example, which `test_relay_examples.py` runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import TensorType, f32, i64
from xdsl.ir import Block
from xdsl.utils.exceptions import VerifyException

import weft
from weft import relay
from weft.dialects.relay.base import DYNAMIC, RelayOp, Value
from weft.dialects.relay.ops import (
    advanced_indexing,
    arg_reduce,
    broadcast,
    creation,
    dynamic,
    einsum,
    elementwise,
    gather,
    matrix,
    reduce,
    scan,
    scatter,
    sequence,
    slicing,
    sort,
    tiling,
    transcendental,
    transform,
)
from weft.dialects.relay.ops.creation import ArangeOp
from weft.dialects.relay.ops.transform import infer_new_shape
from weft.dialects.relay.reference import evaluate_compute, evaluate_op
from weft.testing.operators import NDArray, assert_close, random_floats, run_operator, run_results

X = random_floats(2, 3, 4)
NAN, INF = np.nan, np.inf


def floats(*values: float) -> NDArray:
    return np.array(values, np.float32)


def ints(values: npt.ArrayLike, dtype: str = "int64") -> NDArray:
    return np.asarray(values, dtype)


# Elementwise and broadcasting


def test_special_values_go_through_elementwise_functions():
    special = floats(NAN, INF, -INF, -0.0, 0.0)
    with np.errstate(all="ignore"):
        assert_close(run_operator(transcendental.LogOp, [special]), np.log(special))
        assert_close(run_operator(transcendental.SqrtOp, [special]), np.sqrt(special))
    assert_close(run_operator(transcendental.TanhOp, [special]), np.tanh(special))
    assert_close(run_operator(transcendental.ErfOp, [special]), [NAN, 1, -1, 0, 0])
    assert_close(run_operator(transcendental.SigmoidOp, [special]), [NAN, 1, 0, 0.5, 0.5])
    assert_close(run_operator(elementwise.SignOp, [special]), np.sign(special))
    assert_close(run_operator(elementwise.IsnanOp, [special]), np.isnan(special))
    assert_close(run_operator(elementwise.IsinfOp, [special]), np.isinf(special))
    assert_close(run_operator(elementwise.IsfiniteOp, [special]), np.isfinite(special))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
def test_integers_go_through_elementwise_functions(dtype: str):
    x = ints([0, 1, 2, 127], dtype)
    for op in (elementwise.FloorOp, elementwise.CeilOp, elementwise.RoundOp, elementwise.TruncOp, elementwise.AbsOp):
        np.testing.assert_array_equal(run_operator(op, [x]), x)
    np.testing.assert_array_equal(run_operator(elementwise.NegativeOp, [x]), -x)
    np.testing.assert_array_equal(run_operator(elementwise.BitwiseNotOp, [x]), ~x)
    np.testing.assert_array_equal(run_operator(elementwise.SignOp, [x]), np.sign(x))


def test_clip_lets_nan_through_and_keeps_integers_in_their_range():
    assert_close(run_operator(elementwise.ClipOp, [floats(-1, 0.5, 9, NAN)], a_min=0.0, a_max=6.0), [0, 0.5, 6, NAN])
    everything = run_operator(elementwise.ClipOp, [ints([-128, 127], "int8")], a_min=-INF, a_max=1e9)
    np.testing.assert_array_equal(everything, [-128, 127])


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (floats(-1.7, 0.2, 3.9), "int32", [-1, 0, 3]),
        (floats(0.0, -0.0, 0.5), "bool", [False, False, True]),
        (np.array([True, False]), "float32", [1, 0]),
        (ints([-1, 256]), "uint8", [255, 0]),
        (floats(1e30), "float16", [INF]),
    ],
)
def test_casts(value: NDArray, dtype: str, expected: list[float]):
    result = run_operator(elementwise.CastOp, [value], dtype=dtype)
    assert result.dtype == np.dtype(dtype)
    assert_close(result, expected)


def truncated_quotient(a: NDArray, b: NDArray) -> NDArray:
    return np.trunc(a / b)


@pytest.mark.parametrize(
    ("op", "function"),
    [
        (broadcast.DivideOp, truncated_quotient),
        (broadcast.FloorDivideOp, np.floor_divide),
        (broadcast.ModOp, np.fmod),
        (broadcast.FloorModOp, np.mod),
        (broadcast.MaximumOp, np.maximum),
        (broadcast.RightShiftOp, np.right_shift),
    ],
)
def test_signed_integers_divide_as_documented(op: type[RelayOp], function: Any):
    a, b = ints([7, -7, 8, -8], "int32"), ints([[2], [3]], "int32")
    np.testing.assert_array_equal(run_operator(op, [a, b]), function(a, b))


def test_floats_are_shifted_by_doubling():
    assert_close(run_operator(broadcast.LeftShiftOp, [floats(1.5, -2), floats(3, 0)]), [12, -2])


def test_operands_broadcast_at_their_ends():
    a, b = random_floats(3, 1), random_floats(2, 1, 4)
    assert_close(run_operator(broadcast.AddOp, [a, b]), a + b)
    assert_close(run_operator(broadcast.AddOp, [np.array(2, np.float32), b]), 2 + b)
    empty = np.zeros((0, 4), np.float32)
    assert run_operator(broadcast.AddOp, [empty, b[0]]).shape == (0, 4)


def test_a_choice_reads_a_number_as_a_condition():
    assert_close(run_operator(broadcast.WhereOp, [ints([0, 2]), floats(1, 2), floats(3)]), [3, 2])


# Reductions


@pytest.mark.parametrize("axis", [[], [0], [-1], [0, 2], [1, 0]])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("exclude", [False, True])
def test_reductions_take_axes(axis: list[int], keepdims: bool, exclude: bool):
    axes = {a % 3 for a in axis} or {0, 1, 2}
    reduced = tuple(sorted({0, 1, 2} - axes if exclude and axis else axes))
    for op, function in (
        (reduce.SumOp, np.sum),
        (reduce.MaxOp, np.max),
        (reduce.MinOp, np.min),
        (reduce.MeanOp, np.mean),
        (reduce.ProdOp, np.prod),
    ):
        result = run_operator(op, [X], axis=axis, keepdims=keepdims, exclude=exclude)
        assert_close(result, function(X, axis=reduced, keepdims=keepdims))


def test_half_floats_are_summed_in_single_precision():
    many = np.full((4096,), 0.1, np.float16)
    total = run_operator(reduce.SumOp, [many])
    assert total.dtype == np.float16
    assert_close(total, many.astype(np.float32).sum(), 1e-3)


def test_a_mean_of_integers_is_rounded_towards_zero():
    np.testing.assert_array_equal(run_operator(reduce.MeanOp, [ints([[1, 2], [-1, -2]])], axis=[1]), [1, -1])


def test_the_variance_may_be_unbiased():
    mean = X.mean(axis=1, keepdims=True)
    for unbiased in (False, True):
        result = run_operator(reduce.VarianceOp, [X, mean], axis=[1], unbiased=unbiased)
        assert_close(result, X.var(axis=1, ddof=int(unbiased)))


def test_the_first_of_equal_extrema_is_taken_or_the_last():
    x = floats(3, 7, 7, 1, 1)
    assert run_operator(arg_reduce.ArgmaxOp, [x]) == 1
    assert run_operator(arg_reduce.ArgmaxOp, [x], select_last_index=True) == 2
    assert run_operator(arg_reduce.ArgminOp, [x]) == 3
    assert run_operator(arg_reduce.ArgminOp, [x], select_last_index=True) == 4


def test_the_place_of_an_extremum_is_counted_over_all_reduced_axes():
    np.testing.assert_array_equal(
        run_operator(arg_reduce.ArgmaxOp, [X], axis=[0, 2], keepdims=True).reshape(-1),
        X.transpose(1, 0, 2).reshape(3, -1).argmax(axis=1),
    )


def test_nan_is_an_extremum():
    x = floats(1, NAN, 3, NAN)
    assert run_operator(arg_reduce.ArgmaxOp, [x]) == 1
    assert np.isnan(run_operator(reduce.MaxOp, [x]))


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


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_running_sums_may_leave_out_the_element_itself(axis: int | None):
    sums, products = np.cumsum(X, axis), np.cumprod(X, axis)
    assert_close(run_operator(scan.CumsumOp, [X], axis=axis), sums)
    assert_close(run_operator(scan.CumprodOp, [X], axis=axis), products)
    exclusive = run_operator(scan.CumsumOp, [X], axis=axis, exclusive=True)
    assert_close(exclusive, sums - (X if axis is not None else X.reshape(-1)))


def test_steps_of_running_sums_and_of_scattering_do_not_look_at_all_elements():
    """What a reduction over all of them for each would do."""
    x, i = relay.var("x", shape=(50, 3)), relay.var("i", shape=(20, 3), dtype="int64")
    u = relay.var("u", shape=(20, 3))
    results = [relay.cumsum(x, axis=0), relay.cumprod(x, axis=1), relay.scatter_elements(x, i, u, reduction="add")]
    kernels = weft.compile(relay.Function([x, i, u], relay.Tuple(results)), threads=1).ir["tir"]
    assert kernels.count("tir.prim_func") == 3 and ": reduce " not in kernels


def test_a_running_sum_may_have_a_wider_type():
    result = run_operator(scan.CumsumOp, [ints([100, 100], "int8")], axis=0, dtype="int32")
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, [100, 200])


# Sums of products


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("ii->i", [(3, 3)]),
        ("ii", [(3, 3)]),
        ("ij->", [(2, 3)]),
        ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]),
        ("b...,b...", [(2, 3), (2, 3)]),
        ("a,b,c->cab", [(2,), (3,), (4,)]),
        (" i j , j -> i ", [(2, 3), (3,)]),
        ("ij,j->i", [(2, 3), (1,)]),
    ],
)
def test_equations(equation: str, shapes: list[tuple[int, ...]]):
    operands = tuple(random_floats(*shape) for shape in shapes)
    assert_close(run_operator(einsum.EinsumOp, [operands], equation=equation), np.einsum(equation, *operands))


# Creation


@pytest.mark.parametrize(("start", "stop", "step"), [(0, 5, 1), (5, 0, -2), (0, 5, -1), (1, 1, 1), (-3, 4, 3)])
def test_ranges(start: int, stop: int, step: int):
    bounds = [np.array(v, np.int64) for v in (start, stop, step)]
    op = ArangeOp(*Block(arg_types=[TensorType(i64, [])] * 3).args, dtype="int64")
    np.testing.assert_array_equal(evaluate_op(op, bounds)[0], np.arange(start, stop, step))


@pytest.mark.parametrize("k", [-2, 0, 1])
@pytest.mark.parametrize("upper", [False, True])
def test_triangles(k: int, upper: bool):
    expected = np.triu(X, k) if upper else np.tril(X, k)
    assert_close(run_operator(matrix.TriluOp, [X, np.array(k)], upper=upper), expected)


def test_a_shape_is_that_of_the_data_even_where_its_type_is_dynamic():
    op = creation.ShapeOfOp(*Block(arg_types=[TensorType(f32, [DYNAMIC, 3])]).args, dtype="int64")
    np.testing.assert_array_equal(evaluate_op(op, [random_floats(5, 3)])[0], [5, 3])
    assert run_operator(creation.NdarraySizeOp, [X]) == 24


def test_an_array_that_does_not_fit_an_operator_is_rejected():
    op = transcendental.ExpOp(*Block(arg_types=[TensorType(f32, [DYNAMIC, 3])]).args)
    with pytest.raises(ValueError, match=r"input 0 is tensor<\?x3xf32>, not float64"):
        evaluate_op(op, [np.zeros((2, 3))])
    with pytest.raises(ValueError, match=r"of shape \(3,\)"):
        evaluate_op(op, [np.zeros(3, np.float32)])
    with pytest.raises(ValueError, match="takes 1 tensors, but 2 arrays are given"):
        evaluate_op(op, [np.zeros((2, 3), np.float32)] * 2)


# Sequences, diagonals, data-dependent extents


def test_sequences_along_the_second_axis_are_masked():
    lengths = ints([2, 0], "int32")
    result = run_operator(sequence.SequenceMaskOp, [X, lengths], axis=1, mask_value=-1.0)
    assert_close(result, np.where(np.arange(3)[None, :, None] < lengths[:, None, None], X, -1))


def test_grids_may_exchange_the_first_two_axes():
    vectors = (floats(1, 2), floats(3, 4, 5), floats(6))
    found = run_results(creation.MeshgridOp, [vectors], indexing="xy")
    for grid, expected in zip(found, np.meshgrid(*vectors, indexing="xy"), strict=True):
        assert_close(grid, expected)


def diagonals_set(matrix: NDArray, diagonals: NDArray, k1: int, k2: int, align: str) -> NDArray:
    result = matrix.copy()
    rows, columns = matrix.shape
    for k in range(k1, k2 + 1):
        places = [(r, r + k) for r in range(rows) if 0 <= r + k < columns]
        side = align.split("_")[0 if k > 0 else 1]
        shift = diagonals.shape[-1] - len(places) if side == "RIGHT" else 0
        for n, place in enumerate(places):
            result[place] = diagonals[k2 - k, n + shift]
    return result


@pytest.mark.parametrize("align", ["RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"])
@pytest.mark.parametrize(("k1", "k2"), [(-1, 1), (0, 2), (-2, -1)])
def test_several_diagonals_are_set(k1: int, k2: int, align: str):
    data = random_floats(3, 4)
    longest = min(3 + min(k2, 0), 4 - max(k1, 0))
    diagonals = 10 + random_floats(k2 - k1 + 1, longest)
    result = run_operator(matrix.MatrixSetDiagOp, [data, diagonals], k1=k1, k2=k2, align=align)
    assert_close(result, diagonals_set(data, diagonals, k1, k2, align))


def evaluated(op_type: type[RelayOp], x: NDArray, **properties: Value) -> list[NDArray]:
    op = op_type(*Block(arg_types=[TensorType(f32, [DYNAMIC] * x.ndim)]).args, **properties)
    with pytest.raises(NotImplementedError, match="has no compute"):
        evaluate_compute(op, [x])
    return [*evaluate_op(op, [x])]


def test_the_places_of_what_is_not_zero():
    x = np.array([[0, 1, 0], [2, 0, 3]], np.float32)
    (places,) = evaluated(dynamic.ArgwhereOp, x)
    np.testing.assert_array_equal(places, [[0, 1], [1, 0], [1, 2]])


def test_different_elements_in_order_of_value_or_of_occurrence():
    x = floats(3, 1, 3, 2, 1)
    values, first, which, number, counts = evaluated(dynamic.UniqueOp, x, return_counts=True)
    for found, expected in zip(
        (values, first, which, number, counts), ([1, 2, 3], [1, 3, 0], [2, 0, 2, 1, 0], [3], [2, 1, 2]), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    values, first, which, number = evaluated(dynamic.UniqueOp, x, sorted=False)
    for found, expected in zip(
        (values, first, which, number), ([3, 1, 2], [0, 1, 3], [0, 1, 0, 2, 1], [3]), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


# Building


def test_building_an_operator_on_operands_that_do_not_fit_is_an_error():
    x, y = Block(arg_types=[TensorType(f32, [2]), TensorType(f32, [3])]).args
    with pytest.raises(VerifyException, match=r"shapes \[2\] and \[3\] do not broadcast"):
        broadcast.AddOp(x, y)

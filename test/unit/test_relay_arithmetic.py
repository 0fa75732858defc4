"""Elementwise operators, reductions and generators of Relay against NumPy: their corner cases.

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
    arg_reduce,
    broadcast,
    creation,
    dynamic,
    einsum,
    elementwise,
    matrix,
    reduce,
    scan,
    sequence,
    transcendental,
)
from weft.dialects.relay.ops.creation import ArangeOp
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

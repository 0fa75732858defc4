"""Tensor expressions: their NumPy evaluation and their cost."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pytest
from tir_run import assert_computes, prim_func
from xdsl.dialects.builtin import IndexType, IntegerType, Signedness, bf16, f16, f32, f64, i1, i8, i32, i64

from weft.dialects import te
from weft.dialects.support.arguments import ArgumentError
from weft.dialects.support.checks import CheckError
from weft.dialects.support.dtypes import numpy_dtype, scalar_type
from weft.dialects.te import evaluate as evaluation
from weft.dialects.te.bounds import affine, bounds
from weft.dialects.te.cost import cost, is_costly, operations
from weft.dialects.te.evaluate import erf
from weft.dialects.te.expr import PREDICATES

NDArray = npt.NDArray[Any]
RNG = np.random.default_rng(0)


def evaluate(outputs: Sequence[te.Tensor], feeds: Mapping[te.Tensor, NDArray]) -> list[NDArray]:
    return [*evaluation.evaluate(outputs, feeds)]


def uniform(*shape: int, dtype: str = "float32") -> NDArray:
    return RNG.uniform(-2, 2, shape).astype(dtype)


def apply_unary(kind: te.UnaryKind, array: NDArray) -> NDArray:
    x = te.placeholder(array.shape, scalar_type(array.dtype))
    return evaluate([te.compute(x.shape, lambda *i: te.unary(kind, x[i]))], {x: array})[0]


def apply_binary(kind: te.BinaryKind, a: NDArray, b: NDArray) -> NDArray:
    x, y = (te.placeholder(v.shape, scalar_type(v.dtype)) for v in (a, b))
    return evaluate([te.compute(x.shape, lambda *i: te.binary(kind, x[i], y[i]))], {x: a, y: b})[0]


def test_an_elementwise_formula_is_its_numpy_formula():
    x = te.placeholder((3, 5), f32, "x")
    y = te.compute(x.shape, lambda i, j: te.exp(x[i, j]) * 2.0 + 1.0)
    data = uniform(3, 5)
    (result,) = evaluate([y], {x: data})
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, np.exp(data) * 2 + 1, rtol=1e-6)


def test_a_matrix_product_is_a_sum_over_its_reduce_axis():
    a, b = te.placeholder((4, 6), f32), te.placeholder((6, 3), f32)
    k = te.reduce_axis(6)
    c = te.compute((4, 3), lambda i, j: te.sum(a[i, k] * b[k, j], k))
    x, y = uniform(4, 6), uniform(6, 3)
    np.testing.assert_allclose(evaluate([c], {a: x, b: y})[0], x @ y, rtol=1e-5)


def test_domains_larger_than_a_block_are_evaluated_in_blocks(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(evaluation, "BLOCK_POINTS", 7)
    x = te.placeholder((5, 9), f64)
    k, m = te.reduce_axis(5, "k"), te.reduce_axis(9, "m")
    data = uniform(5, 9, dtype="float64")
    total = te.compute((), lambda: te.sum(x[k, m], (k, m)))
    rows = te.compute((5,), lambda i: te.max(x[i, m], m))
    twice = te.compute((5, 9), lambda i, j: x[i, j] + x[i, j])
    results = evaluate([total, rows, twice], {x: data})
    for result, expected in zip(results, (data.sum(), data.max(axis=1), data * 2), strict=True):
        np.testing.assert_allclose(result, expected)


def test_a_guarded_read_may_leave_its_tensor():
    x = te.placeholder((4,), f32)
    padded = te.compute((7,), lambda i: te.select(te.all_of([i >= 2, i < 6]), x[i - 2], -1.0))
    data = uniform(4)
    np.testing.assert_array_equal(evaluate([padded], {x: data})[0], np.pad(data, (2, 1), constant_values=-1))


def test_a_guarded_read_of_an_empty_tensor_is_never_chosen():
    x = te.placeholder((0,), f32)
    y = te.compute((3,), lambda i: te.select(i < 0, x[i], 5.0))
    np.testing.assert_array_equal(evaluate([y], {x: np.zeros((0,), np.float32)})[0], np.full(3, 5, np.float32))


def test_an_unguarded_read_outside_its_tensor_is_an_error():
    x, at = te.placeholder((4,), f32), te.placeholder((4,), i64)
    y = te.compute((4,), lambda i: x[te.cast(at[i], te.index)])
    with pytest.raises(IndexError, match="leaves dimension 0 of extent 4"):
        evaluate([y], {x: uniform(4), at: np.array([0, 1, 2, 4])})


BEYOND: list[tuple[Callable[[te.Expr, te.Expr], te.Expr], str]] = [
    (lambda i, j: i + 1, "1 to 4"),
    (lambda i, j: i - 1, "-1 to 2"),
    (lambda i, j: j + 5000, "5000 to 5002"),
    (lambda i, j: i * 2 - j, "-2 to 6"),
    (lambda i, j: i - i + 4, "4 to 4"),
    (lambda i, j: te.const(-1, te.index), "-1 to -1"),
]


@pytest.mark.parametrize(("index", "reach"), BEYOND)
def test_a_read_that_surely_leaves_its_tensor_is_refused(
    index: Callable[[te.Expr, te.Expr], te.Expr], reach: str
) -> None:
    x = te.placeholder((4,), f32, "x")
    with pytest.raises(IndexError, match=f"reads 'x' outside of dimension 0, whose extent is 4: .* from {reach}$"):
        te.compute((4, 3), lambda i, j: x[index(i, j)])


def test_a_read_that_may_stay_inside_is_left() -> None:
    x = te.placeholder((4,), f32, "x")
    te.compute((4, 3), lambda i, j: x[i * 2 - j - (i - j)])
    te.compute((4, 3), lambda i, j: x[(i + j) % 4])
    te.compute((4,), lambda i: te.select(i < 3, x[i + 1], 0.0))
    te.compute((0, 3), lambda i, j: x[j + 5])
    with pytest.raises(IndexError, match="outside of dimension 0"):
        te.compute((4,), lambda i: te.select(x[i + 1] > 0, x[i], 0.0))


def test_a_tensor_is_no_sequence() -> None:
    """Each integer is an index of an element's expression: a loop over them would never end."""
    with pytest.raises(TypeError, match="'Tensor' object is not iterable"):
        list(te.placeholder((4,), f32, "x"))  # pyright: ignore[reportArgumentType]


def test_a_symbol_is_as_wide_as_an_index() -> None:
    assert te.var("n", dtype="int64").type == te.var("n", "int32").type == IndexType()
    with pytest.raises(TypeError, match="int32, int64 or index, not 'float32'"):
        te.var("n", "float32")


def test_an_expression_has_no_truth_value() -> None:
    x = te.placeholder((4,), f32, "x")
    with pytest.raises(TypeError, match=r"te\.if_then_else\(c, a, b\)"):
        te.compute((4,), lambda i: x[i] if x[i] > 0 else te.const(0, f32))
    with pytest.raises(TypeError, match=r"te\.all\(c, d\)"):
        te.compute((4,), lambda i: te.select((i > 0) and (i < 3), x[i], 0.0))


@pytest.mark.parametrize("low", [0, 1, -2])
def test_a_reduction_runs_from_its_low_to_its_high_end(low: int) -> None:
    x = te.placeholder((4, 6), f32, "x")
    k = te.reduce_axis((low, 4))
    y = te.compute((4,), lambda i: te.sum(x[i, k + 2] * te.cast(k, f32), k))
    array = uniform(4, 6)
    expected = sum(array[:, n + 2] * n for n in range(low, 4))
    np.testing.assert_allclose(evaluate([y], {x: array})[0], expected, rtol=1e-5)
    assert_computes(prim_func(([x], [y])), ([x], [y]))
    with pytest.raises(IndexError, match=r"from .* to 6"):
        te.compute((4,), lambda i: te.sum(x[i, k + 3], k))


@pytest.mark.parametrize("extent", [(3, 1), -1])
def test_a_reduction_that_ends_before_it_begins_is_refused(extent: int | tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="ends before it begins"):
        te.reduce_axis(extent)


@pytest.mark.parametrize("extent", [(1, 2, 3), 2.0, (0, 2.0), None, True])
def test_a_reduction_over_what_is_no_range_is_refused(extent: Any) -> None:
    with pytest.raises(TypeError, match="an extent or a pair"):
        te.reduce_axis(extent)


def test_affine_reads_are_views():
    """Strides, reversal, transposition, a sliding window, and an index that is a sum of two axes."""
    x = te.placeholder((6, 8), f32)
    data = uniform(6, 8)
    k = te.reduce_axis(3)
    cases = {
        "strided": (te.compute((3, 2), lambda i, j: x[i * 2, j * 3 + 1]), data[::2, 1:7:3]),
        "reversed": (te.compute((6, 8), lambda i, j: x[5 - i, 7 - j]), data[::-1, ::-1]),
        "transposed": (te.compute((8, 6), lambda i, j: x[j, i]), data.T),
        "diagonal": (te.compute((6,), lambda i: x[i, i]), np.diagonal(data)),
        "window": (
            te.compute((6, 6), lambda i, j: te.sum(x[i, j + k], k)),
            data[:, :-2] + data[:, 1:-1] + data[:, 2:],
        ),
    }
    for name, (tensor, expected) in cases.items():
        np.testing.assert_allclose(evaluate([tensor], {x: data})[0], expected, rtol=1e-5, err_msg=name)


def test_a_product_of_two_axes_is_no_affine_index():
    i, j = te.IterVar("i", 3), te.IterVar("j", 4)
    assert affine(i * j) is None and affine((i + 1) * j) is None
    assert affine((i + 2) * 5) == affine(5 * (i + 2)) == ({i: 5}, 10)
    x = te.placeholder((7,), f32)
    products = te.compute((3, 4), lambda i, j: x[i * j], "products")
    values = np.arange(7, dtype=np.float32) + 1
    np.testing.assert_array_equal(evaluate([products], {x: values})[0], values[np.outer(range(3), range(4))])


def test_bounds_of_an_index_follow_from_what_is_done_with_it():
    i, j, data = te.IterVar("i", 3), te.IterVar("j", 4), te.placeholder((3,), te.index)[te.const(0, te.index)]
    assert bounds(i * 4 + j) == (0, 11)
    assert bounds(i - i + j) == (0, 3)
    assert bounds(data) is None and bounds(data % 8) == (0, 7)
    assert bounds(te.maximum(te.minimum(data, 5), 0)) == (0, 5)
    assert bounds(te.select(data < 3, i, j + 1)) == (0, 4)


def test_indices_may_be_data():
    x, i = te.placeholder((5, 3), f32), te.placeholder((4,), i32)
    y = te.compute((4, 3), lambda n, c: x[te.cast(i[n], te.index), c])
    data, rows = uniform(5, 3), np.array([4, 0, 0, 2], np.int32)
    np.testing.assert_array_equal(evaluate([y], {x: data, i: rows})[0], data[rows])


@pytest.mark.parametrize("kind", get_args(te.ReduceKind))
def test_a_reduction_over_nothing_is_its_identity(kind: te.ReduceKind):
    boolean = kind in ("and", "or")
    x = te.placeholder((2, 0), i1 if boolean else f32)
    k = te.reduce_axis(0)
    y = te.compute((2,), lambda i: te.reduce(kind, x[i, k], k))
    identity = {"sum": 0, "prod": 1, "max": -np.inf, "min": np.inf, "and": True, "or": False}[kind]
    nothing = np.zeros((2, 0), numpy_dtype(x.element_type))
    np.testing.assert_array_equal(evaluate([y], {x: nothing})[0], np.full(2, identity))


def test_a_reduction_of_a_value_that_does_not_depend_on_its_axis_repeats_it():
    x = te.placeholder((2,), f32)
    k = te.reduce_axis(3)
    y = te.compute((2,), lambda i: te.sum(x[i], k))
    data = uniform(2)
    np.testing.assert_allclose(evaluate([y], {x: data})[0], data * 3, rtol=1e-6)


def test_a_stage_may_read_a_stage_twice():
    x = te.placeholder((4,), f32)
    square = te.compute((4,), lambda i: x[i] * x[i])
    y = te.compute((4,), lambda i: square[i] + square[3 - i])
    data = uniform(4)
    np.testing.assert_allclose(evaluate([y], {x: data})[0], data**2 + data[::-1] ** 2, rtol=1e-6)


@pytest.mark.parametrize("over", [(), (3,), (3, 2), (0,)])
def test_statements_are_run_for_each_point(over: tuple[int, ...]) -> None:
    def fill(do: te.Steps, y: te.Tensor) -> None:
        place: te.Expr = te.const(0, IndexType())
        for axis, extent in zip(do.axes, over, strict=True):
            place = place * extent + axis
        do.store(y[place], te.cast(place, f32) + 1.0)

    (y,) = te.procedure([((7,), f32, "y")], fill, over=over)
    count = math.prod(over)
    np.testing.assert_array_equal(evaluation.evaluate([y], {})[0], [*range(1, count + 1), *[0] * (7 - count)])


def test_scalars_and_empty_tensors_have_their_shapes():
    x, empty = te.placeholder((), f32), te.placeholder((0, 3), f32)
    y = te.compute((), lambda: x[()] + 1.0)
    z = te.compute((0, 3), lambda i, j: empty[i, j] + 1.0)
    a, b = evaluate([y, z], {x: np.array(2, np.float32), empty: np.zeros((0, 3), np.float32)})
    assert a.shape == () and a == 3
    assert b.shape == (0, 3)


@pytest.mark.parametrize("kind", [kind for kind in te.UnaryKind if kind != te.UnaryKind.NOT])
def test_unary_functions_keep_the_type_of_floats(kind: te.UnaryKind):
    for dtype in ("float16", "float32", "float64"):
        result = apply_unary(kind, RNG.uniform(0.1, 0.9, (8,)).astype(dtype))
        assert result.dtype == (np.bool_ if kind in PREDICATES else np.dtype(dtype))


def test_integers_are_round_and_finite():
    data = np.array([-3, 0, 7], np.int32)
    for kind in (te.UnaryKind.FLOOR, te.UnaryKind.CEIL, te.UnaryKind.ROUND, te.UnaryKind.TRUNC):
        np.testing.assert_array_equal(apply_unary(kind, data), data)
    assert not apply_unary(te.UnaryKind.ISNAN, data).any()
    assert apply_unary(te.UnaryKind.ISFINITE, data).all()


def test_round_takes_halves_to_even():
    np.testing.assert_array_equal(
        apply_unary(te.UnaryKind.ROUND, np.array([0.5, 1.5, 2.5, -0.5], np.float32)), [0, 2, 2, -0.0]
    )


def test_sigmoid_does_not_overflow():
    np.testing.assert_array_equal(
        apply_unary(te.UnaryKind.SIGMOID, np.array([-1000, 0, 1000], np.float32)), [0, 0.5, 1]
    )


def test_erf_is_the_error_function():
    points = np.concatenate([np.linspace(-7, 7, 1401), [-0.0, 0.5, -0.5, 1e-300, np.inf, -np.inf]])
    expected = np.array([math.erf(x) for x in points])
    np.testing.assert_allclose(erf(points), expected, rtol=5e-16, atol=0)
    assert np.isnan(erf(np.array([np.nan])))[0]


def test_integer_division_truncates_and_floor_division_rounds_down():
    a, b = np.array([7, -7, 7, -7], np.int32), np.array([2, 2, -2, -2], np.int32)
    expected = {
        te.BinaryKind.DIV: [3, -3, -3, 3],
        te.BinaryKind.TRUNCMOD: [1, -1, 1, -1],
        te.BinaryKind.FLOORDIV: [3, -4, -4, 3],
        te.BinaryKind.FLOORMOD: [1, 1, -1, -1],
    }
    for kind, values in expected.items():
        np.testing.assert_array_equal(apply_binary(kind, a, b), values, err_msg=kind)


def test_integer_powers_are_exact_and_negative_exponents_truncate():
    a, b = np.array([3, -2, 1, 2], np.int64), np.array([39, 3, -1, -1], np.int64)
    np.testing.assert_array_equal(apply_binary(te.BinaryKind.POW, a, b), [3**39, -8, 1, 0])


def test_integers_wrap():
    a, b = np.array([127, -128], np.int8), np.array([1, -1], np.int8)
    np.testing.assert_array_equal(apply_binary(te.BinaryKind.ADD, a, b), [-128, 127])
    ui8 = IntegerType(8, Signedness.UNSIGNED)
    assert numpy_dtype(ui8) == np.uint8
    np.testing.assert_array_equal(
        apply_binary(te.BinaryKind.SUB, np.array([0], np.uint8), np.array([1], np.uint8)), [255]
    )


def test_nan_goes_through_minimum_and_maximum():
    a, b = np.array([np.nan, 1], np.float32), np.array([1, np.nan], np.float32)
    assert np.isnan(apply_binary(te.BinaryKind.MAX, a, b)).all()
    assert np.isnan(apply_binary(te.BinaryKind.MIN, a, b)).all()


def test_casts_truncate_and_to_bool_compare_with_zero():
    x = te.placeholder((4,), f32)
    data = np.array([-1.7, 0.0, 0.4, 2.9], np.float32)
    as_int = te.compute((4,), lambda i: te.cast(x[i], i8))
    as_bool = te.compute((4,), lambda i: te.cast(x[i], i1))
    as_half = te.compute((4,), lambda i: te.cast(x[i], f16))
    a, b, c = evaluate([as_int, as_bool, as_half], {x: data})
    np.testing.assert_array_equal(a, [-1, 0, 0, 2])
    np.testing.assert_array_equal(b, [True, False, True, True])
    assert c.dtype == np.float16


def test_values_that_do_not_fit_their_placeholder_are_rejected():
    x = te.placeholder((4,), f32, "x")
    y = te.compute((4,), lambda i: x[i])
    with pytest.raises(KeyError, match="no value is given for 'x'"):
        evaluate([y], {})
    with pytest.raises(ValueError, match=r"'x' is a float32 tensor of shape \(4,\).*float64"):
        evaluate([y], {x: np.zeros(4)})
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        evaluate([y], {x: np.zeros(3, np.float32)})


def test_operands_whose_types_do_not_meet_are_rejected():
    x, n = te.placeholder((4,), f16), te.placeholder((4,), bf16)
    with pytest.raises(TypeError, match="different types"):
        te.compute((4,), lambda i: x[i] + n[i])


def test_a_matrix_product_costs_two_operations_a_point():
    a, b = te.placeholder((4, 6), f32), te.placeholder((6, 3), f32)
    k = te.reduce_axis(6)
    found = cost([te.compute((4, 3), lambda i, j: te.sum(a[i, k] * b[k, j], k))])
    assert found.flops == 2 * 4 * 6 * 3
    assert found.bytes == 4 * (4 * 6 + 6 * 3 + 4 * 3)
    assert found.intermediate_bytes == 0
    assert found.intensity == found.flops / found.bytes


def test_index_arithmetic_and_conditions_cost_nothing():
    x = te.placeholder((4,), f32)
    padded = te.compute((6,), lambda i: te.select(te.all_of([i >= 1, i < 5]), x[i - 1], 0.0))
    doubled = te.compute((6,), lambda i: padded[i] * 2.0)
    found = cost([doubled])
    assert found.flops == 6
    assert found.intermediate_bytes == 24


def test_functions_and_divisions_are_costly_and_what_is_an_instruction_is_not():
    x = te.placeholder((4,), f32)
    cheap = [x[0] * 2.0 + 1.0, te.maximum(x[0], 0.0), te.floor(x[0]), te.select(x[0] > 0.0, x[0], 0.0)]
    assert not any(map(is_costly, cheap))
    assert all(
        map(is_costly, [te.exp(x[0]) + 1.0, 1.0 / x[0], te.sqrt(x[0]), te.select(x[0] > 0.0, te.tanh(x[0]), 0.0)])
    )


def test_a_shared_subexpression_costs_once():
    x = te.placeholder((4,), f32)
    element = te.exp(x[0])
    assert operations(element * element) == 2


def test_a_check_fails_with_the_index_that_was_given() -> None:
    x = te.placeholder((4,), i64, "x")

    def body(i: te.IterVar) -> te.Expr:
        given = te.cast(x[i], te.index)
        return te.cast(te.check(given + 10, 12, "{index} of {extent}", given), i64)

    y = te.compute((4,), body)
    np.testing.assert_array_equal(evaluation.evaluate([y], {x: np.array([-10, 0, 1, 1])})[0], [0, 10, 11, 11])
    with pytest.raises(CheckError, match="2 of 12") as error:
        evaluation.evaluate([y], {x: np.array([0, 1, 2, -11])})
    assert (error.value.index, error.value.extent) == (2, 12)


def test_a_check_is_made_at_every_point_or_refused() -> None:
    x = te.placeholder((4,), i64, "x")

    def checked(i: te.IterVar) -> te.Expr:
        return te.check(te.cast(x[i], te.index), 2, "no")

    with pytest.raises(TypeError, match="makes a check on one side of a select"):
        te.compute((4,), lambda i: te.select(x[i] < 2, te.cast(checked(i), i64), x[i]))
    te.compute((4,), lambda i: te.select(checked(i) < 1, x[i], x[i] + 1))
    with pytest.raises(TypeError, match="only an index can be checked"):
        te.check(te.const(1, i64), 2, "no")


def test_a_literal_is_one_of_its_type() -> None:
    ui8 = IntegerType(8, Signedness.UNSIGNED)
    for value, type in (
        (-1, ui8),
        (256, ui8),
        (128, IntegerType(8)),
        (1 << 63, IntegerType(64)),
        (1 << 63, IndexType()),
    ):
        with pytest.raises(ArgumentError, match="is no"):
            te.const(value, type)
    assert te.const(255, ui8).value == 255
    assert te.const(-128, IntegerType(8)).value == -128

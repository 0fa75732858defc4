"""`weft.te`: TVM's names and argument forms, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from te_run import assert_scheduled, inputs_for

import weft
from weft import te, tir
from weft.dialects.support.arguments import ArgumentError
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.dialects.te.evaluate import evaluate
from weft.dialects.te.expr import Const
from weft.dialects.tir.core import PrimFuncOp
from weft.tir import Interpreter, Schedule, ScheduleError


def computed(output: te.Tensor, *inputs: te.Tensor) -> Any:
    """What a tensor is on random inputs, and the inputs."""
    arrays = inputs_for(inputs)
    return evaluate([output], dict(zip(inputs, arrays, strict=True)))[0], *arrays


def test_a_placeholder_takes_a_dtype_by_name_and_float32_without_one() -> None:
    assert te.placeholder((2, 3), "int8", "x").dtype == "int8"
    assert te.placeholder((2, 3), name="x").dtype == "float32"
    assert te.placeholder(4).shape == (4,)
    assert te.placeholder((2, 3), dtype="uint8").op.name == "placeholder"


def test_axes_are_called_as_the_parameters_are() -> None:
    x = te.placeholder((2, 3, 4), name="x")

    def row_wise(row: te.IterVar, *rest: te.IterVar) -> te.Expr:
        return x[(row, *rest)] + 1.0

    y = te.compute(x.shape, row_wise, name="y")
    assert [axis.name for axis in y.op.axis] == ["row", "rest0", "rest1"]
    assert y.op.input_tensors == [x] and y.op.output(0) is y and y.op.num_outputs == 1
    assert "tir.for %row = 0 to 2" in str(te.create_prim_func([x, y]))


def test_tensors_are_called_or_indexed() -> None:
    x = te.placeholder((4, 5), name="x")
    y = te.compute((4, 5), lambda i, j: x(i, j) - x[i, 4 - j], name="y")
    got, a = computed(y, x)
    np.testing.assert_array_equal(got, a - a[:, ::-1])


def test_reductions_take_an_axis_or_several_and_a_condition() -> None:
    x = te.placeholder((4, 6), name="x")
    k, m = te.reduce_axis((0, 4), "k"), te.reduce_axis((0, 6), "m")
    rows = te.compute((4,), lambda i: te.sum(x[i, m], axis=m, where=x[i, m] > 0.0), name="rows")
    least = te.compute((), lambda: te.min(x[k, m], axis=[k, m]), name="least")
    got, a = computed(rows, x)
    np.testing.assert_allclose(got, np.where(a > 0, a, 0).sum(1), rtol=1e-6)
    np.testing.assert_array_equal(computed(least, x)[0], a.min())


def test_a_reducer_of_two_values_combines_them() -> None:
    x, y = te.placeholder((5,), name="x"), te.placeholder((5,), name="y")
    got, a, b = computed(te.compute((5,), lambda i: te.max(x[i], te.min(y[i], 0.5)), name="z"), x, y)
    np.testing.assert_array_equal(got, np.maximum(a, np.minimum(b, np.float32(0.5))))


def test_a_reducer_of_ones_own_is_one_that_there_is() -> None:
    x = te.placeholder((7,), name="x")
    k = te.reduce_axis((0, 7), "k")
    product = te.comm_reducer(lambda a, b: a * b, lambda dtype: te.const(1, dtype), name="product")
    top = te.comm_reducer(lambda a, b: te.max(a, b), te.min_value)
    got, a = computed(te.compute((), lambda: product(x[k], k), name="p"), x)
    np.testing.assert_allclose(got, np.multiply.reduce(a), rtol=1e-5)
    np.testing.assert_array_equal(computed(te.compute((), lambda: top(x[k], axis=k), name="t"), x)[0], a.max())
    with pytest.raises(UsageError, match=r"the identity of sum is 0\.0, not 1\.0"):
        te.comm_reducer(lambda a, b: a + b, lambda dtype: te.const(1, dtype))
    wrong: list[tuple[Callable[[te.Expr, te.Expr], object], str]] = [
        (lambda a, b: a - b, r"\(0\.0,\) is no identity"),
        (lambda a, b: a + b + a * b * (a - b) * 0.5, "and the other way round to"),
        (lambda a, b: a + b + x[0], "made of the two values and of literals alone"),
        (lambda a, b: (a, b), "the combiner gives"),
    ]
    for combine, message in wrong:
        with pytest.raises(UsageError, match=message):
            te.comm_reducer(combine, lambda dtype: te.const(0, dtype))(x[k], axis=k)


def test_an_index_becomes_what_it_meets() -> None:
    x = te.placeholder((6,), "int32", "x")
    y = te.compute((6,), lambda i: x[i] * 10 + i, name="y")
    z = te.compute((6,), lambda i: i * 0.5, name="z")
    got, a = computed(y, x)
    np.testing.assert_array_equal(got, a * 10 + np.arange(6))
    assert (z.dtype, te.compute((6,), lambda i: i * 2, name="w").dtype) == ("float32", "int32")
    np.testing.assert_array_equal(computed(z)[0], np.arange(6) * np.float32(0.5))


def test_a_tensor_of_integers_is_an_index() -> None:
    x, at = te.placeholder((4, 3), name="x"), te.placeholder((5,), "int32", "at")
    y = te.compute((5, 3), lambda i, j: x[at[i], j], name="y")
    got, a, b = computed(y, x, at)
    np.testing.assert_array_equal(got, a[b])
    assert_scheduled(te.create_schedule(y.op), [x, at, y])


def test_a_condition_chooses_and_guards() -> None:
    x = te.placeholder((6,), name="x")
    y = te.compute((8,), lambda i: te.if_then_else(te.all(i >= 1, te.any(i < 7, i.equal(3))), x[i - 1], 0.0), name="y")
    got, a = computed(y, x)
    np.testing.assert_array_equal(got, np.pad(a, 1))
    assert_scheduled(te.create_schedule(y.op), [x, y])


def _chosen(i: te.IterVar) -> object:
    return 1.0 if i > 2 else 0.0


def _both(i: te.IterVar) -> object:
    return i > 2 and i < 4


def _not(i: te.IterVar) -> object:
    return not (i > 2)


@pytest.mark.parametrize(
    "body",
    [_chosen, _both, _not],
    ids=["if", "and", "not"],
)
def test_a_condition_has_no_truth_value_in_python(body: Callable[[te.IterVar], object]) -> None:
    with pytest.raises(TypeError, match=r"te\.if_then_else\(c, a, b\).*te\.all\(c, d\).*te\.any\(c, d\)"):
        te.compute((8,), body)


@pytest.mark.parametrize("name", ["exp", "tanh", "sqrt", "floor", "abs", "sigmoid", "erf", "log2", "rsqrt", "atan"])
def test_functions_have_tvms_names(name: str) -> None:
    x = te.placeholder((9,), name="x")
    y = te.compute((9,), lambda i: getattr(te, name)(x[i] * x[i] + 1.0), name="y")
    assert_scheduled(te.create_schedule(y.op), [x, y])


def test_division_says_how_it_rounds() -> None:
    x = te.placeholder((6,), "int32", "x")
    y = te.compute(
        (6,),
        lambda i: te.floordiv(x[i] - 2, 3) * 1000 + te.truncdiv(x[i] - 2, 3) * 100 + te.floormod(x[i] - 2, 3),
        name="y",
    )
    got, a = computed(y, x)
    np.testing.assert_array_equal(got, (a - 2) // 3 * 1000 + np.trunc((a - 2) / 3).astype(int) * 100 + (a - 2) % 3)


def test_extreme_values_are_those_of_the_type() -> None:
    values = [te.min_value("int8"), te.max_value("uint16"), te.max_value("float32"), te.min_value("float64")]
    finite = [-128, 65535, float(np.finfo("float32").max), float(np.finfo("float64").min)]
    assert [getattr(value, "value", None) for value in values] == finite


def test_a_prim_func_takes_its_tensors_by_name() -> None:
    x, y = te.placeholder((4,), name="x"), te.placeholder((4,), name="x")
    z = te.compute((4,), lambda i: x[i] + y[i], name="a b")
    function = te.create_prim_func([x, y, z], name="add")
    assert str(function).startswith("tir.prim_func @add(%x: memref<4xf32>, %x_1: memref<4xf32>, %a_b: memref<4xf32>)")
    function.verify()


MISTAKES: list[tuple[Callable[[te.Tensor], Any], str]] = [
    (lambda x: te.placeholder((2, -1)), "-1 is no extent"),
    (lambda x: te.placeholder((2.5,)), "has 2.5, a float in it"),  # pyright: ignore[reportArgumentType]
    (lambda x: te.placeholder((2,), "float33"), "float33"),
    (lambda x: te.compute((2, 3), lambda i: x[i]), "2 dimensions, and its function takes 1"),
    (lambda x: te.compute((2,), lambda i, j: x[i]), "1 dimensions, and its function takes 2"),
    (lambda x: te.compute((2,), lambda i: "x"), "is a str"),
    (lambda x: te.compute((2,), lambda i: (x[i], None)), "not an expression"),
    (lambda x: te.sum(x[0], axis=te.compute((2,), lambda i: x[i]).op.axis), "no reduce_axis"),
    (lambda x: te.sum(x[0], k := te.reduce_axis(4), init=k), "`init` depends on rv, over which is reduced"),
    (lambda x: te.sum(x[0], te.reduce_axis(4), init=te.max(x[0], te.reduce_axis(4))), "is a reduction itself"),
    (lambda x: te.if_then_else(x[0], 1.0, 2.0), "a condition is a comparison"),
    (lambda x: te.all(), "at least one condition"),
    (lambda x: te.reduce_axis((3, 1)), "ends before it begins"),
    (lambda x: te.extern((2,), [x], lambda ins, outs: 1), "is a int, and neither a statement nor a call"),
    (lambda x: te.scan(x, x, x), "no te.compute"),
    (lambda x: te.hybrid(None), "te.hybrid"),
    (lambda x: te.thread_axis(), "takes the thread's name"),
    (lambda x: te.create_schedule(x.op), "takes tensors that are computed"),
    (lambda x: te.create_prim_func([x]), "none of the tensors that are given is computed"),
    (lambda x: te.create_prim_func([te.compute((2,), lambda i: x[i])]), "'x' is read, and not among the arguments"),
    (lambda x: te.create_prim_func([x, x]), "'x' is given twice"),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES, ids=[message for _, message in MISTAKES])
def test_a_mistake_is_told_with_its_reason(mistake: Callable[[te.Tensor], Any], message: str) -> None:
    with pytest.raises(Diagnostic, match=message):
        mistake(te.placeholder((4,), name="x"))


def test_names_are_offered_without_being_loaded() -> None:
    assert set(te.__all__) <= set(dir(te)) and "create_schedule" in te.__all__
    assert weft.te is te


def test_an_axis_of_one_value_is_a_loop_of_a_function_of_tensors() -> None:
    a = te.placeholder((1, 4), name="a")
    text = te.create_prim_func([a, te.compute((1, 4), lambda i, j: a[i, j] + 1.0, name="b")]).script()
    assert "for i, j in T.grid(1, 4):" in text and 'T.axis.remap("SS", [i, j])' in text


def test_a_reducer_may_have_several_results() -> None:
    def greater(x: tuple[te.Expr, ...], y: tuple[te.Expr, ...]) -> tuple[te.Expr, ...]:
        keep = x[1] >= y[1]
        return te.if_then_else(keep, x[0], y[0]), te.if_then_else(keep, x[1], y[1])

    def least(t0: str, t1: str) -> tuple[te.Expr, ...]:
        return te.const(-1, t0), te.min_value(t1)

    def of_row(i: te.IterVar) -> tuple[te.Expr, ...]:
        return argmax((places[i, k], numbers[i, k]), axis=k)

    argmax = te.comm_reducer(greater, least, name="argmax")
    places, numbers = te.placeholder((4, 16), "int32", "places"), te.placeholder((4, 16), "float32", "numbers")
    k = te.reduce_axis((0, 16), "k")
    results: Any = te.compute((4,), of_row, name="greatest")
    assert [each.name for each in results] == ["greatest.v0", "greatest.v1"]
    where, greatest = results
    x = np.random.default_rng(0).permutation(64).astype(np.float32).reshape(4, 16)
    at = np.tile(np.arange(16, dtype=np.int32), (4, 1))
    for got in (
        evaluate([where, greatest], {places: at, numbers: x}),
        Interpreter(te.create_prim_func([places, numbers, where, greatest]))([at, x]),
    ):
        np.testing.assert_array_equal(got[0], x.argmax(1))
        np.testing.assert_array_equal(got[1], x.max(1))
    alone = np.zeros(4, np.int32)
    weft.build(te.create_prim_func([places, numbers, where]))(at, x, alone)
    np.testing.assert_array_equal(alone, x.argmax(1))
    with pytest.raises(Diagnostic, match="is one of several results of a reduction"):
        te.create_schedule(where.op)
    with pytest.raises(UsageError, match="computes several tensors at once"):
        te.compute((4,), lambda i: (of_row(i)[0], numbers[i, 1]), name="two")


def test_several_results_of_te_are_factored() -> None:
    def less(x: tuple[te.Expr, ...], y: tuple[te.Expr, ...]) -> tuple[te.Expr, ...]:
        return te.if_then_else(x[1] < y[1], x[0], y[0]), te.if_then_else(x[1] < y[1], x[1], y[1])

    def most(t0: str, t1: str) -> tuple[te.Expr, ...]:
        return te.const(-1, t0), te.max_value(t1)

    def of_row(i: te.IterVar) -> tuple[te.Expr, ...]:
        return argmin((places[i, k], numbers[i, k]), axis=k)

    argmin = te.comm_reducer(less, most)
    places, numbers = te.placeholder((4, 16), "int32", "places"), te.placeholder((4, 16), "float32", "numbers")
    k = te.reduce_axis((0, 16), "k")
    results: Any = te.compute((4,), of_row, name="least")
    where, least = results
    schedule = Schedule(te.create_prim_func([places, numbers, where, least]))
    _, steps = schedule.get_loops(schedule.get_block("least"))
    schedule.rfactor(schedule.split(steps, [None, 4])[1], 0)
    (factored,) = schedule.mod.ops
    assert isinstance(factored, PrimFuncOp)
    x = np.random.default_rng(1).permutation(64).astype(np.float32).reshape(4, 16)
    got = Interpreter(factored)([np.tile(np.arange(16, dtype=np.int32), (4, 1)), x])
    np.testing.assert_array_equal(got[0], x.argmin(1))
    np.testing.assert_array_equal(got[1], x.min(1))


def test_a_combiner_of_ones_own_reduces() -> None:
    def both(a: te.Expr, b: te.Expr) -> te.Expr:
        most = te.max(a, b)
        return most + te.log(te.exp(a - most) + te.exp(b - most))

    x = te.placeholder((3, 7), name="x")
    k = te.reduce_axis((0, 7), "k")
    soft = te.comm_reducer(both, te.min_value, name="soft")
    total = te.compute((3,), lambda i: soft(x[i, k], axis=k), name="total")
    got, a = computed(total, x)
    np.testing.assert_allclose(got, np.log(np.exp(a.astype(np.float64)).sum(1)), rtol=1e-4)
    some = te.compute((3,), lambda i: soft(x[i, k], axis=k, where=k < 2), name="some")
    got, a = computed(some, x)
    np.testing.assert_allclose(got, np.log(np.exp(a[:, :2].astype(np.float64)).sum(1)), rtol=1e-4)
    schedule = te.create_schedule(total.op)
    schedule[total].split(total.op.reduce_axis[0], factor=4)
    weft.build(schedule, [x, total])(a, out := np.zeros(3, np.float32))
    np.testing.assert_allclose(out, np.log(np.exp(a.astype(np.float64)).sum(1)), rtol=1e-4)


def test_equality_is_a_condition() -> None:
    x = te.placeholder((6,), name="x")
    y = te.compute((6,), lambda i: te.if_then_else(i == 2, 7.0, te.if_then_else(x[i] != 0.0, x[i], 1.0)), name="y")
    got, a = computed(y, x)
    np.testing.assert_array_equal(got, [7.0 if i == 2 else v or 1.0 for i, v in enumerate(a)])
    assert_scheduled(te.create_schedule(y.op), [x, y])


def _equal(i: te.IterVar) -> object:
    return 1.0 if i == 2 else 0.0


def test_equality_with_a_number_has_no_truth_value_in_python() -> None:
    with pytest.raises(TypeError, match="no truth value"):
        te.compute((8,), _equal)


def test_the_truth_of_equality_says_whether_two_are_one() -> None:
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), name="x")
    i, j = te.compute((n, m), lambda i, j: x[i, j]).op.axis
    assert i in (j, i) and [j, i].index(i) == 1 and {i: 1, j: 2}[j] == 2 and i != j
    assert n == n and not n == m and n != m and n + 1 == 1 + n and not n == 0 and n != n + 1
    assert te.const(3) == 3 and te.const(3) != 4 and (n, 4) == (n, 4) and i not in (n, "i", None)


@pytest.mark.parametrize(
    ("one", "other", "dtype"),
    [
        ("int32", "float32", "float32"),
        ("float16", "float32", "float32"),
        ("int8", "int32", "int32"),
        ("uint8", "uint16", "uint16"),
        ("int64", "float16", "float16"),
    ],
)
def test_numbers_meet_in_the_wider_type(one: str, other: str, dtype: str) -> None:
    x, y = te.placeholder((4,), one, "x"), te.placeholder((4,), other, "y")
    for z in (
        te.compute((4,), lambda i: x[i] * y[i], name="z"),
        te.compute((4,), lambda i: te.if_then_else(i < 2, y[i], x[i]), name="z"),
    ):
        assert z.dtype == dtype
    a, b = np.arange(4).astype(one), np.arange(4, 8).astype(other)
    np.testing.assert_array_equal(evaluate([te.compute((4,), lambda i: x[i] + y[i])], {x: a, y: b})[0], a + b)


def test_numbers_that_do_not_meet_are_refused() -> None:
    x, y = te.placeholder((4,), "float16", "x"), te.placeholder((4,), "bfloat16", "y")
    with pytest.raises(TypeError, match="different types"):
        te.compute((4,), lambda i: x[i] * y[i])


def test_a_fraction_makes_integers_floats() -> None:
    x = te.placeholder((4,), "int32", "x")
    for y in (te.compute((4,), lambda i: x[i] * 0.5, name="y"), te.compute((4,), lambda i: 0.5 * x[i], name="y")):
        got, a = computed(y, x)
        assert y.dtype == "float32"
        np.testing.assert_array_equal(got, a * np.float32(0.5))


def test_types_are_called_by_name() -> None:
    x = te.placeholder((4,), name="x")
    assert (x[0].astype("float16").dtype, x[0].dtype, te.const(1).astype("uint8").dtype) == (
        "float16",
        "float32",
        "uint8",
    )
    with pytest.raises(TypeError, match="float33"):
        x[0].astype("float33")


def test_a_tensor_is_read_one_dimension_after_the_other() -> None:
    x = te.placeholder((4, 5, 6), name="x")
    y = te.compute((4, 5), lambda i, j: x[i][j][0] + x[i, j][1] + x[0][0, 2], name="y")
    got, a = computed(y, x)
    np.testing.assert_allclose(got, a[:, :, 0] + a[:, :, 1] + a[0, 0, 2], rtol=1e-6)
    part: Any = x[0]
    assert part.shape == (5, 6)
    wrong: list[Callable[[te.IterVar], object]] = [
        lambda i: x[i],
        lambda i: x[i][0] + 1.0,
        lambda i: x[i][0][0][0],
        lambda i: 2.0 * x[i, 0],
    ]
    for formula in wrong:
        with pytest.raises(IndexError, match="has rank 3 but is read with"):
            te.compute((4,), formula)


def test_integers_are_shifted_and_raised() -> None:
    x = te.placeholder((4,), "int32", "x")
    y = te.compute(
        (4,), lambda i: (x[i] << 2) + (x[i] >> 1) + (1 << te.abs(x[i]) % 8) + (7 & x[i]) + 100 // (abs(x[i]) + 1)
    )
    got, a = computed(y, x)
    expected = [(v << 2) + (v >> 1) + (1 << abs(v) % 8) + (7 & v) + 100 // (abs(v) + 1) for v in a.tolist()]
    np.testing.assert_array_equal(got, np.array(expected, np.int64).astype(np.int32))


def test_several_formulas_give_several_tensors() -> None:
    n = te.size_var("n")
    a, b = te.placeholder((n,), name="a"), te.placeholder((n,), name="b")
    both: Any = te.compute((n,), lambda i: (a[i] + b[i], a[i] * b[i]), name="both")
    plus, times = both
    assert (plus.name, times.name) == ("both.v0", "both.v1")
    x, y = np.arange(4, dtype=np.float32), np.ones(4, np.float32) * 3
    for got, expected in zip(evaluate([plus, times], {a: x, b: y}), (x + y, x * y), strict=True):
        np.testing.assert_array_equal(got, expected)
    function = te.create_prim_func([a, b, plus, times], index_dtype_override="int64")
    results = Interpreter(function)([x, y])
    np.testing.assert_array_equal(results[1], x * y)
    with pytest.raises(UsageError, match="int32 or int64"):
        te.create_prim_func([a, b, plus], "int8")


def test_a_module_is_made_of_functions_by_name() -> None:
    x = te.placeholder((4,), name="x")
    function = te.create_prim_func([x, te.compute((4,), lambda i: x[i] + 1.0, name="y")])
    module = weft.tir.IRModule({"one": function, "two": function})
    assert module["one"].sym_name.data == "one" and module["two"].sym_name.data == "two"
    assert function.sym_name.data == "main" and function.parent is None


def test_modules_of_one_function_are_one_whatever_it_is_called() -> None:
    a = te.placeholder((4,), name="a")
    made = te.create_prim_func([a, te.compute((4,), lambda i: a[i] + 1.0, name="b")], name="added")
    other = te.create_prim_func([a, te.compute((4,), lambda i: a[i] + 2.0, name="b")])
    alone, called = tir.IRModule.of(made), tir.IRModule({"main": made})
    assert tir.structural_equal(alone, called) and tir.structural_hash(alone) == tir.structural_hash(called)
    assert not tir.structural_equal(alone, tir.IRModule.of(other))
    two = [tir.IRModule({"main": made, name: other}) for name in ("one", "two")]
    assert not tir.structural_equal(two[0], two[1])


def test_tir_has_the_functions_of_expressions() -> None:
    x = te.placeholder((6,), name="x")
    tir = cast("Any", weft.tir)
    y = te.compute(
        (6,), lambda i: tir.Select(tir.all(i >= 1, x[i] > 0.0), tir.exp(x[i]), tir.const(2, "float32")), name="y"
    )
    got, a = computed(y, x)
    expected = np.where((np.arange(6) >= 1) & (a > 0), np.exp(a), np.float32(2))
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    assert tir.floormod is te.floormod and tir.Select is te.Select


def test_a_reduction_starts_from_what_it_is_told() -> None:
    x, start = te.placeholder((8, 16), name="x"), te.placeholder((8,), name="start")
    doubled = te.compute((8,), lambda i: start[i] * 2.0, name="doubled")
    k = te.reduce_axis((0, 16), "k")
    total = te.compute((8,), lambda i: te.sum(x[i, k], axis=k, where=k > 2, init=doubled[i]), name="total")
    assert total.op.input_tensors == [x, doubled]
    assert str(te.sum(x[0, k], axis=k, init=1)) == "sum(x[0, k], axis=[k], init=T.float32(1.0))"
    got, a, b = computed(total, x, start)
    np.testing.assert_allclose(got, a[:, 3:].sum(1) + 2 * b, rtol=1e-5)
    s = te.create_schedule(total.op)
    assert_scheduled(s, [x, start, total])
    s[doubled].compute_inline()
    _, inner = s[total].split(k, factor=5)
    s.rfactor(total, inner)  # the parts start from 0, and the last from what the whole does
    assert_scheduled(s, [x, start, total])
    s = te.create_schedule(total.op)
    cache = s.cache_write(total, "local")
    s[doubled].compute_at(s[total], total.op.axis[0])
    s[cache].compute_at(s[total], total.op.axis[0])
    assert_scheduled(s, [x, start, total])


def test_a_reduction_of_ones_own_starts_from_what_it_is_told() -> None:
    def larger(a: Any, b: Any) -> Any:
        return te.if_then_else(a[1] >= b[1], a[0], b[0]), te.max(a[1], b[1])

    def identity(place: str, value: str) -> tuple[te.Expr, te.Expr]:
        return te.const(-1, place), te.min_value(value)

    argmax: Any = te.comm_reducer(larger, identity, name="argmax")
    x, least = te.placeholder((8, 16), name="x"), te.placeholder((8,), name="least")
    k = te.reduce_axis((0, 16), "k")
    both: Any = te.compute((8,), lambda i: argmax((k, x[i, k]), axis=k, init=(-7, least[i])), name="argmax")
    places, values = both
    function = te.create_prim_func([x, least, places, values])
    a, b = inputs_for([x, least])
    found, most = np.empty(8, np.int32), np.empty(8, np.float32)
    weft.build(function)(a, b, found, most)
    np.testing.assert_array_equal(most, np.maximum(b, a.max(1)))
    np.testing.assert_array_equal(found, np.where(b >= a.max(1), -7, a.argmax(1)))
    np.testing.assert_array_equal(evaluate([places], {x: a, least: b})[0], found)
    with pytest.raises(UsageError, match="gives 1 values for 2 results"):
        argmax((k, x[0, k]), axis=k, init=0.0)


def test_a_reduction_of_nothing_is_scheduled() -> None:
    x, start = te.placeholder((8, 0), name="x"), te.placeholder((8,), name="start")
    k = te.reduce_axis((0, 0), "k")
    total = te.compute((8,), lambda i: te.sum(x[i, k], axis=k, init=start[i]), name="total")
    twice = te.compute((8,), lambda i: total[i] * 2.0, name="twice")
    s = te.create_schedule(twice.op)
    s[total].split(k, factor=4)
    assert_scheduled(s, [x, start, twice])
    s[total].compute_at(s[twice], twice.op.axis[0])
    assert_scheduled(s, [x, start, twice])


def test_a_reduction_may_end_where_a_variable_around_it_says() -> None:
    """A triangle: the sum of what comes before each element."""
    x = te.placeholder((10,), name="x")

    def before(i: te.IterVar) -> te.Expr:
        k = te.reduce_axis((1, i + 1), "k")
        return te.sum(x[k], axis=k, init=3.0)

    sums = te.compute((10,), before, name="sums")
    got, a = computed(sums, x)
    np.testing.assert_allclose(got, 3 + np.concatenate([[0], np.cumsum(a[1:])]), rtol=1e-5)
    s = te.create_schedule(sums.op)
    assert_scheduled(s, [x, sums])
    n = te.var("n")
    open_x = te.placeholder((n,), name="x")
    k_of = te.compute((n,), lambda i: te.max(open_x[k := te.reduce_axis((0, i), "k")], axis=k), name="most")
    function = te.create_prim_func([open_x, k_of])
    values, found = np.arange(5, dtype=np.float32), np.empty(5, np.float32)
    weft.build(function)(values, found, 5)
    np.testing.assert_array_equal(found, [-np.inf, 0, 1, 2, 3])


def test_tags_and_attributes_are_kept_for_schedules_of_ones_own() -> None:
    x = te.placeholder((4,), name="x")
    with te.tag_scope(tag="gemm"):
        y = te.compute((4,), lambda i: x[i] * 2.0, name="y", attrs={"tile": [4, 8]})
    assert y.op.tag == "gemm" and y.op.attrs == {"tile": [4, 8]} and x.op.tag == ""
    assert te.compute((4,), lambda i: x[i], tag="copy").op.tag == "copy"

    @te.tag_scope(tag="conv")
    def twice() -> te.Tensor:
        return te.compute((4,), lambda i: x[i] * 2.0)

    assert twice().op.tag == "conv"
    with te.tag_scope(tag="outer"), pytest.raises(UsageError, match="stands within"):
        twice()
    assert te.compute((4,), lambda i: x[i]).op.tag == ""


def test_stages_of_a_group_move_together() -> None:
    x = te.placeholder((8, 12), name="x")
    a = te.compute((8, 12), lambda i, j: x[i, j] + 1.0, name="a")
    b = te.compute((8, 12), lambda i, j: a[i, j] * 2.0, name="b")
    c = te.compute((8, 12), lambda i, j: b[i, j] - x[i, j], name="c")
    s = te.create_schedule(c.op)
    group = s.create_group(outputs=b, inputs=a, include_inputs=True)
    assert s[a].group is s[b].group is group and s[c].group is None and group.num_child_stages == 2
    group.compute_at(s[c], c.op.axis[0])
    assert group.attach_stage is s[c]
    text = str(weft.lower(s, [x, c]))
    assert text.count("= 0 to 8 ") == 1 and text.count("= 0 to 12 ") == 3
    assert_scheduled(s, [x, c])
    s[a].compute_at(s[b], b.op.axis[1])  # its own place within the group
    assert_scheduled(s, [x, c])
    group.compute_root()
    assert_scheduled(s, [x, c])
    inner = s.create_group(outputs=b, inputs=a)
    assert inner.group is group and s[b].group is inner and group.num_child_stages == 2
    cache = s.cache_write(b, "local")
    assert s[cache].group is inner
    with pytest.raises(ScheduleError, match="is in the group"):
        group.compute_at(s[b], s[b].op.axis[0])


def test_errors_are_those_of_tvms_kinds() -> None:
    x = te.var("x")
    with pytest.raises(ValueError, match="no truth value"):
        assert x + 1
    with pytest.raises(TypeError, match="no truth value"):
        assert x > 1
    with pytest.raises(ValueError, match="take at least one condition"):
        te.any()


def test_literals_are_of_the_dtypes_of_numpys_numbers() -> None:
    values: list[Any] = [np.uint8(3), np.int64(-3), np.float16(1.5), np.float64(2.0)]
    for value in values:
        made = te.const(value)
        assert isinstance(made, Const) and made.dtype == str(value.dtype) and made.value == value.item()
    assert te.const(values[2], "float32").dtype == "float32"


def test_literals_beyond_all_numbers_of_a_type_are_refused() -> None:
    for value, dtype in ((70000.0, "float16"), (-3.402e39, "float32"), (300, "uint8")):
        with pytest.raises(ArgumentError):
            te.const(value, dtype)
    assert te.const(float("-inf"), "float16").dtype == "float16"


def test_bits_are_those_of_integers() -> None:
    f, n = tir.Var("f", "float32"), tir.Var("n", "int32")
    with pytest.raises(ArgumentError, match="is of the bits of integers, and not of f32"):
        _ = f & 1.0
    with pytest.raises(ArgumentError, match="is of the bits of integers"):
        _ = ~f
    with pytest.raises(ArgumentError, match="is of the bits of integers"):
        te.shift_left(f, 2)
    assert (n << 2).dtype == "int32"


def test_integers_are_round_and_finite() -> None:
    n = tir.Var("n", "int32")
    assert te.floor(n) is n and te.ceil(n) is n and te.trunc(n) is n and te.round(n) is n
    known = [te.isnan(n), te.isinf(n), te.isfinite(n)]
    assert [each.value for each in known if isinstance(each, Const)] == [False, False, True]


@pytest.mark.parametrize(
    "a, b, wanted",
    [
        ("bool", "int32", "int32"),
        ("bool", "float32", "float32"),
        ("uint32", "int32", "uint32"),
        ("int8", "uint32", "uint32"),
        ("uint8", "int16", "int16"),
        ("int64", "uint32", "int64"),
    ],
)
def test_numbers_of_two_types_meet_as_in_tvm(a: str, b: str, wanted: str) -> None:
    x, y = tir.Var("x", a), tir.Var("y", b)
    assert (x + y).dtype == (y + x).dtype == wanted
    assert te.if_then_else(te.var("n") > 0, x, y).dtype == wanted
    assert (x < y).dtype == "bool"


@pytest.mark.parametrize("a, b, wanted", [("bool", "int32", "int32"), ("int8", "uint32", "uint32")])
def test_numbers_of_two_types_are_converted_where_they_meet(a: str, b: str, wanted: str) -> None:
    x, y = te.placeholder((4,), a, "x"), te.placeholder((4,), b, "y")
    z = te.compute((4,), lambda i: x[i] + y[i], name="z")
    left = np.array([0, 1, -1, 7]).astype(a)
    right = np.array([5, 6, 7, 8], b)
    found = np.zeros(4, wanted)
    weft.build(te.create_schedule(z.op), [x, y, z])(left, right, found)
    np.testing.assert_array_equal(found, left.astype(wanted) + right)
    np.testing.assert_array_equal(evaluate([z], {x: left, y: right})[0], found)


def test_a_condition_counts_as_an_index_where_it_meets_one() -> None:
    n, flag = te.var("n"), tir.Var("flag", "bool")
    assert (n + flag).type == (flag + n).type == n.type

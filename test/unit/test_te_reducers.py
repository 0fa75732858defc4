"""Reductions of `weft.te`: several axes and results, combiners of one's own, what they start from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest
from te_run import assert_scheduled, computed, inputs_for

import weft
from weft import te
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.te.evaluate import evaluate
from weft.dialects.tir.core import PrimFuncOp, blocks_under
from weft.tir import Interpreter, Schedule, ScheduleError


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


def test_each_result_of_a_reducer_is_tried() -> None:
    def added(a: tuple[te.Expr, ...], b: tuple[te.Expr, ...]) -> tuple[te.Expr, ...]:
        return a[0] + b[0], a[1] + b[1]

    def none_and_one(t0: str, t1: str) -> tuple[te.Expr, ...]:
        return te.const(0, t0), te.const(1, t1)

    x, y, k = te.placeholder((7,), name="x"), te.placeholder((7,), name="y"), te.reduce_axis((0, 7), "k")
    sums = te.comm_reducer(added, none_and_one)
    with pytest.raises(UsageError, match=r"\(0\.0, 1\.0\) is no identity"):
        sums((x[k], y[k]), axis=k)


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
    with pytest.raises(UsageError, match="computes several tensors at once"):
        te.compute((4,), lambda i: (of_row(i)[0], numbers[i, 1]), name="two")


ROWS, COLUMNS = 6, 16


@dataclass
class Greatest:
    """Where the greatest of each row of twice `x` is, what it is, and a sum of both."""

    x: te.Tensor
    twice: te.Tensor
    where: te.Tensor
    most: te.Tensor
    both: te.Tensor

    @property
    def row(self) -> te.IterVar:
        return self.most.op.axis[0]

    @property
    def column(self) -> te.IterVar:
        return self.most.op.reduce_axis[0]


def greatest_of_rows() -> Greatest:
    def greater(a: tuple[te.Expr, ...], b: tuple[te.Expr, ...]) -> tuple[te.Expr, ...]:
        return te.if_then_else(a[1] >= b[1], a[0], b[0]), te.if_then_else(a[1] >= b[1], a[1], b[1])

    def least(t0: str, t1: str) -> tuple[te.Expr, ...]:
        return te.const(-1, t0), te.min_value(t1)

    argmax = te.comm_reducer(greater, least, name="argmax")
    x, k = te.placeholder((ROWS, COLUMNS), name="x"), te.reduce_axis((0, COLUMNS), "k")
    twice = te.compute((ROWS, COLUMNS), lambda i, j: x[i, j] * 2.0, name="twice")
    results: Any = te.compute((ROWS,), lambda i: cast("Any", argmax((k, twice[i, k]), axis=k)), name="greatest")
    where, most = results
    both = te.compute((ROWS,), lambda i: most[i] + where[i].astype("float32"), name="both")
    return Greatest(x, twice, where, most, both)


def scheduled(of: Greatest, schedule: te.Schedule, outputs: Sequence[te.Tensor]) -> list[str]:
    """The names of the blocks of a schedule, which computes what it is to."""
    x = np.random.default_rng(0).permutation(ROWS * COLUMNS).astype(np.float32).reshape(ROWS, COLUMNS)
    wanted = {of.where: x.argmax(1), of.most: x.max(1) * 2, of.both: x.max(1) * 2 + x.argmax(1)}
    results = [np.zeros(ROWS, each.dtype) for each in outputs]
    weft.build(schedule, [of.x, *outputs], threads=1)(x, *results)
    for result, output in zip(results, outputs, strict=True):
        np.testing.assert_array_equal(result, wanted[output])
    return [block.block_name for block in blocks_under(weft.lower(schedule, [of.x, *outputs]))]


def test_results_of_one_reduction_have_one_stage() -> None:
    of = greatest_of_rows()
    schedule = te.create_schedule([of.where.op, of.most.op])
    assert schedule[of.where] is schedule[of.most] and len(schedule.stages) == 3
    schedule[of.twice].compute_inline()
    outer, inner = schedule[of.most].split(of.column, factor=5)  # leaves a rest
    rows, row = schedule[of.where].split(of.row, nparts=2)
    schedule[of.where].reorder(rows, outer, row, inner)
    schedule[of.most].parallel(rows)
    assert scheduled(of, schedule, [of.where, of.most])[-1] == "greatest"


@pytest.mark.parametrize("asked", ["where", "most", "both"])
def test_results_of_one_reduction_are_asked_for_alone(asked: str) -> None:
    of = greatest_of_rows()
    output: te.Tensor = getattr(of, asked)
    schedule = te.create_schedule(output.op)
    schedule[of.twice].compute_at(schedule[of.most if asked == "most" else of.where], of.row)
    if asked == "both":
        schedule[of.where].set_scope("local")
        copy = schedule.cache_read(of.most, "local", [of.both])
        assert copy.name == "greatest.v1.local"
    scheduled(of, schedule, [output])


REFUSED: list[tuple[Callable[[te.Schedule, Greatest], object], str]] = [
    (lambda s, of: s.cache_write(of.most, "local"), "cache_write takes one alone"),
    (lambda s, of: s[of.most].transform_layout(lambda i: [i // 2, i % 2]), "transform_layout takes one alone"),
    (lambda s, of: s[of.most].rolling_buffer(), "rolling_buffer takes one alone"),
    (lambda s, of: s[of.most].storage_align(of.row, 8, 0), "storage_align takes one alone"),
    (lambda s, of: s.rfactor(of.most, of.column), "reduces by a combiner of its own"),
    (lambda s, of: s[of.where].compute_inline(), "reduces, and cannot be computed inline"),
]


@pytest.mark.parametrize(("ask", "message"), REFUSED)
def test_what_takes_one_result_alone_is_refused(ask: Callable[[te.Schedule, Greatest], object], message: str) -> None:
    of = greatest_of_rows()
    schedule = te.create_schedule(of.both.op)
    with pytest.raises(ScheduleError, match=message):
        ask(schedule, of)
    scheduled(of, schedule, [of.both])


def test_all_results_that_are_asked_for_are_arguments() -> None:
    of = greatest_of_rows()
    schedule = te.create_schedule([of.where.op, of.most.op])
    with pytest.raises(ScheduleError, match=r"'greatest.v1' is an output of the schedule, and no argument"):
        weft.lower(schedule, [of.x, of.where])


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

"""The analyzer against evaluation: random expressions at all points that the facts allow."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from weft.dialects.tir.analyzer import (
    Analyzer,
    IntExpr,
    all_of,
    any_of,
    const,
    evaluate,
    maximum,
    minimum,
    negate,
    select,
    truncdiv,
    truncmod,
    var,
    wrap,
)
from weft.dialects.tir.analyzer.build import bit_and, floordiv, floormod
from weft.dialects.tir.analyzer.facts import ANY_RANGE
from weft.dialects.tir.analyzer.nodes import Product, children

VARIABLES: tuple[IntExpr, ...] = (var("x"), var("y"), var("z"))
CONSTANTS = st.sampled_from([-8, -3, -2, -1, 0, 1, 2, 3, 4, 5, 8, 12])
RANGES = st.tuples(st.integers(-6, 6), st.integers(0, 5)).map(lambda r: (r[0], r[0] + r[1]))


def _add(a: IntExpr, b: IntExpr) -> IntExpr:
    return a + b


def _subtract(a: IntExpr, b: IntExpr) -> IntExpr:
    return a - b


def _multiply(a: IntExpr, b: IntExpr) -> IntExpr:
    return a * b


def _compare(a: IntExpr, b: IntExpr, kind: int) -> IntExpr:
    return [a <= b, a < b, a.equal(b), a.differs(b)][kind]


def _conditions(numbers: st.SearchStrategy[IntExpr]) -> st.SearchStrategy[IntExpr]:
    compared = st.builds(_compare, numbers, numbers, st.integers(0, 3))
    return st.one_of(
        compared,
        st.builds(all_of, compared, compared),
        st.builds(any_of, compared, compared),
        st.builds(negate, compared),
    )


def _extend(numbers: st.SearchStrategy[IntExpr]) -> st.SearchStrategy[IntExpr]:
    constants = CONSTANTS.map(const)
    divisors = st.one_of(st.sampled_from([2, 3, 4, 6, 8, 12, -2, -3]).map(const), numbers)
    return st.one_of(
        st.builds(_add, numbers, numbers),
        st.builds(_subtract, numbers, numbers),
        st.builds(_multiply, numbers, st.one_of(constants, numbers)),
        st.builds(floordiv, numbers, divisors),
        st.builds(floormod, numbers, divisors),
        st.builds(truncdiv, numbers, divisors),
        st.builds(truncmod, numbers, divisors),
        st.builds(minimum, numbers, st.one_of(numbers, constants)),
        st.builds(maximum, numbers, st.one_of(numbers, constants)),
        st.builds(select, _conditions(numbers), numbers, numbers),
        st.builds(bit_and, numbers, constants),
        st.builds(wrap, numbers, st.integers(2, 4), st.booleans()),
        _conditions(numbers),
    )


NUMBERS = st.recursive(st.one_of(st.sampled_from(VARIABLES), CONSTANTS.map(const)), _extend, max_leaves=8)


def _points(ranges: tuple[tuple[int, int], ...]) -> Iterator[dict[IntExpr, int]]:
    for values in product(*(range(low, high + 1) for low, high in ranges)):
        yield dict(zip(VARIABLES, values, strict=True))


def _value(expr: IntExpr, point: dict[IntExpr, int]) -> int | None:
    try:
        return evaluate(expr, point)
    except ZeroDivisionError:
        return None


def _multiplies(expr: IntExpr) -> bool:
    """Whether a product may have been multiplied out, which is the one way to grow."""
    return isinstance(expr, Product) or any(map(_multiplies, children(expr)))


@settings(max_examples=80)
@given(NUMBERS, st.tuples(RANGES, RANGES, RANGES), st.lists(_conditions(NUMBERS), max_size=2))
def test_what_the_analyzer_says_is_true_at_every_point(
    expr: IntExpr, ranges: tuple[tuple[int, int], ...], assumed: list[IntExpr]
):
    analyzer = Analyzer(dict(zip(VARIABLES, ranges, strict=True)))
    points = [p for p in _points(ranges) if all(_value(condition, p) == 1 for condition in assumed)]
    with analyzer.assuming(*assumed):
        simple = analyzer.simplify(expr)
        assert analyzer.simplify(simple) == simple
        assert simple.measure <= expr.measure or _multiplies(expr), simple
        bounds = (analyzer.range(expr), analyzer.const_int_bound(expr))
        coefficient, base = analyzer.modular_set(expr)
        least, greatest = analyzer.interval(expr, {VARIABLES[0]: ranges[0]})
        positive = analyzer.can_prove(expr >= 1)
        for point in points:
            value = _value(expr, point)
            if value is None:
                continue
            assert _value(simple, point) == value, (simple, point)
            for low, high in bounds:
                assert low is None or low <= value, point
                assert high is None or value <= high, point
            assert (value - base) % coefficient == 0 if coefficient else value == base
            assert not positive or value >= 1
            low, high = (None if end is None else _value(end, point) for end in (least, greatest))
            assert (low is None or low <= value) and (high is None or value <= high), (least, greatest, point)


def test_what_has_no_value_has_no_bounds():
    x = VARIABLES[0]
    never = floormod(x, const(0))  # no rest is between zero and a divisor of zero
    assert Analyzer().const_int_bound(never) == ANY_RANGE
    assert Analyzer().const_int_bound(_multiply(x, _add(x, never))) == ANY_RANGE


@settings(max_examples=60)
@given(NUMBERS)
def test_simplification_without_facts_keeps_the_value(expr: IntExpr):
    simple = Analyzer().simplify(expr)
    assert Analyzer().simplify(simple) == simple
    for values in ((-7, 5, 3), (0, 0, 0), (11, -4, 1), (2, 9, -6), (100, 33, 7)):
        point = dict(zip(VARIABLES, values, strict=True))
        value = _value(expr, point)
        assert value is None or _value(simple, point) == value

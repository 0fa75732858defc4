"""Integer expressions and affine expressions: conversion, coefficients, and today's normal form as the standard."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from weft.dialects.tir import affine
from weft.dialects.tir.analyzer import (
    Analyzer,
    IntExpr,
    assume_positive,
    coefficient,
    depends_only_on,
    dim,
    from_affine,
    is_linear_in,
    minimum,
    sym,
    to_affine,
    var,
    without,
)
from weft.dialects.tir.analyzer.nodes import Var

LEAVES = st.one_of(
    st.integers(0, 2).map(AffineExpr.dimension),
    st.integers(0, 1).map(AffineExpr.symbol),
    st.integers(-5, 9).map(AffineConstantExpr),
)


def _grow(inner: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
    positive = st.integers(1, 8)

    def combine(lhs: AffineExpr, rhs: AffineExpr, factor: int, kind: int) -> AffineExpr:
        return [lhs + rhs, lhs - rhs, lhs * factor, lhs // factor, lhs % factor, lhs.ceil_div(factor)][kind]

    return st.builds(combine, inner, inner, positive, st.integers(0, 5))


EXPRESSIONS = st.recursive(LEAVES, _grow, max_leaves=10)


@settings(max_examples=60)
@given(EXPRESSIONS)
def test_a_round_trip_keeps_the_value_and_is_stable(expr: AffineExpr):
    there = from_affine(expr)
    back = to_affine(there)
    assert back is not None
    assert from_affine(back) is there
    for seed in range(5):
        rng = random.Random(seed)
        dims, syms = [rng.randrange(-20, 20) for _ in range(3)], [rng.randrange(-20, 20) for _ in range(2)]
        assert back.eval(dims, syms) == expr.eval(dims, syms)


@settings(max_examples=60)
@given(EXPRESSIONS, st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20)), min_size=3, max_size=3))
def test_the_form_is_as_simple_as_that_of_affine_expressions_alone(expr: AffineExpr, sizes: list[tuple[int, int]]):
    ranges = {AffineExpr.dimension(i): (low, low + size) for i, (low, size) in enumerate(sizes)}
    analyzer = Analyzer({from_affine(d): r for d, r in ranges.items()})
    before = from_affine(affine.simplify(expr, ranges))
    after = analyzer.simplify(from_affine(expr))
    assert analyzer.can_prove_equal(before, after)
    bounds = affine.expr_range(expr, ranges)
    low, high = analyzer.const_int_bound(from_affine(expr))
    if bounds is not None:
        assert low is not None and high is not None and bounds[0] <= low and high <= bounds[1]


def test_what_affine_expressions_cannot_say_is_not_converted():
    assert to_affine(minimum(dim(0), sym(0))) is None
    assert to_affine(dim(0) + var("n")) is None
    assert to_affine(dim(0) * 4 + sym(1) // 3) is not None


def test_coefficients_and_rests_of_a_linear_expression():
    i, j, n = dim(0), dim(1), sym(0)
    expr: IntExpr = i * 12 + j * n + j // 2 + 5
    assert coefficient(expr, i) == 12
    assert coefficient(expr, j) == 0
    assert without(expr, i) is j * n + j // 2 + 5
    assert is_linear_in(expr, i)
    assert not is_linear_in(expr, j)
    assert depends_only_on(expr, {v for v in (i, j, n) if isinstance(v, Var)})
    assert not depends_only_on(expr, {v for v in (i, j) if isinstance(v, Var)})


def test_equal_expressions_are_one_object():
    i, j = dim(0), dim(1)
    assert (i + j) * 2 - j is j + i * 2
    assert (i < j) is (j >= i + 1)
    assert hash(i + 1) == hash(1 + i)


@pytest.mark.parametrize("size", [5, 60])
def test_order_of_terms_does_not_depend_on_what_was_built_before(size: int):
    names = [f"v{size}_{k}" for k in range(size)]
    forward = sum((var(n) for n in names), var("start"))
    backward = sum((var(n) for n in reversed(names)), var("start"))
    assert forward is backward
    assert str(forward) == " + ".join(sorted([*names, "start"], key=lambda n: (len(n), n)))


def test_quotients_by_sizes_stay_below_what_the_dividend_is_a_multiple_of():
    i, n, m, k = dim(0), sym(0), sym(1), sym(2)
    analyzer = Analyzer()
    analyzer.assume(n >= 0, m >= 1, k >= 1, i >= 0, i < n * m * k)
    assert analyzer.simplify(n * m * k // (m * k)) is n
    assert analyzer.simplify((n * m * k + 1) % (m * k)) is analyzer.simplify(1 % (m * k))
    assert analyzer.can_prove(i // (m * k) < n)
    assert analyzer.can_prove(i // (m * k) >= 0)
    assert not analyzer.can_prove(i // (m * k) < n - 1)
    assert not analyzer.can_prove(i // k < n)


@pytest.mark.parametrize(
    ("size", "positive", "not_shown"),
    [
        (sym(0) * sym(1), [sym(0), sym(1)], [sym(2)]),
        ((sym(0) * sym(1) + 3) // 4, [sym(0), sym(1)], []),
        ((sym(0) * sym(1) - 1) // 4 + 1, [sym(0), sym(1)], []),
        (sym(0) * sym(1) % 4, [sym(0), sym(1)], []),
        (sym(0) % 4 + 1, [], [sym(0)]),
        (sym(0) * sym(1) + sym(0) * sym(2), [sym(0), sym(1) + sym(2)], [sym(1), sym(2)]),
        (sym(0) * sym(1) + 1, [], [sym(0), sym(1)]),
        (sym(0) + sym(1), [], [sym(0), sym(1)]),
        (sym(0) * sym(1) - 3, [sym(0), sym(1)], []),
        (sym(0) * (sym(1) - 3), [sym(0), sym(1) - 3], []),
    ],
)
def test_where_a_size_is_positive_its_factors_are(size: IntExpr, positive: list[IntExpr], not_shown: list[IntExpr]):
    analyzer = Analyzer()
    analyzer.assume(*(sym(number) >= 0 for number in range(3)))
    assume_positive(analyzer, size)
    assert all(analyzer.can_prove(each >= 1) for each in positive)
    assert not any(analyzer.can_prove(each >= 1) for each in not_shown)


def test_sums_of_sizes_divide_what_is_a_multiple_of_them():
    i, n, m, k = dim(0), sym(0), sym(1), sym(2)
    analyzer = Analyzer()
    analyzer.assume(n >= 0, m >= 0, k >= 0, i >= 0, i < n + 3)
    assert analyzer.simplify((m + 1) * (n + 3) * (k + 2) // ((n + 3) * (k + 2))) is m + 1
    assert analyzer.simplify(((m + 1) * (n + 3) + i) // (n + 3)) is m + 1
    assert analyzer.simplify(((m + 1) * (n + 3) + i) % (n + 3)) is i
    rest = (n * m + 3) // (n + 3)
    assert analyzer.simplify(rest) is rest


@settings(max_examples=60)
@given(EXPRESSIONS)
def test_digits_as_differences_of_quotients_have_the_same_value(expr: AffineExpr):
    there = to_affine(affine.by_quotients(expr))
    assert there is not None
    for seed in range(5):
        rng = random.Random(seed)
        dims, syms = [rng.randrange(-20, 60) for _ in range(3)], [rng.randrange(-20, 60) for _ in range(2)]
        assert there.eval(dims, syms) == expr.eval(dims, syms)


def test_quotients_that_are_equal_are_one() -> None:
    n = AffineExpr.symbol(0)
    for one, other in [
        (n * 4 // 6, n * 2 // 3),
        ((n * 4 // 3) % 2, n + n // 3 - n * 2 // 3 * 2),
        (n * 196 // 6, n * 32 + n * 2 // 3),
        ((n + n // 3) // 2, n * 2 // 3),
        ((n * 3 + n // 4 + 2) // 5, (n * 13 + 8) // 20),
    ]:
        assert affine.by_quotients(one) is affine.by_quotients(other)

"""Index arithmetic held against direct evaluation, at every value in range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from weft.dialects.tir.affine import Range, evaluate_along, expr_range, linear, linear_range, simplify
from weft.dialects.tir.symbols import MAX_EXTENT, greatest

Integers: TypeAlias = npt.NDArray[np.int64]

many = settings(max_examples=60)
DIMS = [AffineExpr.dimension(i) for i in range(3)]
KINDS = AffineBinaryOpKind


def constant(value: int) -> AffineExpr:
    return AffineConstantExpr(value)


def combined(inner: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
    factor = st.integers(-6, 6).map(constant)
    divisor = st.integers(1, 8).map(constant)
    return st.one_of(
        st.builds(AffineBinaryOpExpr, st.just(KINDS.Add), inner, inner),
        st.builds(AffineBinaryOpExpr, st.just(KINDS.Mul), inner, factor),
        st.builds(AffineBinaryOpExpr, st.sampled_from([KINDS.FloorDiv, KINDS.Mod, KINDS.CeilDiv]), inner, divisor),
    )


leaves = st.sampled_from(DIMS) | st.integers(-9, 9).map(constant)
exprs: st.SearchStrategy[AffineExpr] = st.recursive(leaves, combined, max_leaves=8)
bounds = st.tuples(st.integers(-4, 6), st.integers(0, 5)).map(lambda t: (t[0], t[0] + t[1]))
domains = st.tuples(bounds, bounds, bounds)


def values(expr: AffineExpr, points: Sequence[Integers]) -> Integers:
    """The expression's value at each point, which dimensions and points are the rows and columns of; written anew, so
    that nothing is shared with what is tested."""
    match expr:
        case AffineConstantExpr(number):
            return np.full_like(points[0], number)
        case AffineDimExpr(position):
            return points[position]
        case AffineBinaryOpExpr(kind, lhs, rhs):
            a, b = values(lhs, points), values(rhs, points)
            match kind:
                case KINDS.Add:
                    return a + b
                case KINDS.Mul:
                    return a * b
                case KINDS.FloorDiv:
                    return a // b
                case KINDS.Mod:
                    return a % b
                case KINDS.CeilDiv:
                    return -(-a // b)
        case _:
            pass
    raise TypeError(expr)


def points_of(domain: tuple[Range, ...]) -> list[Integers]:
    """Every point of the domain: of each dimension the coordinates."""
    return [axis.ravel() for axis in np.meshgrid(*(np.arange(low, high + 1) for low, high in domain))]


def differences(got: AffineExpr, wanted: AffineExpr, points: Sequence[Integers]) -> list[tuple[int, ...]]:
    """The points at which the two have different values."""
    wrong = values(got, points) != values(wanted, points)
    return [tuple(map(int, point)) for point in np.stack(points)[:, wrong].T]


def ranges_of(domain: tuple[Range, ...]) -> Mapping[AffineExpr, Range]:
    return dict(zip(DIMS, domain, strict=True))


EVERYWHERE = points_of(((-5, 5), (-5, 5), (-2, 9)))


@many
@given(exprs)
def test_the_normal_form_without_ranges_has_the_same_value_everywhere(expr: AffineExpr) -> None:
    simple = simplify(expr)
    assert not differences(simple, expr, EVERYWHERE), f"{expr} became {simple}"


@many
@given(exprs, domains)
def test_the_normal_form_has_the_same_value_everywhere_in_range(
    expr: AffineExpr, domain: tuple[Range, Range, Range]
) -> None:
    simple = simplify(expr, ranges_of(domain))
    assert not differences(simple, expr, points_of(domain)), f"{expr} became {simple}"


@many
@given(exprs, domains)
def test_bounds_hold_everywhere_in_range(expr: AffineExpr, domain: tuple[Range, Range, Range]) -> None:
    ranges = ranges_of(domain)
    found_there = values(expr, points_of(domain))
    for found in (expr_range(expr, ranges), linear_range(linear(expr, ranges), ranges)):
        if found is not None:
            assert found[0] <= found_there.min() and found_there.max() <= found[1], f"{expr} leaves {found}"


def _part(dim: AffineExpr, kind: KINDS | None, divisor: int, factor: int) -> AffineExpr:
    part = dim if kind is None else AffineBinaryOpExpr(kind, dim, constant(divisor))
    return AffineBinaryOpExpr(KINDS.Mul, part, constant(factor))


parts = st.builds(
    _part,
    st.sampled_from(DIMS),
    st.sampled_from([None, KINDS.FloorDiv, KINDS.Mod]),
    st.integers(1, 6),
    st.integers(-3, 6),
)


@settings(many, max_examples=300)
@given(st.lists(parts, min_size=1, max_size=4), st.integers(-2, 2), domains)
def test_a_sum_of_quotients_has_the_form_that_rules_give_it(
    parts: Sequence[AffineExpr], offset: int, domain: tuple[Range, Range, Range]
) -> None:
    """Most sums are seen to be in normal form without a look at the rules."""
    ranges = ranges_of(domain)
    expr = constant(offset)
    for part in parts:
        expr = AffineBinaryOpExpr(KINDS.Add, expr, part)
    seen, ruled = linear(expr, ranges), linear(simplify(expr, ranges), ranges)
    assert list(seen.terms.items()) == list(ruled.terms.items()) and seen.constant == ruled.constant


@many
@given(exprs, st.integers(1, 8), domains)
def test_quotients_and_remainders_hold_everywhere_in_range(
    expr: AffineExpr, divisor: int, domain: tuple[Range, Range, Range]
) -> None:
    ranges, points = ranges_of(domain), points_of(domain)
    quotient, remainder = simplify(expr // divisor, ranges), simplify(expr % divisor, ranges)
    whole = values(expr, points)
    assert np.array_equal(values(quotient, points), whole // divisor)
    assert np.array_equal(values(remainder, points), whole % divisor)


i, j, k = DIMS


@pytest.mark.parametrize(
    ("expr", "domain", "simple"),
    [
        ((i * 4 + j) // 4, ((0, 9), (0, 3), (0, 0)), "d0"),
        ((i * 4 + j) % 4, ((0, 9), (0, 3), (0, 0)), "d1"),
        ((i * 4 + j) // 4, ((0, 9), (0, 4), (0, 0)), "((d1 floordiv 4) + d0)"),
        ((i * 16 + j * 4 + k) // 16, ((0, 9), (0, 3), (0, 3)), "d0"),
        ((i * 16 + j * 4 + k) % 16, ((0, 9), (0, 3), (0, 3)), "((d1 * 4) + d2)"),
        ((i * 4 + j) // 12, ((0, 9), (0, 3), (0, 0)), "(d0 floordiv 3)"),
        ((i * 4 + j) % 12, ((0, 9), (0, 3), (0, 0)), "(((d0 mod 3) * 4) + d1)"),
        ((i // 7) * 7 + i % 7, ((0, 99), (0, 0), (0, 0)), "d0"),
        (i - i, ((0, 9), (0, 0), (0, 0)), "0"),
        (i * 2 + 3 - i, ((0, 9), (0, 0), (0, 0)), "(d0 + 3)"),
        ((i + 16) // 16, ((0, 15), (0, 0), (0, 0)), "1"),
    ],
)
def test_what_splits_and_fusions_leave_behind_is_resolved(
    expr: AffineExpr, domain: tuple[Range, Range, Range], simple: str
) -> None:
    assert str(simplify(expr, ranges_of(domain))) == simple


def test_an_unknown_range_is_no_range() -> None:
    assert expr_range(i + j, {i: (0, 3)}) is None
    assert expr_range(i // 2, {}) is None


def test_a_product_of_dimensions_is_an_atom() -> None:
    expr = AffineBinaryOpExpr(KINDS.Mul, i, j)
    assert simplify(expr) == expr
    assert expr_range(expr, {i: (0, 3), j: (0, 3)}) == (0, 9)


@many
@given(exprs, st.lists(st.integers(-9, 9), max_size=4))
def test_values_along_a_dimension_are_those_at_each_point(expr: AffineExpr, points: list[int]) -> None:
    along = expr.replace_dims_and_symbols([DIMS[0]] * 3, [])
    assert evaluate_along(along, points) == values(along, [np.array(points, np.int64)]).tolist()


def test_what_an_extent_is_at_most_follows_from_its_symbols() -> None:
    size = AffineExpr.symbol(0)
    assert greatest(size % 6) == 5 and greatest(size % 6 * 4 + 1) == 21
    assert greatest(size) == greatest(size * 2) == MAX_EXTENT

"""Constant bounds, remainders and symbolic intervals."""

from __future__ import annotations

import pytest

from weft.dialects.tir.analyzer import (
    Analyzer,
    IntExpr,
    const,
    maximum,
    minimum,
    power_of_two,
    select,
    truncdiv,
    truncmod,
    var,
    wrap,
)

x, y, z, n = map(var, ("x", "y", "z", "n"))

Range = tuple[int | None, int | None]

BOUNDS: list[tuple[IntExpr, Range, Range, Range]] = [
    (x + y, (0, 4), (1, 10), (1, 14)),
    (x - y, (0, 4), (1, 10), (-10, 3)),
    (x - y, (0, None), (1, 10), (-10, None)),
    (x * y + 20, (-2, 4), (4, 10), (0, 60)),
    (x * y, (-3, 4), (-8, 2), (-32, 24)),
    (x * y, (None, 4), (-8, 2), (None, None)),
    (truncdiv(x, y), (-9, 4), (-4, 12), (-9, 9)),
    (truncdiv(x, y), (-9, 4), (-2, 0), (-4, 9)),
    (truncmod(x, y), (-9, 4), (4, 10), (-9, 4)),
    (truncmod(x, y), (None, None), (4, 10), (-9, 9)),
    (truncmod(x, y), (1, None), (4, 10), (0, 9)),
    (x // y, (-9, 4), (4, 10), (-3, 1)),
    (x // y, (-9, 4), (-2, 0), (-4, 9)),
    (x // y, (-9, 4), (-4, 12), (-9, 9)),
    (x // y, (1, 4), (0, 12), (0, 4)),
    (x % y, (-9, 4), (4, 10), (0, 9)),
    (x % y, (1, None), (4, 10), (0, 9)),
    (minimum(x, y), (-9, 11), (4, 10), (-9, 10)),
    (minimum(x, y), (None, None), (4, 10), (None, 10)),
    (maximum(x, y), (None, None), (4, 10), (4, None)),
    (select(n > 1, x, y + 1), (-9, 11), (4, 10), (-9, 11)),
    (x >> y, (-9, 11), (0, 10), (-9, 11)),
    (x << y, (0, 11), (2, 3), (0, 88)),
    (x & 0b10101, (None, None), (0, 0), (0, 21)),
    (x & y, (-9, 11), (4, 10), (0, 10)),
    (power_of_two(x), (2, 5), (0, 0), (4, 32)),
    (wrap(x, 8), (None, None), (0, 0), (-128, 127)),
    (wrap(x, 8, signed=False), (None, None), (0, 0), (0, 255)),
    (wrap(truncmod(x, 3), 32, signed=False), (0, 9), (0, 0), (0, 2)),
    (x * x, (-3, 2), (0, 0), (0, 9)),
]


@pytest.mark.parametrize("expr, range_x, range_y, expected", BOUNDS, ids=str)
def test_bounds_follow_from_ranges(expr: IntExpr, range_x: Range, range_y: Range, expected: Range):
    analyzer = Analyzer()
    analyzer.facts.restrict(x, range_x)
    analyzer.facts.restrict(y, range_y)
    assert analyzer.const_int_bound(expr) == expected


def test_bounds_follow_from_conditions_on_sums():
    analyzer = Analyzer()
    with analyzer.assuming(x - y >= 2, x - y <= 5, (x * 2 + n) >= 0):
        assert analyzer.const_int_bound(x - y) == (2, 5)
        assert analyzer.const_int_bound(y - x + 10) == (5, 8)
        assert analyzer.const_int_bound(2 * x + n + 1) == (1, None)
    assert analyzer.const_int_bound(x - y) == (None, None)


REMAINDERS: list[tuple[IntExpr, tuple[int, int]]] = [
    (x * 6 + y * 4, (2, 0)),
    ((x * 4 + 2) * (y * 6 + 1), (4, 2)),
    ((x * 128 + y * 4) % 256, (4, 0)),
    (truncdiv(x * 4 + 2, 2), (2, 1)),
    (truncdiv(x * 4 + 1, 2), (1, 0)),
    ((x * 4 + 2) >> 1, (2, 1)),
    ((x * 4 + 2) // 2, (2, 1)),
    (truncmod(x * 4 + 1, 4), (1, 0)),
    (truncmod(x * 4, 8), (4, 0)),
    ((x * 4 + 3) % 2, (0, 1)),
    ((x * 4 + 3) % 8, (4, 3)),
    (minimum(x * 3, y * 9), (3, 0)),
    (maximum(x * 3 + 1, y * 9 + 4), (3, 1)),
    (select(n > 0, x * 3 + 1, y * 9 + 2), (1, 0)),
    ((x * 12 + 1) - (y * 21 + 2), (3, 2)),
    (x * 12 + minimum(y * 21, 2), (1, 0)),
    ((x * 16 + y * 4) & 31, (4, 0)),
    ((x * 16 + y * 4) & 17, (1, 0)),
    (const(7), (0, 7)),
    (x << 3, (8, 0)),
]


@pytest.mark.parametrize("expr, expected", REMAINDERS, ids=str)
def test_remainders_follow_from_form(expr: IntExpr, expected: tuple[int, int]):
    assert Analyzer().modular_set(expr) == expected


def test_remainders_of_natural_numbers_survive_truncation():
    analyzer = Analyzer({x: (0, 100)})
    assert analyzer.modular_set(truncdiv(x * 4 + 2, 2)) == (2, 1)
    assert analyzer.modular_set(truncmod(x * 4 + 3, 8)) == (4, 3)


def test_assumed_remainders_are_combined():
    analyzer = Analyzer()
    with analyzer.assuming(truncmod(y, 4).equal(2)):
        assert analyzer.modular_set(y + 1) == (4, 3)
        with analyzer.assuming(truncmod(x, 2).equal(1)):
            assert analyzer.modular_set(y + x * 2) == (4, 0)
        assert analyzer.modular_set(y + x * 2) == (2, 0)
    assert analyzer.modular_set(y + 1) == (1, 0)
    with analyzer.assuming((x % 3).equal(2), (x % 5).equal(3), (x % 7).equal(2)):
        assert analyzer.modular_set(x) == (105, 23)


Interval = tuple[IntExpr | int | None, IntExpr | int | None]
INTERVALS: list[tuple[IntExpr, dict[IntExpr, tuple[int, int]], Interval]] = [
    (x + y, {x: (0, 10)}, (y, y + 10)),
    (x + y, {x: (0, 10), y: (1, 11)}, (1, 21)),
    (x - y, {x: (0, 10), y: (1, 11)}, (-11, 9)),
    (x * n, {x: (0, 10)}, (0, 10 * n)),
    (x * -2, {x: (1, 10)}, (-20, -2)),
    (x // n, {x: (0, 10)}, (0, 10 // n)),
    (x // 2, {x: (-1, 10)}, (-1, 5)),
    (truncdiv(x, 2), {x: (1, 10)}, (0, 5)),
    (truncmod(x, n), {x: (0, 10)}, (0, n - 1)),
    (x % 10, {x: (-10, 10)}, (0, 9)),
    (x % 10, {x: (13, 15)}, (3, 5)),
    (x % 10, {x: (3, 11)}, (0, 9)),
    (maximum(x, x + 1), {x: (0, 10)}, (1, 11)),
    (minimum(x, y), {}, (minimum(x, y), minimum(x, y))),
    (select(x > 0, x - 1, x + 1), {x: (0, 10)}, (-1, 11)),
    (y * x, {x: (0, 3)}, (None, None)),
]


@pytest.mark.parametrize("expr, over, expected", INTERVALS, ids=str)
def test_intervals_are_expressions_of_what_does_not_range(
    expr: IntExpr, over: dict[IntExpr, tuple[int, int]], expected: Interval
):
    analyzer = Analyzer({n: (1, 100)})
    for found, wanted in zip(analyzer.interval(expr, over), expected, strict=True):
        if found is None or wanted is None:
            assert found is wanted
        else:
            assert analyzer.can_prove_equal(found, wanted)


def test_a_tile_within_a_row_has_an_interval_of_its_own():
    analyzer = Analyzer({x: (0, 1)})
    found = analyzer.interval(y % 8, {y: (z * 8 + x * 4, z * 8 + x * 4 + 3)})
    assert found == (x * 4, x * 4 + 3)


def test_what_is_assumed_after_a_proof_serves_the_next_one():
    analyzer = Analyzer()
    analyzer.assume(x * 2 + y >= n)
    assert not analyzer.can_prove(x * 2 + y >= z)
    with analyzer.assuming(n >= z * 3 + y, z + z + y >= 0):
        assert analyzer.can_prove(x * 2 + y >= z)
    assert not analyzer.can_prove(x * 2 + y >= z)
    analyzer.assume(n >= z)
    assert analyzer.can_prove(x * 2 + y >= z)

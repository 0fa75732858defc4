"""Linear equations, clip bounds and deduced bounds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from weft.dialects.tir.analyzer import Analyzer, IntExpr, all_of, const, evaluate, maximum, minimum, var
from weft.dialects.tir.analyzer.deduce import deduce_bound, detect_clip_bound, detect_linear_equation

a, b, c, d = map(var, "abcd")


def test_a_linear_equation_is_split_into_coefficients_and_a_rest():
    assert detect_linear_equation(a * 4 + b * 6 + 7, [a]) == [const(4), b * 6 + 7]
    assert detect_linear_equation(a * 4 + (a + 1) + b * 6 + 7, [a]) == [const(5), b * 6 + 8]
    assert detect_linear_equation(a * b + 7, [a]) == [b, const(7)]
    assert detect_linear_equation(b * 7, [a]) == [const(0), b * 7]
    assert detect_linear_equation(b * 7, []) == [b * 7]
    assert detect_linear_equation(a * (b + 4) + a + c * 8, [a, c]) == [b + 5, const(8), const(0)]
    assert detect_linear_equation(((a * b + c) * 8 + d + 1) * 2, [a, c, d]) == [b * 16, const(16), const(2), const(2)]


def test_what_is_not_linear_has_no_equation():
    assert detect_linear_equation(a * 4 * (a + 1) + b, [a]) is None
    assert detect_linear_equation(a * 8 * c + b, [a, c]) is None
    assert detect_linear_equation(a // 2 + b, [a]) is None


def test_clip_bounds_are_read_from_a_conjunction():
    assert detect_clip_bound(all_of(a < b * 6, a - 1 > 0), [a]) == [(const(2), b * 6 - 1)]
    assert detect_clip_bound(all_of(a + 10 * c <= 20, b - 1 > 0), [a, b]) == [(None, 20 - 10 * c), (const(2), None)]
    assert detect_clip_bound(all_of(minimum(a, b) > 3, a - 10 < 0), [a, b]) == [
        (const(4), const(9)),
        (const(4), None),
    ]
    assert detect_clip_bound(all_of(a.equal(4), b.equal(3)), [a, b]) == [(const(4), const(4)), (const(3), const(3))]


def test_a_condition_on_two_variables_is_no_clip_bound():
    assert detect_clip_bound(all_of(a < b * 6, a - 1 > 0), [a, b]) is None
    assert detect_clip_bound(a.differs(3), [a]) is None


CONDITIONS: list[Callable[[IntExpr], IntExpr]] = [
    lambda e: e < 17,
    lambda e: e > 17,
    lambda e: e <= 17,
    lambda e: e >= 17,
    lambda e: e * 4 < 63,
    lambda e: e // 8 > 3,
    lambda e: e // 8 <= -3,
]


@pytest.mark.parametrize("factor", [4, -4])
@pytest.mark.parametrize("low, high", [(0, 4), (1, 5), (2, 6)])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_deduced_bound_is_exact_for_what_holds_for_all_relaxed_values(
    factor: int, low: int, high: int, condition: Callable[[IntExpr], IntExpr]
):
    whole = condition(b * 3 + a * factor + 3)
    bounds = deduce_bound(a, whole, {}, {b: (low, high)})
    assert bounds is not None
    least, most = (None if e is None else evaluate(e, {}) for e in bounds)
    for value in range(-80, 80):
        inside = (least is None or least <= value) and (most is None or value <= most)
        holds = all(evaluate(whole, {a: value, b: other}) for other in range(low, high + 1))
        assert inside == holds, value


def test_signs_of_symbolic_coefficients_come_from_hints():
    hints = {b: (2, 3), c: (10, 15), d: (-3, -1)}
    assert deduce_bound(a, -b * a + c - d >= 0, hints, {}) == (None, (c - d) // b)
    bounds = deduce_bound(a, d * a + c - d >= 0, hints, {})
    assert bounds is not None and bounds[0] is None and bounds[1] is not None
    assert Analyzer(hints).can_prove_equal(bounds[1], (c - d) // (-d))
    assert deduce_bound(a, a * 4 + b < c, hints, {}) == (None, (c - b - 1) // 4)


def test_equations_are_solved_where_they_have_one_solution():
    assert deduce_bound(a, a.equal(b), {}, {}) == (b, b)
    assert deduce_bound(a, (5 * a).equal(-10), {}, {}) == (const(-2), const(-2))
    assert deduce_bound(a, (a - c).equal(b + d), {}, {}) == (b + c + d, b + c + d)
    assert deduce_bound(a, a.equal(b), {}, {b: (2, 3)}) is None
    assert deduce_bound(a, (4 * a).equal(b), {b: (2, 3)}, {}) is None


@pytest.mark.parametrize(
    "condition",
    [a % 16 < 10, minimum(a, b) < 10, maximum(a, b) > 3, a.differs(4), all_of(a > 3, a < c), a * a > 3, a * b > c],
)
def test_what_cannot_be_undone_gives_no_bound(condition: IntExpr):
    assert deduce_bound(a, condition, {}, {}) is None

"""Simplification and proofs: forms that are expected, each equal in value and at least as simple."""

from __future__ import annotations

import pytest

from weft.dialects.tir.analyzer import (
    Analyzer,
    Flag,
    IntExpr,
    all_of,
    any_of,
    ceildiv,
    const,
    maximum,
    minimum,
    negate,
    select,
    to_text,
    truncdiv,
    truncmod,
    var,
    wrap,
)

x, y, z, n, m = map(var, ("x", "y", "z", "n", "m"))
p = var("p", kind=Flag)

FORMS: list[tuple[IntExpr, IntExpr | int]] = [
    # sums
    (2 + (3 * x + z + y + 1) * 4 + x, x * 13 + z * 4 + y * 4 + 6),
    (x * 3 - 4 * x + 1, 1 - x),
    (x * y + 10 * x - x * (y + 10), 0),
    ((x + y) * (x - y), x * x - y * y),
    # minimum and maximum
    (minimum(x, y - z) + z, minimum(x + z, y)),
    (maximum(x, y - 10) + 10, maximum(x + 10, y)),
    (minimum(x + 2, y + 3) - 2, minimum(x, y + 1)),
    (maximum(0, 1 - x * 4) + x * 4, maximum(x * 4, 1)),
    (maximum(x, y * 2) + minimum(x, y * 2), x + y * 2),
    (x - minimum(x, y), maximum(0, x - y)),
    (minimum(x, y) - y, minimum(x - y, 0)),
    (minimum(x + 1, x + 10), x + 1),
    (minimum(minimum(x, 11), 10), minimum(x, 10)),
    (maximum(x, minimum(x, y)), x),
    (minimum(maximum(x, y), maximum(x, z)), maximum(x, minimum(y, z))),
    (minimum(x * 2, 8), minimum(x, 4) * 2),
    (maximum(x * -2, y * -2), minimum(x, y) * -2),
    (maximum(x // 10, y // 10), maximum(x, y) // 10),
    (maximum((x + 3) // 4 * 4, x), (x + 3) // 4 * 4),
    (maximum(x // 4 * 4, x), x),
    (minimum(x // 4 * 4, x), x // 4 * 4),
    # division and remainder
    ((x + y + x + y * 3) // 2, y * 2 + x),
    ((x + y + x + y * 3) % 2, 0),
    ((x + x + y * 3) % 2, (y * 3) % 2),
    ((16 + 48 * x) // 16, x * 3 + 1),
    ((17 + 48 * x) // 16, x * 3 + 1),
    ((17 + 47 * x) // 16, (1 + 47 * x) // 16 + 1),
    ((x - 1) // 4 + 1, (x + 3) // 4),
    (x * y % y, 0),
    (truncmod(x * y - y * x, z), 0),
    (x // 8 * 8 + x % 8, x),
    (x // 6 * 6 + x // 3 % 2 * 3 + x % 3, x),
    (x % 16 // 2 * 2 // 4, x // 4 % 4),
    (x % 2 // 8, 0),
    (x * 8 % 16, x % 2 * 8),
    (x % 16 % 8, x % 8),
    (x * 4 % 16 % 8, x % 2 * 4),
    ((x % 2 + 7) // 2 + x // 2, (x + 7) // 2),
    (((x * 4 + y - 466036) % 24528 - 24512) % 16, (x * 4 + y + 12) % 16),
    ((x // 3) // 5, x // 15),
    ((x // 3 + 2) // 5, (x + 6) // 15),
    (x // -4, -x // 4),
    (ceildiv(x * 4 + 1, 4), x + 1),
    (x - x // 4 * 4, x % 4),
    (x - x % 4, x // 4 * 4),
    ((x * 128 + y * 4) % 256, (x * 32 + y) % 64 * 4),
    (x & ~15, x // 16 * 16),
    (x & 240, x // 16 % 16 * 16),
    ((x << 4) >> 2, x * 4),
    # truncating division
    (truncdiv(x, 3) * 3 + truncmod(x, 3), x),
    (truncdiv(16 + 48 * x, 16), x * 3 + 1),
    (truncdiv(truncdiv(x, 4), 6), truncdiv(x, 24)),
    # divisors that are symbols with a sign
    ((n - x) // n - x // -n, 1),
    (x % -n + -x % n, 0),
    (truncdiv(x, -n) + truncdiv(x, n), 0),
    (truncmod(x, -n) - truncmod(x, n), 0),
    (x // (-1 - n) - -x // (n + 1), 0),
    (x % (-1 - n) + -x % (n + 1), 0),
    (truncmod(x * 8, 2), 0),
    (truncdiv(x, 9) - truncdiv(x, 9), 0),
    # choice
    (select(x < 0, y, 0) + select(x < 0, 1, z), select(x < 0, y + 1, z)),
    (select(x < 0, y, z) - y, select(x < 0, 0, z - y)),
    (minimum(select(p, y, 0), select(p, 1, z)), select(p, minimum(y, 1), minimum(0, z))),
    (select((x * 3 + 1).differs(0), y, z), y),
    (select(x > 2, select(x > 1, 1, 0), 0), x > 2),
    (select(x < 5, select(x > 1, y, z), z), select(all_of(x < 5, x > 1), y, z)),
    (select(x >= 10, select(truncdiv(x, 3) > 2, x, 0), 0), select(x >= 10, x, 0)),
    (select(x >= 10, select(truncdiv(x, 3) < 2, x, 0), 0), 0),
    # comparisons
    ((x % 2 + 10).equal(0), 0),
    (x % 2 + 10 > 1, 1),
    ((x * 3 + 10).equal(0), 0),
    ((10 - x).equal(0), x.equal(10)),
    ((x * y).equal(0), any_of(x.equal(0), y.equal(0))),
    (x + y < x + z, y < z),
    (x - y < x - z, z < y),
    (x * -3 < y * -3, y < x),
    (x * 4 >= 2, x >= 1),
    (x * -2 <= -3, x >= 2),
    (x // 2 < 3, x < 6),
    (const(-3) < x // 2, x > -5),
    (truncdiv(x, 2) < 3, x < 6),
    (truncdiv(x, 2) > 3, x > 7),
    (truncdiv(x, 3) >= 0, x >= -2),
    (truncdiv(x, 2) <= -1, x <= -2),
    (x // 4 * 4 < x, x % 4 > 0),
    (x // 4 * 4 < x - y, x % 4 > y),
    (minimum(x, 11) < 10, x < 10),
    (minimum(x, 8) < 10, 1),
    (maximum(8, x) > 10, x > 10),
    (x + 1 < maximum(8, x), x < 7),
    # conditions
    (all_of(x <= y, y < x), 0),
    (all_of(x < 1, x > 0), 0),
    (all_of(x.equal(1), x.differs(2)), x.equal(1)),
    (any_of(x < 1, x > 0), 1),
    (any_of(x.differs(1), x.equal(2)), x.differs(1)),
    (any_of(x > y, negate(x > y)), 1),
    (all_of((x // 8).equal(3), (x % 8).equal(4)), x.equal(28)),
    (all_of((x // 8).equal(-3), (x % 8).equal(4)), x.equal(-20)),
    (all_of((x // 10).equal(5), x % 10 < 7), all_of(x >= 50, x < 57)),
    (all_of((x // 10).equal(5), x % 10 > 7), all_of(x > 57, x < 60)),
    (all_of(x - y * 5 >= 0, x - y * 5 < 5), y.equal(x // 5)),
    # widths
    (wrap(x % 100, 8), x % 100),
    (wrap(wrap(x, 8), 8), wrap(x, 8)),
]


@pytest.mark.parametrize("before, after", FORMS, ids=lambda e: to_text(e) if isinstance(e, IntExpr) else str(e))
def test_the_simple_form_is_found(before: IntExpr, after: IntExpr | int):
    analyzer = Analyzer()
    found, expected = analyzer.simplify(before), analyzer.simplify(after)
    assert found is expected
    assert found.measure <= (after if isinstance(after, IntExpr) else const(after)).measure


def test_ranges_decide_divisions():
    analyzer = Analyzer({x: (0, 3), y: (0, 7), z: (0, 15)})
    assert analyzer.simplify((y * 4 + x) // 4) is y
    assert analyzer.simplify((y * 4 + x) % 4) is x
    assert analyzer.simplify((z * 4 + x) % 16) is z % 4 * 4 + x
    assert analyzer.simplify((z * 4 + x) // 16) is z // 4
    assert analyzer.simplify(truncdiv(y, 8)) is const(0)
    assert analyzer.simplify(truncdiv(y * 4 + x, 4)) is y


@pytest.mark.parametrize(
    "condition, assumed",
    [
        (x < 11, [x <= 10]),
        (x + y <= 10, [x <= 10, y <= 0]),
        (z - 5 <= y + 10, [z <= 5, y >= -10]),
        (all_of(x > -1, z <= x + 5), [x >= 0, z <= 5]),
        (x * y <= 0, [x >= 0, y <= 0]),
        ((x + 1) * (y - 1) < 0, [x >= 0, y <= 0]),
        (y * y >= 0, []),
        (x * 16 + y < n, [x < n // 16, y < 16]),
        (x * 16 + y < n, [x * 16 < n - 15, y < 16]),
        (n // 8 * 8 + x * 4 + y < n, [x >= 0, x < n // 4 - n // 8 * 2, y >= 0, y < 4, n >= 0, n >= 1]),
        (x * n + y < m * n, [x < m, y < n, y >= 0]),
        (x < z, [x < y, y < z]),
        ((n % 4).equal(0), [(n % 16).equal(0)]),
        ((n + 15) // 16 * 16 >= n, []),
        (minimum(x, y) <= y, []),
        (x % n < n, [n >= 1]),
        (n - x >= 0, [n >= x * 2, n >= 0]),
        (n * 3 - x * 2 >= 0, [n >= x, n >= 0]),
    ],
    ids=str,
)
def test_conditions_follow_from_assumptions(condition: IntExpr, assumed: list[IntExpr]):
    analyzer = Analyzer()
    with analyzer.assuming(*assumed):
        assert analyzer.can_prove(condition)
    if assumed:
        assert not analyzer.can_prove(condition), "proved without its assumptions"


def test_assumptions_end_with_their_block():
    analyzer = Analyzer()
    with analyzer.assuming(x >= 0, x < 4):
        assert analyzer.simplify(x // 4) is const(0)
        with analyzer.assuming(x >= 3):
            assert analyzer.simplify(x) is const(3)
        assert analyzer.simplify(x) is x
    assert analyzer.simplify(x // 4) is x // 4


def test_bindings_are_replaced():
    analyzer = Analyzer()
    analyzer.bind(y, x * 4 + 1)
    assert analyzer.simplify(y - 1) is x * 4
    assert analyzer.modular_set(1 - y) == (4, 0)
    analyzer.bind(z, range(0, 8))
    assert analyzer.const_int_bound(z) == (0, 7)
    analyzer.bind(m, (0, n - 1))
    assert analyzer.can_prove_less(m, n)
    assert analyzer.can_prove_greater_equal(n, m) and not analyzer.can_prove_greater_equal(m, n)


def test_divisibility_follows_from_remainders():
    analyzer = Analyzer()
    with analyzer.assuming((n % 16).equal(0), n >= 1):
        assert analyzer.divides(16, n)
        assert analyzer.divides(8, n * 3 + 32)
        assert not analyzer.divides(32, n)
        assert analyzer.simplify(n % 8) is const(0)
        assert analyzer.can_prove_equal((n + 15) // 16 * 16, n)
    assert analyzer.divides(x * 4, x * 8) is False  # x may be zero


def test_the_truth_of_a_condition_is_not_guessed():
    with pytest.raises(TypeError, match="ask an Analyzer"):
        bool(x < y)


def test_conditions_within_sums_and_comparisons_are_shown_in_parentheses():
    shown = {
        (x == 0).to_int_expr() + y: "y + (x == 0)",
        any_of(x <= 3, y != 12) + 11: "((3 >= x) || (y != 12)) + 11",
        (x >= 2).equal(1): "(x >= 2) == 1",
        (x >= 2).equal(y): "y == (x >= 2)",
        (x & 5) + 1: "(5 & x) + 1",
        x // 4 + minimum(x, y): "x floordiv 4 + min(x, y)",
    }
    assert [to_text(expr) for expr in shown] == list(shown.values())


def test_division_by_the_constant_zero_is_refused():
    for divide in (lambda: x // 0, lambda: x % 0):
        with pytest.raises(ZeroDivisionError):
            divide()

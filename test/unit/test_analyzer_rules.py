"""Each row of the analyzer's table of rules: proved with z3 from the row itself, and applied at least once."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from weft.dialects.tir.analyzer import (
    Analyzer,
    IntExpr,
    coefficient,
    const,
    evaluate,
    is_linear_in,
    substitute,
    var,
    without,
    wrap,
)
from weft.dialects.tir.analyzer.build import bit_and
from weft.dialects.tir.analyzer.matching import compile_row
from weft.dialects.tir.analyzer.nodes import Zero, children
from weft.dialects.tir.analyzer.pattern import A, B, C, Condition, K, Literal, Row, Wild, X, Y, Z, lower, row
from weft.dialects.tir.analyzer.rules import TABLES

z3: Any = pytest.importorskip("z3")
from z3_obligations import is_proved, small_instances

ROWS = {r.name: r for table in TABLES.values() for r in table}
PROVED_FOR_SMALL_CONSTANTS = {
    "x mod a floordiv b = x floordiv b mod (a / b)",
    "(k*(x mod a) + y) mod b = (k*x + y) mod b for b | k*a",
    "(x floordiv d mod c) floordiv b = x mod (c*d) floordiv (d*b)",
    "(x truncdiv d truncmod c) truncdiv b = x truncmod (c*d) truncdiv (d*b)",
    "x truncmod a truncdiv b = x truncdiv b truncmod (a / b)",
    "k*c*((l*(x mod a) + y) floordiv c) + k*((l*x + y) mod c) = k*l*(x mod a) + k*y for c | l*a",
    "x <= k and x mod c <= m = x <= l and x mod c <= m for l == k - k mod c + m < k",
}
"""Rows whose proof for all constants z3 does not find: proved for all `x` and `y`, constant by constant."""


def test_each_row_has_a_name_of_its_own():
    assert len(ROWS) == sum(map(len, TABLES.values())) == 148


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ROWS)
def test_the_row_is_proved(name: str):
    if name not in PROVED_FOR_SMALL_CONSTANTS:
        assert is_proved(ROWS[name], milliseconds=20_000)
        return
    instances = list(small_instances(ROWS[name]))
    assert len(instances) >= 3
    assert all(is_proved(ROWS[name], given, milliseconds=20_000) for given in instances)


WRONG_ROWS = (
    row("a divisor may be negative", (C * X + Y) // C, X + Y // C + 1, C > 0),
    row("one too far", X // Y, 0, X >= 0, X <= Y),
    row("without its guard", (A * X + Y) // C, X // B, A > 0, C > 0, C.equal(A * B), let={B: C // A}),
    row("the wrong quotient", X // C, K + 1, C > 0, X >= K * C, X < K * C + C, let={K: lower(X) // C}),
)


@pytest.mark.parametrize("wrong", WRONG_ROWS, ids=lambda r: r.name)
def test_a_wrong_row_is_not_proved(wrong: Row):
    assert not is_proved(wrong)


def _instances(rule: Row) -> Iterator[dict[IntExpr, IntExpr]]:
    """Ways to fill in the variables of a row's pattern, simple ones first."""
    rng = random.Random(rule.name)
    wild = sorted((v for v in rule.pattern.variables if isinstance(v, Wild)), key=lambda v: v.name)
    plain: dict[IntExpr, IntExpr] = {v: var("v" + v.name) for v in wild}
    plain |= {v: var("c" + v.name) >= 0 for v in rule.pattern.variables if isinstance(v, Condition)}
    literals = sorted((v for v in rule.pattern.variables if isinstance(v, Literal)), key=lambda v: v.name)
    for attempt in range(4000):
        chosen = dict(plain)
        for v in literals:
            chosen[v] = const(rng.choice([1, 2, 3, 4, 6, 12, 24, 0, -1, -2, -3]))
        for guard in rule.guards:  # one constant as an equation of the others says
            if isinstance(guard, Zero) and guard.variables <= chosen.keys():
                for v in literals:
                    if abs(factor := coefficient(guard.args[0], v)) == 1 and is_linear_in(guard.args[0], v):
                        chosen[v] = substitute(without(guard.args[0], v) * -factor, chosen)
                        break
        kind = attempt % 4 if attempt > 100 else 0
        if kind == 1:  # sums of the others
            for v in wild:
                terms = [rng.choice([-6, -2, -1, 1, 2, 4]) * plain[w] for w in wild if rng.random() < 0.5]
                chosen[v] = sum(terms, const(rng.randrange(-3, 12)))
        elif kind == 2 and len(wild) > 1:  # the difference to another, by what a row takes
            a, b = rng.sample(wild, 2)
            chosen[a] = const(rng.choice([0, 2, 3, 5])) - chosen[b]
        elif kind == 3 and Z in chosen:  # what the other terms of the result cancel
            for name, formula in rule.let.items():
                if formula.variables <= set(literals) and const(0) not in [chosen[v] for v in formula.variables]:
                    chosen[name] = substitute(formula, chosen)
            if rule.replacement.variables <= chosen.keys():
                others = substitute(rule.replacement - Z, chosen)
                chosen[Z] = rng.choice([-1, 1]) * (others if rng.random() < 0.5 else chosen[rng.choice(wild)])
                chosen = {v: value for v, value in chosen.items() if v in rule.pattern.variables}
        yield chosen


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ROWS)
def test_the_row_is_applied_and_keeps_the_value(name: str):
    rule = ROWS[name]
    rewrite = compile_row(rule)
    applied = 0
    for chosen in _instances(rule):
        expr = substitute(rule.pattern, chosen)
        analyzer = Analyzer()
        ranged: set[IntExpr] = {v for e in chosen.values() for v in e.variables}
        low = 12 if rule.let and "Lower" in {type(e).__name__ for f in rule.let.values() for e in _walk(f)} else None
        if low is not None:
            analyzer.assume(*(condition for v in ranged for condition in (v >= low, v <= low)))
        analyzer.assume(*(substitute(g, chosen) for g in rule.guards if g.variables <= chosen.keys() and g.variables))
        if any(substitute(g, chosen) is const(0) for g in rule.guards if g.variables <= chosen.keys()):
            continue
        result = rewrite(expr, analyzer)
        if result is None:
            continue
        applied += 1
        rng = random.Random(applied)
        for _ in range(40):
            point = {v: rng.randrange(-30, 30) if low is None else low for v in ranged}
            try:
                if all(evaluate(known, point) for known in analyzer.facts.known):
                    assert evaluate(expr, point) == evaluate(result, point), (expr, result, point)
            except ZeroDivisionError:
                continue
        if applied == 5:
            break
    assert applied, f"never applied: {rule.pattern}"


def _walk(expr: IntExpr) -> list[IntExpr]:
    return [expr, *(e for child in children(expr) for e in _walk(child))]


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_bitwise_and_by_a_run_of_ones_is_a_remainder_of_a_quotient(bits: int):
    """The builder's identity, proved on bit vectors for every run within the width (a width is needed here: numbers of
    unbounded length have no theory in z3)."""
    x = z3.BitVec("x", bits)
    for low in range(0, bits, max(1, bits // 8)):
        for length in range(1, bits - low, max(1, bits // 8)):
            mask = ((1 << length) - 1) << low
            built = bit_and(var("x"), const(mask))
            assert evaluate(built, {var("x"): -5}) == -5 & mask
            shifted = x >> low
            expected = (shifted & ((1 << length) - 1)) << low
            solver = z3.Solver()
            solver.add((x & mask) != expected)
            assert solver.check() == z3.unsat


@pytest.mark.parametrize("signed", [True, False])
def test_wrap_is_what_a_register_holds(signed: bool):
    for value in range(-600, 600):
        held = value & 0xFF
        expected = held - 256 if signed and held >= 128 else held
        assert evaluate(wrap(var("x"), 8, signed), {var("x"): value}) == expected

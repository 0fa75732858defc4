"""Proof obligations of the analyzer's rules: each row says of itself that its guards make its two sides equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import product
from typing import Any

from weft.dialects.tir.analyzer.convert import substitute
from weft.dialects.tir.analyzer.nodes import (
    All,
    Any_,
    Const,
    Flag,
    FloorDiv,
    FloorMod,
    IntExpr,
    Max,
    Min,
    NonNegative,
    Not,
    Op,
    Product,
    Select,
    Sum,
    TruncDiv,
    TruncMod,
    Var,
    Zero,
    const,
)
from weft.dialects.tir.analyzer.pattern import Common, Literal, Lower, Row, Whole

z3: Any = import_module("z3")  # its functions have no complete types

SMALL = (-3, -2, -1, 0, 1, 2, 3, 4, 6)
"""The constants that a row is proved for one by one, where the proof for all does not come."""
FEW = (-2, 0, 2, 3)
"""Those of a row of more than two constants."""


class Obligation:
    """The formula "the guards hold and the sides differ", which must have no model. Divisions are quotient and
    remainder with the properties that define them, each pair of operands once. It has a context of its own: which way
    z3 goes depends on all that was said in one before, and proofs must not on their order."""

    def __init__(self) -> None:
        self.context: Any = z3.Context()
        self.axioms: list[Any] = []
        self._divisions: dict[tuple[str, IntExpr, IntExpr], tuple[Any, Any]] = {}

    def number(self, expr: IntExpr) -> Any:
        if isinstance(expr, Const):
            return self._value(expr.value)
        if isinstance(expr, Var):
            result = z3.Int(expr.name, self.context)
            if isinstance(expr, Flag):
                self.axioms += [result >= 0, result <= 1]
            return result
        if isinstance(expr, Sum):
            terms = sorted(expr.terms.items(), key=lambda term: str(term[0]))  # not as they came to be
            return z3.Sum([self._value(expr.constant), *(self.number(a) * c for a, c in terms)])
        if isinstance(expr, NonNegative | Zero | Not | All | Any_):
            return z3.If(self.truth(expr), self._value(1), self._value(0))
        assert isinstance(expr, Op)
        if isinstance(expr, Select):
            return z3.If(self.truth(expr.args[0]), self.number(expr.args[1]), self.number(expr.args[2]))
        if isinstance(expr, FloorDiv | FloorMod):
            return self._divide("floor", *expr.args)[isinstance(expr, FloorMod)]
        if isinstance(expr, TruncDiv | TruncMod):
            return self._divide("trunc", *expr.args)[isinstance(expr, TruncMod)]
        values = [self.number(arg) for arg in expr.args]
        result = values[0]
        for value in values[1:]:
            if isinstance(expr, Min | Max):
                first = result <= value if isinstance(expr, Min) else result >= value
                result = z3.If(first, result, value)
            else:
                assert isinstance(expr, Product), expr
                result = result * value
        return result

    def _value(self, number: int) -> Any:
        return z3.IntVal(number, self.context)

    def truth(self, condition: IntExpr) -> Any:
        if isinstance(condition, NonNegative):
            return self.number(condition.args[0]) >= 0
        if isinstance(condition, Zero):
            return self.number(condition.args[0]) == 0
        if isinstance(condition, Not):
            return z3.Not(self.truth(condition.args[0]))
        if isinstance(condition, All | Any_):
            parts = [self.truth(arg) for arg in condition.args]
            return z3.And(parts) if isinstance(condition, All) else z3.Or(parts)
        return self.number(condition) != 0

    def _divide(self, kind: str, lhs: IntExpr, rhs: IntExpr) -> tuple[Any, Any]:
        key = (kind, lhs, rhs)
        if (known := self._divisions.get(key)) is None:
            n = len(self._divisions)
            quotient, remainder = (z3.Int(f"{what}{n}", self.context) for what in ("quotient", "remainder"))
            known = self._divisions[key] = (quotient, remainder)
            a, b = self.number(lhs), self.number(rhs)
            positive = z3.And(remainder >= 0, remainder < b)
            negative = z3.And(remainder <= 0, remainder > b)
            if kind == "trunc":
                size = z3.If(b >= 0, b, -b)
                positive = negative = z3.And(
                    z3.If(a >= 0, remainder >= 0, remainder <= 0), remainder < size, remainder > -size
                )
            self.axioms += [a == b * quotient + remainder, z3.If(b > 0, positive, z3.Implies(b < 0, negative))]
        return known


def is_proved(row: Row, constants: Mapping[IntExpr, IntExpr] | None = None, milliseconds: int = 3000) -> bool:
    """Whether there is no counterexample to `row`: for all integers, or with `constants` for some of its variables."""
    given = dict(constants or {})
    obligation = Obligation()
    solver = z3.Solver(ctx=obligation.context)
    solver.set("timeout", milliseconds)
    for variable, formula in row.let.items():
        if isinstance(formula, Common | Whole) or any(isinstance(e, Lower) for e in _walk(formula)):
            continue  # any value: what it has to fulfil is in the guards
        if variable in given:
            solver.add(obligation.number(given[variable]) == obligation.number(substitute(formula, given)))
        else:
            solver.add(obligation.number(variable) == obligation.number(substitute(formula, given)))
    for guard in row.guards:
        solver.add(obligation.truth(substitute(guard, given)))
    pattern, replacement = substitute(row.pattern, given), substitute(row.replacement, given)
    for part in _walk(pattern):  # an expression that divides by zero has no value
        if isinstance(part, FloorDiv | FloorMod | TruncDiv | TruncMod):
            solver.add(obligation.number(part.args[1]) != 0)
    solver.add(obligation.number(pattern) != obligation.number(replacement))
    solver.add(*obligation.axioms)
    return solver.check() == z3.unsat


def small_instances(row: Row) -> Iterator[dict[IntExpr, IntExpr]]:
    """Each choice of small constants that the guards over constants allow; derived constants follow from them."""
    free = sorted((v for v in row.pattern.variables if isinstance(v, Literal)), key=lambda v: v.name)
    for values in product(SMALL if len(free) <= 2 else FEW, repeat=len(free)):
        given: dict[IntExpr, IntExpr] = dict(zip(free, map(const, values), strict=True))
        try:
            for variable, formula in row.let.items():
                if formula.variables <= given.keys():
                    given[variable] = substitute(formula, given)
        except ZeroDivisionError:
            continue
        checks = [substitute(guard, given) for guard in row.guards if guard.variables <= given.keys()]
        if all(isinstance(v, Const) for v in given.values()) and not any(c == const(0) for c in checks):
            yield given


def _walk(expr: IntExpr) -> list[IntExpr]:
    args = expr.args if isinstance(expr, Op) else tuple(expr.terms) if isinstance(expr, Sum) else ()
    return [expr, *(e for arg in args for e in _walk(arg))]

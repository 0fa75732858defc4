"""What is known of the remainders of integer expressions: what `modular_set` answers."""

from __future__ import annotations

from math import gcd

from .bounds import Bounds
from .facts import ANY_INTEGER, Facts, Modular, congruent, join, meet
from .nodes import (
    Const,
    FloorDiv,
    FloorMod,
    IntExpr,
    Max,
    Min,
    Op,
    PowerOfTwo,
    Product,
    Select,
    Sum,
    TruncDiv,
    TruncMod,
)


class Remainders:
    """The remainders of expressions under given facts, each computed once."""

    def __init__(self, facts: Facts, bounds: Bounds):
        self.facts = facts
        self.bounds = bounds
        self.known: dict[IntExpr, Modular] = {}

    def of(self, expr: IntExpr) -> Modular:
        """`(m, b)`, such that the value is `m * k + b` for some `k`."""
        if type(expr) is Const:
            return 0, expr.value
        found: Modular | None = self.known.get(expr)
        if found is None:
            found = ANY_INTEGER
            if isinstance(expr, Sum):
                found = self._sum(expr)
            elif isinstance(expr, Op):
                found = self._op(expr)
            if (given := self.facts.modular.get(expr)) is not None:
                found = meet(found, given)
            self.known[expr] = found
        return found

    def _sum(self, expr: Sum) -> Modular:
        coefficient, base = 0, expr.constant
        for atom, factor in expr.terms.items():
            m, b = self.of(atom)
            coefficient, base = gcd(coefficient, m * factor), base + b * factor
        return congruent(coefficient, base)

    def _op(self, expr: Op) -> Modular:
        args = expr.args
        if isinstance(expr, Product):
            coefficient, base = 0, 1
            for arg in args:
                m, b = self.of(arg)
                coefficient, base = gcd(coefficient * m, coefficient * b, m * base), base * b
            return congruent(coefficient, base)
        if isinstance(expr, Min | Max | Select):
            result = self.of(args[-1])
            for arg in args[1 if isinstance(expr, Select) else 0 : -1]:
                result = join(result, self.of(arg))
            return result
        if isinstance(expr, PowerOfTwo):
            low = self.bounds.of(args[0])[0]
            return (1 << min(max(low, 0), 64), 0) if low is not None else ANY_INTEGER
        if isinstance(expr, FloorDiv | TruncDiv | FloorMod | TruncMod) and isinstance(args[1], Const):
            divisor = args[1].value
            if divisor > 0:
                return self._divide(expr, args[0], divisor)
        return ANY_INTEGER

    def _divide(self, expr: Op, number: IntExpr, divisor: int) -> Modular:
        m, b = self.of(number)
        low = self.bounds.of(number)[0]
        natural = low is not None and low >= 0
        if isinstance(expr, FloorDiv | TruncDiv):
            if m % divisor == 0 and (isinstance(expr, FloorDiv) or natural or b % divisor == 0):
                return congruent(m // divisor, b // divisor)
            return ANY_INTEGER
        common = gcd(m, divisor)
        if isinstance(expr, FloorMod) or natural:
            return (0, b % divisor) if common == divisor else (common, b % common)
        return (common, 0) if b % common == 0 else ANY_INTEGER

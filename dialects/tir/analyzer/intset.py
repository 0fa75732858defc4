"""Symbolic intervals: the values an expression takes while some of its variables range."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

from .build import add, floordiv, floormod, maximum, minimum, multiply, scale, truncdiv, truncmod
from .nodes import (
    FALSE,
    TRUE,
    FloorDiv,
    FloorMod,
    IntExpr,
    Max,
    Min,
    Op,
    Product,
    Select,
    Sum,
    TruncDiv,
    TruncMod,
    const,
    is_condition,
)

Interval: TypeAlias = "tuple[IntExpr | None, IntExpr | None]"
"""Least and greatest value; `None` where there is no bound."""
UNBOUNDED: Interval = (None, None)


class Prover(Protocol):
    """What intervals ask."""

    def simplify(self, expr: IntExpr) -> IntExpr: ...
    def can_prove(self, condition: IntExpr) -> bool: ...


def interval(prover: Prover, expr: IntExpr, over: Mapping[IntExpr, Interval]) -> Interval:
    """Least and greatest value of `expr` while each variable of `over` takes all values between its two."""
    low, high = _Intervals(prover, over).of(expr)
    return None if low is None else prover.simplify(low), None if high is None else prover.simplify(high)


class _Intervals:
    def __init__(self, prover: Prover, over: Mapping[IntExpr, Interval]):
        self.prover = prover
        self.over = over

    def of(self, expr: IntExpr) -> Interval:
        if (given := self.over.get(expr)) is not None:
            return given
        if expr.variables.isdisjoint(self.over):
            return expr, expr
        if isinstance(expr, Sum):
            return self._sum(expr)
        if is_condition(expr):
            return FALSE, TRUE
        if not isinstance(expr, Op):
            return UNBOUNDED  # what it stands for depends on them in a way that is not known
        sides = [self.of(arg) for arg in expr.args]
        if isinstance(expr, Min | Max):
            build = minimum if isinstance(expr, Min) else maximum
            lows, highs = [low for low, _ in sides], [high for _, high in sides]
            is_min = isinstance(expr, Min)
            return _choose(build, lows, not is_min), _choose(build, highs, is_min)
        if isinstance(expr, Select):
            (a, b), (c, d) = sides[1:]
            return _choose(minimum, [a, c], False), _choose(maximum, [b, d], False)
        if isinstance(expr, Product):
            return self._product(expr, sides)
        if isinstance(expr, FloorDiv | TruncDiv):
            return self._divide(expr, *sides)
        if isinstance(expr, FloorMod | TruncMod):
            return self._remainder(expr, *sides)
        return UNBOUNDED

    def _sum(self, expr: Sum) -> Interval:
        """A sum, its parts that do not range kept together."""
        low: IntExpr | None = const(expr.constant)
        high: IntExpr | None = low
        for atom, factor in expr.terms.items():
            a, b = self.of(atom)
            if factor < 0:
                a, b = b, a
            low = None if low is None or a is None else add(low, a, factor)
            high = None if high is None or b is None else add(high, b, factor)
        return low, high

    def _product(self, expr: Product, sides: list[Interval]) -> Interval:
        fixed: IntExpr = TRUE
        ranging: list[Interval] = []
        for side in sides:
            if side[0] is not None and side[0] is side[1]:
                fixed = multiply(fixed, side[0])
            else:
                ranging.append(side)
        if len(ranging) != 1:
            return UNBOUNDED
        ((low, high),) = ranging
        if self.prover.can_prove(fixed <= 0):
            low, high = high, low
        elif not self.prover.can_prove(fixed >= 0):
            return UNBOUNDED
        return None if low is None else multiply(low, fixed), None if high is None else multiply(high, fixed)

    def _divide(self, expr: Op, number: Interval, divisor: Interval) -> Interval:
        by = divisor[0]
        if by is None or by is not divisor[1]:
            return UNBOUNDED
        build = floordiv if isinstance(expr, FloorDiv) else truncdiv
        low, high = number
        if self.prover.can_prove(by < 0):
            low, high = high, low
        elif not self.prover.can_prove(by > 0):
            return UNBOUNDED
        return None if low is None else build(low, by), None if high is None else build(high, by)

    def _remainder(self, expr: Op, number: Interval, divisor: Interval) -> Interval:
        by = divisor[0]
        if by is None or by is not divisor[1] or not self.prover.can_prove(by > 0):
            return UNBOUNDED
        low, high = number
        natural = isinstance(expr, FloorMod) or (low is not None and self.prover.can_prove(low >= 0))
        if natural and low is not None and high is not None:
            first, last = floordiv(low, by), floordiv(high, by)
            if self.prover.can_prove(first.equal(last)):
                build = floormod if isinstance(expr, FloorMod) else truncmod
                return build(low, by), build(high, by)
        top = add(by, const(-1))
        return (FALSE if natural else scale(top, -1)), top


def _choose(build: Callable[..., IntExpr], values: list[IntExpr | None], any_will_do: bool) -> IntExpr | None:
    """`build` of those that are known: of all, or where `any_will_do` of as many as there are."""
    known = [v for v in values if v is not None]
    if not known or (len(known) < len(values) and not any_will_do):
        return None
    return build(*known)


def hull(*intervals: Interval) -> Interval:
    """The least interval that holds all of `intervals`."""
    return _choose(minimum, [a for a, _ in intervals], False), _choose(maximum, [b for _, b in intervals], False)

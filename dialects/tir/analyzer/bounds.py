"""Constant bounds of integer expressions: what `const_int_bound` answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .build import linear
from .facts import ANY_RANGE, Facts, Range, intersect
from .nodes import (
    All,
    Any_,
    BitAnd,
    Const,
    FloorDiv,
    FloorMod,
    IntExpr,
    Max,
    Min,
    NonNegative,
    Not,
    Op,
    PowerOfTwo,
    Product,
    Select,
    Sum,
    TruncDiv,
    TruncMod,
    Var,
    Zero,
)

MAX_EXPONENT = 4096
"""Two to a greater power is taken for unbounded."""


class Bounds:
    """The bounds of expressions under given facts, each computed once."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self.known: dict[IntExpr, Range] = {}

    def of(self, expr: IntExpr) -> Range:
        """Least and greatest value (not always tight); `ANY_RANGE` for what has no value at all."""
        if (found := self.known.get(expr)) is not None:
            return found
        if type(expr) is Const:
            return expr.value, expr.value
        if type(expr) is Sum:
            result = self._sum(expr)
        elif isinstance(expr, Op):
            result = _RULES[type(expr)](self, expr.args)
            if (given := self.facts.ranges.get(expr)) is not None:
                result = intersect(result, given)
        else:
            result = self.facts.ranges.get(expr, ANY_RANGE)
            if isinstance(expr, Var) and expr.bounds != ANY_RANGE and expr not in self.facts.replaced:
                result = intersect(result, expr.bounds)
        low, high = result
        if low is not None and high is not None and low > high:  # facts that contradict each other, or a rest by zero
            result = ANY_RANGE
        self.known[expr] = result
        return result

    def _sum(self, expr: Sum) -> Range:
        low: int | None = expr.constant
        high: int | None = expr.constant
        for atom, factor in expr.terms.items():
            a, b = self.of(atom)
            if factor < 0:
                a, b = b, a
            low = None if low is None or a is None else low + a * factor
            high = None if high is None or b is None else high + b * factor
            if low is None and high is None:
                break
        if self.facts.has_sums:
            part = linear(0, dict(expr.terms)) if expr.constant else expr
            if (given := self.facts.ranges.get(part)) is not None:
                a, b = given
                shift = expr.constant
                return intersect((low, high), (None if a is None else a + shift, None if b is None else b + shift))
        return low, high


def _negated(a: Range) -> Range:
    return None if a[1] is None else -a[1], None if a[0] is None else -a[0]


def _product(a: Range, b: Range) -> Range:
    corners: list[int] = []
    if a == (0, 0) or b == (0, 0):
        return 0, 0
    if None not in a and None not in b:
        corners = [x * y for x in a for y in b if x is not None and y is not None]
        return min(corners), max(corners)
    if a[0] is not None and a[0] >= 0 and b[0] is not None and b[0] >= 0:
        return a[0] * b[0], None
    if a[1] is not None and a[1] <= 0:
        return _negated(_product(_negated(a), b))
    if b[1] is not None and b[1] <= 0:
        return _negated(_product(a, _negated(b)))
    if a[0] is not None and a[0] >= 0 and a[1] is not None:  # a bounded, b of any sign
        return _scaled(a[1], b)
    if b[0] is not None and b[0] >= 0 and b[1] is not None:
        return _scaled(b[1], a)
    return ANY_RANGE


def _scaled(factor: int, a: Range) -> Range:
    """A number in `[0, factor]` times one in `a`, which has values of both signs or no bound."""
    return None if a[0] is None else min(0, a[0] * factor), None if a[1] is None else max(0, a[1] * factor)


def _bound_of_product(bounds: Bounds, args: tuple[IntExpr, ...]) -> Range:
    result: Range = (1, 1)
    i = 0
    while i < len(args):
        power = 1
        while i + power < len(args) and args[i + power] == args[i]:
            power += 1
        low, high = bounds.of(args[i])
        if power % 2 == 0:
            ends = [] if low is None or high is None else [low**power, high**power]
            least = 0
            if low is not None and low > 0:
                least = low**power
            elif high is not None and high < 0:
                least = high**power
            result = _product(result, (least, max(ends) if ends else None))
        else:
            result = _product(result, (None if low is None else low**power, None if high is None else high**power))
        i += power
    return result


def _quotient(a: Range, b: Range, divide: Callable[[int, int], int]) -> Range:
    """A division that grows with its dividend, by a divisor that is never zero."""
    if a == (0, 0):
        return a
    low, high = b
    if low == 0:
        low = 1
    if high == 0:
        high = -1
    if low is not None and high is not None and low > high:  # always zero, or facts that contradict each other
        return ANY_RANGE
    if high is not None and high < 0:
        return _quotient(_negated(a), (-high, None if low is None else -low), divide)
    if low is None or low < 0:  # of any sign: the dividend's magnitude is what bounds it
        if a[0] is None or a[1] is None:
            return ANY_RANGE
        size = max(abs(a[0]), abs(a[1]))
        return -size, size
    # the greatest divisor takes an end towards zero, the least keeps it away
    least = greatest = None
    if a[0] is not None:
        least = divide(a[0], low) if a[0] < 0 else (0 if high is None else divide(a[0], high))
    if a[1] is not None:
        far = (divide(-1, 1 << 64) if high is None else divide(a[1], high)) if a[1] < 0 else divide(a[1], low)
        greatest = far
    return least, greatest


def _floor(a: int, b: int) -> int:
    return a // b


def _trunc(a: int, b: int) -> int:
    return a // b if a >= 0 else -(-a // b)


def _bound_of_floordiv(bounds: Bounds, args: tuple[IntExpr, ...]) -> Range:
    return _quotient(bounds.of(args[0]), bounds.of(args[1]), _floor)


def _bound_of_truncdiv(bounds: Bounds, args: tuple[IntExpr, ...]) -> Range:
    return _quotient(bounds.of(args[0]), bounds.of(args[1]), _trunc)


def _bound_of_floormod(bounds: Bounds, args: tuple[IntExpr, ...]) -> Range:
    (low, high), (least, most) = bounds.of(args[0]), bounds.of(args[1])
    if (low, high) == (0, 0):
        return 0, 0
    if least is not None and least >= 0:
        if low is not None and high is not None:
            if low >= 0 and high < least:
                return low, high
            if least == most and least > 0 and low // least == high // least:
                return low % least, high % least
        top = None if most is None else most - 1
        if low is not None and low >= 0 and high is not None:
            top = high if top is None else min(top, high)
        return 0, top
    if most is not None and most <= 0:
        return None if least is None else least + 1, 0
    return None if least is None else min(least + 1, 0), None if most is None else max(most - 1, 0)


def _bound_of_truncmod(bounds: Bounds, args: tuple[IntExpr, ...]) -> Range:
    (low, high), (least, most) = bounds.of(args[0]), bounds.of(args[1])
    if (low, high) == (0, 0):
        return 0, 0
    size = None if least is None or most is None else max(abs(least), abs(most)) - 1
    smallest: int | None = None
    greatest = size
    if low is not None and low >= 0:
        smallest = 0
    elif low is not None or size is not None:
        smallest = max(x for x in (low, None if size is None else -size) if x is not None)
    if high is not None:
        greatest = 0 if high <= 0 else high if size is None else min(high, size)
    return smallest, greatest


def _least(values: Iterable[int | None]) -> int | None:
    found = list(values)
    known = [v for v in found if v is not None]
    return min(known) if len(known) == len(found) else None


def _greatest(values: Iterable[int | None]) -> int | None:
    found = list(values)
    known = [v for v in found if v is not None]
    return max(known) if len(known) == len(found) else None


def _bound_of_min(bounds: Bounds, args: tuple[IntExpr, ...]) -> Range:
    ranges = [bounds.of(arg) for arg in args]
    tops = [high for _, high in ranges if high is not None]
    return _least(low for low, _ in ranges), min(tops) if tops else None


def _bound_of_max(bounds: Bounds, args: tuple[IntExpr, ...]) -> Range:
    ranges = [bounds.of(arg) for arg in args]
    bottoms = [low for low, _ in ranges if low is not None]
    return max(bottoms) if bottoms else None, _greatest(high for _, high in ranges)


def _bound_of_select(bounds: Bounds, args: tuple[IntExpr, ...]) -> Range:
    ranges = [bounds.of(arg) for arg in args[1:]]
    return _least(low for low, _ in ranges), _greatest(high for _, high in ranges)


def _bound_of_condition(bounds: Bounds, args: tuple[IntExpr, ...]) -> Range:
    return 0, 1


def _bound_of_bit_and(bounds: Bounds, args: tuple[IntExpr, ...]) -> Range:
    ranges = [bounds.of(arg) for arg in args]
    natural = [r for r in ranges if r[0] is not None and r[0] >= 0]
    if natural:
        tops = [high for _, high in natural if high is not None]
        return 0, min(tops) if tops else None
    high = _greatest(high for _, high in ranges)
    low = _least(low for low, _ in ranges)
    return None if low is None else -(1 << (-low - 1).bit_length()), high if high is None else max(high, -1)


def _bound_of_power(bounds: Bounds, args: tuple[IntExpr, ...]) -> Range:
    low, high = bounds.of(args[0])
    low = 0 if low is None else min(max(low, 0), MAX_EXPONENT)
    return 1 << low, None if high is None or high > MAX_EXPONENT else 1 << max(high, 0)


_RULES: dict[type[Op], Callable[[Bounds, tuple[IntExpr, ...]], Range]] = {
    Product: _bound_of_product,
    FloorDiv: _bound_of_floordiv,
    FloorMod: _bound_of_floormod,
    TruncDiv: _bound_of_truncdiv,
    TruncMod: _bound_of_truncmod,
    Min: _bound_of_min,
    Max: _bound_of_max,
    Select: _bound_of_select,
    NonNegative: _bound_of_condition,
    Zero: _bound_of_condition,
    Not: _bound_of_condition,
    All: _bound_of_condition,
    Any_: _bound_of_condition,
    BitAnd: _bound_of_bit_and,
    PowerOfTwo: _bound_of_power,
}

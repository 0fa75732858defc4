"""What is known: ranges, remainders, and conditions that hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import gcd
from typing import TypeAlias

from .build import add, linear, parts, scale
from .nodes import All, Const, FloorMod, IntExpr, NonNegative, Not, Sum, TruncMod, Zero, const

Range: TypeAlias = "tuple[int | None, int | None]"
"""Least and greatest value, both included; `None` where there is no bound."""
Modular: TypeAlias = tuple[int, int]
"""`(m, b)`: values are `m * k + b`, `0 <= b < m`; with `m == 0` the value is `b`."""

ANY_RANGE: Range = (None, None)
ANY_INTEGER: Modular = (1, 0)


def intersect(a: Range, b: Range) -> Range:
    """The values in both ranges."""
    low = a[0] if b[0] is None else b[0] if a[0] is None else max(a[0], b[0])
    high = a[1] if b[1] is None else b[1] if a[1] is None else min(a[1], b[1])
    return low, high


def congruent(coefficient: int, base: int) -> Modular:
    """`coefficient * k + base`, with the least base."""
    coefficient = abs(coefficient)
    return (coefficient, base % coefficient) if coefficient else (0, base)


def join(a: Modular, b: Modular) -> Modular:
    """The values of one or the other."""
    return congruent(gcd(a[0], b[0], a[1] - b[1]), a[1])


def meet(a: Modular, b: Modular) -> Modular:
    """The values in both; `a` where nothing is (the facts contradict each other)."""
    (m, r), (n, s) = a, b
    if not m or not n:
        return a if not m else b
    common = gcd(m, n)
    if (s - r) % common:
        return a
    step = n // common
    factor = ((s - r) // common * pow(m // common, -1, step)) % step if step > 1 else 0
    return congruent(m * step, r + m * factor)


@dataclass
class Facts:
    """Ranges and remainders of atoms, and of sums without their constant; conditions that hold; what is at least 0."""

    ranges: dict[IntExpr, Range] = field(default_factory=dict[IntExpr, Range])
    modular: dict[IntExpr, Modular] = field(default_factory=dict[IntExpr, Modular])
    known: set[IntExpr] = field(default_factory=set[IntExpr])
    assumed: tuple[IntExpr, ...] = ()
    has_sums: bool = False
    replaced: frozenset[IntExpr] = frozenset()
    """Variables whose bounds are those of `ranges`, whatever their types say."""
    _by_atom: dict[IntExpr, list[tuple[IntExpr, int]]] = field(default_factory=dict[IntExpr, list[tuple[IntExpr, int]]])
    _found_in: tuple[IntExpr, ...] = ()
    """What was assumed when `_by_atom` was made."""

    def copy(self) -> Facts:
        return replace(self, ranges=dict(self.ranges), modular=dict(self.modular), known=set(self.known))

    def about(self, atom: IntExpr) -> Sequence[tuple[IntExpr, int]]:
        """What is `assumed` of an atom among others, in order, and the atom's factors there."""
        if self._found_in is not self.assumed:
            found: dict[IntExpr, list[tuple[IntExpr, int]]] = {}
            for expr in self.assumed:
                for each, factor in parts(expr)[1].items():
                    found.setdefault(each, []).append((expr, factor))
            self._found_in, self._by_atom = self.assumed, found
        return self._by_atom.get(atom, ())

    def restrict(self, expr: IntExpr, bounds: Range) -> None:
        """Narrow the range of `expr`, an atom or a sum without constant."""
        self.ranges[expr] = intersect(self.ranges.get(expr, ANY_RANGE), bounds)
        if isinstance(expr, Sum):
            self.has_sums = True
            opposite = scale(expr, -1)
            low, high = self.ranges[expr]
            self.ranges[opposite] = (None if high is None else -high, None if low is None else -low)

    def assume(self, condition: IntExpr) -> None:
        """Take `condition` for true."""
        if isinstance(condition, Const) or condition in self.known:
            return
        self.known.add(condition)
        if isinstance(condition, All):
            for part in condition.args:
                self.assume(part)
        elif isinstance(condition, NonNegative):
            self._at_least_zero(condition.args[0])
        elif isinstance(condition, Zero):
            self._is_zero(condition.args[0])
        elif isinstance(condition, Not) and isinstance(condition.args[0], Zero):
            self._is_not_zero(condition.args[0].args[0])

    def _at_least_zero(self, expr: IntExpr) -> None:
        if expr not in self.assumed:
            self.assumed = (*self.assumed, expr)
        atom, factor, constant = single(expr)
        if factor > 0:
            self.restrict(atom, (-(constant // factor), None))
        else:
            self.restrict(atom, (None, constant // -factor))

    def _is_zero(self, expr: IntExpr) -> None:
        self._at_least_zero(expr)
        self._at_least_zero(scale(expr, -1))
        atom, factor, constant = single(expr)
        if isinstance(atom, FloorMod | TruncMod) and abs(factor) == 1:
            number, divisor = atom.args
            if isinstance(divisor, Const) and divisor.value > 0:
                self.restrict_modular(number, congruent(divisor.value, -constant * factor))

    def restrict_modular(self, expr: IntExpr, modular: Modular) -> None:
        """Narrow what is known of the remainder of `expr`."""
        if isinstance(expr, Sum) and expr.constant:
            modular = congruent(modular[0], modular[1] - expr.constant)
            expr = add(expr, const(-expr.constant))
        atom, factor, _ = single(expr)
        if factor == -1:
            expr, modular = atom, congruent(modular[0], -modular[1])
        self.modular[expr] = meet(self.modular.get(expr, ANY_INTEGER), modular)

    def _is_not_zero(self, expr: IntExpr) -> None:
        atom, factor, constant = single(expr)
        if constant % factor:
            return
        value = -constant // factor
        low, high = self.ranges.get(atom, ANY_RANGE)
        if low == value:
            self.restrict(atom, (value + 1, None))
        if high == value:
            self.restrict(atom, (None, value - 1))


def single(expr: IntExpr) -> tuple[IntExpr, int, int]:
    """`expr` as `factor * atom + constant`, where the atom is a sum without constant if `expr` has several terms."""
    if not isinstance(expr, Sum):
        return expr, 1, 0
    if len(expr.terms) == 1:
        ((atom, factor),) = expr.terms.items()
        return atom, factor, expr.constant
    return (linear(0, dict(expr.terms)) if expr.constant else expr), 1, expr.constant

"""Proving that a linear expression is never negative, from what is assumed and from what atoms say of themselves.

An assumption `a >= 0` that has an atom with the same sign as the goal takes that atom out of it: the goal follows from
`m * goal - k * a >= 0`, `m` and `k` positive (elimination after Fourier and Motzkin). A quotient, a remainder, a
minimum and a maximum bring inequalities of their own; a product by what is not negative brings those of its other
factor.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import Protocol

from .build import add, floordiv, multiply, parts, scale
from .facts import Facts, Range
from .nodes import Const, FloorDiv, FloorMod, IntExpr, Max, Min, Op, Product, TruncDiv, TruncMod, const, op

DEPTHS = (2, 4)
"""How many premises one after the other a proof may take: a short one is looked for before a long one, of which there
are many more."""
MAX_STEPS = 60
"""Premises that are tried in a proof of one depth."""

_SPEAKING = (FloorDiv, FloorMod, TruncDiv, TruncMod, Min, Max)


class Known(Protocol):
    """What the proof asks."""

    @property
    def facts(self) -> Facts: ...
    def range(self, expr: IntExpr) -> Range: ...


class Proof:
    """One proof, of bounded length."""

    def __init__(self, known: Known):
        self.known = known
        self.steps = 0

    def found(self, goal: IntExpr) -> bool:
        """Whether `goal >= 0` was shown."""
        for depth in DEPTHS:
            self.steps = 0
            if self.non_negative(goal, depth):
                return True
        return False

    def non_negative(self, goal: IntExpr, depth: int) -> bool:
        """The same, with no more premises one after the other than `depth`."""
        low = self.known.range(goal)[0]
        if low is not None and low >= 0:
            return True
        if not depth or type(goal) is Const:
            return False
        if (sides := _sides(goal)) is not None:
            return all(self.non_negative(side, depth - 1) for side in sides)
        if any(self.non_negative(each, depth - 1) for each in self._rewritten(goal)):
            return True
        for premise, number, factor in self._premises(goal):
            self.steps += 1
            if self.steps > MAX_STEPS:
                return False
            common = gcd(number, factor)
            rest = add(scale(goal, abs(factor) // common), premise, -(abs(number) // common))
            if self.non_negative(rest, depth - 1):
                return True
        return False

    def _rewritten(self, goal: IntExpr) -> Iterator[IntExpr]:
        """What is not negative just where `goal` is not: without one of its quotients, `x floordiv d < e` where
        `x < e * d`, and `x floordiv d >= e` where `x >= e * d`; or with a quotient for a remainder, `x - d * (x
        floordiv d)` for `x mod d`, of which something else is known or said in `goal`."""
        numbers = parts(goal)[1]
        for atom, number in numbers.items():
            if isinstance(atom, FloorDiv) and abs(number) == 1:
                dividend, divisor = atom.args
                if self._positive(divisor):
                    rest = multiply(add(goal, atom, -number), divisor)
                    yield add(rest, dividend) if number == 1 else add(add(rest, divisor), add(dividend, const(1)), -1)
            elif isinstance(atom, FloorMod) and isinstance(atom.args[1], Const):
                quotient = floordiv(*atom.args)
                if any(each in numbers or self.known.facts.about(each) for each in parts(quotient)[1]):
                    rest = add(add(goal, atom, -number), atom.args[0], number)
                    yield add(rest, multiply(atom.args[1], quotient), -number)

    def _premises(self, goal: IntExpr) -> Iterator[tuple[IntExpr, int, int]]:
        """Expressions that are never negative and share an atom of equal sign with the goal; its two coefficients."""
        for atom, number in parts(goal)[1].items():
            for premise, factor in (*self.known.facts.about(atom), *self._told_by(atom)):
                if factor * number > 0:
                    yield premise, number, factor

    def _told_by(self, atom: IntExpr) -> Iterator[tuple[IntExpr, int]]:
        """What an atom that is an operation brings, and its factor there."""
        if isinstance(atom, Op):
            for premise in (*self._own(atom), *self._multiplied(atom)):
                yield premise, parts(premise)[1].get(atom, 0)

    def _positive(self, expr: IntExpr) -> bool:
        return self._at_least(expr, 1)

    def _at_least(self, expr: IntExpr, least: int) -> bool:
        """Whether `expr` is shown to be no less, by its bounds or by one assumption."""
        low = self.known.range(expr)[0]
        return self.non_negative(add(expr, const(-least)), 1) if low is None else low >= least

    def _own(self, atom: IntExpr) -> Iterator[IntExpr]:
        """What the atom says of itself."""
        if isinstance(atom, Min | Max):
            for arg in atom.args:
                yield add(arg, atom, -1) if isinstance(atom, Min) else add(atom, arg, -1)
        elif isinstance(atom, FloorDiv | FloorMod):
            number, divisor = atom.args
            if not self._positive(divisor):
                return
            if isinstance(atom, FloorDiv):
                product = multiply(divisor, atom)
                yield add(number, product, -1)
                yield add(add(product, divisor), add(number, const(1)), -1)
            else:
                yield atom
                yield add(divisor, add(atom, const(1)), -1)
                low = self.known.range(number)[0]
                if low is not None and low >= 0:
                    yield add(number, atom, -1)
        elif isinstance(atom, TruncDiv | TruncMod):
            yield from self._truncated(atom.args[0], atom.args[1], atom)
        elif isinstance(atom, Product):
            for i, inner in enumerate(atom.args):  # a quotient or remainder times what is positive
                others = atom.args[:i] + atom.args[i + 1 :]
                if isinstance(inner, FloorDiv) and len(others) == 1 and others[0] == inner.args[1]:
                    yield from self._own(inner) if self._positive(others[0]) else ()

    def _truncated(self, number: IntExpr, divisor: IntExpr, atom: IntExpr) -> Iterator[IntExpr]:
        """What a truncated quotient or remainder says of itself: it is less than one divisor from its dividend, towards
        zero."""
        if not self._positive(divisor):
            return
        rest = atom if isinstance(atom, TruncMod) else add(number, multiply(divisor, atom), -1)
        least = add(divisor, const(-1))
        low, high = self.known.range(number)
        yield rest if low is not None and low >= 0 else add(least, rest)
        yield scale(rest, -1) if high is not None and high <= 0 else add(least, rest, -1)

    def _multiplied(self, atom: IntExpr) -> Iterator[IntExpr]:
        """Assumptions about one factor of a product, times the others where these are not negative."""
        if not isinstance(atom, Product):
            return
        for i, inner in enumerate(atom.args):
            others = atom.args[:i] + atom.args[i + 1 :]
            rest = others[0] if len(others) == 1 else op(Product, *others)
            if not self._at_least(rest, 0):
                continue
            least, most = self.known.range(inner)
            if least is not None:
                yield multiply(add(inner, const(-least)), rest)
            if most is not None:
                yield multiply(add(const(most), inner, -1), rest)
            for premise, _ in self.known.facts.about(inner):
                yield multiply(premise, rest)


def _sides(goal: IntExpr) -> list[IntExpr] | None:
    """What is never negative for all operands of a minimum that `goal` adds, or a maximum that it takes away."""
    for atom, number in parts(goal)[1].items():
        if (isinstance(atom, Min) and number > 0) or (isinstance(atom, Max) and number < 0):
            rest = add(goal, atom, -number)
            return [add(rest, arg, number) for arg in atom.args]
    return None


def worth_proving(goal: IntExpr, facts: Facts) -> bool:
    """Whether more than the bounds of its atoms may say something about `goal`."""
    return bool(facts.assumed) or any(isinstance(a, Op) and isinstance(a, _SPEAKING) for a in parts(goal)[1])

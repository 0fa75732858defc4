"""Digits of loop variables, `i floordiv 4` and `i mod 4`, and whether they take all combinations of their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from .affine import Range


@dataclass(frozen=True, order=True)
class Digit:
    """`loop floordiv unit mod count`, or the whole of a loop."""

    loop: int
    unit: int
    count: int
    first: int = 0


def digit_of(atom: AffineExpr, ranges: Sequence[Range]) -> Digit | None:
    """A digit of a dimension, whose values are those of `ranges`; `None` where `atom` is none."""
    if (parts := _parts(atom)) is None:
        return None
    loop, unit, count = parts
    low, high = ranges[loop]
    if high < low or (low and (count or unit > 1)):
        return None
    whole = -(-(high + 1) // unit) if unit > 1 else high - low + 1
    return Digit(loop, unit, min(whole, count) if count else whole, low)


def unit_and_count(atom: AffineExpr) -> tuple[int, int] | None:
    """Those of a digit of a dimension, the count 0 where it is no remainder; `None` where `atom` is none."""
    parts = _parts(atom)
    return None if parts is None else parts[1:]


def _parts(atom: AffineExpr) -> tuple[int, int, int] | None:
    parts = divided(atom)
    if parts is None or not isinstance(parts[0], AffineDimExpr):
        return None
    return parts[0].position, *parts[1:]


def divided(atom: AffineExpr) -> tuple[AffineExpr, int, int] | None:
    """Of `e floordiv unit mod count` the three, the unit 1 and the count 0 where there is none; `None` where what
    divides is no positive number."""
    unit, count = 1, 0
    if isinstance(atom, AffineBinaryOpExpr) and atom.kind is AffineBinaryOpKind.Mod:
        if (modulus := positive_constant(atom.rhs)) is None:
            return None
        atom, count = atom.lhs, modulus
    if isinstance(atom, AffineBinaryOpExpr) and atom.kind is AffineBinaryOpKind.FloorDiv:
        if (divisor := positive_constant(atom.rhs)) is None:
            return None
        atom, unit = atom.lhs, divisor
    return atom, unit, count


def positive_constant(expr: AffineExpr) -> int | None:
    """A literal that is above 0; `None` for all else."""
    return expr.value if isinstance(expr, AffineConstantExpr) and expr.value > 0 else None


def are_independent(digits: Sequence[Digit], ranges: Sequence[Range]) -> bool:
    """Whether digits take all combinations of their values: those of one loop lie one above the other, and it has all
    values of the topmost."""
    ascending = sorted(digits)
    for digit, above in pairwise(ascending):
        if digit.loop == above.loop and above.unit % (digit.unit * digit.count):
            return False
    last = {digit.loop: digit for digit in ascending}
    return all((ranges[d.loop][1] - ranges[d.loop][0] + 1) >= d.unit * d.count for d in last.values())

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
    modulus: int | None = None
    unit = 1
    if isinstance(atom, AffineBinaryOpExpr) and atom.kind is AffineBinaryOpKind.Mod:
        modulus = positive_constant(atom.rhs)
        if modulus is None:
            return None
        atom = atom.lhs
    if isinstance(atom, AffineBinaryOpExpr) and atom.kind is AffineBinaryOpKind.FloorDiv:
        if (divisor := positive_constant(atom.rhs)) is None:
            return None
        atom, unit = atom.lhs, divisor
    if not isinstance(atom, AffineDimExpr):
        return None
    low, high = ranges[atom.position]
    if high < low or (low and (modulus is not None or unit > 1)):
        return None
    whole = -(-(high + 1) // unit) if unit > 1 else high - low + 1
    return Digit(atom.position, unit, whole if modulus is None else min(whole, modulus), low)


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

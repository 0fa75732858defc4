"""Between which values an index expression lies, exactly, where that is seen in one walk over it.

Each part of an expression takes values from a least to a greatest, in steps: those of `4 * i` for `0 <= i < 3` are 0, 4
and 8. As long as no dimension stands in two parts, the parts take their values in all combinations, and what is known
of a sum, a multiple, a quotient or a remainder is known of its values too: both ends are taken. So these bounds are as
tight as any. What cannot be said so is left to the analyzer (`affine.expr_range`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from .integers import Range

_Values: TypeAlias = tuple[int, int, int | None, int]
"""The least value and the greatest; the step of the values between them, if these are all of a step, 0 for a single
one; and the dimensions, one bit for each."""


def exact_range(expr: AffineExpr, ranges: Sequence[Range]) -> Range | None:
    """The least and greatest value of `expr` where each dimension takes all values of its range, if these are found."""
    values = _values(expr, ranges)
    return None if values is None else (values[0], values[1])


def whole_range(expr: AffineExpr, ranges: Sequence[Range]) -> tuple[Range, int] | None:
    """The same where `expr` takes all values between the two, and the dimensions that it is of, one bit for each."""
    values = _values(expr, ranges)
    if values is None or values[2] is None or values[2] > 1:
        return None
    return (values[0], values[1]), values[3]


def _values(expr: AffineExpr, ranges: Sequence[Range]) -> _Values | None:
    if type(expr) is AffineDimExpr:
        low, high = ranges[expr.position]
        return (low, high, min(high - low, 1), 1 << expr.position) if low <= high else None
    if type(expr) is AffineConstantExpr:
        return expr.value, expr.value, 0, 0
    if type(expr) is not AffineBinaryOpExpr or (left := _values(expr.lhs, ranges)) is None:
        return None
    if expr.kind is AffineBinaryOpKind.Add:
        return None if (right := _values(expr.rhs, ranges)) is None else _sum(left, right)
    if type(expr.rhs) is not AffineConstantExpr:
        return None
    value = expr.rhs.value
    if expr.kind is AffineBinaryOpKind.Mul:
        return _multiple(left, value)
    if value <= 0:
        return None
    if expr.kind is AffineBinaryOpKind.FloorDiv:
        return _quotient(left, value)
    return _remainder(left, value) if expr.kind is AffineBinaryOpKind.Mod else None


def _sum(a: _Values, b: _Values) -> _Values | None:
    (low, high, step, dims), (other_low, other_high, other_step, other_dims) = a, b
    if dims & other_dims:
        return None
    if step is None or other_step is None:
        found = None
    elif step == 0 or other_step == 0:
        found = step + other_step
    else:
        fine, coarse, reach = (step, other_step, high - low)
        if fine > coarse:
            fine, coarse, reach = other_step, step, other_high - other_low
        # the fine values fill the gaps between the coarse ones
        found = fine if coarse % fine == 0 and reach >= coarse - fine else None
    return low + other_low, high + other_high, found, dims | other_dims


def _multiple(a: _Values, factor: int) -> _Values:
    low, high, step, dims = a
    if factor < 0:
        low, high = high, low
    return low * factor, high * factor, None if step is None else step * abs(factor), dims


def _quotient(a: _Values, divisor: int) -> _Values:
    low, high, step, dims = a
    first, last = low // divisor, high // divisor
    if step is None:
        return first, last, 0 if first == last else None, dims
    if step <= divisor:  # none is passed over
        return first, last, min(last - first, 1), dims
    return first, last, step // divisor if step % divisor == 0 else None, dims


def _remainder(a: _Values, divisor: int) -> _Values | None:
    low, high, step, dims = a
    if low // divisor == high // divisor:
        return low % divisor, high % divisor, step, dims
    if not step or divisor % step:
        return None
    first = low % step  # the least there is, and the greatest is taken before it
    return first, divisor - step + first, step if high - low >= divisor - step else None, dims

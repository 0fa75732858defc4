"""What quantisation rounds: quotients by one divisor, and integers out of bounds.

    %s = vector.broadcast %d                         %r = arith.divf 1, %d                  // once, outside of loops
    %1 = arith.divf %x, %s                           %q = arith.mulf %x, %r
    %2 = math.roundeven %1                      ->   %e = math.fma %q, %s, -%x              // exact
                                                     %1 = math.fma -%e, %r, %q

    %3 = arith.select (%2 < 0), 0, %2                %3 = arith.select (%1 < 0), 0, %1
    %4 = arith.fptoui %3                        ->   %4 = arith.fptoui (math.roundeven %3)  // one instruction

A division of vectors takes as long as ten multiplications. With the reciprocal rounded to nearest, one multiplication
and two fused multiply-adds give the quotient rounded to nearest, as the division does: Markstein, "Computation of
elementary functions on the IBM RISC System/6000 processor" (1990); Brisebarre, Muller and Raina, "Accelerating
correctly rounded floating-point division when the divisor is known in advance" (2004). What that does not hold for
comes out as a NaN, and then all lanes are divided: infinities, quotients that overflow, divisors that are not between
`LEAST` and `GREATEST`. Numbers so small that the remainder is not exact have quotients that are rounded to zero.

A number is rounded behind bounds that are integers as well as before them, and there the conversion itself rounds.
"""

from __future__ import annotations

from math import nan

from xdsl.dialects import arith, llvm, math, vector
from xdsl.dialects.builtin import Float32Type, i32
from xdsl.ir import Operation, SSAValue

from ...dialects.extensions import arith as arith_extensions
from ...dialects.support.vector_types import as_vector, with_element_type
from ..total_arith import misfit, width_of
from .expression import Expr, Scope
from .known_floats import known_number

LEAST, GREATEST = 2.0**-100, 2.0**100
"""The divisors for which no step loses bits for being small, or overflows where the quotient does not."""

WORD = 32
"""Bits of the integers that a vector is rounded to by one instruction."""

_ORDERED = (2, 3, 4, 5)
"""Numbers of the predicates ogt, oge, olt, ole."""


def divide_by_reciprocal(op: Operation) -> None:
    """Expand a `math.roundeven` of the quotients of a vector of f32 by one number."""
    assert isinstance(op, math.RoundEvenOp)
    division = op.operand.owner
    if not isinstance(division, arith.DivfOp) or not _is_rounded_alone(op.operand):
        return
    spread = division.rhs.owner
    if not isinstance(spread, vector.BroadcastOp) or not isinstance(spread.source.type, Float32Type):
        return
    if (kind := as_vector(division.result.type)) is None:
        return
    before = Scope(spread)
    divisor = Expr(before, spread.source)
    fits = (divisor > LEAST) & (divisor < GREATEST)
    scalar = fits.select(divisor.like(1.0) / divisor, divisor.like(nan))
    scope = Scope(division)
    x, divisors = Expr(scope, division.lhs), Expr(scope, division.rhs)
    reciprocals = Expr(scope, scope.insert(vector.BroadcastOp(scalar.value, kind)))
    near = x * reciprocals
    excess = near.fused(divisors, -x)
    quotient = (-excess).fused(reciprocals, near)
    (result,) = quotient.equals(quotient).if_all(_first, _divided, quotient, x, divisors)
    division.result.replace_all_uses_with(result.value)
    division.detach()
    division.erase()


def _first(quotient: Expr, x: Expr, divisors: Expr) -> Expr:
    return quotient


def _divided(quotient: Expr, x: Expr, divisors: Expr) -> Expr:
    return x / divisors


def _is_rounded_alone(value: SSAValue) -> bool:
    return all(isinstance(use.operation, math.RoundEvenOp) for use in value.uses)


def round_last(op: Operation) -> None:
    """Let the conversion of a vector of f32 to integers round itself, where `op` converts what integers bound of a
    `math.roundeven`, and 32 bits hold it."""
    value, converted = op.operands[0], op.results[0]
    while (number := _within_bound(value)) is not None:
        value = number
    rounding, vector_type = value.owner, as_vector(value.type)
    if not isinstance(rounding, math.RoundEvenOp) or value is op.operands[0] or vector_type is None:
        return
    if len(list(op.operands[0].uses)) > 1:
        return
    found = misfit(op)
    width, is_signed = width_of(converted.type), isinstance(op, arith.FPToSIOp | arith_extensions.FPToSIOp)
    is_held = width < WORD or (width == WORD and is_signed)
    if not isinstance(vector_type.element_type, Float32Type) or found.low or found.high or not is_held:
        return
    value.replace_all_uses_with(rounding.operand)
    rounding.detach()
    rounding.erase()
    scope = Scope(op)
    bounded, words = Expr(scope, op.operands[0]), with_element_type(value.type, i32)
    (lanes,) = vector_type.get_shape()
    if found.nan:  # in lanes of floats, which are as wide as what is compared: bytes are not
        bounded = bounded.equals(bounded).select(bounded, bounded.like(0.0))
    nearest = llvm.CallIntrinsicOp(f"llvm.lrint.v{lanes}i32.v{lanes}f32", [bounded.value], [words])
    result = Expr(scope, scope.insert(nearest)).narrowed(converted.type)
    converted.replace_all_uses_with(result.value)
    op.detach()
    op.erase()


def _within_bound(value: SSAValue) -> SSAValue | None:
    """The number that `value` is, up to an integer on one side of it; `None` where it is no such choice, or what it
    chooses from is read elsewhere."""
    choice = value.owner
    if not isinstance(choice, arith.SelectOp | arith_extensions.SelectOp):
        return None
    test, bound, number = choice.cond.owner, known_number(choice.lhs), choice.rhs
    if not isinstance(test, arith.CmpfOp | arith_extensions.CmpfOp) or test.predicate.value.data not in _ORDERED:
        return None
    if bound is None or not bound.is_integer() or {use.operation for use in number.uses} != {choice, test}:
        return None
    others = [side for side in (test.lhs, test.rhs) if side is not number]
    return number if len(others) == 1 and known_number(others[0]) == bound else None

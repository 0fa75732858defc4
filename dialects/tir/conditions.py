"""What the truth of a condition says of indices: comparisons, put together by `and`, `or` and `xor`, as affine
expressions that are at least 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ..support.hints import isa
from .affine import Range, expr_range
from .disjunctions import any_of

MAX_CONDITIONS = 16
"""A condition that takes more expressions than this is taken for one that nothing is known of."""


@dataclass(frozen=True)
class Guard:
    """Where a place in a body is reached: only where all `conditions` are at least 0, and, where they are the `whole`
    of it, always there. Else data, or what is no affine comparison, has a say as well."""

    conditions: tuple[AffineExpr, ...] = ()
    whole: bool = True

    def and_(self, other: Guard) -> Guard:
        """Where both hold."""
        return Guard((*self.conditions, *other.conditions), self.whole and other.whole)


EVERYWHERE = Guard()
SOMEWHERE = Guard(whole=False)
"""Nothing is known."""
NOWHERE = Guard((AffineConstantExpr(-1),))


class Conditions:
    """Reads conditions: `affine` gives an index as an expression, or nothing, and `ranges` is what is known of the
    dimensions in those."""

    def __init__(self, affine: Callable[[SSAValue], AffineExpr | None], ranges: Mapping[AffineExpr, Range]):
        self.affine = affine
        self.ranges = ranges

    def of(self, value: SSAValue, holds: bool = True) -> Guard:
        """Where a truth value is true, or, without `holds`, where it is false."""
        match value.owner:
            case arith.ConstantOp(value=IntegerAttr() as literal):
                return EVERYWHERE if (literal.value.data != 0) is holds else NOWHERE
            case arith.AndIOp(lhs=lhs, rhs=rhs):
                one, other = self.of(lhs, holds), self.of(rhs, holds)
                return one.and_(other) if holds else self._either(one, other)
            case arith.OrIOp(lhs=lhs, rhs=rhs):
                one, other = self.of(lhs, holds), self.of(rhs, holds)
                return self._either(one, other) if holds else one.and_(other)
            case arith.XOrIOp(lhs=lhs, rhs=rhs):
                return self._either(
                    self.of(lhs, True).and_(self.of(rhs, not holds)), self.of(lhs, False).and_(self.of(rhs, holds))
                )
            case arith.CmpiOp() as op:
                return self._compared(op, holds)
            case _:
                return SOMEWHERE

    def _compared(self, op: arith.CmpiOp, holds: bool) -> Guard:
        a, b = self._index(op.lhs), self._index(op.rhs)
        if a is None or b is None:
            return SOMEWHERE
        predicate = op.predicate.value.data
        if predicate >= _UNSIGNED and (predicate := self._signed(predicate, a, b)) is None:
            return SOMEWHERE
        if not holds:
            predicate = _OPPOSITE[predicate]
        more, less = a + b * -1, b + a * -1
        match predicate:
            case 0:
                return Guard((more, less))
            case 1:
                return self._either(Guard((more - 1,)), Guard((less - 1,)))
            case 2:
                return Guard((less - 1,))
            case 3:
                return Guard((less,))
            case 4:
                return Guard((more - 1,))
            case _:
                return Guard((more,))

    def _index(self, value: SSAValue) -> AffineExpr | None:
        """An index, or an integer that one was cast to whose values fit."""
        if isinstance(value.type, IndexType):
            return self.affine(value)
        match value.owner:
            case arith.ConstantOp(value=IntegerAttr() as literal):
                return AffineConstantExpr(literal.value.data)
            case arith.IndexCastOp() as cast if isinstance(cast.input.type, IndexType) and _is_wide(value):
                expr = self.affine(cast.input)
                bounds = None if expr is None else expr_range(expr, self.ranges)
                return expr if bounds is not None and -_FITS <= bounds[0] <= bounds[1] < _FITS else None
            case _:
                return None

    def _signed(self, predicate: int, a: AffineExpr, b: AffineExpr) -> int | None:
        """The comparison with a sign that is the same as one without, where neither side can be negative."""
        for side in (a, b):
            bounds = expr_range(side, self.ranges)
            if bounds is None or bounds[0] < 0:
                return None
        return predicate - _UNSIGNED + 2

    def _either(self, one: Guard, other: Guard) -> Guard:
        """Where one of the two holds, or both."""
        if one == NOWHERE or other == NOWHERE:
            return other if one == NOWHERE else one
        if not (one.whole and other.whole) or len(one.conditions) * len(other.conditions) > MAX_CONDITIONS:
            return SOMEWHERE
        found: list[AffineExpr] = []
        for pair in [(a, b) for a in one.conditions for b in other.conditions]:
            if (either := any_of(pair, self.ranges)) is None:
                return SOMEWHERE
            found.append(either)
        return Guard(tuple(found))


_UNSIGNED = 6
"""Predicates from here on, ult, ule, ugt and uge, are without a sign; slt, sle, sgt and sge are four less."""
_OPPOSITE: Sequence[int] = (1, 0, 5, 4, 3, 2)
"""By the number of a predicate (eq, ne, slt, sle, sgt, sge)."""
_FITS = 1 << 31
"""Comparisons of integers are taken for those of indices where they are below it: they fit 32 bits, and 64."""


def _is_wide(value: SSAValue) -> bool:
    """Whether an integer has 32 bits at least."""
    return isa(value.type, IntegerType) and value.type.width.data >= 32

"""What the truth of a condition says of indices: comparisons, put together by `and`, `or` and `xor`, as a condition on
integer expressions, or as affine expressions that are at least 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from typing_extensions import override
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, i1
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ..support.hints import isa
from .affine import Range, expr_range
from .analyzer.build import all_of, negate
from .analyzer.build import any_of as either_of
from .analyzer.convert import from_affine, to_affine
from .analyzer.nodes import All, Any_, Const, Flag, IntExpr, NonNegative, Not, Zero, const, var
from .disjunctions import any_of

_NUMBERS = count()
"""Of flags that stand for what is unknown."""
MAX_CONDITIONS = 16
"""A condition that takes more expressions than this is taken for one that nothing is known of."""


class ConditionReader:
    """Reads truth values as conditions on integers. Readers say what an index is (`index`), and between which values
    an expression lies (`bounds`)."""

    def __init__(self) -> None:
        self._unknown: dict[SSAValue, IntExpr] = {}

    def index(self, value: SSAValue) -> IntExpr | None:
        """An index as an expression; `None` where it is of something else."""
        raise NotImplementedError

    def bounds(self, expr: IntExpr, facts: Sequence[IntExpr] = ()) -> tuple[int | None, int | None]:
        """The least and the greatest value of an expression where `facts` hold, if they are known."""
        raise NotImplementedError

    def computed(self, value: SSAValue, facts: Sequence[IntExpr]) -> IntExpr | None:
        """An integer that is neither an index nor a constant, where `facts` hold; `None` where it is unknown."""
        return None

    def number(self, value: SSAValue, facts: Sequence[IntExpr] = ()) -> IntExpr | None:
        """An index, or an integer that does not wrap around, as an expression where `facts` hold; `None` where it is
        of something else."""
        if isinstance(value.type, IndexType):
            return self.index(value)
        if not isa(value.type, IntegerType) or value.type.width.data < 32:
            return None  # it may wrap around
        match value.owner:
            case arith.ConstantOp(value=IntegerAttr() as literal):
                return const(literal.value.data)
            case arith.IndexCastOp() as cast if isinstance(cast.input.type, IndexType):
                index = self.index(cast.input)
                return index if index is not None and self.is_narrow(index) else None
            case _:
                return self.computed(value, facts)

    def is_narrow(self, expr: IntExpr) -> bool:
        """Whether a value is the same as an integer of 32 bits, and of more."""
        low, high = self.bounds(expr)
        return low is not None and high is not None and -_FITS <= low <= high < _FITS

    def read(self, value: SSAValue, facts: Sequence[IntExpr] = ()) -> IntExpr:
        """A truth value as a condition where `facts` hold. What is none of integers is a flag of its own in it."""
        match value.owner:
            case arith.ConstantOp(value=IntegerAttr() as literal):
                return const(int(literal.value.data != 0))
            case arith.AndIOp(lhs=lhs, rhs=rhs):
                return all_of(self.read(lhs, facts), self.read(rhs, facts))
            case arith.OrIOp(lhs=lhs, rhs=rhs):
                return either_of(self.read(lhs, facts), self.read(rhs, facts))
            case arith.XOrIOp(lhs=lhs, rhs=rhs):
                one, other = self.read(lhs, facts), self.read(rhs, facts)
                return either_of(all_of(one, negate(other)), all_of(negate(one), other))
            case arith.CmpiOp() as op if (compared := self._compared(op, facts)) is not None:
                return compared
            case _:
                if (flag := self._unknown.get(value)) is None:
                    number = next(_NUMBERS)
                    flag = self._unknown[value] = var(("unknown", number), "unknown", Flag, number=number)
                return flag

    def is_known(self, condition: IntExpr) -> bool:
        """Whether a condition that was read is one of integers alone."""
        return condition.variables.isdisjoint(self._unknown.values())

    def _compared(self, op: arith.CmpiOp, facts: Sequence[IntExpr]) -> IntExpr | None:
        if op.lhs.type == i1:
            return None
        left, right = self.number(op.lhs, facts), self.number(op.rhs, facts)
        if left is None or right is None:
            return None
        predicate = op.predicate.value.data
        if predicate >= _UNSIGNED:
            # the comparison with a sign is the same, where neither side can be negative
            for least, _ in (self.bounds(side, facts) for side in (left, right)):
                if least is None or least < 0:
                    return None
            predicate += 2 - _UNSIGNED
        return _COMPARED[predicate](left, right)


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


class Conditions(ConditionReader):
    """Reads conditions as guards: `affine` gives an index as an affine expression, or nothing, and `ranges` is what is
    known of the dimensions in those."""

    def __init__(self, affine: Callable[[SSAValue], AffineExpr | None], ranges: Mapping[AffineExpr, Range]):
        super().__init__()
        self.affine = affine
        self.ranges = ranges

    @override
    def index(self, value: SSAValue) -> IntExpr | None:
        expr = self.affine(value)
        return None if expr is None else from_affine(expr)

    @override
    def bounds(self, expr: IntExpr, facts: Sequence[IntExpr] = ()) -> tuple[int | None, int | None]:
        affine = to_affine(expr)
        found = None if affine is None else expr_range(affine, self.ranges)
        return (None, None) if found is None else found

    def of(self, value: SSAValue, holds: bool = True) -> Guard:
        """Where a truth value is true, or, without `holds`, where it is false."""
        condition = self.read(value)
        return self._guard(condition if holds else negate(condition))

    def _guard(self, condition: IntExpr) -> Guard:
        match condition:
            case Const():
                return EVERYWHERE if condition.value else NOWHERE
            case NonNegative(args=(expr,)):
                return self._at_least_0(expr)
            case Zero(args=(expr,)):
                return self._at_least_0(expr).and_(self._at_least_0(-expr))
            case Not(args=(Zero(args=(expr,)),)):
                return self._either(self._at_least_0(expr - 1), self._at_least_0(-expr - 1))
            case All():
                found = EVERYWHERE
                for each in condition.args:
                    found = found.and_(self._guard(each))
                return found
            case Any_():
                found = NOWHERE
                for each in condition.args:
                    found = self._either(found, self._guard(each))
                return found
            case _:
                return SOMEWHERE

    def _at_least_0(self, expr: IntExpr) -> Guard:
        affine = to_affine(expr)
        return SOMEWHERE if affine is None else Guard((affine,))

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


_COMPARED: Sequence[Callable[[IntExpr, IntExpr], IntExpr]] = (
    lambda a, b: a.equal(b),
    lambda a, b: a.differs(b),
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
)
"""By the number of a predicate: eq, ne, slt, sle, sgt, sge."""
_UNSIGNED = 6
"""Predicates from here on, ult, ule, ugt and uge, are without a sign; slt, sle, sgt and sge are four less."""
_FITS = 1 << 31
"""Comparisons of integers are taken for those of indices where they are below it: they fit 32 bits, and 64."""

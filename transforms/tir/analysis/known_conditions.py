"""What the conditions of the branches around an operation say of indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, i1
from xdsl.ir import Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ....dialects.support.hints import isa
from ....dialects.tir.affine import Range, affine_of
from ....dialects.tir.analyzer.analyzer import Analyzer
from ....dialects.tir.analyzer.build import all_of, any_of, negate
from ....dialects.tir.analyzer.convert import dim, from_affine
from ....dialects.tir.analyzer.nodes import IntExpr, const

_COMPARED: Mapping[int, Callable[[IntExpr, IntExpr], IntExpr]] = {
    0: lambda a, b: a.equal(b),
    1: lambda a, b: a.differs(b),
    2: lambda a, b: a < b,
    3: lambda a, b: a <= b,
    4: lambda a, b: a > b,
    5: lambda a, b: a >= b,
}
"""By the number of a predicate: eq, ne, slt, sle, sgt, sge."""
_EQUALITIES = (0, 1)
"""The numbers of eq and ne."""
_COMBINED: Mapping[type, Callable[[IntExpr, IntExpr], IntExpr]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
}
_NARROWEST = 1 << 31
"""An index below it is the same as an integer of 32 bits."""

Element: TypeAlias = "Callable[[memref.LoadOp, Sequence[IntExpr]], IntExpr | None]"
"""What a load surely gives where some facts hold."""


class KnownConditions:
    """Decides conditions over the iterators of a body, `dims`, whose values lie in `ranges`."""

    def __init__(self, region: Region, dims: Mapping[SSAValue, AffineExpr], ranges: Mapping[AffineExpr, Range]):
        self.region = region
        self.dims = dims
        self.ranges = ranges
        self.element: Element | None = None
        """What is known of elements of buffers, where that is asked for."""
        self._facts: Sequence[IntExpr] = ()
        self._known: Analyzer | None = None

    def around(self, op: Operation) -> list[IntExpr]:
        """The conditions that hold where `op` stands, of the branches around it."""
        found: list[IntExpr] = []
        inner, outer = op, op.parent_op()
        while outer is not None and self.region.is_ancestor(outer):
            if isinstance(outer, scf.IfOp):
                found += self.facts(outer.cond, inner.parent_region() is outer.true_region)
            inner, outer = outer, outer.parent_op()
        return found

    def facts(self, value: SSAValue, holds: bool) -> list[IntExpr]:
        """What is known of indices where a condition holds, or does not."""
        op = value.owner
        if isinstance(op, arith.AndIOp if holds else arith.OrIOp):
            return [*self.facts(op.lhs, holds), *self.facts(op.rhs, holds)]
        condition = self.condition(value)
        return [] if condition is None else [condition if holds else negate(condition)]

    def condition(self, value: SSAValue) -> IntExpr | None:
        """A condition as one of indices; `None` where it is of something else."""
        if value.type != i1:
            return None
        match value.owner:
            case arith.ConstantOp(value=IntegerAttr() as literal):
                return const(int(literal.value.data != 0))
            case arith.CmpiOp() as op if isinstance(op.lhs.type, IndexType):
                lhs, rhs = affine_of(op.lhs, self.dims), affine_of(op.rhs, self.dims)
                compared = _COMPARED.get(op.predicate.value.data)
                return (
                    None if lhs is None or rhs is None or compared is None else compared(*map(from_affine, (lhs, rhs)))
                )
            case arith.CmpiOp() as op if self.element is not None and op.lhs.type != i1:
                left, right = self.number(op.lhs, self._facts), self.number(op.rhs, self._facts)
                compared = _COMPARED.get(op.predicate.value.data)
                return None if left is None or right is None or compared is None else compared(left, right)
            case arith.AndIOp() | arith.OrIOp() | arith.XOrIOp() as op:
                sides = [self.condition(each) for each in (op.lhs, op.rhs)]
                if sides[0] is None or sides[1] is None:
                    return None
                if isinstance(op, arith.XOrIOp):
                    return sides[0].differs(sides[1])
                return (all_of if isinstance(op, arith.AndIOp) else any_of)(sides[0], sides[1])
            case _:
                return None

    def number(self, value: SSAValue, facts: Sequence[IntExpr]) -> IntExpr | None:
        """An integer as an expression of indices where `facts` hold; `None` where it is of something else."""
        if isinstance(value.type, IndexType):
            return self._index(value)
        if not isa(value.type, IntegerType) or value.type.width.data < 32:
            return None  # it may wrap around
        match value.owner:
            case arith.ConstantOp(value=IntegerAttr() as literal):
                return const(literal.value.data)
            case arith.IndexCastOp() as cast if isinstance(cast.input.type, IndexType):
                index = self._index(cast.input)
                return index if index is not None and self._is_narrow(index) else None
            case memref.LoadOp() as load if self.element is not None:
                return self.element(load, facts)
            case arith.AddiOp() | arith.SubiOp() | arith.MuliOp() as op if self.element is not None:
                left, right = self.number(op.lhs, facts), self.number(op.rhs, facts)
                if left is None or right is None:
                    return None
                result = _COMBINED[type(op)](left, right)
                return result if self._is_narrow(result) else None
            case _:
                return None

    def _index(self, value: SSAValue) -> IntExpr | None:
        """An index as an expression of the dimensions, products of which are none of affine expressions."""
        if (expr := affine_of(value, self.dims)) is not None:
            return from_affine(expr)
        if (combine := _COMBINED.get(type(value.owner))) is None:
            return None
        assert isinstance(value.owner, Operation)
        left, right = (self._index(operand) for operand in value.owner.operands)
        return None if left is None or right is None else combine(left, right)

    def _is_narrow(self, expr: IntExpr) -> bool:
        """Whether a value is the same as an integer of 32 bits."""
        low, high = self._analyzer().const_int_bound(expr)
        return low is not None and high is not None and -_NARROWEST <= low <= high < _NARROWEST

    def proves(self, condition: IntExpr, facts: Sequence[IntExpr]) -> bool:
        """Whether a condition surely holds where `facts` do."""
        with self._analyzer().assuming(*facts):
            return self._analyzer().can_prove(condition)

    def bounds(self, expr: IntExpr, facts: Sequence[IntExpr]) -> tuple[int | None, int | None]:
        """The least and the greatest value of an expression where `facts` hold, if they are known."""
        with self._analyzer().assuming(*facts):
            low, high = self._analyzer().const_int_bound(expr)
            return low, high

    def decide(self, value: SSAValue, facts: Sequence[IntExpr]) -> bool | None:
        """The truth of a condition where `facts` hold, if that is known."""
        self._facts = facts
        condition = self.condition(value)
        self._facts = ()
        if condition is None:
            return None
        analyzer = self._analyzer()
        with analyzer.assuming(*facts):
            if analyzer.can_prove(condition):
                return True
            if analyzer.can_prove(negate(condition)):
                return False
        if isinstance(op := value.owner, arith.CmpiOp) and op.predicate.value.data in _EQUALITIES and len(facts) > 1:
            differs = op.predicate.value.data == 1
            return differs if self._contradicts(negate(condition) if differs else condition, facts) else None
        return None

    def _contradicts(self, equality: IntExpr, facts: Sequence[IntExpr]) -> bool:
        """Whether one of `facts`, as `j != k`, cannot hold where the others and `equality`, as `i == j` and
        `i == k`, do."""
        analyzer = self._analyzer()
        for number, fact in enumerate(facts):
            with analyzer.assuming(*facts[:number], *facts[number + 1 :], equality):
                if analyzer.can_prove(negate(fact)):
                    return True
        return False

    def _analyzer(self) -> Analyzer:
        if self._known is None:
            self._known = Analyzer()
            for expr, (low, high) in self.ranges.items():
                if isinstance(expr, AffineDimExpr):
                    self._known.assume(dim(expr.position) >= low, dim(expr.position) <= high)
        return self._known

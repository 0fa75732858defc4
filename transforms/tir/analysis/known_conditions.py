"""What the conditions of the branches around an operation say of indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from typing_extensions import override
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ....dialects.tir.affine import Range, affine_of
from ....dialects.tir.analyzer.analyzer import Analyzer
from ....dialects.tir.analyzer.build import negate
from ....dialects.tir.analyzer.convert import dim, from_affine
from ....dialects.tir.analyzer.nodes import IntExpr
from ....dialects.tir.conditions import ConditionReader

_EQUALITIES = (0, 1)
"""The numbers of eq and ne."""
_COMBINED: Mapping[type, Callable[[IntExpr, IntExpr], IntExpr]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
}
Element: TypeAlias = "Callable[[memref.LoadOp, Sequence[IntExpr]], IntExpr | None]"
"""What a load surely gives where some facts hold."""


class KnownConditions(ConditionReader):
    """Decides conditions over the iterators of a body, `dims`, whose values lie in `ranges`."""

    def __init__(self, region: Region, dims: Mapping[SSAValue, AffineExpr], ranges: Mapping[AffineExpr, Range]):
        super().__init__()
        self.region = region
        self.dims = dims
        self.ranges = ranges
        self.element: Element | None = None
        """What is known of elements of buffers, where that is asked for."""
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

    def condition(self, value: SSAValue, facts: Sequence[IntExpr] = ()) -> IntExpr | None:
        """A condition as one of indices where `facts` hold; `None` where it is of something else."""
        if value.type != i1:
            return None
        condition = self.read(value, facts)
        return condition if self.is_known(condition) else None

    @override
    def computed(self, value: SSAValue, facts: Sequence[IntExpr]) -> IntExpr | None:
        """Elements that something is known of, and sums and products of such."""
        match value.owner:
            case memref.LoadOp() as load if self.element is not None:
                return self.element(load, facts)
            case arith.AddiOp() | arith.SubiOp() | arith.MuliOp() as op if self.element is not None:
                left, right = self.number(op.lhs, facts), self.number(op.rhs, facts)
                if left is None or right is None:
                    return None
                result = _COMBINED[type(op)](left, right)
                return result if self.is_narrow(result) else None
            case _:
                return None

    @override
    def index(self, value: SSAValue) -> IntExpr | None:
        """An index as an expression of the dimensions, products of which are none of affine expressions."""
        if (expr := affine_of(value, self.dims)) is not None:
            return from_affine(expr)
        if (combine := _COMBINED.get(type(value.owner))) is None:
            return None
        assert isinstance(value.owner, Operation)
        left, right = (self.index(operand) for operand in value.owner.operands)
        return None if left is None or right is None else combine(left, right)

    def proves(self, condition: IntExpr, facts: Sequence[IntExpr]) -> bool:
        """Whether a condition surely holds where `facts` do."""
        with self._analyzer().assuming(*facts):
            return self._analyzer().can_prove(condition)

    @override
    def bounds(self, expr: IntExpr, facts: Sequence[IntExpr] = ()) -> tuple[int | None, int | None]:
        with self._analyzer().assuming(*facts):
            low, high = self._analyzer().const_int_bound(expr)
            return low, high

    def decide(self, value: SSAValue, facts: Sequence[IntExpr]) -> bool | None:
        """The truth of a condition where `facts` hold, if that is known."""
        if (condition := self.condition(value, facts)) is None:
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

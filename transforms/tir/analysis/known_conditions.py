"""What the conditions of the branches around an operation say of indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, i1
from xdsl.ir import Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

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


class KnownConditions:
    """Decides conditions over the iterators of a body, `dims`, whose values lie in `ranges`."""

    def __init__(self, region: Region, dims: Mapping[SSAValue, AffineExpr], ranges: Mapping[AffineExpr, Range]):
        self.region = region
        self.dims = dims
        self.ranges = ranges

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
            case arith.AndIOp() | arith.OrIOp() | arith.XOrIOp() as op:
                sides = [self.condition(each) for each in (op.lhs, op.rhs)]
                if sides[0] is None or sides[1] is None:
                    return None
                if isinstance(op, arith.XOrIOp):
                    return sides[0].differs(sides[1])
                return (all_of if isinstance(op, arith.AndIOp) else any_of)(sides[0], sides[1])
            case _:
                return None

    def decide(self, value: SSAValue, facts: Sequence[IntExpr]) -> bool | None:
        """The truth of a condition where `facts` hold, if that is known."""
        condition = self.condition(value)
        if condition is None:
            return None
        analyzer = Analyzer()
        for expr, (low, high) in self.ranges.items():
            if isinstance(expr, AffineDimExpr):
                analyzer.assume(dim(expr.position) >= low, dim(expr.position) <= high)
        with analyzer.assuming(*facts):
            if analyzer.can_prove(condition):
                return True
            return False if analyzer.can_prove(negate(condition)) else None

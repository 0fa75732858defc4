"""Simplify indices, conditions and branches by what is known of the loops around them.

* an iterator's binding and a block's predicate are in normal form, and conditions that always hold are gone;
* a comparison of indices whose outcome the iterators' extents decide is that outcome;
* a comparison of indices that follows from the conditions of the branches around it, or cannot hold there, is that
  outcome; so is one that follows from the other side of an `and`, or of an `or` that does not hold;
* where `a <= b` stands in a branch of `b <= a`, it is `a == b`, and where in one of `a != b`, it is `a < b`;
* a block that does nothing any more is gone;
* a branch or choice whose condition is known is the side that is taken; `and`, `or`, `xor` with a literal are gone.

Before -> after, where `%v` is an iterator of extent 8:

```mlir
%c = arith.cmpi slt, %v, %c8 : index
%0 = arith.select %c, %a, %b : f32
memref.store %0, %x[%v] : memref<8xf32>

memref.store %a, %x[%v] : memref<8xf32>
```

With `propagate_knowns_to_prove_conditional`, a comparison of integers follows from what was stored to their elements
before, and from what `tir.assume` says of those and of sizes.

Does not: change how floats are computed. Counterpart of TVM's Simplify, whose options it has by their names: its users
may ask for less than it does by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import BoolAttr, IndexType, IntegerAttr, IntegerType, i1
from xdsl.ir import Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.support.hints import isa
from ...dialects.tir.affine import Range, affine_of, expr_range, over_dimensions, simplify
from ...dialects.tir.analyzer.convert import from_affine
from ...dialects.tir.analyzer.nodes import Const, IntExpr
from ...dialects.tir.core import BlockOp, PrimFuncOp, blocks_under, dimension_ranges
from ...dialects.tir.integers import ValueRanges
from ...dialects.tir.symbols import as_affine, greatest
from ..infra import PrimFuncPass, report_changed
from .analysis.and_of_ors import is_whole, without_implied_parts
from .analysis.known_conditions import KnownConditions
from .analysis.known_values import KnownValues
from .remove_no_op import clean_body, has_effect


def _equal(low: int, high: int) -> bool | None:
    return True if low == high == 0 else False if low > 0 or high < 0 else None


def _below(low: int, high: int) -> bool | None:
    return True if high < 0 else False if low >= 0 else None


def _negated(known: bool | None) -> bool | None:
    return None if known is None else not known


_DECIDED: Mapping[int, Callable[[int, int], bool | None]] = {
    0: _equal,
    1: lambda low, high: _negated(_equal(low, high)),
    2: _below,
    3: lambda low, high: _negated(_below(-high, -low)),
    4: lambda low, high: _below(-high, -low),
    5: lambda low, high: _negated(_below(low, high)),
}
"""By the number of a predicate (eq, ne, slt, sle, sgt, sge): what it says where the difference lies in a range."""


def outcome(predicate: int, difference: Range | None) -> bool | None:
    """What the comparison with the number `predicate` says where the difference of its sides lies in a range."""
    if difference is None or (decide := _DECIDED.get(predicate)) is None:
        return None
    return decide(*difference)


_SHARPER: Mapping[int, Sequence[tuple[Callable[[IntExpr, IntExpr], IntExpr], str]]] = {
    1: ((lambda a, b: a <= b, "slt"), (lambda a, b: a >= b, "sgt")),
    3: ((lambda a, b: a >= b, "eq"), (lambda a, b: a.differs(b), "slt")),
    5: ((lambda a, b: a <= b, "eq"), (lambda a, b: a.differs(b), "sgt")),
}
"""By the number of a predicate (ne, sle, sge): where something else holds, the predicate that says as much."""


@dataclass(frozen=True)
class SimplifyPass(PrimFuncPass):
    """Simplify indices, conditions and branches."""

    name = "simplify"
    tvm_name = "Simplify"
    tvm_parts = ("RenormalizeSplitPattern",)

    transitively_prove_inequalities: bool = True
    """Whether a condition may follow from several conditions of branches together, or from one alone."""
    apply_constraints_to_boolean_branches: bool = True
    """Whether a side of an `and` or `or` may follow from the other."""
    convert_boolean_to_and_of_ors: bool = False
    """Whether an `or` with an `and` on a side becomes an `and` of `or`s, of which what follows from others is gone."""
    propagate_knowns_to_prove_conditional: bool = False
    """Whether conditions may follow from what is stored to buffers, and from assumptions."""
    propagate_knowns_to_simplify_expressions: bool = False
    """Whether elements that surely hold a number are that number."""

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        uses_knowns = self.propagate_knowns_to_prove_conditional or self.propagate_knowns_to_simplify_expressions
        knowns = KnownValues(func) if uses_knowns else None
        changed = False
        for block in blocks_under(func):
            before = str(block.bindings), str(block.predicate), sum(1 for _ in block.walk())
            had_effect, has_new = has_effect(block), False
            _simplify_header(block)
            for region in block.regions:
                body = _Body(self, block, region, knowns)
                body.simplify()
                has_new |= body.has_new_values | clean_body(region)
            if has_new or before != (str(block.bindings), str(block.predicate), sum(1 for _ in block.walk())):
                block.update_accesses()
                changed = True
                if had_effect and not has_effect(block):
                    block.detach()
                    block.erase(safe_erase=False)
        report_changed(changed)


def _simplify_header(block: BlockOp) -> None:
    ranges = dimension_ranges(list(block.loop_vars))
    block.set_bindings([simplify(expr, ranges) for expr in block.bindings.data.results], list(block.loop_vars))
    conditions: list[AffineExpr] = []
    for condition in block.conditions:
        simple = simplify(condition, ranges)
        bounds = expr_range(simple, ranges)
        if bounds is None or bounds[0] < 0:
            conditions.append(simple)
    block.set_predicate(conditions)


class _Body:
    """Simplifies the body or the init of one block."""

    def __init__(self, options: SimplifyPass, block: BlockOp, region: Region, knowns: KnownValues | None):
        self.options = options
        self.has_new_values = False
        """Whether elements are not read any more, for their values are known."""
        self.region = region
        self.dims = over_dimensions(region.block.args)
        self.ranges: dict[AffineExpr, Range] = {
            self.dims[v]: (0, max(greatest(as_affine(extent)) - 1, 0))
            for v, extent in zip(region.block.args, block.sizes, strict=True)
        }
        self.conditions = KnownConditions(region, self.dims, self.ranges)
        self.sizes: Sequence[IntExpr] = ()
        if knowns is not None:
            self.conditions.element = partial(knowns.element, block, self.conditions)
            self.sizes = knowns.at[block].sizes if block in knowns.at else ()

    def simplify(self) -> None:
        """Decide what can be decided, each operation before those that use it."""
        for op in list(self.region.walk()):
            if op.parent is not None and self._is_here(op):
                self._operation(op)

    def _is_here(self, op: Operation) -> bool:
        return self.region.is_ancestor(op)

    def _operation(self, op: Operation) -> None:
        match op:
            case arith.CmpiOp() if isinstance(op.lhs.type, IndexType):
                if (known := self._decide(op)) is not None:
                    _replace(op, known)
                else:
                    self._by_branches(op)
            case arith.CmpiOp() if (known := self._by_ranges(op)) is not None:
                _replace(op, known)
            case arith.CmpiOp() if self.options.propagate_knowns_to_prove_conditional:
                if op.lhs.type != i1:
                    self._by_branches(op)
            case memref.LoadOp() | arith.AddiOp() | arith.SubiOp() | arith.MuliOp() if (
                self.options.propagate_knowns_to_simplify_expressions
            ):
                self._by_value(op)
            case arith.SelectOp() if (known := _truth(op.cond)) is not None:
                op.result.replace_all_uses_with(op.lhs if known else op.rhs)
            case arith.AndIOp() | arith.OrIOp() | arith.XOrIOp() if op.lhs.type == i1:
                self._logic(op)
            case scf.IfOp() if (known := _truth(op.cond)) is not None:
                take_side(op, op.true_region if known else op.false_region)
            case _:
                pass

    def _decide(self, op: arith.CmpiOp) -> bool | None:
        """The outcome of a comparison of indices, where it is always the same."""
        lhs, rhs = affine_of(op.lhs, self.dims), affine_of(op.rhs, self.dims)
        if lhs is None or rhs is None:
            return self._by_ranges(op)
        return outcome(op.predicate.value.data, expr_range(simplify(lhs + rhs * -1, self.ranges), self.ranges))

    def _by_ranges(self, op: arith.CmpiOp) -> bool | None:
        """The outcome of a comparison of integers that are computed from indices, where it is always the same."""
        if op.lhs.type == i1:
            return None
        values = ValueRanges({value: self.ranges[dim] for value, dim in self.dims.items() if dim in self.ranges})
        low, high = values.analyzer.range(values.exact(op.lhs) - values.exact(op.rhs))
        return None if low is None or high is None else outcome(op.predicate.value.data, (low, high))

    def _by_branches(self, op: arith.CmpiOp) -> None:
        """Let the users of a comparison that stand in branches know what follows from their conditions."""
        for use in list(op.result.uses):
            facts = [*self.sizes, *self.conditions.around(use.operation)]
            if not isinstance(op.lhs.type, IndexType):
                facts += self.conditions.around(op)
            known = self._known(op.result, facts) if facts or self.conditions.element is not None else None
            if known is not None:
                made: Operation | None = arith.ConstantOp(BoolAttr.from_bool(known))
            else:
                made = self._sharpened(op, facts)
            if made is not None:
                Rewriter.insert_op(made, InsertPoint.before(use.operation))
                use.operation.operands[use.index] = made.results[0]

    def _sharpened(self, op: arith.CmpiOp, facts: Sequence[IntExpr]) -> arith.CmpiOp | None:
        """The comparison that says most of what an undecided one of indices does where facts hold, if that is another:
        `a <= b` is `a == b` where `b <= a`, and `a < b` where `a != b`; `a != b` is `a < b` where `a <= b`."""
        sides = [affine_of(each, self.dims) for each in (op.lhs, op.rhs)]
        if not facts or sides[0] is None or sides[1] is None or not isinstance(op.lhs.type, IndexType):
            return None
        lhs, rhs = from_affine(sides[0]), from_affine(sides[1])
        for condition, predicate in _SHARPER.get(op.predicate.value.data, ()):
            if self.conditions.proves(condition(lhs, rhs), facts):
                is_turned = predicate == "eq" and isinstance(sides[0], AffineConstantExpr)
                return arith.CmpiOp(*((op.rhs, op.lhs) if is_turned else (op.lhs, op.rhs)), predicate)
        return None

    def _known(self, value: SSAValue, facts: Sequence[IntExpr]) -> bool | None:
        """The truth of a condition where facts hold; by each of them alone, where that was asked for."""
        if self.options.transitively_prove_inequalities:
            return self.conditions.decide(value, facts)
        found = (self.conditions.decide(value, each) for each in ((), *((fact,) for fact in facts)))
        return next((known for known in found if known is not None), None)

    def _by_value(self, op: Operation) -> None:
        """Let an element, or an integer computed from some, that is surely a literal be that."""
        result = op.results[0]
        if not isa(result.type, IntegerType):
            return
        value = self.conditions.number(result, [*self.sizes, *self.conditions.around(op)])
        if isinstance(value, Const):
            constant = arith.ConstantOp(IntegerAttr(value.value, result.type))
            Rewriter.insert_op(constant, InsertPoint.before(op))
            result.replace_all_uses_with(constant.result)
            self.has_new_values = True

    def _distribute(self, op: arith.OrIOp) -> bool:
        """`(a and b) or c` as `(a or c) and (b or c)`, whose parts are looked at next; whether it was of that form."""
        for both, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if isinstance(both.owner, arith.AndIOp):
                sides = [arith.OrIOp(side, other) for side in (both.owner.lhs, both.owner.rhs)]
                whole = arith.AndIOp(sides[0], sides[1])
                Rewriter.insert_op([*sides, whole], InsertPoint.before(op))
                op.result.replace_all_uses_with(whole.result)
                for each in (*sides, whole):
                    self._operation(each)
                return True
        return False

    def _drops_parts(self, op: arith.AndIOp | arith.OrIOp) -> bool:
        """Leave out the parts of a whole `and` of `or`s that follow from others, where that form is asked for; whether
        there were any."""
        if not self.options.convert_boolean_to_and_of_ors or not is_whole(op):
            return False
        value = without_implied_parts(op, self.conditions)
        if value is not None:
            op.result.replace_all_uses_with(value)
        return value is not None

    def _side(self, op: arith.AndIOp | arith.OrIOp) -> None:
        """Leave out a side of `and` or `or` that follows from the other, or let them be what they surely are."""
        conjunction = isinstance(op, arith.AndIOp)
        for given, asked in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            facts = self.conditions.facts(given, conjunction)
            known = self.conditions.decide(asked, facts) if facts else None
            if known is conjunction:
                op.result.replace_all_uses_with(given)
                return
            if known is not None:
                _replace(op, known)
                return

    def _logic(self, op: arith.AndIOp | arith.OrIOp | arith.XOrIOp) -> None:
        for literal, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            known = _truth(literal)
            if known is None:
                continue
            if isinstance(op, arith.XOrIOp):
                if not known:
                    op.result.replace_all_uses_with(other)
                elif (value := _truth(other)) is not None:
                    _replace(op, not value)
            else:
                neutral = isinstance(op, arith.AndIOp)
                op.result.replace_all_uses_with(other if known is neutral else literal)
            return
        if isinstance(op, arith.XOrIOp):
            return
        if (known := self.conditions.decide(op.result, self.sizes)) is not None:
            _replace(op, known)
        elif isinstance(op, arith.OrIOp) and self.options.convert_boolean_to_and_of_ors and self._distribute(op):
            return
        elif self._drops_parts(op):
            return
        elif self.options.apply_constraints_to_boolean_branches:
            self._side(op)


def _replace(op: Operation, truth: bool) -> None:
    """Let a literal stand for the condition that `op` computes."""
    constant = arith.ConstantOp(BoolAttr.from_bool(truth))
    Rewriter.insert_op(constant, InsertPoint.before(op))
    op.results[0].replace_all_uses_with(constant.result)


def _truth(value: SSAValue) -> bool | None:
    """The truth value that is known."""
    op = value.owner
    if isinstance(op, arith.ConstantOp) and value.type == i1 and isinstance(op.value, IntegerAttr):
        return op.value.value.data != 0
    return None


def take_side(op: scf.IfOp, region: Region) -> None:
    """Put the side that is taken in the place of a branch."""
    values: list[SSAValue] = []
    for inner in list(region.block.ops) if region.blocks else []:
        inner.detach()
        if isinstance(inner, scf.YieldOp):
            values = list(inner.operands)
            inner.erase()
        else:
            Rewriter.insert_op(inner, InsertPoint.before(op))
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    op.detach()
    op.erase(safe_erase=False)

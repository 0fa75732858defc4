"""Let conditions that inner loops do not change be predicates of blocks, which stand around those loops.

Before -> after:

```mlir
tir.for %i = 0 to 4 {
  tir.for %j = 0 to 8 {
    tir.block @b(%v: opaque 4, %w: opaque 8) = [%i, %j] ... {
      %0 = arith.cmpi slt, %v, %c3 : index
      scf.if %0 {
        memref.store %c, %y[%v, %w]

    tir.block @b(%v: partial opaque 4, %w: opaque 8) = [%i, %j] where [%i * -1 + 2] ... {
      memref.store %c, %y[%v, %w]
```

Statements without a block have their branches, chosen values and named values taken out of the loops that do not change
them (`hoisted_branches.py`), with both sides: the loop stands in each.

In a block, a branch around all that it does is split at `and`, and each part that is a bound of sums of loops and sizes
goes to the predicate, if the innermost loop, which has nothing but the block in it, is none of those. A predicate is
asked where its loops begin, vectors and all. Blocks speak of loops (`convert-blocks-to-opaque`).

Does not: take branches with two sides out of blocks, nor comparisons by `!=`, which are no bounds; nor what reads
memory, calls, or divides by what may be zero. Counterpart of TVM's HoistExpression.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.tir.affine import affine_of, dims_in, over_dimensions, substitute
from ...dialects.tir.core import BlockOp, ForOp, PrimFuncOp, blocks_under
from ...dialects.tir.loop_iterators import speaks_of_loops
from ...dialects.tir.thread_axes import axis_of
from ..infra import PrimFuncPass, report_changed
from ..infra.remarks import missed
from .convert_blocks_to_opaque import say_what_is_left_out
from .hoisted_branches import Hoisting, What, take_statements
from .schedule.copies import drop_unused
from .schedule.rebind import assign


class HoistedConditionals(IntFlag):
    """What `hoisted_conditionals` is a sum of."""

    Never = 0
    IfElseStmt = 1
    """Branches."""
    IfElseExpr = 2
    """Values that are chosen."""
    BooleanExpression = 4
    """Parts of an `and`."""
    UsingBlockVar = 8
    """Conditions of a thread's number."""
    All = IfElseStmt | IfElseExpr | BooleanExpression | UsingBlockVar


class HoistedLetBindings(IntFlag):
    """What `hoisted_let_bindings` is a sum of."""

    Never = 0
    RequiredByConditional = 1
    """Values that a branch needs."""
    LetStmt = 2
    """Values with a name."""
    LetExpr = 4
    """Names within an expression, which it does not keep: its values stay where it is."""
    All = RequiredByConditional | LetStmt | LetExpr


_AT_LEAST_ZERO = {0: ((1, 0), (-1, 0)), 2: ((-1, -1),), 3: ((-1, 0),), 4: ((1, -1),), 5: ((1, 0),)}
"""Of eq, slt, sle, sgt and sge between `a` and `b`: the factors and addends with which `a - b` is at least 0."""


@dataclass(frozen=True)
class HoistExpressionPass(PrimFuncPass):
    """Let conditions that inner loops do not change stand around those."""

    name = "hoist-expression"
    tvm_name = "HoistExpression"

    hoisted_conditionals: int = int(HoistedConditionals.All)
    """A sum of `HoistedConditionals`."""
    hoisted_let_bindings: int = int(HoistedLetBindings.All)
    """A sum of `HoistedLetBindings`, for the values that have a name; one that is used once has none here."""

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        before = func.body
        after = Hoisting(self._what()).of(before)
        changed = after is not before and take_statements(func, after, self.name)
        in_blocks = False
        if self.hoisted_conditionals & HoistedConditionals.IfElseStmt:
            in_blocks = any([_hoist(block, self.hoisted_conditionals) for block in blocks_under(func)])
        report_changed(in_blocks or changed)

    def _what(self) -> What:
        conditions, values = self.hoisted_conditionals, self.hoisted_let_bindings
        return What(
            branches=bool(conditions & HoistedConditionals.IfElseStmt),
            chosen_values=bool(conditions & HoistedConditionals.IfElseExpr),
            parts_of_and=bool(conditions & HoistedConditionals.BooleanExpression),
            of_threads=bool(conditions & HoistedConditionals.UsingBlockVar),
            named_values=bool(values & HoistedLetBindings.LetStmt),
            values_of_conditions=bool(values & HoistedLetBindings.RequiredByConditional),
        )


def _hoist(block: BlockOp, what: int) -> bool:
    """Move conditions of the branches around a block's body to its predicate; whether there were any."""
    loop = block.parent_op()
    if not isinstance(loop, ForOp) or loop.body.block.first_op is not loop.body.block.last_op:
        return False
    changed = False
    while (branch := _around_all(block)) is not None:
        if not speaks_of_loops(block):
            missed("hoist-expression", block, "it has iterators of its own", "convert-blocks-to-opaque first")
            return changed
        bounds = {part: _bounds(block, part, loop, what) for part in _parts(branch.cond)}
        found = [bound for each in bounds.values() for bound in each]
        left = [part for part, each in bounds.items() if not each]
        if not found or (left and not what & HoistedConditionals.BooleanExpression):
            return changed
        values = list(block.loop_vars)
        _keep(branch, left)
        assign(block, block.bindings.data.results, [*block.conditions, *found], values)
        say_what_is_left_out(block)
        drop_unused(block)
        block.update_accesses()
        changed = True
        if left:
            return changed
    return changed


def _around_all(block: BlockOp) -> scf.IfOp | None:
    """The branch with one side that all effects of a block stand in, and before which there are only pure values."""
    effects = [op for op in block.body.block.ops if not op.name.startswith(("arith.", "math.", "memref.load"))]
    if block.init is not None or len(effects) != 1 or not isinstance(branch := effects[0], scf.IfOp):
        return None
    return None if branch.results or branch.false_region.blocks else branch


def _parts(condition: SSAValue) -> list[SSAValue]:
    """The conditions that hold together where `condition` does."""
    op = condition.owner
    return [*_parts(op.lhs), *_parts(op.rhs)] if isinstance(op, arith.AndIOp) else [condition]


def _bounds(block: BlockOp, condition: SSAValue, innermost: ForOp, what: int) -> list[AffineExpr]:
    """A condition as what is at least 0 over the loops of a block, without the innermost one; else nothing."""
    op = condition.owner
    if not isinstance(op, arith.CmpiOp) or not isinstance(op.lhs.type, IndexType):
        return []
    forms = _AT_LEAST_ZERO.get(op.predicate.value.data, ())
    dims: Mapping[SSAValue, AffineExpr] = over_dimensions(block.iters)
    lhs, rhs = affine_of(op.lhs, dims), affine_of(op.rhs, dims)
    if lhs is None or rhs is None:
        return []
    over_loops = substitute(lhs - rhs, block.bindings.data.results)
    used = [block.loop_vars[number] for number in sorted(dims_in(over_loops))]
    if any(variable is innermost.var for variable in used):
        return []
    if not what & HoistedConditionals.UsingBlockVar and any(_is_thread(variable) for variable in used):
        return []
    return [over_loops * factor + addend for factor, addend in forms]


def _is_thread(variable: SSAValue) -> bool:
    block = variable.owner
    loop = None if isinstance(block, Operation) else block.parent_op()
    return isinstance(loop, ForOp) and axis_of(loop) is not None


def _keep(branch: scf.IfOp, conditions: Sequence[SSAValue]) -> None:
    """Let a branch ask these conditions alone; without any, what it does takes its place."""
    if not conditions:
        inside = branch.true_region.block
        for op in list(inside.ops):
            op.detach()
            if not isinstance(op, scf.YieldOp):
                Rewriter.insert_op(op, InsertPoint.before(branch))
        branch.detach()
        branch.erase()
        return
    condition = conditions[0]
    for other in conditions[1:]:
        both = arith.AndIOp(condition, other)
        Rewriter.insert_op(both, InsertPoint.before(branch))
        condition = both.result
    branch.operands[0] = condition

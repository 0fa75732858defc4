"""Do more than is asked for, where that changes nothing, in place of a branch.

Before -> after, where a later loop writes the elements from 14 on:

```mlir
%c = arith.cmpi slt, %v, %c14 : index
scf.if %c {
  memref.store %one, %x[%v] : memref<16xi32>
}

memref.store %one, %x[%v] : memref<16xi32>
```

A branch is gone if its other side does the same, or if it has none, and each store that it then makes where its
condition does not hold stores what is there: what was read of the element, with nothing but 0 added. With
`use_dataflow_analysis`, also what assumptions (`tir.assume`) and earlier stores say of elements counts, and so do
stores to elements that are written again before they are read. Does not: more than compute and store, read what the
function itself allocates, divide by what may be 0, or store more where iterations run at once. Counterpart of TVM's
ReduceBranchingThroughOvercompute.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.ir import BlockArgument, Operation, Region

from ...dialects.tir.core import BlockOp, PrimFuncOp, blocks_under, enclosing_loops
from ..infra import PrimFuncPass, report_changed
from .analysis.idle_stores import adds_nothing, is_overwritten
from .analysis.known_values import KnownValues, conditions_of
from .remove_no_op import has_effect
from .simplify import take_side

_DIVISIONS = (
    arith.DivSIOp,
    arith.DivUIOp,
    arith.FloorDivSIOp,
    arith.CeilDivSIOp,
    arith.CeilDivUIOp,
    arith.RemSIOp,
    arith.RemUIOp,
)


@dataclass(frozen=True)
class ReduceBranchingThroughOvercomputePass(PrimFuncPass):
    """Do more than is asked for in place of a branch."""

    name = "reduce-branching-through-overcompute"
    tvm_name = "ReduceBranchingThroughOvercompute"

    use_dataflow_analysis: bool = False
    """Whether what is known of elements, and what is done after the branch, counts."""

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        changed = False
        for block in blocks_under(func):
            alone = not any(loop.for_kind.is_concurrent for loop in enclosing_loops(block))
            for branch in reversed([op for op in block.body.walk() if isinstance(op, scf.IfOp) and not op.results]):
                if _sides_agree(branch) or (alone and self._is_idle_elsewhere(func, block, branch)):
                    take_side(branch, branch.true_region)
                    block.update_accesses()
                    changed = True
        report_changed(changed)

    def _is_idle_elsewhere(self, func: PrimFuncOp, block: BlockOp, branch: scf.IfOp) -> bool:
        """Whether what `branch` does would change nothing where its condition does not hold: tried out on a second
        side that does it, which is gone afterwards."""
        if not _only_computes(branch):
            return False
        new = scf.IfOp(branch.cond, [], branch.true_region.clone(), branch.true_region.clone())
        assert branch.parent is not None
        branch.parent.insert_op_before(new, branch)
        try:
            stores = list(_stores(new.false_region))
            return bool(stores) and all(self._is_idle(func, block, store) for store in stores)
        finally:
            new.detach()
            new.erase()

    def _is_idle(self, func: PrimFuncOp, block: BlockOp, store: memref.StoreOp) -> bool:
        conditions = conditions_of(block, block.body)
        facts = conditions.around(store)
        if self.use_dataflow_analysis:
            knowns = KnownValues(func)
            conditions.element = partial(knowns.element, block, conditions)
            facts = [*(knowns.at[block].sizes if block in knowns.at else ()), *facts]
        return adds_nothing(store, conditions, facts) or (self.use_dataflow_analysis and is_overwritten(store))


def _stores(region: Region) -> Iterator[memref.StoreOp]:
    return (op for op in region.walk() if isinstance(op, memref.StoreOp))


def _sides_agree(branch: scf.IfOp) -> bool:
    """Whether both sides of a branch do the same."""
    return bool(branch.false_region.blocks) and branch.true_region.is_structurally_equivalent(branch.false_region)


def _only_computes(branch: scf.IfOp) -> bool:
    """Whether a branch has one side, which computes with elements of arguments and stores, and cannot fail."""
    if branch.false_region.blocks and any(has_effect(op) for op in branch.false_region.block.ops):
        return False
    return all(_is_harmless(op) for op in branch.true_region.walk())


def _is_harmless(op: Operation) -> bool:
    match op:
        case memref.LoadOp():
            return isinstance(op.memref, BlockArgument)
        case memref.StoreOp() | scf.IfOp() | scf.YieldOp():
            return True
        case _ if isinstance(op, _DIVISIONS):
            divisor = op.rhs.owner
            return isinstance(divisor, arith.ConstantOp)
        case _:
            return op.name.startswith(("arith.", "math."))

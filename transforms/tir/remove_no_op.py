"""Remove what does nothing.

* loops without iterations, or without anything in them; blocks that never run;
* blocks whose body stores nothing, calls nothing and checks nothing;
* branches without effects, and sides of branches that have none; stores of an element's own value; values that nothing
  uses; buffers that nothing uses.

Before -> after:

```mlir
%0 = memref.load %x[%v] : memref<8xf32>
%1 = math.exp %0 : f32
memref.store %0, %x[%v] : memref<8xf32>

(nothing)
```

Where a block was one of several that take the values of its iterators together, as those of an unrolled loop do, the
others become `partial`. With `use_dataflow_analysis`, stores to elements that are written again before they are read,
and of what elements hold already, too. Counterpart of TVM's RemoveNoOp.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Operation, Region
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from ...dialects.tir.affine import expr_range, simplify
from ...dialects.tir.core import (
    AllocBufferOp,
    AssertOp,
    AssumeOp,
    BlockOp,
    CallOp,
    CheckOp,
    ForOp,
    OuterBlockOp,
    PrimFuncOp,
    blocks_under,
    dimension_ranges,
)
from ...dialects.tir.legality.bounds import allow_what_is_left_out
from ..infra import PrimFuncPass, report_changed
from .analysis.idle_stores import overwritten_stores, stores_of_known_values


@dataclass(frozen=True)
class RemoveNoOpPass(PrimFuncPass):
    """Remove what does nothing."""

    name = "remove-no-op"
    tvm_name = "RemoveNoOp"

    use_dataflow_analysis: bool = False
    """Whether stores that change nothing are looked for in all of a function."""

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        changed = self.use_dataflow_analysis and _remove_idle_stores(func)
        for block in blocks_under(func):
            if any([clean_body(region) for region in block.regions]):
                block.update_accesses()
                changed = True
        before = Counter(block.block_name for block in blocks_under(func))
        changed |= _statements(func.region)
        left = Counter(block.block_name for block in blocks_under(func))
        if not func.symbols:
            erased = before - left
            allow_what_is_left_out([block for block in blocks_under(func) if block.block_name in erased])
        for alloc in [op for op in func.walk() if isinstance(op, AllocBufferOp) and not op.buffer.uses]:
            _erase(alloc)
            changed = True
        report_changed(changed)


def _remove_idle_stores(func: PrimFuncOp) -> bool:
    """Remove stores that are overwritten, then those of what elements hold; whether there were any."""
    changed = False
    for find in (overwritten_stores, stores_of_known_values):
        for store in find(func):
            block = store.parent_op()
            while not isinstance(block, BlockOp):
                assert block is not None
                block = block.parent_op()
            store.detach()
            store.erase()
            block.update_accesses()
            changed = True
    return changed


def _statements(region: Region) -> bool:
    """Remove loops and blocks that do nothing; whether there were any."""
    changed = False
    for op in list(region.block.ops):
        match op:
            case ForOp() | OuterBlockOp():
                changed |= _statements(op.body)
                never = isinstance(op, ForOp) and op.size == 0
                if never or all(isinstance(inner, AllocBufferOp) for inner in op.body.block.ops):
                    _erase(op)
                    changed = True
            case BlockOp():
                if not has_effect(op) or 0 in op.sizes or _never_runs(op):
                    _erase(op)
                    changed = True
            case _:
                pass
    return changed


def _never_runs(block: BlockOp) -> bool:
    """Whether a condition of a block's predicate never holds."""
    ranges = dimension_ranges(list(block.loop_vars))
    bounds = [expr_range(simplify(condition, ranges), ranges) for condition in block.conditions]
    return any(each is not None and each[1] < 0 for each in bounds)


def has_effect(op: Operation) -> bool:
    """Whether something is done in `op` besides computing values; a `while` may never end."""
    return any(
        isinstance(inner, memref.StoreOp | CheckOp | AssertOp | AssumeOp | scf.WhileOp)
        or (isinstance(inner, CallOp) and not inner.is_pure)
        for inner in op.walk()
    )


def clean_body(region: Region) -> bool:
    """Remove from a block's body, or from a branch in one, what has no effect; whether there was anything."""
    changed = False
    for op in reversed(list(region.block.ops)):
        if isinstance(op, scf.IfOp | scf.WhileOp):
            for inner in op.regions:
                if inner.blocks:
                    changed |= clean_body(inner)
        if isinstance(op, scf.IfOp) and _drop_idle_side(op):
            changed = True
        elif _is_dead(op) or _stores_what_is_there(op):
            _erase(op)
            changed = True
    return changed


def _drop_idle_side(op: scf.IfOp) -> bool:
    """Let a branch of which one side does nothing have the other one alone, under the opposite condition where that is
    the second; whether it was such a branch."""
    if op.results or not op.false_region.blocks or not has_effect(op):
        return False
    sides = [any(has_effect(inner) for inner in region.block.ops) for region in op.regions]
    if all(sides):
        return False
    kept = op.true_region if sides[0] else op.false_region
    condition = op.cond
    if not sides[0]:
        true = arith.ConstantOp(BoolAttr.from_bool(True))
        negated = arith.XOrIOp(condition, true.result)
        Rewriter.insert_op([true, negated], InsertPoint.before(op))
        condition = negated.result
    made = scf.IfOp(condition, [], op.detach_region(kept))
    Rewriter.insert_op(made, InsertPoint.before(op))
    _erase(op)
    return True


def _is_dead(op: Operation) -> bool:
    if isinstance(op, scf.YieldOp | scf.ConditionOp) or any(result.uses for result in op.results):
        return False
    if isinstance(op, scf.IfOp):
        return not has_effect(op)
    pure = isinstance(op, memref.LoadOp) or op.name.startswith(("arith.", "math.")) or is_side_effect_free(op)
    return (pure or (isinstance(op, CallOp) and op.is_pure)) and not isinstance(op, CheckOp)


def _stores_what_is_there(op: Operation) -> bool:
    """Whether a store writes what the same element holds: what was read from it, with no write in between."""
    if not isinstance(op, memref.StoreOp) or not isinstance(load := op.value.owner, memref.LoadOp):
        return False
    if load.memref is not op.memref or list(load.indices) != list(op.indices) or load.parent is not op.parent:
        return False
    between = load.next_op
    while between is not op:
        assert between is not None
        if has_effect(between):
            return False
        between = between.next_op
    return True


def _erase(op: Operation) -> None:
    op.detach()
    op.erase(safe_erase=False)

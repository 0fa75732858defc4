"""Cut loops in two where a predicate is always true in the first part.

A split by a factor that does not divide leaves a predicate on every instance. All but the last iteration satisfy it;
the loop becomes one without the predicate, and one for the rest, whose inner loops are shortened instead.

Before -> after:

```mlir
tir.for %o = 0 to 4 {
  tir.for vectorized %i = 0 to 16 {
    tir.block @b(%v: spatial 50) = [%o * 16 + %i] where [49 - %o * 16 - %i] ...

tir.for %o = 0 to 3 {
  tir.for vectorized %i = 0 to 16 {
    tir.block @b(%v: spatial 50) = [%o * 16 + %i] ...
tir.for vectorized %i = 0 to 2 {
  tir.block @b(%v: spatial 50) = [%i + 48] ...
```

Does not: cut at lower bounds, or along a loop variable that a predicate uses in a quotient or remainder; those
predicates stay, and become branches. Counterpart of TVM's LoopPartition.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.tir.affine import Linear, linear, linear_range
from ...dialects.tir.core import AllocBufferOp, BlockOp, ForKind, ForOp, PrimFuncOp, Scope
from ..infra import PrimFuncPass
from .schedule.inline import accessing_blocks
from .schedule.loops import bind_constant, drop_proved_conditions
from .schedule.rebind import ValueExpr, blocks_under, dimension_ranges, enclosing_loops, rebind


@dataclass(frozen=True)
class LoopPartitionPass(PrimFuncPass):
    """Cut loops where predicates become true, and shorten the loops of what is left."""

    name = "loop-partition"
    tvm_name = "LoopPartition"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        work = [op for op in func.body.block.ops if isinstance(op, ForOp)]
        while work:
            loop = work.pop()
            parts = partition(loop)
            for part in parts:
                work += [op for op in part.body.block.ops if isinstance(op, ForOp)] if part.parent is not None else []


def partition(loop: ForOp) -> list[ForOp]:
    """Cut `loop` where the predicates beneath become true; the loops that now stand for it, main part first.

    A rest of one iteration is no loop any more: then its inner loops are given.
    """
    blocks = blocks_under(loop)
    if not any(block.conditions for block in blocks):
        return [loop]
    for block in blocks:
        drop_proved_conditions(block)
    end = loop.start + loop.trip_count
    cut = end
    for block in blocks:
        for condition in block.conditions:
            cut = min(cut, _true_below(block, condition, loop.var, end))
    if not loop.start < cut < end:
        _shorten(loop)
        return [loop]
    rest = _clone_with_buffers(loop)
    assert loop.parent is not None
    loop.parent.insert_op_after(rest, loop)
    loop.trip_count = cut - loop.start
    rest.properties["min"] = type(rest.min)(cut, rest.min.type)
    rest.trip_count = end - cut
    for part in (loop, rest):
        for block in blocks_under(part):
            rebind(block, {})
            drop_proved_conditions(block)
    nested = [op for op in rest.body.block.ops if isinstance(op, ForOp)]
    if rest.trip_count == 1:
        _dissolve(rest)
        parts = [loop, *nested]
    else:
        parts = [loop, rest]
    for part in parts[1:]:
        for inner in [op for op in part.walk() if isinstance(op, ForOp)]:
            _shorten(inner)
    if loop.trip_count == 1:
        inner_loops = [op for op in loop.body.block.ops if isinstance(op, ForOp)]
        _dissolve(loop)
        parts = [*inner_loops, *parts[1:]]
    return parts


def _dissolve(loop: ForOp) -> None:
    """Replace a loop of one iteration by its body.

    At the top of a function, where each nest is a unit of its own, a body of several nests stays together in a loop
    that does nothing else: they share private buffers.
    """
    if isinstance(loop.parent_op(), ForOp) or loop.body.block.first_op is loop.body.block.last_op:
        bind_constant(loop)
        return
    for block in blocks_under(loop):
        rebind(block, {loop.var: ValueExpr.constant(loop.start)})
    loop.properties["min"] = IntegerAttr(0, IndexType())
    loop.for_kind = ForKind.SERIAL


def _form(block: BlockOp, condition: AffineExpr, var: SSAValue) -> tuple[int, Linear] | None:
    """`condition` as `coefficient * var + rest`; `None` where `var` occurs in a quotient or remainder."""
    loop_vars = list(block.loop_vars)
    if var not in loop_vars:
        return None
    dim = AffineExpr.dimension(loop_vars.index(var))
    form = linear(condition, dimension_ranges(loop_vars))
    if any(atom != dim and any(AffineExpr.dimension(d) == dim for d in atom.used_dims()) for atom in form.terms):
        return None
    return form.coefficient(dim), Linear({a: f for a, f in form.terms.items() if a != dim}, form.constant)


def _true_below(block: BlockOp, condition: AffineExpr, var: SSAValue, end: int) -> int:
    """The value of `var` below which `condition >= 0` whatever the other variables are; `end` if it does not say."""
    split = _form(block, condition, var)
    if split is None or split[0] >= 0:
        return end
    bounds = linear_range(split[1], dimension_ranges(list(block.loop_vars)))
    return end if bounds is None else min(end, bounds[0] // -split[0] + 1)


def _shorten(loop: ForOp) -> None:
    """End `loop` where all blocks beneath stop, if they stop at the same value for conditions on `loop` alone."""
    if loop.parent is None:
        return
    ends: set[int] = set()
    for block in blocks_under(loop):
        end = loop.start + loop.trip_count
        for condition in block.conditions:
            split = _form(block, condition, loop.var)
            if split is not None and split[0] < 0 and not split[1].terms:
                end = min(end, split[1].constant // -split[0] + 1)
        ends.add(end)
    if len(ends) != 1:
        return
    (end,) = ends
    if loop.start < end < loop.start + loop.trip_count:
        loop.trip_count = end - loop.start
        for block in blocks_under(loop):
            drop_proved_conditions(block)
        if loop.trip_count == 1:
            bind_constant(loop)


def _clone_with_buffers(loop: ForOp) -> ForOp:
    """A copy of `loop` with copies of the private buffers that nothing outside uses."""
    mapping: dict[SSAValue, SSAValue] = {}
    func = loop.parent_op()
    while not isinstance(func, PrimFuncOp):
        assert func is not None
        func = func.parent_op()
    for alloc in [op for op in func.walk() if isinstance(op, AllocBufferOp)]:
        if alloc.scope.data != Scope.LOCAL or alloc.parent is None:
            continue
        users = accessing_blocks(alloc.buffer)
        if users and all(loop in enclosing_loops(block) for block in users):
            copy = alloc.clone()
            copy.buffer.name_hint = alloc.buffer.name_hint
            alloc.parent.insert_op_after(copy, alloc)
            mapping[alloc.buffer] = copy.buffer
    return loop.clone(mapping)

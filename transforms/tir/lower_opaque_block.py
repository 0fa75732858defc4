"""Leave of blocks what they do: statements in loops.

Before -> after:

```mlir
tir.for %i = 0 to 5 {
  tir.for %one = 0 to 1 {
    tir.outer_block @o {
      tir.for %j = 0 to 7 {
        tir.block @b(%vi: opaque 5, %vj: opaque 7) = [%i, %j] where [%i * -7 + %j * -1 + 31] ... {
          memref.store %c, %y[%0]

tir.for %i = 0 to 5 {
  tir.for %j = 0 to 7 {
    tir.block @statement(%vi: opaque 5, %vj: opaque 7) = [%i, %j] ... {
      %1 = arith.cmpi slt, %0, %c32 : index
      scf.if %1 {
        memref.store %c, %y[%0]
```

Blocks are called `statement`, and are statements among loops as nodes. The predicate of one becomes a branch; outer
blocks, loops of one iteration that no annotation or thread needs, and what is noted at blocks are gone, but for pragmas
and for how far rows lie apart (`buffer_dim_align`). Refused are blocks with iterators of their own, which
`convert-blocks-to-opaque` writes as loop variables. Counterpart of TVM's LowerOpaqueBlock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.support.diagnostics import Diagnostic
from ...dialects.tir.affine import Linear, linear
from ...dialects.tir.alignment import BUFFER_DIM_ALIGN
from ...dialects.tir.core import BlockOp, ForKind, ForOp, OuterBlockOp, PrimFuncOp, blocks_under, loop_of
from ...dialects.tir.loop_iterators import STATEMENT, speaks_of_loops
from ...dialects.tir.outer_blocks import dissolve
from ..infra import PrimFuncPass, report_changed
from .convert_blocks_to_opaque import say_what_is_left_out, with_loop_iterators
from .schedule.copies import index_ops
from .schedule.loops import bind_constant

_PRAGMA = "pragma_"


@dataclass(frozen=True)
class LowerOpaqueBlockPass(PrimFuncPass):
    """Leave of blocks what they do."""

    name = "lower-opaque-block"
    tvm_name = "LowerOpaqueBlock"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        for block in blocks_under(func):
            _check(block)
        changed = any(isinstance(op, OuterBlockOp) for op in func.walk())
        dissolve(func)
        for loop in [op for op in func.walk() if isinstance(op, ForOp) and _is_idle(op)]:
            bind_constant(loop)
            changed = True
        arguments = list(func.region.block.args)
        for block in blocks_under(func):
            changed |= _lower(block, arguments)
        report_changed(changed)


def _check(block: BlockOp) -> None:
    """Raises:
    Diagnostic: a block has iterators of its own, or is done where an expression holds that divides.
    """
    if not speaks_of_loops(block):
        raise Diagnostic.at(
            block,
            f"block @{block.block_name} has iterators of its own",
            hint="lower-init-block and convert-blocks-to-opaque first",
        )
    loops = [loop_of(variable) for variable in block.loop_vars]
    if block.conditions and any(loop.start < 0 for loop in loops):
        raise Diagnostic.at(block, f"block @{block.block_name} has a predicate on a loop that begins below 0")


def _is_idle(loop: ForOp) -> bool:
    """Whether a loop is run once, and nothing is said of it."""
    said = loop.for_kind == ForKind.THREAD_BINDING or loop.annotations is not None or loop.attributes
    return not said and loop.size == 1


def _lower(block: BlockOp, arguments: Sequence[SSAValue]) -> bool:
    """Put what is done where `block` is; whether that was another."""
    kept = {n: value for n, value in block.attributes.items() if n.startswith(_PRAGMA) or n == BUFFER_DIM_ALIGN}
    changed = len(kept) != len(block.attributes) or block.block_name != STATEMENT
    block.attributes = kept
    block.sym_name = StringAttr(STATEMENT)
    conditions = block.conditions
    if not conditions and speaks_of_loops(block):
        return changed
    variables = list(block.loop_vars)
    needed = sorted({number for condition in conditions for number in condition.used_dims()})
    block = with_loop_iterators(block, arguments, needed)
    values = [
        next(iterator for iterator, expr in zip(block.iters, block.bindings.data.results, strict=True) if expr == dim)
        if (dim := AffineExpr.dimension(number)) in block.bindings.data.results
        else variable
        for number, variable in enumerate(variables)
    ]
    _guard(block, conditions, values, arguments)
    block.set_predicate([])
    say_what_is_left_out(block)
    block.update_accesses()
    return True


def _guard(
    block: BlockOp, conditions: Sequence[AffineExpr], values: Sequence[SSAValue], arguments: Sequence[SSAValue]
) -> None:
    """Do the body of `block` where all conditions are at least 0."""
    if not conditions:
        return
    body = block.body.block
    inside = Block()
    for op in list(body.ops):
        op.detach()
        inside.add_op(op)
    inside.add_op(scf.YieldOp())
    ops: list[Operation] = []
    holds: SSAValue | None = None
    for condition in conditions:
        lhs, predicate, rhs = _comparison(linear(condition))
        left, a = index_ops(lhs, values, arguments)
        right, b = index_ops(rhs, values, arguments)
        compared = arith.CmpiOp(a, b, predicate)
        ops += [*left, *right, compared]
        if holds is not None:
            ops.append(both := arith.AndIOp(holds, compared.result))
            holds = both.result
        else:
            holds = compared.result
    assert holds is not None
    body.add_ops([*ops, scf.IfOp(holds, [], Region(inside))])


def _comparison(condition: Linear) -> tuple[AffineExpr, str, AffineExpr]:
    """What says that a sum is at least 0 without a negative factor: `a < b`, or `a >= b` where nothing is taken off."""
    less = {atom: -factor for atom, factor in condition.terms.items() if factor < 0}
    more = {atom: factor for atom, factor in condition.terms.items() if factor > 0}
    if not less:
        return Linear(more, 0).to_expr(), "sge", AffineExpr.constant(-condition.constant)
    return Linear(less, 0).to_expr(), "slt", Linear(more, condition.constant + 1).to_expr()

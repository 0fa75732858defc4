"""Write the beginning of a reduction as a branch of its block.

Before -> after:

```mlir
tir.block @sum(%vi: spatial 4, %vk: reduce 64) = [%i, %k] ... {
  %0 = memref.load %y[%vi]
  ...
} init(%wi, %wk) {
  memref.store %c, %y[%wi]
}

tir.block @sum(%vi: spatial 4, %vk: reduce 64) = [%i, %k] ... {
  %first = arith.cmpi eq, %vk, %zero : index
  scf.if %first {
    memref.store %c, %y[%vi]
  }
  %0 = memref.load %y[%vi]
  ...
}
```

The branch is taken where all iterators of the reduction are 0; where a reduction has one step, there is none. One that
threads share is refused: none of its steps is the first. `lower-cross-thread-reduction` goes before.
Counterpart of TVM's LowerInitBlock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.support.diagnostics import Diagnostic
from ...dialects.tir.core import BlockOp, ForOp, IterKind, PrimFuncOp, blocks_under
from ...dialects.tir.legality.reductions import shared_reductions
from ..infra import PrimFuncPass, report_changed


@dataclass(frozen=True)
class LowerInitBlockPass(PrimFuncPass):
    """Write what a reduction begins with as a branch."""

    name = "lower-init-block"
    tvm_name = "LowerInitBlock"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        for shared in (block for loop in func.walk() if isinstance(loop, ForOp) for block in shared_reductions(loop)):
            message = f"threads share the reduction of block @{shared.block_name}: none of its steps is the first"
            raise Diagnostic.at(shared, message, hint="lower-cross-thread-reduction goes before lower-init-block")
        blocks = [block for block in blocks_under(func) if block.init is not None]
        for block in blocks:
            _lower(block)
        report_changed(bool(blocks))


def _lower(block: BlockOp) -> None:
    assert block.init is not None
    init = block.init.block
    branch = Block()
    for argument, iterator in zip(init.args, block.iters, strict=True):
        argument.replace_all_uses_with(iterator)
    for op in list(init.ops):
        op.detach()
        branch.add_op(op)
    steps = [v for v, kind, size in zip(block.iters, block.kinds, block.sizes, strict=True) if _is_step(kind, size)]
    first: list[Operation] = []
    if steps:
        branch.add_op(scf.YieldOp())
        test = _all_zero(steps, first)
        first.append(scf.IfOp(test, [], Region(branch)))
    else:
        for op in list(branch.ops):
            op.detach()
            first.append(op)
    body = block.body.block
    if (before := body.first_op) is None:
        body.add_ops(first)
    else:
        body.insert_ops_before(first, before)
    block.detach_region(block.init)
    block.update_accesses()


def _is_step(kind: IterKind, size: object) -> bool:
    return kind == IterKind.REDUCE and size != 1


def _all_zero(iterators: Sequence[SSAValue], ops: list[Operation]) -> SSAValue:
    """Whether all iterators are 0, computed by operations that are added to `ops`."""
    zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
    ops.append(zero)
    result: SSAValue | None = None
    for iterator in iterators:
        ops.append(is_zero := arith.CmpiOp(iterator, zero.result, "eq"))
        if result is None:
            result = is_zero.result
        else:
            ops.append(both := arith.AndIOp(result, is_zero.result))
            result = both.result
    assert result is not None
    return result

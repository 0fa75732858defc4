"""Let buffers live where they are used.

Before -> after:

```mlir
%b = tir.alloc_buffer "global" : memref<4x8xf32>
tir.for %i = 0 to 4 {
  tir.for %j ... writes %b[%i, %j]
  tir.for %j ... reads %b[%i, %j]
}

tir.for %i = 0 to 4 {
  %b = tir.alloc_buffer "global" : memref<4x8xf32>
  tir.for %j ... writes %b[%i, %j]
  tir.for %j ... reads %b[%i, %j]
}
```

A buffer moves into the loop that has all that uses it, and from there into the next, as long as each iteration is shown
to write what it reads; it then stands before the first statement that uses it. Loops over threads of a launch it moves
into where its scope says whose it is, wherever it stands: a thread's (`local`), or those of a block (`shared`, `warp`).
Does not: make it smaller, or move it into loops whose iterations are lanes; constants stay. Counterpart of TVM's
PlanAndUpdateBufferAllocationLocation, which asks the kinds of iterators instead of accesses.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.ir import Block, Operation

from ...dialects.tir.core import AllocBufferOp, ForKind, ForOp, PrimFuncOp
from ...dialects.tir.legality.carried import is_fresh
from ...dialects.tir.outer_blocks import OuterBlockOp
from ...dialects.tir.thread_axes import SHARED, axis_of, is_of_warp_in
from ..infra import PrimFuncPass, report_changed

_ONE_AFTER_THE_OTHER = (ForKind.SERIAL, ForKind.UNROLLED, ForKind.PARALLEL)


@dataclass(frozen=True)
class PlanAndUpdateBufferAllocationLocationPass(PrimFuncPass):
    """Let buffers live where they are used."""

    name = "plan-and-update-buffer-allocation-location"
    tvm_name = "PlanAndUpdateBufferAllocationLocation"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        allocs = [op for op in func.walk() if isinstance(op, AllocBufferOp) and op.value is None and op.buffer.uses]
        report_changed(any([_move(alloc) for alloc in allocs]))


def _move(alloc: AllocBufferOp) -> bool:
    """Put an allocation where it belongs; whether it was elsewhere."""
    users = [use.operation for use in alloc.buffer.uses]
    assert alloc.parent is not None
    block = alloc.parent
    while (inner := _inside(alloc, block, users)) is not None:
        block = inner
    if block is alloc.parent:
        return False
    first = next(op for op in block.ops if any(op.is_ancestor(user) for user in users))
    alloc.detach()
    block.insert_op_before(alloc, first)
    return True


def _inside(alloc: AllocBufferOp, block: Block, users: list[Operation]) -> Block | None:
    """The body of the one statement of `block` that has all users, if the buffer may live there."""
    for op in block.ops:
        if isinstance(op, ForOp | OuterBlockOp) and all(op.is_ancestor(user) for user in users):
            if isinstance(op, OuterBlockOp):
                return op.body.block
            if op.for_kind in _ONE_AFTER_THE_OTHER and is_fresh(op, alloc.buffer):
                return op.body.block
            scope = alloc.scope.data
            if axis_of(op) is not None and (alloc.is_private or scope in SHARED or is_of_warp_in(scope)):
                return op.body.block
    return None

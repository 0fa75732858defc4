"""Let buffers that are never alive at one time be one.

Before -> after:

```mlir
%a = tir.alloc_buffer "global" : memref<64xf32>      %a = tir.alloc_buffer "global" : memref<64xf32>
%b = tir.alloc_buffer "global" : memref<64xf32>
tir.for ... writes %a                                tir.for ... writes %a
tir.for ... reads %a, writes %y                      tir.for ... reads %a, writes %y
tir.for ... writes %b                                tir.for ... writes %a
tir.for ... reads %b, writes %z                      tir.for ... reads %a, writes %z
```

A buffer is alive from the first nest of the function that uses it to the last one. Two of one type and of scope
`global`, of which one is dead before the other is used, are one; which is chosen as linear scans choose registers, the
one that was free first. Does not: share buffers of several types, or within a nest; a thread's own buffers are on its
stack, which LLVM colours. Counterpart of TVM's StorageRewrite; what lies between kernels is planned by `plan-memory`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.ir import Attribute, Operation

from ...dialects.tir.buffers import shape_of
from ...dialects.tir.core import AllocBufferOp, PrimFuncOp, Scope, accessing_blocks
from ..infra import PrimFuncPass, report_changed


@dataclass(frozen=True)
class StorageRewritePass(PrimFuncPass):
    """Let buffers that are never alive at one time be one."""

    name = "storage-rewrite"
    tvm_name = "StorageRewrite"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        order = {op: number for number, op in enumerate(func.body.block.ops)}
        free: dict[tuple[Attribute, str], list[AllocBufferOp]] = {}
        alive: list[tuple[int, AllocBufferOp]] = []
        changed = False
        for first, last, alloc in sorted(_lifetimes(func, order), key=lambda each: each[0]):
            for ending, held in [each for each in alive if each[0] < first]:
                alive.remove((ending, held))
                free.setdefault(_kind(held), []).append(held)
            if same := free.get(_kind(alloc)):
                chosen = same.pop(0)
                alloc.buffer.replace_all_uses_with(chosen.buffer)
                alloc.detach()
                alloc.erase()
                alloc, changed = chosen, True
            alive.append((last, alloc))
        report_changed(changed)


def _kind(alloc: AllocBufferOp) -> tuple[Attribute, str]:
    """What two buffers have in common that may be one."""
    return alloc.buffer.type, str([str(extent) for extent in shape_of(alloc.buffer)])


def _lifetimes(func: PrimFuncOp, order: dict[Operation, int]) -> Iterator[tuple[int, int, AllocBufferOp]]:
    """The numbers of the first and the last nest that use a buffer, of those that may be shared."""
    for op in func.body.block.ops:
        if not isinstance(op, AllocBufferOp) or op.scope.data != Scope.GLOBAL or op.is_constant or op.attributes:
            continue
        blocks = accessing_blocks(op.buffer)
        if not blocks or any(block.attributes for block in blocks):
            continue  # what a block says of a buffer's layout is of that buffer
        numbers = [order[_nest(func, block)] for block in blocks]
        yield min(numbers), max(numbers), op


def _nest(func: PrimFuncOp, op: Operation) -> Operation:
    """The operation of the function's body that `op` stands in."""
    while (parent := op.parent_op()) is not func:
        assert parent is not None
        op = parent
    return op

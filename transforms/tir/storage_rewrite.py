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

A buffer is alive from the first nest of the function that uses it to the last one. Two of one type, of the same
`axis_separators` and of scope `global`, of which one is dead before the other is used, are one; which is chosen as
linear scans choose registers, the one that was free first. A buffer that is first written where another one is read for
the last time takes its place too, if each iteration writes the element that it alone reads, after it has read it.

Does not: share buffers of several types, nor otherwise within a nest; a thread's own buffers are on its stack, which
LLVM colours. Counterpart of TVM's StorageRewrite; what lies between kernels is planned by `plan-memory`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.ir import Attribute, Operation

from ...dialects.tir.affine import Access
from ...dialects.tir.buffers import AXIS_SEPARATORS, shape_of
from ...dialects.tir.core import AllocBufferOp, PrimFuncOp, Scope, accessing_blocks, enclosing_loops
from ...dialects.tir.legality.decide import Verdict
from ...dialects.tir.legality.dependence import Touch, never_meet
from ..infra import PrimFuncPass, report_changed

_Kind: TypeAlias = tuple[Attribute, str, tuple[int, ...]]


@dataclass(frozen=True)
class StorageRewritePass(PrimFuncPass):
    """Let buffers that are never alive at one time be one."""

    name = "storage-rewrite"
    tvm_name = "StorageRewrite"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        order = {op: number for number, op in enumerate(func.region.block.ops)}
        free: dict[_Kind, list[AllocBufferOp]] = {}
        alive: list[tuple[int, AllocBufferOp]] = []
        changed = False
        for first, last, alloc in sorted(_lifetimes(func, order), key=lambda each: each[0]):
            for ending, held in [each for each in alive if each[0] < first]:
                alive.remove((ending, held))
                free.setdefault(_kind(held), []).append(held)
            chosen = next((held for last_of, held in alive if last_of == first and _in_place(held, alloc, order)), None)
            if chosen is not None:
                alive.remove((first, chosen))
            elif same := free.get(_kind(alloc)):
                chosen = same.pop(0)
            if chosen is not None:
                alloc.buffer.replace_all_uses_with(chosen.buffer)
                alloc.detach()
                alloc.erase()
                alloc, changed = chosen, True
            alive.append((last, alloc))
        report_changed(changed)


def _kind(alloc: AllocBufferOp) -> _Kind:
    """What two buffers have in common that may be one."""
    return alloc.buffer.type, str([str(extent) for extent in shape_of(alloc.buffer)]), tuple(alloc.axis_separators)


def _in_place(old: AllocBufferOp, new: AllocBufferOp, order: dict[Operation, int]) -> bool:
    """Whether `new` may take the place of `old` in the nest in which `new` is first used, and `old` last: one block
    uses both, each iteration of it another element, which it reads of `old` before it writes it to `new`."""
    if _kind(old) != _kind(new):
        return False
    nest = min((_nest(block) for block in accessing_blocks(new.buffer)), key=order.__getitem__)
    both = {block for each in (old, new) for block in accessing_blocks(each.buffer) if _nest(block) is nest}
    if len(both) != 1:
        return False
    (block,) = both
    if block.init is not None or any(isinstance(op, scf.WhileOp | scf.ForOp) for op in block.body.walk()):
        return False
    touches = [each for each in block.touches() if each.buffer in (old.buffer, new.buffer)]
    *reads, write = touches
    one_place = all(each.map is not None and each.map == write.map for each in touches)
    written = isinstance(write, Access) and write.is_write and write.buffer is new.buffer
    if not one_place or not written or any(each.is_write or each.buffer is not old.buffer for each in reads):
        return False
    own = Touch(block, write)
    return all(loop.size in (0, 1) or never_meet(loop, own, own) == Verdict.PROVED for loop in enclosing_loops(block))


def _lifetimes(func: PrimFuncOp, order: dict[Operation, int]) -> Iterator[tuple[int, int, AllocBufferOp]]:
    """The numbers of the first and the last nest that use a buffer, of those that may be shared."""
    for op in func.region.block.ops:
        if not isinstance(op, AllocBufferOp) or op.scope.data != Scope.GLOBAL or op.is_constant:
            continue
        if op.attributes.keys() - {AXIS_SEPARATORS}:
            continue
        blocks = accessing_blocks(op.buffer)
        if not blocks or any(block.attributes for block in blocks):
            continue  # what a block says of a buffer's layout is of that buffer
        numbers = [order[_nest(block)] for block in blocks]
        yield min(numbers), max(numbers), op


def _nest(op: Operation) -> Operation:
    """The operation of the function's body that `op` stands in."""
    while not isinstance(parent := op.parent_op(), PrimFuncOp):
        assert parent is not None
        op = parent
    return op

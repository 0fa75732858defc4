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

A buffer is alive from the first statement of its scope that uses it to the last one, if no iteration of a loop around
reads what another one has written. Two of one type, one memory scope and the same `axis_separators`, of which one is
dead before the other is used, are one; which is chosen as linear scans choose registers, the one that was free first. A
buffer that is first written where another one is read for the last time takes its place too, if each iteration writes
the element that it alone reads, after it has read it. What is left is allocated once, outside
of the loops whose iterations follow one another:

```mlir
tir.for %i = 0 to 8 {                                %a = tir.alloc_buffer "global" : memref<64xf32>
  %a = tir.alloc_buffer "global" : memref<64xf32>    tir.for %i = 0 to 8 {
```

Does not: share buffers of several types; buffers of a thread are on its stack, which LLVM colours, and those that
threads share are left as they are. Counterpart of TVM's StorageRewrite; what lies between kernels is planned by
`plan-memory`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.ir import Attribute, Block, Operation

from ...dialects.tir.affine import Access
from ...dialects.tir.axis_separators import AXIS_SEPARATORS
from ...dialects.tir.buffers import shape_of
from ...dialects.tir.core import (
    AllocBufferOp,
    ForKind,
    ForOp,
    OuterBlockOp,
    PrimFuncOp,
    Scope,
    accessing_blocks,
    enclosing_loops,
)
from ...dialects.tir.legality.carried import is_fresh
from ...dialects.tir.legality.decide import Verdict
from ...dialects.tir.legality.dependence import never_meet
from ...dialects.tir.legality.touch import Touch
from ...dialects.tir.thread_axes import SHARED, is_of_warp_in
from ..infra import PrimFuncPass, report_changed

_Kind: TypeAlias = tuple[Attribute, str, str, tuple[int, ...]]
_OF_THREADS = (Scope.LOCAL, *SHARED)
_IN_TURN = (ForKind.SERIAL, ForKind.UNROLLED)


@dataclass(frozen=True)
class StorageRewritePass(PrimFuncPass):
    """Let buffers that are never alive at one time be one."""

    name = "storage-rewrite"
    tvm_name = "StorageRewrite"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        report_changed(_share(func.region.block, None))


def _share(block: Block, loop: ForOp | None) -> bool:
    """Let the buffers of a block and of the loops in it be as few as they can be; whether anything changed. What the
    block does is done for each iteration of `loop`."""
    changed = False
    for op in list(block.ops):
        if isinstance(op, ForOp | OuterBlockOp):
            changed |= _share(op.body.block, op if isinstance(op, ForOp) else loop)
            if isinstance(op, OuterBlockOp) or op.for_kind in _IN_TURN:
                changed |= _allocate_before(op)
    order = {op: number for number, op in enumerate(block.ops)}
    free: dict[_Kind, list[AllocBufferOp]] = {}
    alive: list[tuple[int, AllocBufferOp]] = []
    for first, last, alloc in sorted(_lifetimes(block, loop, order), key=lambda each: each[0]):
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
    return changed


def _allocate_before(scope: ForOp | OuterBlockOp) -> bool:
    """Allocate what a loop or an outer block allocates before it; whether there is such."""
    assert scope.parent is not None
    allocs = [op for op in scope.body.block.ops if isinstance(op, AllocBufferOp) and _is_shareable(op)]
    for alloc in allocs:
        alloc.detach()
        scope.parent.insert_op_before(alloc, scope)
    return bool(allocs)


def _kind(alloc: AllocBufferOp) -> _Kind:
    """What two buffers have in common that may be one."""
    shape = str([str(extent) for extent in shape_of(alloc.buffer)])
    return alloc.buffer.type, alloc.scope.data, shape, tuple(alloc.axis_separators)


def _in_place(old: AllocBufferOp, new: AllocBufferOp, order: Mapping[Operation, int]) -> bool:
    """Whether `new` may take the place of `old` in the statement in which `new` is first used, and `old` last: one
    block uses both, each iteration of it another element, which it reads of `old` before it writes it to `new`."""
    if _kind(old) != _kind(new):
        return False
    nest = min((_nest(block, order) for block in accessing_blocks(new.buffer)), key=order.__getitem__)
    both = {block for each in (old, new) for block in accessing_blocks(each.buffer) if _nest(block, order) is nest}
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
    loops = [loop for loop in enclosing_loops(block) if nest.is_ancestor(loop)]
    return all(loop.size in (0, 1) or never_meet(loop, own, own) == Verdict.PROVED for loop in loops)


def _is_shareable(alloc: AllocBufferOp) -> bool:
    """Whether a buffer may be another one too, and be allocated elsewhere."""
    return (
        alloc.scope.data not in _OF_THREADS
        and not is_of_warp_in(alloc.scope.data)
        and not alloc.is_constant
        and not alloc.attributes.keys() - {AXIS_SEPARATORS}
    )


def _lifetimes(
    block: Block, loop: ForOp | None, order: Mapping[Operation, int]
) -> Iterator[tuple[int, int, AllocBufferOp]]:
    """The numbers of the first and the last statement that use a buffer, of those that may be shared: in a loop those
    of which each iteration reads what it has written itself."""
    for op in block.ops:
        if not isinstance(op, AllocBufferOp) or not _is_shareable(op):
            continue
        if loop is not None and not is_fresh(loop, op.buffer):
            continue
        blocks = accessing_blocks(op.buffer)
        if not blocks or any(each.attributes for each in blocks):
            continue  # what a block says of a buffer's layout is of that buffer
        numbers = [order[_nest(each, order)] for each in blocks]
        yield min(numbers), max(numbers), op


def _nest(op: Operation, order: Mapping[Operation, int]) -> Operation:
    """The statement among those that are numbered that `op` stands in."""
    while op not in order:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op

"""Let threads wait for one another where one reads what another has written to memory that they share.

Before -> after:

```mlir
tir.for thread_binding "threadIdx.x" %t = 0 to 8 {      tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
  tir.block @fill(...) ... writes(%s[%v])                 tir.block @fill(...) ... writes(%s[%v])
                                                          tir.storage_sync "shared"
  tir.block @turn(...) ... reads(%s[7 - %v])              tir.block @turn(...) ... reads(%s[7 - %v])
```

Statements are followed in their order, loops twice, so that what an iteration leaves meets what the next does. Where a
block or a loop touches an element that another thread perhaps has touched since threads last waited, and one of the two
writes, they wait in front of it: in front of the whole loop, where that is enough. That is so for buffers of scope
`shared`, and for global ones and parameters, which the threads of a block have together too: a barrier orders all
memory. No wait is needed where it is proved that only the same thread meets itself, and iterations that come one after
the other do not have the same memory for different elements of a buffer (`compact-buffer-allocation`).

Barriers that stand there already are kept, and count. Does not: order what different blocks of a launch do, for which
there is no barrier; `bind` and `verify-gpu-code` see that they have nothing in common. Counterpart of TVM's ThreadSync.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForOp,
    PrimFuncOp,
    StorageSyncOp,
    blocks_under,
    enclosing_loops,
)
from ...dialects.tir.legality.decide import Verdict
from ...dialects.tir.legality.dependence import never_meet
from ...dialects.tir.legality.touch import Touch
from ...dialects.tir.outer_blocks import OuterBlockOp
from ...dialects.tir.thread_axes import axis_of, is_of_block, is_of_several, is_shared
from ..infra import PrimFuncPass, report_changed
from .compact_buffer_allocation import is_used_again


@dataclass(frozen=True)
class ThreadSyncPass(PrimFuncPass):
    """Insert `tir.storage_sync` where threads of a block would meet in memory that they have together."""

    name = "thread-sync"
    tvm_name = "ThreadSync"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        insertion = _Insertion()
        for nest in list(func.region.block.ops):
            if _touches(nest):
                insertion.statement(nest, [])
        report_changed(insertion.count > 0)


@dataclass
class _Insertion:
    """Follows what has been touched since threads last waited."""

    count: int = 0
    known: dict[tuple[Touch, Touch], bool] = field(default_factory=dict[tuple[Touch, Touch], bool])
    used_again: dict[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])

    def statements(self, block: Block, pending: list[Touch]) -> list[Touch]:
        for op in list(block.ops):
            pending = self.statement(op, pending)
        return pending

    def statement(self, op: Operation, pending: list[Touch]) -> list[Touch]:
        """What is touched and not waited for behind `op`, given what is in front of it."""
        match op:
            case StorageSyncOp():
                return []
            case OuterBlockOp():
                return self.statements(op.body.block, pending)
            case BlockOp() | ForOp():
                touches = _touches(op)
                if self._meet(pending, touches):
                    self._wait_before(op)
                    pending = []
                if isinstance(op, BlockOp):
                    return _both(pending, touches)
                left = self.statements(op.body.block, [])
                if axis_of(op) is None and op.size != 1:
                    left = self.statements(op.body.block, left)
                return _both(pending, left)
            case _:
                return pending

    def _wait_before(self, op: Operation) -> None:
        assert op.parent is not None
        sync = StorageSyncOp()
        sync.location = op.location
        op.parent.insert_op_before(sync, op)
        self.count += 1

    def _meet(self, before: Sequence[Touch], after: Sequence[Touch]) -> bool:
        return any(self._meets(one, other) for one in before for other in after)

    def _meets(self, one: Touch, other: Touch) -> bool:
        """Whether two accesses are perhaps of one element by different threads, one of which writes it."""
        if one.access.buffer is not other.access.buffer or not (one.access.is_write or other.access.is_write):
            return False
        key = one, other
        if key not in self.known:
            self.known[key] = self._is_used_again(one.access.buffer) or not _by_one_thread(one, other)
        return self.known[key]

    def _is_used_again(self, buffer: SSAValue) -> bool:
        if buffer not in self.used_again:
            self.used_again[buffer] = (
                isinstance(buffer.owner, AllocBufferOp) and is_shared(buffer) and is_used_again(buffer.owner)
            )
        return self.used_again[buffer]


def _by_one_thread(one: Touch, other: Touch) -> bool:
    """Whether it is proved that no two threads of a block touch one element by the two accesses."""
    threads = [loop for loop in enclosing_loops(one.block) if is_of_block(loop)]
    if not threads or threads != [loop for loop in enclosing_loops(other.block) if is_of_block(loop)]:
        return False
    if any(axis_of(loop) is None and loop.size != 1 for loop in enclosing_loops(threads[-1])):
        return False  # threads may be in different iterations of it
    return all(loop.size == 1 or never_meet(loop, one, other) == Verdict.PROVED for loop in threads)


def _both(one: Sequence[Touch], other: Sequence[Touch]) -> list[Touch]:
    return list(dict.fromkeys((*one, *other)))


def _touches(op: Operation) -> list[Touch]:
    """The accesses in a statement of memory that threads have together."""
    blocks = [op] if isinstance(op, BlockOp) else blocks_under(op)
    return [Touch(block, access) for block in blocks for access in block.touches() if is_of_several(access.buffer)]

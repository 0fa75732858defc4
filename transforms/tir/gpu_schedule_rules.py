"""Schedule every function for a GPU by rules: each nest becomes a launch in which one thread computes one element.

In this order: cheap stages are inlined, as for processors; then the loops of each block that are not a reduction's are
moved to the outside, made one, divided into blocks of threads, and bound; a reduction's steps stay with one thread.
Loops in front of one whose number of iterations is a symbol are no one with that: they are bound to the grid's y and z,
and where there are more such, a thread runs through the first of them.

Before -> after:

```mlir
tir.for %i = 0 to 64 {                                  tir.for thread_binding "blockIdx.x" %i_j = 0 to 16 {
  tir.for %j = 0 to 64 {                                  tir.for thread_binding "threadIdx.x" %i_j_1 = 0 to 256 {
    tir.for %k = 0 to 64 {                                  tir.for %k = 0 to 64 {
      tir.block @matmul ...                                   tir.block @matmul ...
```

A nest that cannot be divided, as one whose iterations depend on each other, is run by one thread, and a remark says so.
Does not: look for the best schedule, or keep in shared memory what several threads read; a schedule of one's own does
(`weft.tir.Schedule`). A function in which loops are bound already is left alone. TVM's counterpart is the default
schedule of its GPUs, `DefaultGPUSchedule`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.ir import Operation

from ...dialects.tir.core import AllocBufferOp, BlockOp, ForKind, ForOp, PrimFuncOp, blocks_under, enclosing_loops
from ..infra import PrimFuncPass
from ..infra.remarks import missed
from .rules.auto_inline import inline_all
from .rules.spatial import split_loops
from .schedule.add_unit_loop import add_unit_loop
from .schedule.bind import bind
from .schedule.errors import ScheduleError
from .schedule.fuse import fuse
from .schedule.reorder import reorder
from .schedule.split import split

THREADS = 256
"""Threads of a block, if the target has so many: enough to hide how long memory takes, few enough to have several
blocks at a time."""


@dataclass(frozen=True)
class GPUScheduleRulesPass(PrimFuncPass):
    """Bind the loops of every `tir.prim_func` to blocks and threads. `max-threads-per-block` and
    `max-shared-memory-per-block` (bytes) are the target's limits."""

    name = "gpu-schedule-rules"

    max_threads_per_block: int = 1024
    max_shared_memory_per_block: int = 49152

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        if any(op.for_kind == ForKind.THREAD_BINDING for op in func.walk() if isinstance(op, ForOp)):
            return
        blocks = blocks_under(func)
        if not blocks or any(0 in block.sizes for block in blocks):
            return
        if all(op.for_kind == ForKind.SERIAL for op in func.walk() if isinstance(op, ForOp)):
            inline_all(func)
        threads = min(THREADS, self.max_threads_per_block)
        for nest in [op for op in func.region.block.ops if not isinstance(op, AllocBufferOp)]:
            schedule_nest(nest, threads)


def schedule_nest(nest: Operation, threads: int) -> None:
    """Bind the loops of one nest; where that is not possible, one thread runs it."""
    assert isinstance(nest, ForOp | BlockOp)
    block = _only_block(nest)
    try:
        if block is not None and (spatial := _outer_loops(block)):
            _divide(spatial, threads)
            return
        why = "there is nothing to divide" if block is not None else "it holds more than one block"
    except ScheduleError as error:
        why = error.message
    top = (enclosing_loops(block) or [block])[0] if block is not None else nest
    missed("gpu-schedule-rules", top, f"the nest is run by one thread: {why}", "bind its loops by a schedule")
    _make_serial(top)
    bind(add_unit_loop(top), "threadIdx.x")


def _only_block(nest: Operation) -> BlockOp | None:
    """The block of a nest that holds but one, each loop around nothing but the next."""
    while isinstance(nest, ForOp):
        (nest, *others) = nest.body.block.ops
        if others:
            return None
    return nest if isinstance(nest, BlockOp) else None


def _outer_loops(block: BlockOp) -> list[ForOp]:
    """The loops that are no reduction's, moved to the outside."""
    spatial, reduce = split_loops(block)
    if spatial and reduce:
        reorder(*spatial, *reduce)
    return spatial


def _divide(loops: list[ForOp], threads: int) -> None:
    groups: list[list[ForOp]] = []
    for loop in loops:
        if loop.is_symbolic or not groups:  # a symbol divides nothing: one loop of both would not tell where it is
            groups.append([loop])
        else:
            groups[-1].append(loop)
    *outside, last = (fuse(*group) if len(group) > 1 else group[0] for group in groups)
    along = outside[-2:]
    if through := outside[:-2]:
        reorder(*along, last, *through)
    for loop, axis in zip(reversed(along), ("blockIdx.y", "blockIdx.z"), strict=False):
        bind(loop, axis)
    if not last.is_symbolic and last.trip_count <= threads:
        bind(last, "threadIdx.x")
        return
    blocks, inner = split(last, [threads])
    bind(blocks, "blockIdx.x")
    bind(inner, "threadIdx.x")


def _make_serial(nest: Operation) -> None:
    """Undo what was bound before a later step could not be done."""
    for loop in nest.walk():
        if isinstance(loop, ForOp) and loop.for_kind in (ForKind.THREAD_BINDING, ForKind.PARALLEL):
            loop.for_kind = ForKind.SERIAL
            loop.properties.pop("thread", None)

"""`AutoBind`, `CrossThreadReduction` and `RewriteUnboundBlock`: blocks that the threads of a GPU run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from ..dialects.support.arguments import checked_methods
from ..dialects.support.diagnostics import UsageError
from ..dialects.tir.core import BlockOp, ForKind, ForOp, IterKind, enclosing_loops
from ..dialects.tir.thread_axes import axis_of, is_of_block, is_of_grid
from ..transforms.tir.schedule.errors import ScheduleError
from ..transforms.tir.scheduling.handles import BlockRV, ExprRV, LoopRV
from ..transforms.tir.scheduling.schedule import Schedule
from .conditions import (
    handle_of_block,
    has_been_tiled,
    has_one_statement,
    loop_kind,
    loops_around,
    needs_multi_level_tiling,
    needs_parallel_reduction,
    op_of,
)
from .reductions import with_one_reducing_loop
from .rule import Context, Postproc, ScheduleRule

Factor = Callable[[int], int | ExprRV]
"""How many threads a block of threads has, given the most."""


def threads_of(context: Context) -> int:
    """The most threads in a block.

    Raises:
        UsageError: the target has none.
    """
    if not context.target.is_gpu:
        raise UsageError(f"the target '{context.target.kind}' has no threads to bind loops to", hint="target='cuda'")
    return context.target.limit("max_threads_per_block")


def _sampled(sch: Schedule, extents: Sequence[int]) -> Factor:
    def factor(most: int) -> int | ExprRV:
        fitting = [extent for extent in extents if extent <= most]
        if len(fitting) < 2:
            return fitting[0] if fitting else most
        return sch.sample_categorical(fitting, [1.0 / len(fitting)] * len(fitting))

    return factor


def _bind(sch: Schedule, block: BlockRV, most_blocks: int, most_threads: int, factor: Factor) -> None:
    """Bind the outer spatial loops of a block to blocks of threads, and to threads, unless they are."""
    op = op_of(sch, block)
    if not isinstance(op, BlockOp) or has_been_tiled(op):
        return
    around = loops_around(op)
    bound = [n for n, loop in enumerate(around) if axis_of(loop) is not None]
    grid = [n for n in bound if is_of_grid(around[n])]
    threads = [n for n in bound if n not in grid]
    if grid and threads:
        return
    if grid:
        raise UsageError(f"block @{op.block_name} is bound to blocks of threads, but to none of their threads")
    spatial = next((n for n, loop in enumerate(around) if loop_kind(loop) is not IterKind.SPATIAL), len(around))
    first_other = min(
        next((n for n, loop in enumerate(around) if loop.for_kind is not ForKind.SERIAL), len(around)),
        next((n + 1 for n, loop in enumerate(around) if not has_one_statement(loop)), len(around)),
    )
    loops = sch.get_loops(block)
    if not spatial:
        loops.insert(0, sch.add_unit_loop(loops[0] if loops else block))
        spatial, first_other, threads = 1, first_other + 1, [n + 1 for n in threads]
    if threads:
        sch.bind(sch.fuse(*loops[: min(first_other, threads[0], spatial)]), "blockIdx.x")
        return
    fused = sch.fuse(*loops[: min(first_other, spatial)])
    loop = sch.operation(fused)
    assert isinstance(loop, ForOp)
    if isinstance(loop.size, int) and loop.size <= most_blocks * most_threads:
        outer, inner = sch.split(fused, [None, factor(min(loop.size, most_threads))])
    else:
        again, outer, inner = sch.split(fused, [None, most_blocks, most_threads])
        sch.reorder(outer, inner, again)
    sch.bind(outer, "blockIdx.x")
    sch.bind(inner, "threadIdx.x")


@checked_methods
@dataclass
class AutoBind(ScheduleRule):
    """Binds the spatial loops of a block that is not tiled to threads. Counterpart of TVM's rule of this name.

    Args:
        max_threadblocks: the most blocks of threads.
        thread_extents: how many threads one may have; one is sampled. The powers of 2 from 32 to 1024, unless given.
        max_threads_per_block: the most threads in one; as the target says, unless given.
    """

    max_threadblocks: int = 256
    thread_extents: Sequence[int] | None = None
    max_threads_per_block: int = -1

    def initialize_with_tune_context(self, context: Context) -> None:
        """Take from the target how many threads a block may have."""
        self.max_threads_per_block = threads_of(context)

    def apply(self, sch: Schedule, block: BlockRV) -> list[Schedule]:
        """A design in which the block may be bound; `sch`, where a primitive refuses."""
        if self.max_threads_per_block == -1:
            raise UsageError("the rule does not know how many threads a block has", hint="max_threads_per_block=1024")
        extents = [32, 64, 128, 256, 512, 1024] if self.thread_extents is None else self.thread_extents
        made = sch.copy()
        try:
            _bind(made, block, self.max_threadblocks, self.max_threads_per_block, _sampled(made, extents))
        except ScheduleError:
            return [sch]
        return [made]


@checked_methods
@dataclass
class RewriteUnboundBlock(Postproc):
    """Binds the blocks that no thread runs. Counterpart of TVM's postprocessor of this name.

    Args:
        max_threadblocks: the most blocks of threads.
    """

    max_threadblocks: int = 256
    _threads: int = field(default=-1, init=False, repr=False)

    def initialize_with_tune_context(self, context: Context) -> None:
        """Take from the target how many threads a block may have."""
        self._threads = threads_of(context)

    def apply(self, sch: Schedule) -> bool:
        """True; each such block is bound."""
        if self._threads == -1:
            raise UsageError("it has been told of no target", hint="initialize_with_tune_context tells it")
        for op in [op for op in sch.mod.walk() if isinstance(op, BlockOp)]:
            around = enclosing_loops(op)
            if not (any(map(is_of_grid, around)) and any(map(is_of_block, around))):
                _bind(sch, handle_of_block(sch, op), self.max_threadblocks, self._threads, self._most)
        return True

    def _most(self, most: int) -> int:
        return min(most, self._threads)


@checked_methods
@dataclass
class CrossThreadReduction(ScheduleRule):
    """Shares the steps of a reduction among threads, in a loop of its reader where that may be. Counterpart of TVM's
    rule of this name.

    Args:
        thread_extents: how many threads; one is sampled.
    """

    thread_extents: Sequence[int]
    _limits: tuple[int, int] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.thread_extents or min(self.thread_extents) < 1:
            raise UsageError(f"the numbers of threads are positive, and one at least, not {self.thread_extents}")

    def initialize_with_tune_context(self, context: Context) -> None:
        """Take from a GPU how many threads it runs; of another target, the rule does nothing."""
        if context.target.is_gpu:
            self._limits = (context.target.limit("max_threads_per_block"), context.target.limit("thread_warp_size"))

    def apply(self, sch: Schedule, block: BlockRV) -> list[Schedule]:
        """A design in which threads share the steps, unless a primitive refuses, and one in which they do not."""
        op = op_of(sch, block)
        if self._limits is None or not isinstance(op, BlockOp) or not needs_parallel_reduction(op, self._limits[0]):
            return [sch]
        made = sch.copy()
        try:
            self._share(made, block)
        except ScheduleError:
            return [sch]
        return [made, sch]

    def _share(self, made: Schedule, block: BlockRV) -> None:
        extents = list(self.thread_extents)
        place = _place_in_reader(made, block)
        extent: int | ExprRV = made.sample_categorical(extents, [1.0 / len(extents)] * len(extents))
        if place is not None:
            reader, loop = place
            innermost = made.get_loops(reader)[-1]
            if not any(map(is_of_block, loops_around(_block(made, reader)))):
                is_innermost = made.get(loop) is made.get(innermost)
                outer, inner = made.split(innermost, [None, extent])
                made.bind(inner, "threadIdx.x")
                loop = outer if is_innermost else loop
            else:
                extent = _threads_bound(made)
            made.compute_at(block, loop, preserve_unit_loops=True)
            made.set_scope(block, 0, "shared")
        fused, _ = with_one_reducing_loop(made, block, _block(made, block))
        made.bind(made.split(fused, [None, extent])[1], "threadIdx.x")


def _block(sch: Schedule, block: BlockRV) -> BlockOp:
    op = op_of(sch, block)
    assert isinstance(op, BlockOp)
    return op


def _place_in_reader(sch: Schedule, block: BlockRV) -> tuple[BlockRV, LoopRV] | None:
    """The first reader of a block, and the innermost loop around it in which the block may be computed: one of as many
    as the block has spatial loops, around all readers."""
    if len(_block(sch, block).writes) != 1:
        return None
    readers = sch.get_consumers(block)
    ops = [op_of(sch, reader) for reader in readers]
    if not ops or not isinstance(ops[0], BlockOp) or needs_multi_level_tiling(ops[0]):
        return None
    common = loops_around(ops[0])
    if len(ops) > 1:
        common = [loop for loop in common if all(loop in loops_around(op) for op in ops)]
    own = [loop_kind(loop) for loop in loops_around(_block(sch, block))]
    spatial = next((n for n, kind in enumerate(own) if kind is not IterKind.SPATIAL), len(own))
    position = min(spatial, len(common)) - 1
    return None if position < 0 else (readers[0], sch.get_loops(readers[0])[position])


def _threads_bound(sch: Schedule) -> int | ExprRV:
    """How many threads the schedule has bound to threadIdx.x first."""
    insts = sch.trace.insts
    bound = next(inst.inputs[0] for inst in insts if inst.kind.name == "Bind" and inst.attrs[0] == "threadIdx.x")
    for inst in insts:
        if inst.kind.name == "Split" and bound in inst.outputs:
            factor = inst.inputs[1 + inst.outputs.index(cast(LoopRV, bound))]
            if isinstance(factor, int | ExprRV):
                return factor
    loop = sch.operation(cast(LoopRV, bound))
    assert isinstance(loop, ForOp) and isinstance(loop.size, int)
    return loop.size

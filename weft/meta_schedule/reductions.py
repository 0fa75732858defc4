"""`AddRFactor` and `CrossThreadReduction`: reductions of few elements whose steps are shared."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..dialects.support.arguments import checked_methods
from ..dialects.tir.core import BlockOp, IterKind
from ..transforms.tir.schedule.errors import ScheduleError
from ..transforms.tir.scheduling.handles import BlockRV, LoopRV
from ..transforms.tir.scheduling.schedule import Schedule
from .conditions import loop_kind, loops_around, needs_parallel_reduction, op_of
from .rule import Context, ScheduleRule

PRODUCER = "meta_schedule.random_compute_producer"
"""The annotation of a block before whose producer `RandomComputeLocation` stands as well."""


def with_one_reducing_loop(sch: Schedule, block: BlockRV, op: BlockOp) -> tuple[LoopRV, int]:
    """Bring the reducing loops inside, and fuse them. Gives the loop, and how many spatial ones are around it."""
    kinds = [loop_kind(loop) for loop in loops_around(op)]
    loops = sch.get_loops(block)
    spatial = [loop for loop, kind in zip(loops, kinds, strict=True) if kind is IterKind.SPATIAL]
    reducing = [loop for loop, kind in zip(loops, kinds, strict=True) if kind is IterKind.REDUCE]
    if kinds != sorted(kinds, key=lambda kind: kind is IterKind.REDUCE):
        sch.reorder(*spatial, *reducing)
    return sch.fuse(*reducing), len(spatial)


@checked_methods
@dataclass
class AddRFactor(ScheduleRule):
    """Partial results that threads compute, and a reduction of these. Counterpart of TVM's rule of this name.

    Args:
        max_jobs_per_core: pieces of work for each core of the target, of which there may be more elements; -1 for none.
        max_innermost_factor: the largest size of the inner of the two loops.
    """

    max_jobs_per_core: int = 16
    max_innermost_factor: int | None = None
    _most: int = field(default=-1, init=False, repr=False)

    def initialize_with_tune_context(self, context: Context) -> None:
        """Take from the target how many cores it has."""
        if self.max_jobs_per_core != -1:
            self._most = context.cores * self.max_jobs_per_core

    def apply(self, sch: Schedule, block: BlockRV) -> list[Schedule]:
        """Designs in which the outer, or the inner, steps are shared, and one in which none are."""
        op = op_of(sch, block)
        if not isinstance(op, BlockOp) or not needs_parallel_reduction(op, self._most):
            return [sch]
        as_it_was = sch.copy()
        loop, rank = with_one_reducing_loop(sch, block, op)
        most = -1 if self.max_innermost_factor is None else self.max_innermost_factor
        parts = sch.split(loop, sch.sample_perfect_tile(loop, 2, most))
        results: list[Schedule] = []
        for part in parts:
            made = sch.copy()
            try:
                made.rfactor(part, rank)
            except ScheduleError:
                continue
            made.annotate(block, PRODUCER, 1)
            results.append(made)
        return [*results, as_it_was]

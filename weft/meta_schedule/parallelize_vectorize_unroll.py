"""`ParallelizeVectorizeUnroll`: what is to be done to loops once their tiles are chosen, as words on the root block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..dialects.support.arguments import checked_methods
from ..dialects.support.diagnostics import UsageError
from ..dialects.tir.core import PrimFuncOp, blocks_under
from ..transforms.tir.scheduling.handles import BlockRV
from ..transforms.tir.scheduling.schedule import Schedule
from .conditions import is_spatial, op_of
from .rule import Context, ScheduleRule


@checked_methods
@dataclass
class ParallelizeVectorizeUnroll(ScheduleRule):
    """Says on the root block how far to go, which `RewriteParallelVectorizeUnroll` does. Counterpart of TVM's rule.

    Args:
        max_jobs_per_core: pieces of work for each core of the target; -1 for no threads.
        max_vectorize_extent: the most iterations that are one vector; -1 for no vectors.
        unroll_max_steps: one is sampled as the most steps that are written out; none, or `None`, for no such.
        unroll_explicit: Weft writes them out; else whoever compiles what it makes may.
    """

    max_jobs_per_core: int = 16
    max_vectorize_extent: int = 16
    unroll_max_steps: Sequence[int] | None = None
    unroll_explicit: bool = True
    _most: int = field(default=-1, init=False, repr=False)

    def initialize_with_tune_context(self, context: Context) -> None:
        """Take from the target how many cores it has."""
        if self.max_jobs_per_core != -1:
            self._most = context.cores * self.max_jobs_per_core

    def apply(self, sch: Schedule, block: BlockRV) -> list[Schedule]:
        """`sch`, with the words where the block is the root."""
        root = op_of(sch, block)
        if not isinstance(root, PrimFuncOp):
            return [sch]
        if self.max_jobs_per_core != -1:
            if self._most == -1:
                raise UsageError("the rule has been told of no target", hint="initialize_with_tune_context tells it")
            sch.annotate(block, "meta_schedule.parallel", self._most)
        if self.max_vectorize_extent != -1:
            sch.annotate(block, "meta_schedule.vectorize", self.max_vectorize_extent)
        steps = list(self.unroll_max_steps or ())
        if steps and not all(map(is_spatial, blocks_under(root))):
            chosen = sch.sample_categorical(steps, [1.0 / len(steps)] * len(steps))
            sch.annotate(block, f"meta_schedule.unroll_{'explicit' if self.unroll_explicit else 'implicit'}", chosen)
        return [sch]

"""`MutateParallel`: how much work threads share, which `RewriteParallelVectorizeUnroll` carries out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from random import Random
from typing import cast

from ..dialects.support.arguments import checked_methods
from ..dialects.support.diagnostics import UsageError
from ..dialects.support.python_values import attribute_of
from ..dialects.tir.core import BlockOp, IterKind
from ..transforms.tir.analysis.block_scopes import children_of
from ..transforms.tir.scheduling.handles import BlockRV
from ..transforms.tir.scheduling.instruction import Instruction
from ..transforms.tir.scheduling.schedule import Schedule
from ..transforms.tir.scheduling.trace import Trace
from .conditions import loop_kind, loops_around, op_of
from .postprocs import PARALLEL
from .rule import Context, Mutator


@checked_methods
@dataclass(eq=False)
class MutateParallel(Mutator):
    """Chooses how many outer loops of each block threads share. Counterpart of TVM's mutator of this name.

    A limit of so many pieces of work means a plan: for each block in the root block, the number of its outer loops that
    become one. Another plan is drawn, of those that some limit means.

    Args:
        max_jobs_per_core: pieces of work for each core of the target, at most.
    """

    max_jobs_per_core: int
    _most: int = field(default=-1, init=False, repr=False)
    _context: Context | None = field(default=None, init=False, repr=False)

    def initialize_with_tune_context(self, context: Context) -> None:
        """Take from the context what is scheduled, and from its target how many cores there are."""
        self._most, self._context = context.cores * self.max_jobs_per_core, context

    def apply(self, trace: Trace, random: Random | None = None) -> Trace | None:
        """With another limit; `None` where there is no other plan, or none is asked for.

        Raises:
            ScheduleError: the trace does not apply.
        """
        if self._context is None:
            raise UsageError("it has been told of no function", hint="initialize_with_tune_context tells it")
        random = random or Random()
        asked = [
            (number, inst)
            for number, inst in enumerate(trace.insts)
            if inst.kind.name == "Annotate" and inst.attrs[0] == PARALLEL and isinstance(inst.inputs[1], int)
        ]
        if not asked:
            return None
        number, inst = random.choice(asked)
        sch = Schedule(self._context.mod, seed=random.randrange(1 << 31))
        trace.apply_to_schedule(sch, remove_postproc=True)
        root = cast(BlockRV, sch.trace.insts[number].inputs[0])
        pieces = [_pieces(child, self._most) for child in children_of(op_of(sch, root)) if isinstance(child, BlockOp)]
        plans: dict[tuple[int, ...], int] = {}
        for limit in sorted({limit for each in pieces for limit in each if limit <= self._most}):
            plans[_plan(pieces, limit)] = limit
        plans.pop(_plan(pieces, cast(int, inst.inputs[1])), None)
        if not plans:
            return None
        return _with_limit(trace, inst, random.choice(list(plans.values())))


def _pieces(block: BlockOp, most: int) -> list[int]:
    """How many pieces of work the outer loops of a block make, the more of them the more, until there are `most`."""
    free = takewhile(lambda loop: loop_kind(loop) is IterKind.SPATIAL, loops_around(block))
    found: list[int] = []
    pieces = 1
    for loop in free:
        if not isinstance(loop.size, int) or pieces >= most:
            break
        pieces *= loop.size
        found.append(pieces)
    return found


def _plan(pieces: Sequence[Sequence[int]], limit: int) -> tuple[int, ...]:
    """Of each block, how many outer loops become one where there may be `limit` pieces, or the first to be more."""
    return tuple(min(len(each), bisect_left(each, limit) + 1) for each in pieces if each)


def _with_limit(trace: Trace, inst: Instruction, limit: int) -> Trace:
    """A copy in which an annotation has another value."""

    def change(twin: Instruction) -> None:
        twin.op.properties["value"] = attribute_of(limit)

    return trace.changed(inst, change, remove_postproc=True)

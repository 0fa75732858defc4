"""Loops of one iteration, which give way to their bodies, and predicates that loops prove."""

from __future__ import annotations

from ....dialects.support.facts import while_unchanged
from ....dialects.tir.core import BlockOp, ForOp, blocks_under
from ..analysis.proofs import always_holds
from .checks import (
    check_live,
)
from .errors import ScheduleError
from .rebind import ValueExpr, assign, rebind


@while_unchanged
def check_bind_constant(loop: ForOp) -> None:
    """Whether `loop` can give way to its body.

    Raises:
        ScheduleError: it has not just one iteration.
    """
    check_live(loop)
    if loop.size != 1:
        count = "a number of" if loop.is_symbolic else str(loop.trip_count)
        raise ScheduleError.at(loop, f"has {count} iterations: only a loop of one gives way to its body")


def bind_constant(loop: ForOp) -> None:
    """Replace a loop of extent one by its body.

    Raises:
        ScheduleError: as `check_bind_constant` says.
    """
    check_bind_constant(loop)
    for block in blocks_under(loop):
        rebind(block, {loop.var: ValueExpr.constant(loop.start)})
    for op in list(loop.body.block.ops):
        op.detach()
        assert loop.parent is not None
        loop.parent.insert_op_before(op, loop)
    loop.detach()
    loop.erase()


def drop_proved_conditions(block: BlockOp) -> None:
    """Remove from the predicate what the loops' ranges already prove."""
    values = list(block.loop_vars)
    kept = [condition for condition in block.conditions if not always_holds(condition, values)]
    if len(kept) != len(block.conditions):
        assign(block, block.bindings.data.results, kept, list(block.loop_vars))

"""`te.AutoInlineElemWise` and others of TVM's: inline all stages of a kind of which nothing was asked yet.

    s = te.create_schedule(C.op)
    te.AutoInlineInjective(s)       # what does not reduce is computed where it is read

Outputs stay, and so does what a scan or statements compute.
"""

from __future__ import annotations

from collections.abc import Callable

from ...dialects import te
from ...dialects.support.arguments import checked
from .schedule import Schedule
from .stage import Stage


@checked
def AutoInlineElemWise(sch: Schedule) -> None:
    """Inline stages whose elements are made of the elements at the same place of what they read."""
    _inline(sch, lambda stage: all(same == stage.op.axis for same in _places(stage)))


@checked
def AutoInlineBroadcast(sch: Schedule) -> None:
    """Inline stages whose elements are made of those at the same place, but for dimensions along which they are the
    same: each index is one of the stage's own, in their order, or a number."""

    def in_order(stage: Stage) -> bool:
        for place in _places(stage):
            numbers = [stage.op.axis.index(each) for each in place if each in set(stage.op.axis)]
            others = [each for each in place if each not in set(stage.op.axis)]
            if numbers != sorted(set(numbers)) or not all(isinstance(each, te.Const) for each in others):
                return False
        return True

    _inline(sch, in_order)


@checked
def AutoInlineInjective(sch: Schedule) -> None:
    """Inline stages that do not reduce, wherever they read."""
    _inline(sch, lambda stage: True)


def _inline(sch: Schedule, is_of_kind: Callable[[Stage], bool]) -> None:
    for stage in sch.stages:
        is_free = not stage.is_started and not stage.is_inlined and stage.attachment is None and not stage.scope
        if stage.compute is None or stage.is_output or not is_free:
            continue
        if isinstance(stage.compute.body, te.Reduce | te.Fold | te.Filled):
            continue
        if is_of_kind(stage):
            stage.compute_inline()


def _places(stage: Stage) -> list[tuple[te.Expr, ...]]:
    """The indices at which a stage reads what it reads."""
    return [] if stage.compute is None else [tuple(read.indices) for read in stage.compute.reads()]

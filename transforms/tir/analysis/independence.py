"""Loops whose iterations were shown to be independent, where that can be seen no longer of what a pass has made."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, UnitAttr

from ....dialects.tir.functions import PrimFuncOp
from ....dialects.tir.legality.loops import check_kind
from ....dialects.tir.loops import INDEPENDENT, ForOp


def concurrent_loops(func: PrimFuncOp) -> list[ForOp]:
    """The loops of a function whose iterations run at the same time."""
    return [op for op in func.walk() if isinstance(op, ForOp) and op.for_kind.is_concurrent]


def is_shown_independent(loop: ForOp) -> bool:
    """Whether it is seen that a loop may run as its kind says, and not asserted."""
    return not loop.is_independent and next(check_kind(loop, loop.for_kind), None) is None


def assert_independent(loop: ForOp) -> None:
    """Let a loop say that its iterations are independent."""
    words = loop.annotations
    loop.properties["annotations"] = DictionaryAttr({**({} if words is None else words.data), INDEPENDENT: UnitAttr()})

"""`weft.tir.ScheduleState`: a module with its blocks' scopes, without a trace or handles."""

from __future__ import annotations

from enum import IntFlag

from xdsl.dialects.builtin import ModuleOp

from ....dialects.support.arguments import checked_methods
from ....dialects.tir.core import PrimFuncOp
from ....dialects.tir.script.modules import IRModule
from .state import State


class ScheduleDebugMask(IntFlag):
    """What TVM verifies after each instruction, by bits of `debug_mask`. Here any of them verifies the module."""

    VERIFY_SREF_TREE = 1
    VERIFY_CACHED_FLAGS = 2


@checked_methods
class ScheduleState(State):
    """A copy of a module or function, of which one may ask where blocks stand, how they depend on each other and what
    is known of each. Counterpart of TVM's `ScheduleState`; the `state` of a `Schedule` answers the same questions.

    Args:
        mod: the module or function.
        debug_mask: taken for TVM's sake: nothing is kept here that could become untrue.
    """

    def __init__(self, mod: ModuleOp | PrimFuncOp, *, debug_mask: str | int = "none"):
        module = IRModule.of(mod)
        functions = [op.sym_name.data for op in module.ops if isinstance(op, PrimFuncOp)]
        super().__init__(module, functions[0] if len(functions) == 1 else None)

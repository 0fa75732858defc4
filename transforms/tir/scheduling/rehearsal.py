"""Applying an instruction to a copy first, where only the verifier can tell what becomes of the function.

A block that is moved reads what other blocks have written by then, and what each thread has of its own must be written
and read by the same one. Both follow from the whole function, and the verifier knows them; a check in the primitive
would have to say all of it again.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ....dialects.schedule import blocks, loops
from ....dialects.schedule.core import Instruction
from ....dialects.support.diagnostics import Diagnostics
from ....dialects.support.verifier import verify
from ....dialects.support.walking import all_within
from ....dialects.tir.core import AllocBufferOp, ForOp, PrimFuncOp
from ....dialects.tir.legality.carried import BY_THREADS
from ....dialects.tir.legality.midway import in_several_nests, on_their_way, share
from ..schedule.errors import ScheduleError
from .instructions import APPLY
from .state import Meaning, State

_ALWAYS = (
    blocks.ComputeAtOp,
    blocks.ReverseComputeAtOp,
    blocks.ComputeInlineOp,
    blocks.ReverseComputeInlineOp,
    blocks.SetScopeOp,
    loops.ParallelOp,
    loops.BindOp,
)
"""The instructions that move a block or what it computes, or give its loops or its buffer to threads."""


def needs_rehearsal(state: State, op: Instruction) -> bool:
    """Whether only the verifier can tell what becomes of the function: also where loops change places of which some are
    run by threads, each of which has buffers of its own."""
    if isinstance(op, _ALWAYS):
        return True
    if not isinstance(op, loops.ReorderOp):
        return False
    func = _function_of(state, op)
    return (
        func is not None and _has_private(func) and any(loop.for_kind in BY_THREADS for loop in all_within(func, ForOp))
    )


def _has_private(func: PrimFuncOp) -> bool:
    return any(alloc.is_private for alloc in all_within(func, AllocBufferOp))


MOVES = (blocks.ComputeAtOp, blocks.ReverseComputeAtOp)
"""Those that take a block into a nest, to which the threads' own buffers that it uses are on their way then. Loops are
bound to the threads of a device before that, and made parallel after it."""


def rehearse(state: State, op: Instruction) -> None:
    """Apply `op` to a copy of the function that it is about, and verify that.

    Raises:
        ScheduleError: the instruction does not apply, or what it makes does not verify.
    """
    func = _function_of(state, op)
    if func is None:
        return
    copy = func.clone()
    twins: dict[Operation, Operation] = dict(zip(func.walk(), copy.walk(), strict=True))
    module = ModuleOp([copy])
    there = State(module, copy.sym_name.data)
    for value in op.inputs:
        meaning = state.meaning(value)
        there.meanings[value] = cast("Meaning", twins[meaning]) if isinstance(meaning, Operation) else meaning
    before = in_several_nests if isinstance(op, loops.BindOp) else on_their_way
    waiting = before(module.walk())
    APPLY[type(op)](there, op)
    share(on_their_way(module.walk() if isinstance(op, MOVES) else waiting))
    try:
        verify(module)
    except Diagnostics as found:
        block = next((meaning for meaning in map(state.meaning, op.inputs) if isinstance(meaning, Operation)), func)
        raise ScheduleError.at(block, f"{op.name}: there, {found.message}", notes=found.notes) from found


def _function_of(state: State, op: Instruction) -> PrimFuncOp | None:
    for value in op.inputs:
        parent = state.meaning(value)
        while isinstance(parent, Operation):
            if isinstance(parent, PrimFuncOp):
                return parent
            parent = cast("Meaning", parent.parent_op())
    return None

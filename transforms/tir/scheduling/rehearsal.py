"""Applying an instruction to a copy first, where only the verifier can tell what becomes of the function.

A block that is moved reads what other blocks have written by then, and what each thread has of its own must be written
and read by the same one. Both follow from the whole function, and the verifier knows them; a check in the primitive
would have to say all of it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ....dialects.schedule import blocks, loops
from ....dialects.schedule.core import Instruction
from ....dialects.support.diagnostics import Diagnostic
from ....dialects.support.verifier import find_failures
from ....dialects.support.walking import all_within
from ....dialects.tir.core import ForOp, PrimFuncOp
from ....dialects.tir.legality.midway import faults_midway, in_several_nests, on_their_way, share
from ..schedule.errors import ScheduleError
from .instructions import APPLY
from .state import Meaning, State

_ALWAYS = (
    blocks.ComputeAtOp,
    blocks.ReverseComputeAtOp,
    blocks.ComputeInlineOp,
    blocks.ReverseComputeInlineOp,
    blocks.SetScopeOp,
    blocks.CacheInplaceOp,
    blocks.CacheIndexOp,
    loops.ParallelOp,
    loops.BindOp,
)
"""The instructions that move a block or what it computes, or give its loops or its buffer to threads; and those of
which only the function tells how many handles they give."""


_NEVER = (
    blocks.AnnotateOp,
    blocks.UnannotateOp,
    loops.UnrollOp,
    loops.VectorizeOp,
)
"""Those that move nothing: what they say of a loop or block is judged by the primitive itself."""


def needs_rehearsal(state: State, op: Instruction) -> bool:
    """Whether only the verifier can tell what becomes of the function: also where iterations of some of its loops run
    at the same time. That these do not meet is shown from the loops, indices and predicates, which change."""
    if isinstance(op, _ALWAYS):
        return True
    if not op.CHANGES or isinstance(op, _NEVER):
        return False
    func = _function_of(state, op)
    return func is not None and any(loop.for_kind.is_concurrent for loop in all_within(func, ForOp))


AS_BEFORE = (
    blocks.ComputeInlineOp,
    blocks.ReverseComputeInlineOp,
    blocks.SetScopeOp,
    loops.ReorderOp,
    loops.ParallelOp,
    loops.BindOp,
)
"""Those after which no more of the threads' own buffers may be on their way into one nest than before. Loops are bound
to the threads of a device before blocks are taken into a nest, and made parallel after it."""


def rehearse(state: State, op: Instruction) -> None:
    """Apply `op` to a copy of the function that it is about, and verify that.

    Raises:
        ScheduleError: the instruction does not apply, gives another number of handles than it says, or what it makes
            does not verify.
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
    check_given(op, APPLY[type(op)](there, op))
    share(on_their_way(waiting if isinstance(op, AS_BEFORE) else module.walk()))
    if (found := _new_fault(module, func)) is not None:
        block = next((meaning for meaning in map(state.meaning, op.inputs) if isinstance(meaning, Operation)), func)
        raise ScheduleError.at(block, f"{op.name}: there, {found.message}", notes=found.notes)


def check_given(op: Instruction, meanings: Sequence[Meaning]) -> None:
    """Whether an instruction has a handle for each block, loop or number that it gives.

    Raises:
        ScheduleError: it has not.
    """
    if len(meanings) != len(op.outputs):
        raise ScheduleError(f"{op.name} gives {len(meanings)} handles here, not {len(op.outputs)}")


def _new_fault(module: ModuleOp, before: PrimFuncOp) -> Diagnostic | None:
    """What is wrong with a module that is not wrong with the function as it was, which may have been read without
    being verified."""
    if not (found := find_failures(module)):
        return None
    known = {each.message for each in faults_midway(ModuleOp([before.clone()]))}
    return next((each for each in found if each.message not in known), None)


def _function_of(state: State, op: Instruction) -> PrimFuncOp | None:
    for value in op.inputs:
        parent = state.meaning(value)
        while isinstance(parent, Operation):
            if isinstance(parent, PrimFuncOp):
                return parent
            parent = cast("Meaning", parent.parent_op())
    return None

"""Phase 0: notes are put where they say what is meant.

    %d = relay.on_device %y {...}                            the result of a function is on the device,
    relay.return %d                                      ->  not only what computes it: `constrain_result = true`

    %d = relay.on_device %t {...}                            %0 = relay.tuple_get %t[0]
    %0 = relay.tuple_get %d[0]                           ->  %d = relay.on_device %0 {...}
                                                             a field is copied, not the tuple

    %y = relay.call_lowered @kernel(%x)                  ->  operands and results may be copied: kernels may want
                                                             them in memories of their own

Counterpart of TVM's `PlanDevicesRewrite`, which also fixes what `let` binds: where Relay text says
`let x = on_device(...)`, write `constrain_result = true`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.relay.base import as_attribute, is_true
from ....dialects.relay.control import FnOp
from ....dialects.relay.core import CallLoweredOp, ReturnOp, TupleGetOp, YieldOp
from ....dialects.relay.ops.annotation import OnDeviceOp
from ...infra.walk import walk
from .constraints import planned_functions


def hoist_notes(module: ModuleOp) -> None:
    """Rewrite the notes of a module."""
    for op in [op for func in planned_functions(module) for op in walk(func)]:
        match op:
            case TupleGetOp():
                _project_first(op)
            case ReturnOp():
                _fix_results(op)
            case YieldOp() if isinstance(op.parent_op(), FnOp):
                _fix_results(op)
            case CallLoweredOp():
                _allow_copies(op)
            case _:
                pass


def _is_normal(op: object) -> bool:
    """Whether `op` is a note that constrains its operand, and not its result."""
    return isinstance(op, OnDeviceOp) and is_true(op.constrain_body) and not is_true(op.constrain_result)


def _project_first(get: TupleGetOp) -> None:
    last: Operation = get
    value: SSAValue = get.result
    notes: list[OnDeviceOp] = []
    while isinstance(note := get.tuple.owner, OnDeviceOp) and _is_normal(note):
        notes.append(note)
        get.operands[0] = note.body
    for note in reversed(notes):
        users = [use for use in value.uses if not isinstance(use.operation, OnDeviceOp) or use.operation is not last]
        projected = OnDeviceOp(value, **note.properties)
        projected.location = note.location
        Rewriter.insert_op(projected, InsertPoint.after(last))
        for use in users:
            use.operation.operands[use.index] = projected.result
        last, value = projected, projected.result


def _fix_results(end: Operation) -> None:
    for value in end.operands:
        if isinstance(note := value.owner, OnDeviceOp) and _is_normal(note):
            note.properties["constrain_result"] = as_attribute(True)


def _allow_copies(call: CallLoweredOp) -> None:
    for index, value in enumerate(call.operands):
        note = _free_note(value, call)
        Rewriter.insert_op(note, InsertPoint.before(call))
        call.operands[index] = note.result
    for result in call.results:
        uses = list(result.uses)
        note = _free_note(result, call)
        Rewriter.insert_op(note, InsertPoint.after(call))
        for use in uses:
            use.operation.operands[use.index] = note.result


def _free_note(value: SSAValue, call: CallLoweredOp) -> OnDeviceOp:
    note = OnDeviceOp(value, constrain_body=False, constrain_result=False)
    note.location = call.location
    return note

"""Which arguments of a function other threads may change while it runs.

Threads run a function together. Where it waits for the others and goes on, what they have written becomes visible, and
a buffer that the function both writes and reads is one it may find changed: such an argument is not `noalias`, or LLVM
could keep an old value across the wait. Arguments that are only read are written by nobody, and those that are only
written are divided among the threads. A function that does nothing after it has waited finds nothing changed.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import func, memref, vector
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue

WAITS = frozenset({"weft_barrier", "weft_wait"})
"""Functions that return when other threads have done their part."""

_READS = (memref.LoadOp, vector.LoadOp, vector.MaskedLoadOp)
_WRITES = (memref.StoreOp, vector.StoreOp, vector.MaskedStoreOp)
_VIEWS = (
    memref.SubviewOp,
    memref.CastOp,
    memref.MemorySpaceCastOp,
    memref.CollapseShapeOp,
    memref.ExpandShapeOp,
    memref.ReinterpretCastOp,
    memref.ViewOp,
    memref.AssumeAlignmentOp,
)


def changing_arguments(module: ModuleOp) -> dict[str, set[int]]:
    """For each function by name, the positions of the arguments that other threads may change while it runs."""
    functions = {f.sym_name.data: f for f in module.ops if isinstance(f, func.FuncOp) and f.body.blocks}
    waiting = _functions_that_wait(functions)
    return {
        name: _read_and_written(function)
        for name, function in functions.items()
        if name in waiting and not _waits_last(function, waiting)
    }


def _calls(function: func.FuncOp) -> Iterator[func.CallOp]:
    return (op for op in function.body.walk() if isinstance(op, func.CallOp))


def _callee(call: func.CallOp) -> str:
    return call.callee.root_reference.data


def _functions_that_wait(functions: dict[str, func.FuncOp]) -> set[str]:
    """Those that call a wait, directly or through others, and the waits themselves."""
    callers: dict[str, set[str]] = {}
    for name, function in functions.items():
        for call in _calls(function):
            callers.setdefault(_callee(call), set()).add(name)
    found, work = set(WAITS), list(WAITS)
    while work:
        for caller in callers.get(work.pop(), set()) - found:
            found.add(caller)
            work.append(caller)
    return found


def _waits_last(function: func.FuncOp, waiting: set[str]) -> bool:
    """The function's only wait is its last operation."""
    waits = [call for call in _calls(function) if _callee(call) in waiting]
    return len(waits) == 1 and _callee(waits[0]) in WAITS and isinstance(waits[0].next_op, func.ReturnOp)


def _read_and_written(function: func.FuncOp) -> set[int]:
    entry = function.body.blocks[0]
    read: set[int] = set()
    written: set[int] = set()
    for op in function.body.walk():
        if isinstance(op, _VIEWS):
            continue
        for operand in op.operands:
            if isinstance(operand.type, MemRefType):
                argument = _origin(operand)
                if isinstance(argument, BlockArgument) and argument.owner is entry:
                    if not isinstance(op, _WRITES):
                        read.add(argument.index)
                    if not isinstance(op, _READS):
                        written.add(argument.index)
    return read & written


def _origin(value: SSAValue) -> SSAValue:
    """The memref that a view looks into."""
    while isinstance(value.owner, Operation) and isinstance(value.owner, _VIEWS):
        value = value.owner.operands[0]
    return value

"""Which arguments of a function other threads may change while it runs.

Threads divide a kernel's loops among them (`work_sharing`). A function that claims shares and waits for the others sees
what they write meanwhile: its buffers are not `noalias`, or LLVM could keep a value across the wait, or store one that
this thread did not compute. The functions that run one share of one loop see nothing of other threads.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp

from .work_sharing import CLAIM, DONE, WAIT


def changing_arguments(module: ModuleOp) -> dict[str, set[int]]:
    """For each function by name, the positions of the arguments that other threads may change while it runs."""
    functions = {f.sym_name.data: f for f in module.ops if isinstance(f, func.FuncOp) and f.body.blocks}
    return {
        name: {i for i, type in enumerate(functions[name].function_type.inputs) if isinstance(type, MemRefType)}
        for name in _functions_that_share(functions)
    }


def _functions_that_share(functions: dict[str, func.FuncOp]) -> set[str]:
    """Those that claim shares or wait, directly or through others."""
    callers: dict[str, set[str]] = {}
    for name, function in functions.items():
        for call in _calls(function):
            callers.setdefault(call.callee.root_reference.data, set()).add(name)
    found, work = set[str](), [CLAIM, DONE, WAIT]
    while work:
        for caller in callers.get(work.pop(), set()) - found:
            found.add(caller)
            work.append(caller)
    return found


def _calls(function: func.FuncOp) -> Iterator[func.CallOp]:
    return (op for op in function.body.walk() if isinstance(op, func.CallOp))

"""Which arguments of a function other threads may change while it runs.

Threads divide a kernel's loops among them (`rt.share`). A function that claims shares and waits for the others sees
what they write meanwhile: its buffers are not `noalias`, or LLVM could keep a value across the wait, or store one that
this thread did not compute. The functions that run one share of one loop see nothing of other threads.

A function shares if it has slots, as a parameter of type `!rt.slots` or made from memory, or calls one that does. A
kernel that is only declared has that parameter too.
"""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp

from ...dialects.rt.core import ShareOp, SlotsOp, SlotsType
from ...dialects.support.walking import within


def changing_arguments(module: ModuleOp) -> dict[str, set[int]]:
    """For each function by name, the positions of the arguments that other threads may change while it runs."""
    functions = {f.sym_name.data: f for f in module.ops if isinstance(f, func.FuncOp)}
    return {
        name: {place for place, type in enumerate(functions[name].function_type.inputs) if isinstance(type, MemRefType)}
        for name in _functions_that_share(functions)
    }


def _functions_that_share(functions: dict[str, func.FuncOp]) -> set[str]:
    """Those that have slots, and those that call one of them."""
    callers: dict[str, list[str]] = {}
    work: list[str] = []
    for name, function in functions.items():
        if any(isinstance(type, SlotsType) for type in function.function_type.inputs):
            work.append(name)
        for op in within(function):
            if type(op) is func.CallOp:
                callers.setdefault(op.callee.root_reference.data, []).append(name)
            elif type(op) is ShareOp or type(op) is SlotsOp:
                work.append(name)
    found = set[str]()
    while work:
        name = work.pop()
        if name not in found:
            found.add(name)
            work += callers.get(name, ())
    return found

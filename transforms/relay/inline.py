"""Put the bodies of functions where they are called, so that a graph is one function.

    %y = relay.call @twice(%x)                        %y = relay.add %x, %x
                                                 ->
    relay.func private @twice(%p) {...}

A call of a function value that is known, a `relay.closure`, is one of its function. Private functions that nothing
refers to any more are erased. Left alone are kernels (`primitive`), functions for other compilers (`Compiler`,
`Extern`), and one function of each circle of functions that call each other: its calls stay.

Counterpart of TVM's `Inline`, which takes only functions marked `Inline`; here a graph becomes one native function as
far as may be, and so all are taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...dialects.relay.control import ApplyOp, ClosureOp
from ...dialects.relay.core import CallOp, FuncOp
from ..infra import ModulePass, remarks, report_changed
from ..infra.walk import erase, walk
from .defuse_ops import inline_call

_APART = ("primitive", "Compiler", "Extern")


@dataclass(frozen=True)
class InlinePass(ModulePass):
    """Put the bodies of functions where they are called."""

    name = "inline"
    opt_level: ClassVar[int] = 0
    tvm_name: ClassVar[str | None] = "Inline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {
            function.sym_name.data: function
            for function in op.ops
            if isinstance(function, FuncOp) and not any(name in function.attributes for name in _APART)
        }
        changed = _call_known_closures(functions)
        order, recursive = _callees_first(functions)
        for name in recursive:
            remarks.missed(self.name, functions[name], f"@{name} calls itself, and is called where it was called")
        inlined: set[FuncOp] = set()
        for caller in order:
            for call in _calls(caller, functions):
                if (callee := functions[call.callee.root_reference.data]).sym_name.data not in recursive:
                    inline_call(call, callee)
                    inlined.add(callee)
        private = [function for function in inlined if function.sym_visibility is not None]
        if private:
            used = {name for other in functions.values() if other not in private for name in _mentions(other)}
            for function in private:
                if function.sym_name.data not in used:
                    erase(function)
        report_changed(changed or bool(inlined))


def _call_known_closures(functions: Mapping[str, FuncOp]) -> bool:
    """Make calls of functions of those of function values that are made in sight; whether there were any."""
    changed = False
    for op in [op for function in functions.values() for op in walk(function) if isinstance(op, ApplyOp)]:
        closure, block = op.callee.owner, op.parent
        if isinstance(closure, ClosureOp) and block is not None:
            arguments = [*closure.captured, *op.arguments]
            call = CallOp(closure.callee.root_reference.data, arguments, [result.type for result in op.results])
            call.attributes |= op.attributes
            call.location = op.location
            block.insert_op_before(call, op)
            for old, new in zip(op.results, call.results, strict=True):
                new.name_hint = old.name_hint
                old.replace_all_uses_with(new)
            erase(op)
            if closure.result.first_use is None:
                erase(closure)
            changed = True
    return changed


def _calls(caller: FuncOp, functions: Mapping[str, FuncOp]) -> list[CallOp]:
    """The calls of `functions` within `caller`, in their order."""
    return [op for op in walk(caller) if isinstance(op, CallOp) and op.callee.root_reference.data in functions]


def _mentions(function: FuncOp) -> set[str]:
    """The functions that `function` calls, or makes values of."""
    return {op.callee.root_reference.data for op in walk(function) if isinstance(op, CallOp | ClosureOp)}


def _callees_first(functions: Mapping[str, FuncOp]) -> tuple[list[FuncOp], set[str]]:
    """The functions, each after those that it calls; and those that are called while they are still being looked at:
    one at least of every circle."""
    order: dict[str, FuncOp] = {}
    recursive: set[str] = set()
    for start in functions:
        stack = [(start, iter(_calls(functions[start], functions)))] if start not in order else []
        open_names = {start}
        while stack:
            name, calls = stack[-1]
            for call in calls:
                callee = call.callee.root_reference.data
                if callee in open_names:
                    recursive.add(callee)
                elif callee not in order:
                    stack.append((callee, iter(_calls(functions[callee], functions))))
                    open_names.add(callee)
                    break
            else:
                order[name] = functions[name]
                stack.pop()
                open_names.discard(name)
    return list(order.values()), recursive

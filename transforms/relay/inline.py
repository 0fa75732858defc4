"""Put the bodies of functions where they are called, so that a graph is one function.

    %y = relay.call @twice(%x)                        %y = relay.add %x, %x
                                                 ->
    relay.func private @twice(%p) {...}

Private functions that nobody calls any more are erased. Left alone are kernels (`primitive`) and functions for other
compilers (`Compiler`, `Extern`). A function that calls itself, directly or through others, cannot become part of one
graph: that is an error.

Counterpart of TVM's `Inline`, which takes only functions marked `Inline`; here the whole graph becomes one native
function, and so all are taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...dialects.relay.core import CallOp, FuncOp
from ...dialects.support.diagnostics import Diagnostic
from ..infra import ModulePass, report_changed
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
        inlined: set[FuncOp] = set()
        for caller in _callees_first(functions):
            for call in _calls(caller, functions):
                callee = functions[call.callee.root_reference.data]
                inline_call(call, callee)
                inlined.add(callee)
        for function in inlined:
            if function.sym_visibility is not None:
                erase(function)
        report_changed(bool(inlined))


def _calls(caller: FuncOp, functions: Mapping[str, FuncOp]) -> list[CallOp]:
    """The calls of `functions` within `caller`, in their order."""
    return [op for op in walk(caller) if isinstance(op, CallOp) and op.callee.root_reference.data in functions]


def _callees_first(functions: Mapping[str, FuncOp]) -> list[FuncOp]:
    """The functions, each after those that it calls.

    Raises:
        Diagnostic: a function calls itself, directly or through others.
    """
    order: dict[str, FuncOp] = {}
    for start in functions:
        stack = [(start, iter(_calls(functions[start], functions)))] if start not in order else []
        while stack:
            name, calls = stack[-1]
            for call in calls:
                callee = call.callee.root_reference.data
                if callee in (open_name for open_name, _ in stack):
                    raise Diagnostic.at(call, f"@{callee} calls itself, which a graph that is compiled cannot do")
                if callee not in order:
                    stack.append((callee, iter(_calls(functions[callee], functions))))
                    break
            else:
                order[name] = functions[name]
                stack.pop()
    return list(order.values())

"""Put the bodies of functions where they are called, so that a graph is one function.

    %y = relay.call @twice(%x)                        %y = relay.add %x, %x
                                                 ->
    relay.func private @twice(%p) {...}

A call of a function value that is known, a `relay.closure`, is one of its function. Private functions that nothing
refers to any more are erased. Left alone are kernels (`primitive`), functions for other compilers (`Compiler`,
`Extern`), and one function of each circle of functions that call each other: its calls stay. So do calls that give
tensors of open extents to a function that knows them, which are asked for where it is called.

Counterpart of TVM's `Inline`, which takes only functions marked `Inline`, and erases those that it has put in all
places; a value of one, and a call of one that stays apart, becomes a function value. So does this one with
`marked-only`, and `relay.transform.Inline()`. Without, a graph becomes one native function as
far as may be, and so all are taken.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation

from ...dialects.relay.base import DYNAMIC, tensors_in
from ...dialects.relay.control import ApplyOp, ClosureOp, FnOp
from ...dialects.relay.core import CallOp, FuncOp, YieldOp
from ...dialects.relay.types import instance
from ..infra import ModulePass, remarks, report_changed
from ..infra.walk import erase, walk
from .defuse_ops import inline_call
from .remove_unused_functions import mentions

_APART = ("primitive", "Compiler", "Extern")


@dataclass(frozen=True)
class InlinePass(ModulePass):
    """Put the bodies of functions where they are called. Options: `marked-only` takes those marked `Inline` alone."""

    name = "inline"
    opt_level: ClassVar[int] = 0
    tvm_name: ClassVar[str | None] = "Inline"

    marked_only: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        all_functions = {each.sym_name.data: each for each in op.ops if isinstance(each, FuncOp)}
        functions = {
            name: each for name, each in all_functions.items() if not any(name in each.attributes for name in _APART)
        }
        changed = _call_known_closures(functions)
        order, recursive = _callees_first(functions)
        for name in recursive:
            remarks.missed(self.name, functions[name], f"@{name} calls itself, and is called where it was called")
        taken = {name for name, each in functions.items() if not self.marked_only or _is_marked(each)} - recursive
        uses = Counter(name for each in op.ops for name in mentions(each))
        called = {call.callee.root_reference.data for each in order for call in _calls(each, functions)}
        # What is called once is moved, not copied, and first its own calls with it: in a chain, each operation once.
        once = {name for name in taken & called if uses[name] == 1 and self._goes(functions[name])}
        inlined: set[FuncOp] = set()
        callers = deque(each for each in order if each.sym_name.data not in once)
        while callers:
            pending = deque(_calls(callers.popleft(), functions))
            while pending:
                call = pending.popleft()
                name = call.callee.root_reference.data
                callee = functions[name]
                if not knows_extents(call, callee):
                    remarks.missed(self.name, call, f"@{name} knows extents that are open here: the call asks for them")
                    if name in once:
                        callers.append(callee)  # which stays
                elif name in taken:
                    if name in once:
                        pending.extendleft(reversed(_calls(callee, functions)))
                    inline_call(call, callee, is_only=name in once)
                    inlined.add(callee)
        if self.marked_only:
            marked = {
                name: each
                for name, each in all_functions.items()
                if _is_marked(each) and name not in recursive and name != "main"
            }
            inlined |= _as_values(op, marked)
        private = list(filter(self._goes, inlined))
        if private:
            used = {name for other in op.ops if other not in private for name in mentions(other)}
            for function in private:
                if function.sym_name.data not in used:
                    erase(function)
        report_changed(changed or bool(inlined))

    def _goes(self, function: FuncOp) -> bool:
        """Whether a function is erased once nothing refers to it."""
        return function.sym_visibility is not None or self.marked_only


def knows_extents(call: CallOp, callee: FuncOp) -> bool:
    """Whether what a call gives has all extents that the function knows of what it takes."""
    known = instance(callee.function_type.inputs.data, call.operand_types)  # what stands for any type knows nothing
    pairs = zip(tensors_in(*call.operand_types), tensors_in(*known), strict=True)
    return not any(n == DYNAMIC != m for a, b in pairs for n, m in zip(a.get_shape(), b.get_shape(), strict=True))


def _as_values(module: ModuleOp, marked: Mapping[str, FuncOp]) -> set[FuncOp]:
    """Make values of marked functions, and calls of those that stay apart, as functions for other compilers, what these
    functions are, written where they are used; return the functions."""
    found: set[FuncOp] = set()
    for op in [op for op in walk(module) if isinstance(op, CallOp | ClosureOp)]:
        callee = marked.get(op.callee.root_reference.data)
        if callee is None or (block := op.parent) is None:
            continue
        is_called = isinstance(op, CallOp)
        if op.operands if not is_called else not any(name in callee.attributes for name in _APART):
            continue  # a value that holds others, or a call that is inlined
        made: list[Operation] = [value := _value(callee)]
        if is_called:
            made.append(ApplyOp(value.result, list(op.operands)))
        for each in made:
            each.location = op.location
            block.insert_op_before(each, op)
        for old, new in zip(op.results, made[-1].results, strict=True):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        erase(op)
        found.add(callee)
    return found


def _value(function: FuncOp) -> FnOp:
    """A function as a value."""
    body = function.body.clone()
    end = body.block.last_op
    assert end is not None
    body.block.add_op(YieldOp(*end.operands))
    erase(end)
    value = FnOp(function.function_type, body)
    value.attributes |= function.attributes
    return value


def _is_marked(function: FuncOp) -> bool:
    """Whether a function has the attribute `Inline`, and not as a zero."""
    mark = function.attributes.get("Inline")
    return mark is not None and not (isinstance(mark, IntegerAttr) and not mark.value.data)


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

"""Which operations do nothing but give their results, so that they may be shared, moved, or dropped when dead.

Every Relay operator is pure but for those with the `Stateful` trait (TVM's `TOpIsStateful`). A call is as pure as the
function it calls, where it is known which that is. Counterpart of TVM's purity analysis, without its limit on call
depth: impurity is spread backwards over the call graph.
"""

from __future__ import annotations

from functools import cache

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.traits import IsTerminator, RecursiveMemoryEffect, is_side_effect_free

from ...dialects.relay.base import RelayOp, Stateful
from ...dialects.relay.control import ApplyOp, FnOp
from ...dialects.relay.core import CallOp, FuncOp
from ...dialects.relay.scan import ScanOp
from ..infra.walk import walk


@cache
def _is_stateful(op_type: type[Operation]) -> bool:
    return op_type.has_trait(Stateful)


@cache
def _is_terminator(op_type: type[Operation]) -> bool:
    return op_type.has_trait(IsTerminator)


@cache
def _tells_nothing(op_type: type[Operation]) -> bool:
    """Whether what an operation does is said by others: by those in it, or by those around it."""
    return op_type.has_trait(RecursiveMemoryEffect) or _is_terminator(op_type)


def is_pure(op: Operation, impure: frozenset[str] = frozenset()) -> bool:
    """Whether `op` has no effect; `impure` names the functions that have one. A terminator counts as an effect."""
    if isinstance(op, RelayOp):
        return not _is_stateful(type(op))
    if isinstance(op, CallOp | ScanOp):
        return op.callee.string_value() not in impure
    if isinstance(op, ApplyOp):
        function = op.callee.owner
        if not isinstance(function, FnOp) or function.is_ancestor(op):
            return False
        inside = (each for each in walk(function) if each is not function and not _is_terminator(type(each)))
        return all(is_pure(each, impure) for each in inside)
    return not _is_terminator(type(op)) and is_side_effect_free(op)


def impure_functions(module: Operation | None) -> frozenset[str]:
    """The names of the `relay.func`s of `module` that have an effect, themselves or by a call."""
    if not isinstance(module, ModuleOp):
        return frozenset()
    callers: dict[str, set[str]] = {}
    impure: set[str] = set()
    for func in module.ops:
        if not isinstance(func, FuncOp):
            continue
        name = func.sym_name.data
        for op in walk(func):
            if isinstance(op, CallOp | ScanOp):
                callers.setdefault(op.callee.string_value(), set()).add(name)
            elif op is not func and not _tells_nothing(type(op)) and not is_pure(op):
                impure.add(name)
    pending = list(impure)
    while pending:
        for caller in callers.get(pending.pop(), ()):
            if caller not in impure:
                impure.add(caller)
                pending.append(caller)
    return frozenset(impure)

"""Private functions that go with what calls them, from one module into another.

A function that a pass has taken apart (`lambda-lift`), or that called itself within another (`recursion.py`), stands in
a module beside what calls it, by a name that nobody has given. So what is taken out of it, and put into another module,
takes such functions along. Those that have names of the user's stay where they are, as in TVM.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation, SSAValue

from ...dialects.relay.control import ClosureOp
from ...dialects.relay.core import CallOp, FuncOp
from ...dialects.relay.scan import ScanOp
from ...dialects.support.unique_names import unique_symbols
from ...transforms.infra.walk import walk
from .made_of import operations_of

_sources: WeakKeyDictionary[FuncOp, Sequence[ModuleOp]] = WeakKeyDictionary()


def note_sources(function: FuncOp, values: Sequence[SSAValue]) -> None:
    """Keep in which modules the functions are that `function` calls, which is made of copies of what `values` are."""
    if any(_calls(function)) and (found := _modules(operations_of(values))):
        _sources[function] = found


def bring_private(given: FuncOp, copy: FuncOp, module: ModuleOp) -> None:
    """Put the private functions that `copy`, one of `given`, calls, beside it in `module`, from where `given` is."""
    sources = [each for each in (*_modules([given]), *_sources.get(given, ())) if each is not module]
    if not sources:
        return
    there = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    private = {
        op.sym_name.data: op
        for source in reversed(sources)
        for op in source.ops
        if isinstance(op, FuncOp) and op.sym_visibility == StringAttr("private")
    }
    names = unique_symbols(module)
    renamed: dict[str, str] = {}
    pending = [copy]
    while pending:
        for op in _calls(pending.pop()):
            called = op.callee.string_value()
            if called not in private:
                continue
            if called not in renamed:
                same = called in there and _is_same(there[called], private[called])
                renamed[called] = called if same else names.new(called)
                if not same:
                    brought = private[called].clone()
                    brought.properties["sym_name"] = StringAttr(renamed[called])
                    module.body.block.add_op(brought)
                    pending.append(brought)
            op.properties["callee"] = SymbolRefAttr(renamed[called])


def _is_same(function: FuncOp, other: FuncOp) -> bool:
    blocks = {each: mine for each, mine in ((function.parent, other.parent),) if each is not None and mine is not None}
    return function.is_structurally_equivalent(other, {**blocks})


def _calls(function: FuncOp) -> list[ClosureOp | CallOp | ScanOp]:
    return [op for op in walk(function) if isinstance(op, ClosureOp | CallOp | ScanOp)]


def _modules(ops: Iterable[Operation]) -> list[ModuleOp]:
    """The modules that operations are in, each once."""
    found = (op.get_toplevel_object() for op in ops)
    return list(dict.fromkeys(each for each in found if isinstance(each, ModuleOp)))

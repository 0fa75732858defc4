"""Drop functions that no entry function reaches by calls.

    relay.func @main(...) { relay.call @used(...) }        relay.func @main(...) { relay.call @used(...) }
    relay.func private @used(...) {...}                ->  relay.func private @used(...) {...}
    relay.func private @dead(...) {...}

Any mention of a symbol counts as a use, whatever the operation. Definitions of data types stay. Without `entry`, every
function that is not private is an entry; TVM's default is the one name `main`.

Counterpart of TVM's `RemoveUnusedFunctions`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, SymbolRefAttr
from xdsl.ir import Attribute, Operation
from xdsl.traits import SymbolOpInterface

from ...dialects.relay.data import AdtOp
from ..infra import ModulePass, report_changed
from ..infra.walk import erase, walk


@dataclass(frozen=True)
class RemoveUnusedFunctionsPass(ModulePass):
    """Options: `entry` names the functions to keep with all that they call."""

    name = "remove-unused-functions"
    opt_level: ClassVar[int] = 1
    tvm_name: ClassVar[str | None] = "RemoveUnusedFunctions"

    entry: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        symbols = {
            name: symbol
            for symbol in op.ops
            if (name := _symbol_name(symbol)) is not None and not isinstance(symbol, AdtOp)
        }
        pending = [name for name, symbol in symbols.items() if self._is_entry(name, symbol)]
        live = set(pending)
        while pending:
            for name in mentions(symbols[pending.pop()]):
                if name in symbols and name not in live:
                    live.add(name)
                    pending.append(name)
        for name, symbol in symbols.items():
            if name not in live:
                erase(symbol)
        report_changed(len(live) < len(symbols))

    def _is_entry(self, name: str, symbol: Operation) -> bool:
        return name in self.entry if self.entry else "sym_visibility" not in symbol.properties


def _symbol_name(op: Operation) -> str | None:
    trait = op.get_trait(SymbolOpInterface)
    name = None if trait is None else trait.get_sym_attr_name(op)
    return None if name is None else name.data


def mentions(op: Operation) -> Iterator[str]:
    """The symbols named by the attributes of `op` and of everything inside it."""
    for inner in walk(op):
        for attribute in (*inner.properties.values(), *inner.attributes.values()):
            yield from _symbols(attribute)


def _symbols(attribute: Attribute) -> Iterator[str]:
    if isinstance(attribute, SymbolRefAttr):
        yield attribute.root_reference.data
    elif isinstance(attribute, ArrayAttr):
        for element in cast("ArrayAttr[Attribute]", attribute):
            yield from _symbols(element)
    elif isinstance(attribute, DictionaryAttr):
        for element in attribute.data.values():
            yield from _symbols(element)

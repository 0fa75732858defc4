"""Symbols found by a table: xDSL looks through all operations of a module for each.

While nothing changes (`facts`), the table of a module is made once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import MemRefType, SymbolRefAttr
from xdsl.ir import Operation
from xdsl.traits import SymbolOpInterface, SymbolTable

from .diagnostics import Diagnostic, did_you_mean
from .facts import remembered


def lookup_symbol(op: Operation, symbol: SymbolRefAttr) -> Operation | None:
    """What `symbol` names where `op` stands, as xDSL's `SymbolTable.lookup_symbol` finds it."""
    table: Operation | None = op
    while table is not None and not is_table(type(table)):
        table = table.parent_op()
    if table is None or symbol.nested_references.data:
        return SymbolTable.lookup_symbol(op, symbol)
    return _symbols(table).get(symbol.root_reference.data)


def check_name(property: str, kinds: Sequence[str], op: Operation) -> None:
    """See that what a property of `op` names is there, of one of the `kinds`, and of its type if `op` is for memory.

    Raises:
        Diagnostic: it is not.
    """
    symbol = op.properties[property]
    assert isinstance(symbol, SymbolRefAttr)
    found = lookup_symbol(op, symbol)
    if found is None or found.name not in kinds:
        name, what = symbol.root_reference.data, " or ".join(kinds)
        wrong = f"names no {what}: '@{name}' is " + ("not there" if found is None else f"a {found.name}")
        raise Diagnostic.at(op, wrong, hint=did_you_mean(name, symbol_names(op, *kinds)))
    given, held = op.results[0].type, found.properties.get("type")
    if isinstance(given, MemRefType) and given != held:
        raise Diagnostic.at(op, f"'@{symbol.root_reference.data}' is of type {held}, not {given}")


def symbol_names(op: Operation, *kinds: str) -> list[str]:
    """What operations of `kinds` are called that a symbol may name where `op` stands."""
    table: Operation | None = op
    while table is not None and not is_table(type(table)):
        table = table.parent_op()
    return [] if table is None else [name for name, each in _symbols(table).items() if each.name in kinds]


@cache
def is_table(kind: type[Operation]) -> bool:
    """Whether operations of a class hold symbols."""
    return kind.has_trait(SymbolTable)


@remembered
def _symbols(table: Operation) -> dict[str, Operation]:
    found: dict[str, Operation] = {}
    for op in table.regions[0].block.ops:
        if (trait := _symbol_trait(type(op))) is not None and (name := trait.get_sym_attr_name(op)) is not None:
            found.setdefault(name.data, op)
    return found


@cache
def _symbol_trait(kind: type[Operation]) -> SymbolOpInterface | None:
    return kind.get_trait(SymbolOpInterface)

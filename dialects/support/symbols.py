"""Symbols found by a table: xDSL looks through all operations of a module for each.

While nothing changes (`facts`), the table of a module is made once.
"""

from __future__ import annotations

from functools import cache

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation
from xdsl.traits import SymbolOpInterface, SymbolTable

from .facts import remembered


def lookup_symbol(op: Operation, symbol: SymbolRefAttr) -> Operation | None:
    """What `symbol` names where `op` stands, as xDSL's `SymbolTable.lookup_symbol` finds it."""
    table: Operation | None = op
    while table is not None and not is_table(type(table)):
        table = table.parent_op()
    if table is None or symbol.nested_references.data:
        return SymbolTable.lookup_symbol(op, symbol)
    return _symbols(table).get(symbol.root_reference.data)


def symbol_names(op: Operation, kind: type[Operation]) -> list[str]:
    """What operations of a kind are called that a symbol may name where `op` stands."""
    table: Operation | None = op
    while table is not None and not is_table(type(table)):
        table = table.parent_op()
    return [] if table is None else [name for name, each in _symbols(table).items() if isinstance(each, kind)]


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

"""Names for new functions of a module."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.traits import SymbolOpInterface


class SymbolNames:
    """Names that are free in a module: `name`, `name_1`, `name_2`, ..."""

    def __init__(self, module: ModuleOp):
        self.taken = {
            name.data
            for op in module.ops
            if (symbol := op.get_trait(SymbolOpInterface)) and (name := symbol.get_sym_attr_name(op)) is not None
        }
        self.count: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """`name`, or `name` with the first number that makes it new."""
        candidate = name
        while candidate in self.taken:
            self.count[name] = self.count.get(name, 0) + 1
            candidate = f"{name}_{self.count[name]}"
        self.taken.add(candidate)
        return candidate

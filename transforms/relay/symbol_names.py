"""Names of functions of a module: new ones, and whether one is used."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.traits import SymbolOpInterface

from ...dialects.relay.core import FuncOp
from ..infra.walk import walk


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


def is_referred_to(func: FuncOp) -> bool:
    """Whether an operation of the module names the function: calls it, or makes a function value of it."""
    module, name = func.parent_op(), func.sym_name.data
    if module is None:
        return False
    attributes = (a for op in walk(module) for a in (*op.properties.values(), *op.attributes.values()))
    return any(isinstance(a, SymbolRefAttr) and a.string_value() == name for a in attributes)

"""Whether the name of a function of a module is used."""

from __future__ import annotations

from xdsl.dialects.builtin import SymbolRefAttr

from ...dialects.relay.core import FuncOp
from ..infra.walk import walk


def is_referred_to(func: FuncOp) -> bool:
    """Whether an operation of the module names the function: calls it, or makes a function value of it."""
    module, name = func.parent_op(), func.sym_name.data
    if module is None:
        return False
    attributes = (a for op in walk(module) for a in (*op.properties.values(), *op.attributes.values()))
    return any(isinstance(a, SymbolRefAttr) and a.string_value() == name for a in attributes)

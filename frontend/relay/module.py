"""Modules of functions, under TVM's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...dialects.relay.core import FuncOp
from .expr import Function, Operand, free_vars


class IRModule:
    """Makes xDSL modules, which is what a module is here, under TVM's names."""

    @staticmethod
    def from_expr(expr: FuncOp | Operand, functions: Mapping[str, FuncOp] | None = None) -> ModuleOp:
        """A module whose `@main` is a function, or gives an expression and takes its free variables; with further
        functions by name."""
        main = expr if isinstance(expr, FuncOp) else Function(free_vars(expr), expr)
        ops = [main.clone()]
        ops[0].properties["sym_name"] = type(main.sym_name)("main")
        for name, function in (functions or {}).items():
            copy = function.clone()
            copy.properties["sym_name"] = type(main.sym_name)(name)
            ops.append(copy)
        return ModuleOp(cast("list[Operation]", ops))

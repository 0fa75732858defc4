"""`weft.IRModule`: a module of functions of Relay, of `tir`, or of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp

from .dialects.relay.core import FuncOp
from .dialects.support.arguments import checked
from .dialects.support.diagnostics import UsageError
from .dialects.tir.core import PrimFuncOp
from .dialects.tir.script.modules import IRModule as TirModule
from .frontend.relay.data import GlobalTypeVar, TypeData
from .frontend.relay.expr import Expr, GlobalVar, Operand
from .frontend.relay.module import Functions
from .frontend.relay.module import IRModule as RelayModule

Name: TypeAlias = "GlobalVar | str"
Named: TypeAlias = "Mapping[GlobalVar, FuncOp | Expr | PrimFuncOp] | Mapping[str, FuncOp | Expr | PrimFuncOp]"
"""Functions by their names."""


def _text(name: Name) -> str:
    return name if isinstance(name, str) else name.name_hint


class _Empty(RelayModule):
    """A module in which nothing is yet: one of `tir` from the first function on, if that is one of `tir`."""

    def __setitem__(self, name: Name | GlobalTypeVar, function: FuncOp | Expr | PrimFuncOp | TypeData) -> None:
        if isinstance(function, PrimFuncOp):
            if self.body.block.first_op is not None:
                raise UsageError(
                    "the module has functions or data types of Relay, and is given one of tir",
                    hint="make a module of the tir function",
                )
            object.__setattr__(self, "__class__", TirModule)
            TirModule.__setitem__(cast("TirModule", self), _text(cast("Name", name)), function)
            return
        super().__setitem__(name, function)


class _Modules(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, ModuleOp)


class IRModule(metaclass=_Modules):
    """Makes a module of functions, `relay.IRModule`, or `tir.IRModule` where all of them are of `tir`;
    `isinstance(module, weft.IRModule)` tells modules."""

    @checked
    def __new__(
        cls, functions: Named | None = None, type_definitions: Mapping[GlobalTypeVar, TypeData] | None = None
    ) -> ModuleOp:
        """A module of copies of functions under their names, and of data types."""
        prim_funcs = {_text(name): each for name, each in (functions or {}).items() if isinstance(each, PrimFuncOp)}
        if prim_funcs and not type_definitions and len(prim_funcs) == len(functions or {}):
            return TirModule(prim_funcs)
        if not functions and not type_definitions:
            return _Empty()
        return RelayModule(cast("Functions | None", functions), type_definitions)

    @staticmethod
    @checked
    def from_expr(expr: PrimFuncOp | ModuleOp | Operand, functions: Functions | None = None) -> ModuleOp:
        """A module of one function, or of an expression that takes its free variables; with further functions by name.

        Raises:
            UsageError: a function has other variables than its parameters.
            Diagnostic: an operator does not fit what it is given.
        """
        return TirModule.of(expr) if isinstance(expr, PrimFuncOp) else RelayModule.from_expr(expr, functions)

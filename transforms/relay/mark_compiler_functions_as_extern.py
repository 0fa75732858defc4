"""Say of functions for another compiler that they are dealt with: all of their attributes give way to `Extern`.

    relay.func private @f(%x) attributes {Compiler = "test"}     ->     relay.func private @f(%x) attributes {Extern}

Calls stay as they are. For whoever compiles such functions outside of Weft.

Counterpart of TVM's `MarkCompilerFunctionsAsExtern`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr

from ...dialects.relay.core import FuncOp
from ...dialects.relay.functions import is_for
from ..infra import ModulePass, report_changed


@dataclass(frozen=True)
class MarkCompilerFunctionsAsExternPass(ModulePass):
    """Functions with `Compiler` -> functions with `Extern`."""

    name = "mark-compiler-functions-as-extern"
    tvm_name: ClassVar[str | None] = "MarkCompilerFunctionsAsExtern"

    compiler_filter: str = ""
    """Only those for this compiler."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [f for f in op.ops if isinstance(f, FuncOp) and is_for(f, self.compiler_filter)]
        for function in functions:
            function.attributes.clear()
            function.attributes["Extern"] = UnitAttr()
        report_changed(bool(functions))

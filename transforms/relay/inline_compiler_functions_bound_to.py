"""Take regions back from another compiler: put functions marked `Compiler` where they are called.

    %0 = relay.call @tvmgen_default_test_main_0(%x)      ->      %0 = relay.nn.relu %x

Those named are put back and erased, and so are composites within them. A backend that can judge only whole regions does
this with those that it does not want.

Counterpart of TVM's `InlineCompilerFunctionsBoundTo`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...dialects.relay.core import CallOp, FuncOp, PrimitiveOp
from ...dialects.relay.functions import COMPILER, COMPOSITE, is_for
from ...dialects.support.diagnostics import Diagnostic, UsageError, did_you_mean
from ..infra import ModulePass, report_changed
from ..infra.walk import erase, walk
from .compiler_regions.regions import partitionable
from .defuse_ops import inline_call
from .outline_primitives import inline_primitive


@dataclass(frozen=True)
class InlineCompilerFunctionsBoundToPass(ModulePass):
    """Functions with `Compiler`, by name -> what they do, where they are called."""

    name = "inline-compiler-functions-bound-to"
    tvm_name: ClassVar[str | None] = "InlineCompilerFunctionsBoundTo"

    global_vars: str | tuple[str, ...] = ()
    """The names of the functions."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Raises:
            UsageError: there is no function of a name.
            Diagnostic: one of them is for no other compiler.
        """
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, FuncOp)}
        wanted: dict[str, FuncOp] = {}
        for name in (self.global_vars,) if isinstance(self.global_vars, str) else self.global_vars:
            if (function := functions.get(name)) is None:
                raise UsageError(f"there is no function @{name} to inline", hint=did_you_mean(name, functions))
            if not is_for(function):
                raise Diagnostic.at(function, f"@{name} is not marked {COMPILER}", hint="`inline` takes the others")
            wanted[name] = function
        for function in wanted.values():
            for composite in [o for o in walk(function) if isinstance(o, PrimitiveOp) and COMPOSITE in o.attributes]:
                inline_primitive(composite)
        for caller in [f for f in op.ops if isinstance(f, FuncOp) and partitionable(f)]:
            for call in [o for o in walk(caller) if isinstance(o, CallOp)]:
                if (callee := wanted.get(call.callee.string_value())) is not None:
                    inline_call(call, callee)
        for function in wanted.values():
            erase(function)
        report_changed(bool(wanted))

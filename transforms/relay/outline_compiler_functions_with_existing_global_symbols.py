"""Make global functions of what stands in a graph and is for another compiler.

    %0 = relay.primitive(%x) {Compiler = "test", global_symbol = "f"} {        %0 = relay.call @f(%x)
    ^bb0(%p0):
      %1 = relay.nn.relu %p0                                            ->     relay.func private @f(%p0)
      relay.yield %1                                                             attributes {Compiler = "test", ...}
    }

So are function values (`relay.fn`) that are called where they are known. Each is called what its `global_symbol` says;
of several with one symbol the first becomes the function, and all call it. A compilation begins with this pass.

Counterpart of TVM's `OutlineCompilerFunctionsWithExistingGlobalSymbols`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import SSAValue
from xdsl.traits import SymbolTable

from ...dialects.relay.control import ApplyOp, FnOp
from ...dialects.relay.core import CallOp, FuncOp, PrimitiveOp, ReturnOp, YieldOp
from ...dialects.relay.functions import COMPILER, is_for
from ...dialects.relay.interpreter import free_values
from ...dialects.support.diagnostics import Diagnostic
from ..infra import ModulePass, report_changed
from ..infra.walk import erase, walk
from .compiler_regions.regions import partitionable

SYMBOL = "global_symbol"


@dataclass(frozen=True)
class OutlineCompilerFunctionsWithExistingGlobalSymbolsPass(ModulePass):
    """`relay.primitive` and called `relay.fn` with `Compiler` -> functions, and calls of them."""

    name = "outline-compiler-functions-with-existing-global-symbols"
    tvm_name: ClassVar[str | None] = "OutlineCompilerFunctionsWithExistingGlobalSymbols"

    compiler_filter: str = ""
    """Only those for this compiler."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Raises:
            Diagnostic: one has no `global_symbol`, sees what is around it, or is called as something else is.
        """
        made: dict[str, FuncOp] = {}
        for caller in [f for f in op.ops if isinstance(f, FuncOp) and partitionable(f)]:
            for nested in [o for o in walk(caller) if isinstance(o, PrimitiveOp | ApplyOp)]:
                source = nested if isinstance(nested, PrimitiveOp) else nested.callee.owner
                if isinstance(source, PrimitiveOp | FnOp) and is_for(source, self.compiler_filter):
                    self._outline(op, nested, source, made)
        report_changed(bool(made))

    def _outline(
        self, module: ModuleOp, use: PrimitiveOp | ApplyOp, source: PrimitiveOp | FnOp, made: dict[str, FuncOp]
    ) -> None:
        symbol = source.attributes.get(SYMBOL)
        if not isinstance(symbol, StringAttr) or not symbol.data:
            raise Diagnostic.at(source, f"is marked {COMPILER} and has no {SYMBOL}", hint=f'say {SYMBOL} = "name"')
        if (function := made.get(symbol.data)) is None:
            if SymbolTable.lookup_symbol(module, symbol.data) is not None:
                raise Diagnostic.at(source, f"there is something else called @{symbol.data}")
            function = made[symbol.data] = _function_of(source, symbol.data)
            module.body.block.add_op(function)
        arguments: list[SSAValue] = list(use.arguments)
        results = [result.type for result in use.results]
        if function.function_type != FunctionType.from_lists([a.type for a in arguments], results):
            raise Diagnostic.at(use, f"is called @{symbol.data} as another function, of type {function.function_type}")
        call = CallOp(symbol.data, arguments, results)
        call.location = use.location
        assert use.parent is not None
        use.parent.insert_op_before(call, use)
        for old, new in zip(use.results, call.results, strict=True):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        erase(use)
        if source is not use and all(result.first_use is None for result in source.results):
            erase(source)


def _function_of(source: PrimitiveOp | FnOp, name: str) -> FuncOp:
    if isinstance(source, FnOp) and (seen := free_values(source)):
        raise Diagnostic.at(source, f"is marked {COMPILER} and sees a value of type {seen[0].type} around it")
    body = source.body.clone()
    end = body.block.last_op
    assert isinstance(end, YieldOp)
    result = ReturnOp(*end.arguments)
    result.location = end.location
    type = FunctionType.from_lists([a.type for a in body.block.args], [value.type for value in end.arguments])
    body.block.insert_op_before(result, end)
    erase(end)
    attributes = {key: value for key, value in source.attributes.items() if key not in ("primitive",)}
    function = FuncOp(name, type, body, private=True, attributes={**attributes, "primitive": UnitAttr()})
    function.location = source.location
    return function

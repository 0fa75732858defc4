"""Write polymorphic functions for the types that they are used with.

    relay.func @id(%x: !relay.param<"T">) -> ..            relay.func private @id_1(%x: tensor<4xf32>) -> ..
    %y = relay.call @id(%x) : (tensor<4xf32>) -> ..   ->   %y = relay.call @id_1(%x) : (tensor<4xf32>) -> ..

A function is written once for equal types, whoever calls it or makes a value of it, and calls within what is written
are treated in the same way. What has been written for all its uses is erased. A function that calls itself with ever
larger types has no end of such functions, and is refused. Parameters that only its body names are `tuple<>`: there are
no values of them.

Machine code is made of what this gives: code for values of any type there is none. TVM does the same within
`Defunctionalization`, where functions are cloned with their type arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation
from xdsl.traits import SymbolTable

from ...dialects.relay.control import ClosureOp
from ...dialects.relay.core import CallOp, FuncOp
from ...dialects.relay.types import bind_params, is_complete, substituted, tuple_type, type_params
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.retyping import retype
from ...dialects.support.unique_names import unique_symbols
from ..infra import ModulePass, report_changed
from ..infra.walk import clone, erase, walk

MAX_NESTED = 8
"""As many types may a function be called with by what it calls itself. Functions that exchange their parameters need a
few; one whose types grow would need any number."""

Types = Mapping[str, Attribute]


@dataclass(frozen=True)
class SpecializeFunctionsPass(ModulePass):
    """No options."""

    name = "specialize-functions"
    opt_level: ClassVar[int] = 0

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        return not any(isinstance(op, FuncOp) and is_generic(op) for op in module.ops)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        report_changed(specialize_functions(op))


def is_generic(function: FuncOp) -> bool:
    """Whether types of a function's arguments or results are left open."""
    return bool(type_params(function.function_type))


def specialize_functions(module: ModuleOp) -> bool:
    """Write the polymorphic functions of a module for the types that they are used with; whether this changed it.

    Raises:
        Diagnostic: a function calls itself with ever larger types.
    """
    generic = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp) and is_generic(op)}
    return bool(generic) and _Instances(module, generic).write()


def convert_types(root: Operation, converted: Callable[[Attribute], Attribute]) -> None:
    """Give every value in `root`, and every function, the type that `converted` makes of its own."""
    for op in walk(root):
        if isinstance(op, FuncOp):
            type = converted_function(op.function_type, converted)
            if type != op.function_type:
                op.function_type = type
        arguments = [argument for region in op.regions for block in region.blocks for argument in block.args]
        for value in (*op.results, *arguments):
            type = converted(value.type)
            if type != value.type:
                retype(value, type)


def converted_function(type: FunctionType, converted: Callable[[Attribute], Attribute]) -> FunctionType:
    """The type of a function with other types for its arguments and results."""
    return FunctionType.from_lists(list(map(converted, type.inputs)), list(map(converted, type.outputs)))


class _Instances:
    """What has been written, and what is still to be looked through."""

    def __init__(self, module: ModuleOp, generic: Mapping[str, FuncOp]):
        self.module, self.generic = module, generic
        self.names = unique_symbols(module)
        self.written: dict[tuple[str, tuple[tuple[str, Attribute], ...]], str] = {}
        self.pending = [op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data not in generic]
        self.nested: dict[FuncOp, Mapping[str, int]] = {}
        """Of an instance: how many of each function called each other on the way to it."""

    def write(self) -> bool:
        while self.pending:
            caller = self.pending.pop()
            for op in walk(caller):
                if isinstance(op, CallOp | ClosureOp) and (name := op.callee.string_value()) in self.generic:
                    self._bind(op, self.generic[name], caller)
        return self._erase_unused() or bool(self.written)

    def _bind(self, op: CallOp | ClosureOp, callee: FuncOp, caller: FuncOp) -> None:
        types = callee.function_type
        bound: dict[str, Attribute] = {}
        if bind_params([*types.inputs, *types.outputs], used_with(op), bound) and all(map(is_complete, bound.values())):
            op.properties["callee"] = SymbolRefAttr(self._instance(op, callee, bound, caller))

    def _instance(self, op: Operation, callee: FuncOp, bound: Types, caller: FuncOp) -> str:
        name = callee.sym_name.data
        key = name, tuple(sorted(bound.items(), key=lambda item: item[0]))
        if (known := self.written.get(key)) is not None:
            return known
        nested = dict(self.nested.get(caller, {}))
        nested[name] = nested.get(name, 0) + 1
        if nested[name] > MAX_NESTED:
            raise Diagnostic.at(op, f"@{name} calls itself with ever other types: no number of functions would do")
        instance = clone(callee)
        instance.sym_name, instance.sym_visibility = StringAttr(self.names.new(name)), StringAttr("private")
        convert_types(instance, lambda type: _closed(type, bound))
        SymbolTable.insert_or_update(self.module, instance)
        self.written[key] = instance.sym_name.data
        self.nested[instance] = nested
        self.pending.append(instance)
        return instance.sym_name.data

    def _erase_unused(self) -> bool:
        """Erase the functions that have been written for others' types, and private ones that nobody uses; whether
        there are any."""
        used = {name for name in self.generic if not self._may_go(name)}
        pending = [op for op in self.module.ops if isinstance(op, FuncOp) and op.sym_name.data not in self.generic]
        pending += [self.generic[name] for name in used]
        while pending:
            for op in walk(pending.pop()):
                for attribute in (*op.properties.values(), *op.attributes.values()):
                    name = attribute.string_value() if isinstance(attribute, SymbolRefAttr) else ""
                    if name in self.generic and name not in used:
                        used.add(name)
                        pending.append(self.generic[name])
        for name, function in self.generic.items():
            if name not in used:
                erase(function)
        return len(used) < len(self.generic)

    def _may_go(self, name: str) -> bool:
        written = any(callee == name for callee, _ in self.written)
        return written or self.generic[name].sym_visibility is not None


def used_with(op: CallOp | ClosureOp) -> Sequence[Attribute]:
    """The types of the arguments and results of the function that is called, or made a value of."""
    given = [value.type for value in op.operands]
    if isinstance(op, CallOp):
        return [*given, *(value.type for value in op.results)]
    type = op.result.type
    assert isinstance(type, FunctionType)
    return [*given, *type.inputs, *type.outputs]


def _closed(type: Attribute, bound: Types) -> Attribute:
    type = substituted(type, bound)
    nothing = tuple_type()
    return substituted(type, dict.fromkeys(params, nothing)) if (params := type_params(type)) else type

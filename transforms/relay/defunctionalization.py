"""Write function values as data: a type with a constructor for every function, and one function that applies them.

    %f = relay.closure @scale(%a)             relay.adt @function {scale(tensor<4xf32>)}
    %y = relay.apply %f(%x)              ->   relay.func private @apply(%f: !relay.adt<@function>, %x) -> .. {
                                                %y = relay.match %f case scale(%a) { relay.call @scale(%a, %x) .. }
                                              }
                                              %f = relay.construct "scale"(%a)
                                              %y = relay.call @apply(%f, %x)

There is one data type, and one function `apply`, for all function values whose types differ in extents alone: those may
meet in one variable. Function values may stand anywhere: they are passed, returned, captured by others, kept in tuples,
references and data types. A data type that makes function types of its parameters is written for the types that it is
used with. Polymorphic functions are first written for theirs (`specialize-functions`), and functions within functions
become global ones (`lambda-lift`). A call of a function that is known where it is called is a call of that.

`@main` takes and gives no function values: whoever calls it would have to know the data type. Functions for other
compilers and kernels have none either.

Counterpart of TVM's `Defunctionalization`, which neither returns function values nor keeps them in data. J. C.
Reynolds, Definitional interpreters for higher-order programming languages, 1972.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, TupleType
from xdsl.ir import Attribute, Operation, Region, SSAValue

from ...dialects.relay.control import ApplyOp, ClosureOp
from ...dialects.relay.core import CallOp, FuncOp, ReturnOp, YieldOp
from ...dialects.relay.data import DEFAULT, AdtOp, ConstructOp, MatchOp, region_of
from ...dialects.relay.types import AdtType, RefType, substituted, tuple_type
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.unique_names import free_name, unique_symbols
from ..infra import ModulePass, report_changed
from ..infra.walk import erase, walk
from .function_types import FunctionTypes, joined, that_make_function_types, without_extents
from .lambda_lift import APART, LambdaLiftPass
from .specialize_functions import convert_types, is_generic, specialize_functions

MAX_NESTED = 8
"""As many times may a data type be written for types within one another of its own. Types that exchange their
parameters need a few; one that holds itself with ever larger types would need any number."""

IDENTIFIER = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII)


@dataclass(frozen=True)
class DefunctionalizationPass(ModulePass):
    """No options."""

    name = "defunctionalization"
    opt_level: ClassVar[int] = 0
    tvm_name: ClassVar[str | None] = "Defunctionalization"

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        types = FunctionTypes(module)
        return not any(types.within(value.type) for op in walk(module) for value in _values(op))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.holds_in(op):
            report_changed(False)
            return
        specialize_functions(op)
        generic = {each.sym_name.data: each for each in op.ops if isinstance(each, FuncOp) and is_generic(each)}
        for each in walk(op):
            if isinstance(each, CallOp | ClosureOp) and (name := each.callee.string_value()) in generic:
                raise Diagnostic.at(each, f"it is not known which types @{name} is called with here")
        for function in generic.values():
            erase(function)
        LambdaLiftPass().apply(ctx, op)
        _check(op)
        _Encoding(op).write()
        report_changed(True)


def _values(op: Operation) -> list[SSAValue]:
    arguments = [argument for region in op.regions for block in region.blocks for argument in block.args]
    return [*op.results, *arguments]


def _check(module: ModuleOp) -> None:
    types = FunctionTypes(module)
    for function in module.ops:
        if not isinstance(function, FuncOp):
            continue
        type = function.function_type
        if function.sym_name.data == "main" and any(map(types.within, (*type.inputs, *type.outputs))):
            raise Diagnostic.at(function, f"@main is {type}: its callers would have to make its data")
        if any(name in function.attributes for name in APART):
            held = next((v for op in walk(function) for v in _values(op) if types.within(v.type)), None)
            if held is not None:
                name = function.sym_name.data
                raise Diagnostic.at(
                    function, f"a function value in @{name}, which stays as it is, would not become data"
                )


Made = tuple[str, tuple[Attribute, ...]]


@dataclass
class _Functions:
    """Function values of one type but for extents: the type where all agree, and what there is of them."""

    type: FunctionType
    definition: str
    apply: str = ""
    used: bool = False
    constructors: dict[Made, str] = field(default_factory=dict["Made", str])
    """A function and the types of what it is given first -> the constructor of values of it."""


class _Encoding:
    """What stands for function types, and for data types that hold them."""

    def __init__(self, module: ModuleOp):
        self.module, self.names = module, unique_symbols(module)
        self.definitions = {op.sym_name.data: op for op in module.ops if isinstance(op, AdtOp)}
        self.functions: dict[Attribute, _Functions] = {}
        self.mapped: dict[Attribute, Attribute] = {}
        self.open = that_make_function_types(self.definitions)
        self.nested: Counter[str] = Counter()
        """How many of each data type are being written."""

    def write(self) -> None:
        operations = [op for op in walk(self.module) if isinstance(op, ApplyOp | ClosureOp)]
        self._find_types()
        for op in operations:
            if isinstance(op, ApplyOp):
                self._call(op)
        for op in operations:
            if isinstance(op, ClosureOp) and op.parent is not None:
                self._construct(op)
        for definition in self.definitions.values():
            if definition.sym_name.data not in self.open:
                fields = [ArrayAttr([self.type(each) for each in types]) for types in definition.fields]
                definition.fields = ArrayAttr(fields)
        convert_types(self.module, self.type)
        for functions in list(self.functions.values()):
            if functions.used:
                self._define(functions)
        for name in self.open:
            erase(self.definitions[name])

    def _find_types(self) -> None:
        """Tell function values apart by their types, and join those types that differ in extents."""
        for op in walk(self.module):
            for value in _values(op):
                self._note(value.type)
        for definition in self.definitions.values():
            if definition.sym_name.data not in self.open:
                for type in (type for types in definition.fields for type in types):
                    self._note(type)

    def _note(self, type: Attribute) -> None:
        match type:
            case FunctionType():
                for part in (*type.inputs, *type.outputs):
                    self._note(part)
                self._of(type)
            case AdtType():
                for part in type.arguments:
                    self._note(part)
            case RefType():
                self._note(type.of)
            case TupleType():
                for part in type.types:
                    self._note(part)
            case _:
                pass

    def _of(self, type: FunctionType) -> _Functions:
        key = without_extents(type)
        found = self.functions.get(key)
        if found is None:
            found = self.functions[key] = _Functions(type, self.names.new("function"))
        elif found.type != type:
            common = joined(found.type, type)
            assert isinstance(common, FunctionType)
            found.type = common
        return found

    def type(self, type: Attribute) -> Attribute:
        """What stands for a type."""
        found = self.mapped.get(type)
        if found is None:
            found = self.mapped[type] = self._mapped(type)
        return found

    def _mapped(self, type: Attribute) -> Attribute:
        match type:
            case FunctionType():
                functions = self._of(type)
                functions.used = True
                return AdtType(functions.definition)
            case AdtType() if type.symbol in self.open:
                return self._instance(type)
            case AdtType():
                return AdtType(type.definition, [self.type(each) for each in type.arguments])
            case RefType():
                return RefType(self.type(type.of))
            case TupleType():
                return tuple_type(*map(self.type, type.types))
            case _:
                return type

    def _instance(self, type: AdtType) -> AdtType:
        """A data type written for the types that it is used with."""
        definition = self.definitions[type.symbol]
        if self.nested[type.symbol] == MAX_NESTED:
            message = f"@{type.symbol} holds itself with ever other types, function types among them"
            raise Diagnostic.at(definition, message)
        self.nested[type.symbol] += 1
        name = self.names.new(type.symbol)
        new = AdtOp(name, [], {each: [] for each in definition.names})
        new.location = definition.location
        self.mapped[type] = result = AdtType(name)
        given = dict(zip([p.data for p in definition.params], type.arguments, strict=True))
        fields = [[self.type(substituted(each, given)) for each in types] for types in definition.fields]
        new.fields = ArrayAttr([ArrayAttr(types) for types in fields])
        self.module.body.block.insert_op_before(new, definition)
        self.nested[type.symbol] -= 1
        return result

    def _call(self, op: ApplyOp) -> None:
        """A call of the function that is known, or of the one that applies all of its type."""
        known, type = op.callee.owner, op.callee.type
        assert isinstance(type, FunctionType) and op.parent is not None
        if isinstance(known, ClosureOp):
            call = CallOp(known.callee.string_value(), [*known.captured, *op.arguments], [r.type for r in op.res])
        else:
            functions = self._of(type)
            functions.apply = functions.apply or self.names.new("apply")
            call = CallOp(functions.apply, [op.callee, *op.arguments], [r.type for r in op.res])
        call.attributes |= op.attributes
        call.location = op.location
        for old, new in zip(op.res, call.results, strict=True):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        op.parent.insert_op_before(call, op)
        erase(op)
        if isinstance(known, ClosureOp) and not known.result.uses:
            erase(known)

    def _construct(self, op: ClosureOp) -> None:
        type, block = op.result.type, op.parent
        assert isinstance(type, FunctionType) and block is not None
        functions = self._of(type)
        key = op.callee.string_value(), tuple(value.type for value in op.captured)
        name = functions.constructors.get(key)
        if name is None:
            name = functions.constructors[key] = _constructor(key[0], functions.constructors.values())
        encoded = self.type(type)
        assert isinstance(encoded, AdtType)
        new = ConstructOp(name, op.captured, encoded)
        new.attributes |= op.attributes
        new.location, new.result.name_hint = op.location, op.result.name_hint
        block.insert_op_before(new, op)
        op.result.replace_all_uses_with(new.result)
        erase(op)

    def _define(self, functions: _Functions) -> None:
        """Write the data type of function values, and what applies them where something does."""
        fields = {name: list(map(self.type, types)) for (_, types), name in functions.constructors.items()}
        block = self.module.body.block
        definition = AdtOp(functions.definition, [], fields or {"none": []})
        first = block.first_op
        assert first is not None
        block.insert_op_before(definition, first)
        if functions.apply:
            block.add_op(self._apply(functions))

    def _apply(self, functions: _Functions) -> FuncOp:
        inputs, outputs = (list(map(self.type, types)) for types in (functions.type.inputs, functions.type.outputs))
        type = FunctionType.from_lists([AdtType(functions.definition), *inputs], outputs)
        function = FuncOp(functions.apply, type, private=True)
        body = function.body.block
        body.args[0].name_hint = "f"
        match = MatchOp(body.args[0], outputs, self._cases(functions, body.args, outputs))
        body.add_ops([match, ReturnOp(*match.res)])
        return function

    def _cases(self, functions: _Functions, given: Sequence[SSAValue], outputs: list[Attribute]) -> dict[str, Region]:
        cases: dict[str, Region] = {}
        for (callee, types), name in functions.constructors.items():
            region = cases[name] = region_of(arguments=list(map(self.type, types)))
            call = CallOp(callee, [*region.block.args, *given[1:]], outputs)
            region.block.add_ops([call, YieldOp(*call.results)])
        if not cases:  # there is no value to be applied, and whoever applies one is never called
            call = CallOp(functions.apply, given, outputs)
            cases["none"] = region_of(call, YieldOp(*call.results))
        return cases


def _constructor(function: str, taken: Collection[str]) -> str:
    """A constructor for values of a function: its name, if that may stand in a text, and a number if it is taken."""
    name = function if IDENTIFIER.fullmatch(function) and function != DEFAULT else "function"
    return free_name(name, taken)

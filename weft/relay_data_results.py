"""Results of data types, of programs that are compiled.

A program gives tensors. So one that is to give a list, or a tuple with one in it, is given a function around it, which
writes what it gives into a few: the places of constructors, in the order in which values are met, with the extents of
tensors that are open; and of each dtype that there is, the elements of all tensors. From these Python reads it.

    written = WrittenResults.of(module, "main")
    arrays = weft.compile(written.module, function=written.name)(x)
    value = written.read(arrays)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType, TupleType
from xdsl.ir import Attribute

from .dialects.relay.base import DYNAMIC, Tensor
from .dialects.relay.core import FuncOp
from .dialects.relay.interpreter import is_first_order
from .dialects.relay.types import AdtType, IncompleteType, substituted
from .dialects.support.diagnostics import UsageError
from .dialects.support.dtypes import dtype_name
from .dialects.support.hints import isa
from .dialects.support.nd import as_nd
from .dialects.support.unique_names import free_name
from .frontend.relay import ty
from .frontend.relay.data import Constructor, ConstructorValue, TypeData
from .frontend.relay.expr import Expr, Function, GlobalVar, Tuple, Var, const, var
from .frontend.relay.kinds import Match
from .frontend.relay.matching import Clause, PatternConstructor, PatternVar
from .frontend.relay.module import IRModule
from .frontend.relay.operators import operator
from .transforms.relay.bind_params import input_names

NDArray = npt.NDArray[np.generic]

CODES = "int32"
"""The dtype of places and extents."""

MAX_NESTED = 8
"""As many times may a data type hold itself with other types. Types that exchange their parameters need a few; one that
holds itself with ever larger types would need functions without end."""


@dataclass
class _Frame:
    """A value that is being read: what its fields make, and which are still to be read."""

    made: Callable[[Sequence[object]], object]
    types: Iterator[Attribute]
    fields: list[object] = field(default_factory=list[object])


@dataclass
class WrittenResults:
    """A module with a function that writes what another gives into tensors."""

    module: IRModule
    name: str
    """The function's."""
    type: Attribute
    """That of what the other gives."""
    dtypes: Sequence[str]
    """Those of the tensors behind the first."""

    @staticmethod
    def of(module: IRModule, name: str) -> WrittenResults | None:
        """For function `name`; `None` where it gives tensors and tuples of such, or what no tensors can be made of."""
        function = module[name]
        outputs = function.function_type.outputs.data
        if len(outputs) != 1 or is_first_order(outputs[0]):
            return None
        dtypes: dict[str, None] = {}
        if not _gather(outputs[0], module.type_definitions, dtypes, set(), ()):
            return None
        copy = IRModule.of(module.clone())
        writer = _Writer(copy, list(dtypes))
        return WrittenResults(copy, writer.write(name, function), outputs[0], list(dtypes))

    def read(self, arrays: Sequence[NDArray]) -> object:
        """The value that is written in tensors."""
        definitions = self.module.type_definitions
        codes: Iterator[int] = map(int, arrays[0])
        places = dict.fromkeys(self.dtypes, 0)
        data = dict(zip(self.dtypes, arrays[1:], strict=True))

        def leaf(type: Tensor) -> object:
            shape = type.get_shape()
            if DYNAMIC in shape:
                shape = tuple(next(codes) for _ in shape)
            dtype = dtype_name(type.element_type)
            start = places[dtype]
            places[dtype] = start + prod(shape)
            return as_nd(data[dtype][start : places[dtype]].reshape(shape).copy())

        def opened(type: Attribute) -> _Frame:
            if isinstance(type, TupleType):
                return _Frame(tuple, iter(type.types.data))
            assert isinstance(type, AdtType)
            definition = definitions[type.symbol]
            constructor: Constructor = definition.constructors[next(codes)]

            def made(fields: Sequence[object]) -> object:
                return ConstructorValue(constructor.tag, tuple(fields), constructor)

            return _Frame(made, iter(_fields(constructor, definition, type)))

        frames = [_Frame(lambda fields: fields[0], iter([self.type]))]
        while True:
            type = next(frames[-1].types, None)
            if type is None:
                frame = frames.pop()
                value = frame.made(frame.fields)
                if not frames:
                    return value
                frames[-1].fields.append(value)
            elif isa(type, TensorType):
                frames[-1].fields.append(leaf(type))
            else:
                frames.append(opened(type))


def _fields(constructor: Constructor, definition: TypeData, type: AdtType) -> list[Attribute]:
    """The types of a constructor's fields in a value of a type."""
    given = {each.label.data: of for each, of in zip(definition.type_vars, type.arguments, strict=True)}
    return [substituted(each, given) for each in constructor.inputs]


def _gather(
    type: Attribute,
    types: dict[str, TypeData],
    dtypes: dict[str, None],
    seen: set[Attribute],
    within: tuple[str, ...],
) -> bool:
    """Find the dtypes of a type's tensors; whether all that it is made of is tensors, tuples and data types, of which
    there is an end. `within` names the data types around it."""
    if type in seen:
        return True
    seen.add(type)
    match type:
        case TensorType():
            dtypes.setdefault(dtype_name(type.element_type))
            return True
        case TupleType():
            return all(_gather(each, types, dtypes, seen, within) for each in type.types)
        case AdtType():
            if within.count(type.symbol) == MAX_NESTED:
                return False
            found, within = types[type.symbol], (*within, type.symbol)
            fields = [each for constructor in found.constructors for each in _fields(constructor, found, type)]
            return all(_gather(each, types, dtypes, seen, within) for each in fields)
        case IncompleteType():  # of what is not there, as the elements of an empty list
            return True
        case _:
            return False


def is_given(module: ModuleOp, function: FuncOp) -> bool:
    """Whether native code of a function of a module can give what that gives: tensors, tuples, values of data types."""
    types = IRModule.of(module).type_definitions
    outputs = function.function_type.outputs.data
    return all(map(is_first_order, outputs)) or (len(outputs) == 1 and _gather(outputs[0], types, {}, set(), ()))


class _Writer:
    """Puts functions that write values into a module."""

    def __init__(self, module: IRModule, dtypes: Sequence[str]):
        self.module, self.dtypes = module, dtypes
        self.definitions = module.type_definitions
        self.state = ty.TupleType([ty.TensorType((ty.Any(),), dtype) for dtype in (CODES, *dtypes)])
        self.names: dict[Attribute, GlobalVar] = {}
        self.pending: list[AdtType] = []

    def write(self, name: str, function: FuncOp) -> str:
        """Put in a function that writes what function `name` gives, and those that it calls; gives its name."""
        params = [
            var(each, type) for each, type in zip(input_names(function), function.function_type.inputs, strict=True)
        ]
        (type,) = function.function_type.outputs.data
        start: list[Expr] = [const(np.zeros(0, np.int32)), *(operator("zeros")((0,), each) for each in self.dtypes)]
        result = GlobalVar(name, function.function_type)(*params)
        body = Tuple(self.put(result, type, start))
        while self.pending:
            self._define(self.pending.pop())
        made = free_name(f"{name}_written", self.module)
        self.module[made] = Function(params, body)
        for called, each in self.module.functions.items():
            if called.name_hint != made:
                each.properties["sym_visibility"] = StringAttr("private")
        return made

    def put(self, value: Expr, type: Attribute, state: list[Expr]) -> list[Expr]:
        """What there is of each tensor behind a value."""
        match type:
            case TupleType():
                for number, each in enumerate(type.types):
                    state = self.put(value[number], each, state)
                return state
            case AdtType():
                written = self._writer(type)(value, Tuple(state))
                return [written[number] for number in range(len(state))]
            case TensorType():
                shape = type.get_shape()
                place = 1 + self.dtypes.index(dtype_name(type.element_type))
                state = list(state)
                if DYNAMIC in shape:
                    state[0] = _behind(state[0], operator("shape_of")(value, CODES))
                state[place] = _behind(state[place], operator("reshape")(value, [-1]))
                return state
            case IncompleteType():  # there is none
                return state
            case _:
                raise UsageError(f"a value of type {type} is no result of a compiled program")

    def _writer(self, type: AdtType) -> GlobalVar:
        """The function that writes values of a type."""
        if type not in self.names:
            name = free_name(f"write_{type.symbol}_{len(self.names)}", self.module)
            self.names[type] = GlobalVar(name, ty.FuncType([type, self.state], self.state))
            self.pending.append(type)
        return self.names[type]

    def _define(self, type: AdtType) -> None:
        value, state = var("value", type), var("state", self.state)
        definition = self.definitions[type.symbol]
        clauses: list[Clause] = []
        for place, constructor in enumerate(definition.constructors):
            types = _fields(constructor, definition, type)
            fields: list[Var] = [var(f"f{number}", each) for number, each in enumerate(types)]
            found: list[Expr] = [state[number] for number in range(1 + len(self.dtypes))]
            found[0] = _behind(found[0], const(np.array([place], np.int32)))
            for variable, each in zip(fields, types, strict=True):
                found = self.put(variable, each, found)
            clauses.append(Clause(PatternConstructor(constructor, [PatternVar(each) for each in fields]), Tuple(found)))
        self.module[self.names[type]] = Function([value, state], Match(value, clauses), self.state)


def _behind(first: Expr, second: Expr) -> Expr:
    return operator("concatenate")(Tuple([first, second]), 0)

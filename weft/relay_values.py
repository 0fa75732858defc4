"""Values of Relay as Python has them: what programs that the interpreter runs are given, and what they give.

A tensor is an array, a tuple a Python tuple, a value of a data type a `ConstructorValue`, a reference a `RefValue`, and
a function a `FunctionValue`. What is given may be what another program gave.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TypeVar, cast

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, TupleType
from xdsl.ir import Attribute, Block

from .dialects.relay.base import Tensor, compatible
from .dialects.relay.data import AdtOp
from .dialects.relay.interpreter import Cell, Closure, Data, RelayInterpreter, Value
from .dialects.relay.types import AdtType, ParamType, RefType, bind_params, merged, substituted
from .dialects.support.diagnostics import UsageError
from .dialects.support.dtypes import dtype_name, numpy_dtype
from .dialects.support.held import held_as
from .dialects.support.hints import is_sequence
from .dialects.support.nd import as_nd
from .frontend.relay.data import Constructor, ConstructorValue, RefValue, TypeData
from .frontend.relay.values import Expr
from .lowering.abi import TensorSpec
from .runtime.tensors import Input

From = TypeVar("From")
To = TypeVar("To")

OPEN = ParamType("value")
"""The type of what may be anything."""


class FunctionValue:
    """A function that a program gave: called with arrays, tuples and the others, it gives such."""

    def __init__(self, closure: Closure, values: Values):
        self.closure, self._values = closure, values

    def __call__(self, *args: object) -> object:
        """
        Raises:
            UsageError: it takes more or fewer arguments, or ones of other types.
            InputError: an array has another shape or dtype.
        """
        return self._values.applied(self.closure, args)


class Values:
    """Values of the programs of a module, whose data types they have, to Python's and back."""

    def __init__(self, module: ModuleOp | None):
        self.interpreter = RelayInterpreter()
        found = [] if module is None else [TypeData.of(op) for op in module.body.block.ops if isinstance(op, AdtOp)]
        self._types: Mapping[str, TypeData] = {each.header.name_hint: each for each in found}
        self._constructors = {each.name_hint: each for type in found for each in type.constructors}

    def applied(self, closure: Closure, args: Sequence[object]) -> object:
        """What a function value gives for arguments; see `FunctionValue`."""
        type = _type_of(closure)
        (result,) = self.interpreter.apply(closure, self.read(args, type.inputs.data))
        return self.shown(result)

    def shown(self, value: Value) -> object:
        """A value of the interpreter's as Python has it. References to one value stay references to one."""
        references: dict[Cell, RefValue] = {}

        def parts(value: Value) -> Sequence[Value]:
            return value.fields if isinstance(value, Data) else value if isinstance(value, tuple) else ()

        def made(value: Value, fields: Sequence[object]) -> object:
            match value:
                case Data(name):
                    constructor = self._constructors[name]
                    return ConstructorValue(constructor.tag, tuple(fields), constructor)
                case tuple():
                    return tuple(fields)
                case Cell():
                    return references.setdefault(value, RefValue(None))
                case Closure():
                    return FunctionValue(value, self)
                case _:
                    return as_nd(value)

        result = _rebuilt(value, parts, made)
        for cell in _growing(references):
            references[cell].value = _rebuilt(cell.value, parts, made)
        return result

    def read(self, given: Sequence[object], types: Sequence[Attribute]) -> list[Value]:
        """Python's values as the interpreter's, each of its type; where that is left open, as it is.

        Raises:
            UsageError: there are more or fewer, or a value is of another type.
            InputError: an array has another shape or dtype.
        """
        if len(given) != len(types):
            raise UsageError(f"the function takes {len(types)} arguments, but {len(given)} are given")
        references: dict[RefValue, tuple[Cell, Attribute]] = {}

        def parts(typed: tuple[object, Attribute]) -> Sequence[tuple[object, Attribute]]:
            value, type = typed
            match value:
                case ConstructorValue():
                    return list(zip(value.fields, self._field_types(value, type), strict=True))
                case _ if is_sequence(value):
                    return list(zip(value, _types_of_fields(value, type), strict=True))
                case _:
                    return ()

        def made(typed: tuple[object, Attribute], fields: Sequence[Value]) -> Value:
            value, type = typed
            match value:
                case ConstructorValue():
                    return Data(value.constructor.name_hint, tuple(fields))
                case tuple() | list():
                    return tuple(fields)
                case RefValue():
                    if not isinstance(type, RefType | ParamType):
                        raise UsageError(f"a reference is given where a value of type {type} is taken")
                    of = type.of if isinstance(type, RefType) else OPEN
                    cell, known = references.setdefault(value, (Cell(()), of))
                    if OPEN not in (of, known) and not compatible(known, of):
                        raise UsageError(f"one reference is given where references to {known} and to {of} are taken")
                    return cell
                case FunctionValue():
                    _check_function(value, type)
                    return value.closure
                case _:
                    return _array(value, type)

        def place(typed: tuple[object, Attribute]) -> Hashable:
            return id(typed[0]), typed[1]

        result = [_rebuilt(each, parts, made, place) for each in zip(given, types, strict=True)]
        for reference in _growing(references):
            cell, type = references[reference]
            cell.value = _rebuilt((reference.value, type), parts, made, place)
        return result

    def _field_types(self, value: ConstructorValue, type: Attribute) -> Sequence[Attribute]:
        known = self._constructors.get(value.constructor.name_hint)
        if known != value.constructor or known is None:
            raise UsageError(f"the module has no {value.constructor!r}")
        if len(value.fields) != len(known.inputs):
            raise UsageError(f"'{known.name_hint}' has {len(known.inputs)} fields, not {len(value.fields)}")
        return _instances(known, self._types[known.belong_to.name_hint], type)


def _instances(constructor: Constructor, definition: TypeData, type: Attribute) -> Sequence[Attribute]:
    """The types of a constructor's fields in a value of a type."""
    bound: dict[str, Attribute] = {}
    if isinstance(type, ParamType):
        bound = {each.label.data: OPEN for each in definition.type_vars}
    elif not isinstance(type, AdtType) or not bind_params([definition.type], [type], bound):
        raise UsageError(f"a value of {constructor!r} is given where one of type {type} is taken")
    return [substituted(each, bound) for each in constructor.inputs]


def _types_of_fields(fields: Sequence[object], type: Attribute) -> Sequence[Attribute]:
    """The types of a tuple's fields."""
    if isinstance(type, ParamType):
        return [OPEN] * len(fields)
    if not isinstance(type, TupleType):
        raise UsageError(f"a tuple is given where a value of type {type} is taken")
    if len(type.types.data) != len(fields):
        raise UsageError(f"a tuple of {len(fields)} is given where one of {len(type.types.data)} is taken")
    return type.types.data


def _array(value: object, type: Attribute) -> Value:
    """A tensor; as the numbers are, where the type is open, and otherwise of its dtype."""
    array = value.data if isinstance(value, Expr) else value
    if isinstance(type, ParamType):
        return np.asarray(array)
    if not isinstance(type, TensorType):
        raise UsageError(f"an array is given where a value of type {type} is taken")
    tensor = cast(Tensor, type)
    spec = TensorSpec("value", dtype_name(tensor.element_type), tensor.get_shape())
    return Input(spec).checked(held_as(np.asarray(array), numpy_dtype(tensor.element_type)))


def _check_function(function: FunctionValue, type: Attribute) -> None:
    found = _type_of(function.closure)
    if not isinstance(type, ParamType) and not _is_instance(found, type):
        raise UsageError(f"a function of type {found} is given where a value of type {type} is taken")


def _is_instance(found: Attribute, type: Attribute) -> bool:
    """Whether a function's type is another one, with types for the parameters of both, and but for what is open."""
    of_found: dict[str, Attribute] = {}
    of_type: dict[str, Attribute] = {}
    if not bind_params([found], [type], of_found):
        return False
    made = merged(substituted(found, of_found), type)
    return bind_params([type], [made], of_type) and compatible(made, merged(substituted(type, of_type), made))


def _type_of(closure: Closure) -> FunctionType:
    """The type of a function value, without the arguments that it has already."""
    block: Block = closure.block
    end = block.last_op
    outputs = end.operand_types if end is not None else ()
    return FunctionType.from_lists([each.type for each in block.args[len(closure.given) :]], list(outputs))


def _rebuilt(
    root: From,
    parts: Callable[[From], Sequence[From]],
    made: Callable[[From, Sequence[To]], To],
    key: Callable[[From], Hashable] = id,
) -> To:
    """A value made of what was made of its parts; it may be as deep as there is memory. What stands in several places,
    by its `key`, is made once."""
    done: list[To] = []
    known: dict[Hashable, tuple[From, To]] = {}
    """What was made, with what of: as long as that is there, no other object has its `id`."""
    pending: list[tuple[From, int | None]] = [(root, None)]
    while pending:
        value, count = pending.pop()
        if count is None and (found := known.get(key(value))) is not None:
            done.append(found[1])
        elif count is None:
            fields = parts(value)
            pending.append((value, len(fields)))
            pending.extend((field, None) for field in reversed(fields))
        else:
            start = len(done) - count
            done[start:] = [made(value, done[start:])]
            known[key(value)] = value, done[-1]
    return done[0]


def _growing(found: Mapping[From, object]) -> Iterator[From]:
    """The keys of a mapping, those too that come into it meanwhile."""
    count = 0
    while new := list(found)[count:]:
        count += len(new)
        yield from new

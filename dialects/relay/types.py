"""The types of values that are no tensors: references, data types, and types that are left open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    FlatSymbolRefAttr,
    FunctionType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    TupleType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from .shapes import DYNAMIC


def tuple_type(*fields: Attribute) -> TupleType:
    """The type of a tuple of fields of these types."""
    return TupleType(ArrayAttr(fields))  # pyright: ignore[reportArgumentType]


@irdl_attr_definition
class ParamType(ParametrizedAttribute, TypeAttribute):
    """A type that is left open: of a data type, or of a polymorphic function. Counterpart of Relay's `TypeVar`."""

    name = "relay.param"

    label: StringAttr

    def __init__(self, label: str | StringAttr):
        super().__init__(StringAttr(label) if isinstance(label, str) else label)


@irdl_attr_definition
class IncompleteType(ParametrizedAttribute, TypeAttribute):
    """A type that is not known yet: of a variable that stands for whatever it is bound to, and of what is computed from
    it. No operator verifies with it. Counterpart of Relay's `IncompleteType`."""

    name = "relay.incomplete"


@irdl_attr_definition
class AdtType(ParametrizedAttribute, TypeAttribute):
    """A data type with types for its parameters: `!relay.adt<@list, [tensor<f32>]>`. Counterpart of `TypeCall`."""

    name = "relay.adt"

    definition: FlatSymbolRefAttr
    arguments: ArrayAttr[Attribute]

    def __init__(self, definition: str | SymbolRefAttr, arguments: Sequence[Attribute] | ArrayAttr[Attribute] = ()):
        symbol = SymbolRefAttr(definition) if isinstance(definition, str) else definition
        super().__init__(symbol, arguments if isinstance(arguments, ArrayAttr) else ArrayAttr(arguments))

    @property
    def symbol(self) -> str:
        return self.definition.root_reference.data

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            symbol = SymbolRefAttr(parser.parse_symbol_name())
            listed: list[Attribute] = []
            if parser.parse_optional_punctuation(","):
                listed = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_type)
        return [symbol, ArrayAttr(listed)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_symbol_name(self.symbol)
            if self.arguments.data:
                printer.print_string(", ")
                with printer.in_square_brackets():
                    printer.print_list(self.arguments.data, printer.print_attribute)


@irdl_attr_definition
class RefType(ParametrizedAttribute, TypeAttribute):
    """A cell that holds a value, which may be exchanged. Counterpart of Relay's `ref(T)`."""

    name = "relay.ref"

    of: Attribute


def substituted(type: Attribute, given: Mapping[str, Attribute]) -> Attribute:
    """`type` with types in the place of its parameters."""
    match type:
        case ParamType():
            return given.get(type.label.data, type)
        case AdtType():
            return AdtType(type.definition, [substituted(each, given) for each in type.arguments])
        case RefType():
            return RefType(substituted(type.of, given))
        case TupleType():
            return tuple_type(*(substituted(each, given) for each in type.types))
        case FunctionType():
            inputs, outputs = ([substituted(each, given) for each in side.data] for side in (type.inputs, type.outputs))
            return FunctionType.from_lists(inputs, outputs)
        case _:
            return type


def is_complete(type: Attribute) -> bool:
    """Whether a type, and all that it is made of, is known."""
    match type:
        case IncompleteType():
            return False
        case AdtType():
            return all(map(is_complete, type.arguments.data))
        case RefType():
            return is_complete(type.of)
        case TupleType():
            return all(map(is_complete, type.types.data))
        case FunctionType():
            return all(map(is_complete, (*type.inputs.data, *type.outputs.data)))
        case _:
            return True


def merged(known: Attribute, other: Attribute) -> Attribute:
    """`known`, and what `other`, another account of the same type, says where it is open. Where the two differ it is
    `known`: whoever verifies says so."""
    match known, other:
        case IncompleteType(), _:
            return other
        case AdtType(), AdtType() if known.symbol == other.symbol:
            return AdtType(known.definition, _merged(known.arguments.data, other.arguments.data))
        case RefType(), RefType():
            return RefType(merged(known.of, other.of))
        case TupleType(), TupleType():
            return tuple_type(*_merged(known.types.data, other.types.data))
        case FunctionType(), FunctionType():
            return FunctionType.from_lists(
                _merged(known.inputs.data, other.inputs.data), _merged(known.outputs.data, other.outputs.data)
            )
        case _:
            return known


def either(one: Attribute, other: Attribute) -> Attribute | None:
    """The type of what is of one of two types, as branches give it: extents in which they differ are open, and what one
    leaves to be found the other says. `None` where there is none."""
    match one, other:
        case TensorType(), TensorType():
            if one.element_type != other.element_type or one.get_num_dims() != other.get_num_dims():
                return None
            extents = zip(one.get_shape(), other.get_shape(), strict=True)
            return TensorType(one.element_type, [n if n == m else DYNAMIC for n, m in extents])
        case TupleType(), TupleType() if len(one.types) == len(other.types):
            fields = [either(*each) for each in zip(one.types.data, other.types.data, strict=True)]
            known = [each for each in fields if each is not None]
            return tuple_type(*known) if len(known) == len(fields) else None
        case _ if one == other or not is_complete(one) or not is_complete(other):
            return merged(one, other)
        case _:
            return None


def _merged(known: Sequence[Attribute], other: Sequence[Attribute]) -> list[Attribute]:
    return list(map(merged, known, other)) if len(known) == len(other) else list(known)


def instance(declared: Sequence[Attribute], given: Sequence[Attribute]) -> list[Attribute]:
    """`declared` with what `given` says in the place of its parameters; with open types in the place of those of which
    nothing is said."""
    bound: dict[str, Attribute] = {}
    for wanted, found in zip(declared, given, strict=False):
        _bind_partly(wanted, found, bound)
    params = {param for type in declared for param in type_params(type)}
    return [substituted(type, {**dict.fromkeys(params, IncompleteType()), **bound}) for type in declared]


def _bind_partly(wanted: Attribute, found: Attribute, bound: dict[str, Attribute]) -> None:
    match wanted, found:
        case ParamType(), _:
            label = wanted.label.data
            bound[label] = merged(bound.get(label, IncompleteType()), found)
            return
        case AdtType(), AdtType() if wanted.symbol == found.symbol:
            pairs = zip(wanted.arguments.data, found.arguments.data, strict=False)
        case RefType(), RefType():
            pairs = zip([wanted.of], [found.of], strict=True)
        case TupleType(), TupleType():
            pairs = zip(wanted.types.data, found.types.data, strict=False)
        case FunctionType(), FunctionType():
            a, b = ((*type.inputs.data, *type.outputs.data) for type in (wanted, found))
            pairs = zip(a, b, strict=False)
        case _:
            return
    for part, given in pairs:
        _bind_partly(part, given, bound)


def type_params(type: Attribute) -> set[str]:
    """The parameters that are left open in a type."""
    match type:
        case ParamType():
            return {type.label.data}
        case AdtType():
            parts: Sequence[Attribute] = type.arguments.data
        case RefType():
            parts = [type.of]
        case TupleType():
            parts = type.types.data
        case FunctionType():
            parts = [*type.inputs.data, *type.outputs.data]
        case _:
            return set()
    return {param for part in parts for param in type_params(part)}


def bind_params(declared: Sequence[Attribute], given: Sequence[Attribute], bound: dict[str, Attribute]) -> bool:
    """Find types for the parameters of `declared` that make it `given`, beside those in `bound`; whether there are.

    What is no parameter must have the same form, and is not compared further: extents may be open.
    """
    if len(declared) != len(given):
        return False
    for wanted, found in zip(declared, given, strict=True):
        match wanted, found:
            case ParamType(), _:
                if bound.setdefault(wanted.label.data, found) != found:
                    return False
            case AdtType(), AdtType() if wanted.symbol == found.symbol:
                if not bind_params(wanted.arguments.data, found.arguments.data, bound):
                    return False
            case RefType(), RefType():
                if not bind_params([wanted.of], [found.of], bound):
                    return False
            case TupleType(), TupleType():
                if not bind_params(wanted.types.data, found.types.data, bound):
                    return False
            case FunctionType(), FunctionType():
                for a, b in ((wanted.inputs, found.inputs), (wanted.outputs, found.outputs)):
                    if not bind_params(a.data, b.data, bound):
                        return False
            case _ if type_params(wanted):
                return False
            case _:
                pass
    return True

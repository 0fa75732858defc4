"""Function types within other types: which have them, and which of them may meet in one variable."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, TupleType
from xdsl.ir import Attribute

from ...dialects.relay.base import DYNAMIC
from ...dialects.relay.data import AdtOp
from ...dialects.relay.types import AdtType, RefType, tuple_type, type_params


class FunctionTypes:
    """Says whether values of a type hold function values, as the data types of a module are defined."""

    def __init__(self, module: ModuleOp):
        definitions = [op for op in module.ops if isinstance(op, AdtOp)]
        self.definitions: set[str] = set()
        while more := {op.sym_name.data for op in definitions if self._has(op)} - self.definitions:
            self.definitions |= more

    def _has(self, definition: AdtOp) -> bool:
        return any(self.within(type) for types in definition.fields for type in types)

    def within(self, type: Attribute) -> bool:
        """Whether a value of this type is, or holds, a function value."""
        match type:
            case FunctionType():
                return True
            case AdtType():
                return type.symbol in self.definitions or any(map(self.within, type.arguments))
            case RefType():
                return self.within(type.of)
            case TupleType():
                return any(map(self.within, type.types))
            case _:
                return False


def that_make_function_types(definitions: Mapping[str, AdtOp]) -> set[str]:
    """The data types in which a parameter is part of a function type, in their own fields or in those they hold."""
    found: set[str] = set()

    def holds(type: Attribute) -> bool:
        match type:
            case FunctionType():
                return bool(type_params(type))
            case AdtType():
                return (type.symbol in found and bool(type_params(type))) or any(map(holds, type.arguments))
            case RefType():
                return holds(type.of)
            case TupleType():
                return any(map(holds, type.types))
            case _:
                return False

    while True:
        more = {
            name
            for name, op in definitions.items()
            if name not in found and any(holds(type) for types in op.fields for type in types)
        }
        if not more:
            return found
        found |= more


def without_extents(type: Attribute) -> Attribute:
    """A type in which all extents are open."""
    match type:
        case TensorType():
            return TensorType(type.element_type, [DYNAMIC] * type.get_num_dims())
        case FunctionType():
            inputs, outputs = (list(map(without_extents, types)) for types in (type.inputs, type.outputs))
            return FunctionType.from_lists(inputs, outputs)
        case TupleType():
            return tuple_type(*map(without_extents, type.types))
        case _:
            return type


def joined(a: Attribute, b: Attribute) -> Attribute:
    """The type that both are, with extents left open in which they differ."""
    match a, b:
        case TensorType(), TensorType():
            shape = [m if m == n else DYNAMIC for m, n in zip(a.get_shape(), b.get_shape(), strict=True)]
            return TensorType(a.element_type, shape)
        case FunctionType(), FunctionType():
            inputs, outputs = (list(map(joined, x, y)) for x, y in ((a.inputs, b.inputs), (a.outputs, b.outputs)))
            return FunctionType.from_lists(inputs, outputs)
        case TupleType(), TupleType():
            return tuple_type(*map(joined, a.types, b.types))
        case _:
            return a

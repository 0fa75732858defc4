"""Walks over types by their kinds: TVM's `TypeFunctor`, `TypeVisitor` and `TypeMutator`.

class Ranks(relay.TypeVisitor):
    def __init__(self):
        self.ranks = []

    def visit_tensor_type(self, type):
        self.ranks.append(len(type.get_shape()))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from xdsl.dialects.builtin import FunctionType, TensorType, TupleType
from xdsl.ir import Attribute

from ...dialects.relay.types import AdtType, IncompleteType, ParamType, RefType, tuple_type
from .data import GlobalTypeVar, TypeData, TypeRelation
from .functors import UnhandledError

Visited: TypeAlias = "Attribute | GlobalTypeVar | TypeData | TypeRelation"
"""What is visited: a type, the name of a data type, or its definition, or a relation between types."""

_KINDS: tuple[tuple[type, str], ...] = (
    (ParamType, "type_var"),
    (IncompleteType, "incomplete_type"),
    (TensorType, "tensor_type"),
    (FunctionType, "func_type"),
    (TupleType, "tuple_type"),
    (RefType, "ref_type"),
    (AdtType, "type_call"),
    (GlobalTypeVar, "global_type_var"),
    (TypeData, "type_data"),
    (TypeRelation, "type_relation"),
)


class TypeFunctor:
    """A function on types, told by their kinds: `visit_type_var`, `visit_incomplete_type`, `visit_tensor_type`,
    `visit_func_type`, `visit_tuple_type`, `visit_ref_type`, `visit_type_call`, `visit_global_type_var`,
    `visit_type_data`, `visit_type_relation`."""

    def visit(self, type: Visited) -> Any:
        """What the visit of the type's kind gives.

        Raises:
            UnhandledError: a subclass does not say what to do with such a type.
        """
        kind = next((kind for each, kind in _KINDS if isinstance(type, each)), None)
        visit: Callable[[Any], Any] | None = getattr(self, f"visit_{kind}", None)
        if visit is None:
            raise UnhandledError(f"{self.__class__.__name__} does not say what to do with {type}")
        return visit(type)


class TypeVisitor(TypeFunctor):
    """Visits everything that a type is made of."""

    def _leave(self, type: Visited) -> None:
        """There is nothing within."""

    visit_type_var = visit_incomplete_type = visit_tensor_type = visit_global_type_var = _leave

    def visit_func_type(self, type: FunctionType) -> None:
        """Parameters, then results."""
        for each in (*type.inputs.data, *type.outputs.data):
            self.visit(each)

    def visit_tuple_type(self, type: TupleType) -> None:
        """The fields."""
        for each in type.types.data:
            self.visit(each)

    def visit_ref_type(self, type: RefType) -> None:
        """What it holds."""
        self.visit(type.of)

    def visit_type_call(self, type: AdtType) -> None:
        """The name, then the types that it is called with."""
        self.visit(GlobalTypeVar(type.symbol))
        for each in type.arguments.data:
            self.visit(each)

    def visit_type_relation(self, relation: TypeRelation) -> None:
        """The types."""
        for each in relation.args:
            self.visit(each)

    def visit_type_data(self, definition: TypeData) -> None:
        """The name, then the parameters."""
        self.visit(definition.header)
        for each in definition.type_vars:
            self.visit(each)


class TypeMutator(TypeFunctor):
    """Makes another type: what a visit does not change is made as it is, of changed types."""

    def _same(self, type: Any) -> Any:
        return type

    visit_type_var = visit_incomplete_type = visit_tensor_type = visit_global_type_var = visit_type_data = _same

    def visit_func_type(self, type: FunctionType) -> Attribute:
        """A function type of changed types."""
        inputs, outputs = (list(map(self.visit, types.data)) for types in (type.inputs, type.outputs))
        return FunctionType.from_lists(inputs, outputs)

    def visit_tuple_type(self, type: TupleType) -> Attribute:
        """A tuple of changed types."""
        return tuple_type(*map(self.visit, type.types))

    def visit_ref_type(self, type: RefType) -> Attribute:
        """A reference to a changed type."""
        return RefType(self.visit(type.of))

    def visit_type_call(self, type: AdtType) -> Attribute:
        """The data type of changed types; its name may be changed too."""
        name: GlobalTypeVar = self.visit(GlobalTypeVar(type.symbol))
        return AdtType(name.name_hint, list(map(self.visit, type.arguments.data)))

    def visit_type_relation(self, relation: TypeRelation) -> TypeRelation:
        """The relation of changed types."""
        return replace(relation, args=list(map(self.visit, relation.args)))

"""Walks over types."""

from __future__ import annotations

from typing import Any

import pytest

from weft import relay
from weft.dialects.support.diagnostics import UsageError

relay: Any = relay
A = relay.TypeVar("a")
FLOATS = relay.TensorType((2, relay.Any()), "float32")
LIST = relay.GlobalTypeVar("List")
TYPES = [
    A,
    FLOATS,
    relay.IncompleteType(),
    relay.FuncType([FLOATS, A], relay.TupleType([A])),
    relay.TupleType([relay.TupleType([]), FLOATS]),
    relay.RefType(FLOATS),
    LIST(relay.TupleType([A])),
]


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_every_kind_is_visited_and_made_again(type: Any) -> None:
    with pytest.raises(NotImplementedError, match="TypeFunctor does not say what to do with"):
        relay.TypeFunctor().visit(type)
    relay.TypeVisitor().visit(type)
    assert relay.TypeMutator().visit(type) == type


def test_an_incomplete_type_stands_for_a_type() -> None:
    incomplete = relay.IncompleteType(relay.TypeKind.Type)
    assert incomplete == relay.IncompleteType() == relay.exp(relay.Var("x")).checked_type
    assert isinstance(incomplete, relay.IncompleteType) and not isinstance(FLOATS, relay.IncompleteType)
    with pytest.raises(UsageError, match="an incomplete type is to stand for a ShapeVar, and types are made of types"):
        relay.IncompleteType(relay.TypeKind.ShapeVar)


def test_definitions_and_names_are_visited() -> None:
    seen: list[Any] = []

    class Names(relay.TypeVisitor):
        def visit_type_var(self, type: Any) -> None:
            seen.append(type)

        def visit_global_type_var(self, type: Any) -> None:
            seen.append(type.name_hint)

    data = relay.TypeData(relay.GlobalTypeVar("Pair"), [A], [])
    Names().visit(data)
    Names().visit(LIST(A))
    assert seen == ["Pair", A, "List", A]
    assert relay.TypeMutator().visit(data) is data
    with pytest.raises(NotImplementedError):
        relay.TypeVisitor().visit(3)


def test_a_change_reaches_every_part() -> None:
    class Halves(relay.TypeMutator):
        def visit_tensor_type(self, type: Any) -> Any:
            return relay.TensorType(type.get_shape()[:1], "float16")

    half, whole = relay.TensorType((2,), "float16"), relay.TensorType((2, 3), "float32")
    within = [
        (relay.FuncType([whole], whole), relay.FuncType([half], half)),
        (relay.TupleType([whole, A]), relay.TupleType([half, A])),
        (relay.RefType(whole), relay.RefType(half)),
        (LIST(whole), LIST(half)),
    ]
    for before, after in within:
        assert Halves().visit(before) == after

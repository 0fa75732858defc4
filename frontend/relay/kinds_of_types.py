"""Whether types are made of what types are made of: TVM's `check_kind`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType, TupleType
from xdsl.ir import Attribute

from ...dialects.relay.types import AdtType, RefType
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from .data import GlobalTypeVar, TypeData, TypeKind, TypeRelation
from .module import IRModule

Kinded: TypeAlias = "Attribute | GlobalTypeVar | TypeData | TypeRelation"


@checked
def check_kind(t: Kinded, mod: IRModule | None = None) -> TypeKind:
    """The kind of a type, which is `Type`. That of the name of a data type is `AdtHandle`, that of its definition
    `TypeData`, that of a relation between types `Constraint`. Data types are looked up in `mod`, if it is given.

    Raises:
        UsageError: a data type is not defined in `mod`, or has another number of parameters than it is given.
    """
    match t:
        case GlobalTypeVar():
            return TypeKind.AdtHandle
        case TypeData():
            for constructor in t.constructors:
                _check_all(constructor.inputs, mod)
            return TypeKind.TypeData
        case TypeRelation():
            _check_all(t.args, mod)
            return TypeKind.Constraint
        case FunctionType():
            _check_all((*t.inputs, *t.outputs), mod)
        case TupleType():
            _check_all(t.types, mod)
        case RefType():
            check_kind(t.of, mod)
        case AdtType():
            if mod is not None:
                _check_defined(t, mod)
            _check_all(t.arguments, mod)
        case _:
            pass
    return TypeKind.Type


def _check_all(types: Iterable[Attribute], mod: IRModule | None) -> None:
    for each in types:
        check_kind(each, mod)


def _check_defined(type: AdtType, mod: IRModule) -> None:
    definition = mod.type_definitions.get(type.symbol)
    if definition is None:
        raise UsageError(f"the module has no data type '{type.symbol}'")
    if len(definition.type_vars) != len(type.arguments.data):
        raise UsageError(
            f"the data type '{type.symbol}' has {len(definition.type_vars)} parameters, not {len(type.arguments.data)}"
        )

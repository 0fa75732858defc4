"""Data types in Python, under TVM's names: what they are made of, and what makes values of them.

    T, box = relay.TypeVar("T"), relay.GlobalTypeVar("box")
    make = relay.Constructor("make", [T], box)
    module[box] = relay.TypeData(box, [T], [make])
    make(relay.const(1))                         # of type box(tensor<i32>)

A value may be of a type of which not all is known yet, as an empty list is: it is known when it is used, and at last
when it is in a module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from zlib import crc32

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute

from ...dialects.relay import types
from ...dialects.relay.data import AdtOp, ConstructOp
from ...dialects.relay.types import AdtType, ParamType, instance, merged
from ...dialects.support.algebraic import ADT
from ...dialects.support.arguments import checked, checked_methods
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.retyping import retype
from .expr import Expr, Operand, as_value
from .state import note_fields


class TypeKind(IntEnum):
    """What a type variable stands for, under TVM's names."""

    Type = 0
    ShapeVar = 1
    BaseType = 2
    Constraint = 4
    AdtHandle = 5
    TypeData = 6


@checked
def TypeVar(name_hint: str, kind: TypeKind | int = TypeKind.Type) -> ParamType:
    """A type that is left open: a parameter of a data type, or of a function for any types.

    Raises:
        UsageError: it is to stand for something else than a type, such as an extent.
    """
    _check_kind(f"the type variable '{name_hint}'", kind)
    return ParamType(name_hint)


def _check_kind(what: str, kind: TypeKind | int) -> None:
    if kind != TypeKind.Type:
        other = TypeKind(kind).name if kind in set(TypeKind) else kind
        raise UsageError(
            f"{what} is to stand for a {other}, and types are made of types",
            hint="an extent that is not known is relay.Any()",
        )


class _Incomplete(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, types.IncompleteType)


class IncompleteType(metaclass=_Incomplete):
    """A type that is not known yet; all of them are one.

    Raises:
        UsageError: it is to stand for something else than a type, such as an extent.
    """

    @checked
    def __new__(cls, kind: TypeKind | int = TypeKind.Type) -> types.IncompleteType:
        _check_kind("an incomplete type", kind)
        return types.IncompleteType()


class GlobalTypeVar:
    """The name of a data type: called with types for its parameters, it is a type.

    Args:
        name_hint: the name.
        kind: what a name of a data type stands for.

    Raises:
        UsageError: it is to stand for something else.
    """

    def __init__(self, name_hint: str, kind: TypeKind | int = TypeKind.AdtHandle):
        if kind != TypeKind.AdtHandle:
            raise UsageError(f"the data type '{name_hint}' is a name of kind AdtHandle", hint="relay.TypeVar is a type")
        self.name_hint = name_hint
        self.data: TypeData | None = None

    def __call__(self, *args: Attribute) -> AdtType:
        """The data type, of these types.

        Raises:
            UsageError: its definition has another number of parameters.
        """
        if self.data is not None and len(args) != len(self.data.type_vars):
            raise UsageError(f"{self!r} takes {len(self.data.type_vars)} types, not {len(args)}")
        return AdtType(self.name_hint, list(args))

    def definition(self) -> TypeData:
        """What is known of it.

        Raises:
            UsageError: there is no `TypeData` of it.
        """
        if self.data is None:
            raise UsageError(f"{self!r} has no definition: make a relay.TypeData of it first")
        return self.data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GlobalTypeVar) and other.name_hint == self.name_hint

    def __hash__(self) -> int:
        return hash(self.name_hint)

    def __repr__(self) -> str:
        return f"relay data type {self.name_hint}"


@checked
def TypeCall(func: GlobalTypeVar, args: Sequence[Attribute]) -> AdtType:
    """A data type with types for its parameters."""
    return func(*args)


@checked_methods
@dataclass(frozen=True)
class TypeRelation:
    """That types have something to do with one another, as TVM notes it. An operator's class says here what its types
    have to do with one another, so that this is only looked at: by `check_kind` and walks over types.

    Args:
        func: what decides it, in TVM.
        args: the types, those of operands first.
        num_inputs: how many are of operands.
        attrs: the attributes that decide as well.
    """

    func: object
    args: Sequence[Attribute]
    num_inputs: int
    attrs: object = None


@dataclass(eq=False)
class Constructor:
    """What makes values of a data type; a call of it is one.

    Args:
        name_hint: the name.
        inputs: the types of the fields, in terms of the data type's parameters.
        belong_to: the data type.
    """

    name_hint: str
    inputs: Sequence[Attribute]
    belong_to: GlobalTypeVar

    @property
    def tag(self) -> int:
        """A number that tells it from other constructors: its place among those of its type, behind a number above bit
        16 that follows from the type's name, and is not 0."""
        return (1 + crc32(self.belong_to.name_hint.encode()) % 0x7FFE << 16) + self.place

    @property
    def place(self) -> int:
        """Its place among the constructors of its type."""
        return self.belong_to.definition().constructors.index(self)

    def __call__(self, *args: Operand) -> Expr:
        """A value with these fields; the types of each say what the others are.

        Raises:
            UsageError: it has another number of fields, or its type is not defined yet.
        """
        definition = self.belong_to.definition()
        if len(args) != len(self.inputs):
            raise UsageError(f"'{self.name_hint}' has {len(self.inputs)} fields, not {len(args)}")
        values = [as_value(arg) for arg in args]
        *fields, type = instance([*self.inputs, definition.type], [value.type for value in values])
        for value, declared in zip(values, fields, strict=True):
            retype(value, merged(value.type, declared))
        assert isinstance(type, AdtType)
        return Expr(ConstructOp(self.name_hint, values, type).result)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constructor) and self._names() == other._names()

    def __hash__(self) -> int:
        return hash(self._names())

    def _names(self) -> tuple[str, str]:
        return self.belong_to.name_hint, self.name_hint

    def __repr__(self) -> str:
        return f"relay constructor {self.name_hint} of {self.belong_to.name_hint}"


@checked_methods
@dataclass(eq=False)
class TypeData:
    """The definition of a data type: its parameters, and its constructors.

    Args:
        header: its name.
        type_vars: its parameters.
        constructors: what makes values of it; their places are their tags.
    """

    header: GlobalTypeVar
    type_vars: Sequence[ParamType]
    constructors: Sequence[Constructor] = field(default_factory=list[Constructor])

    def __post_init__(self) -> None:
        self.type_vars, self.constructors = list(self.type_vars), list(self.constructors)
        self.header.data = self
        for each in self.constructors:
            note_fields(self.header.name_hint, each.inputs)

    @property
    def type(self) -> AdtType:
        """The type, of its own parameters."""
        return AdtType(self.header.name_hint, list(self.type_vars))

    def op(self) -> AdtOp:
        """The operation that defines it."""
        fields = {each.name_hint: list(each.inputs) for each in self.constructors}
        return AdtOp(self.header.name_hint, [each.label.data for each in self.type_vars], fields)

    @staticmethod
    @checked
    def of(definition: AdtOp) -> TypeData:
        """What an operation defines."""
        header = GlobalTypeVar(definition.sym_name.data)
        pairs = zip(definition.names, definition.fields, strict=True)
        constructors = [Constructor(name, list(types), header) for name, types in pairs]
        return TypeData(header, [ParamType(StringAttr(each.data)) for each in definition.params], constructors)


@ADT.register
@dataclass(frozen=True)
class ConstructorValue:
    """A value of a data type, as `relay.create_executor().evaluate` takes and gives it: how it was made, and of what.
    It has its fields as a tuple has."""

    tag: int
    fields: Sequence[object]
    constructor: Constructor

    def __len__(self) -> int:
        return len(self.fields)

    def __getitem__(self, index: int) -> object:
        return self.fields[index]

    def __bool__(self) -> bool:
        """A value is there, whether or not it has fields."""
        return True


@dataclass(eq=False)
class RefValue:
    """A reference, as `relay.create_executor().evaluate` gives it: what it refers to."""

    value: object

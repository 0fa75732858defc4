"""Vectors as values of expressions: lanes that are counted up, or all the same, and what meets lanes.

A number beside a vector is that number in each lane; types of elements meet as those of numbers do.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Number
from typing import cast as cast_type

from xdsl.dialects.builtin import VectorType, i1, i32
from xdsl.ir import Attribute

from ..support.arguments import ArgumentError, checked
from ..support.hints import isa
from .element_types import element_type
from .expr import Cast, Expr, ExprLike, as_expr, cast, const
from .kinds import common_type, index


def lanes_of(type: Attribute) -> tuple[Attribute, int | None]:
    """The type of an element, and the number of lanes; none of a number."""
    return (type.element_type, type.get_shape()[0]) if isa(type, VectorType[Attribute]) else (type, None)


def operand(value: ExprLike, other: ExprLike) -> Expr:
    """An operand, a number being of the type of the other."""
    if isinstance(value, Expr):
        return value
    if isinstance(other, Expr):
        return as_expr(value, other.type)
    if not isinstance(cast_type("object", value), Number):
        raise ArgumentError(f"te: no number and no expression: {value!r}")
    return const(value, i1 if isinstance(value, bool) else i32 if isinstance(value, int) else element_type("float32"))


def index_like(value: ExprLike) -> Expr:
    """An expression as it is, and a number as an index."""
    return value if isinstance(value, Expr) else as_expr(value, index)


def _check_lanes(what: str, lanes: int) -> None:
    if lanes < 1:
        raise ArgumentError(f"te: {what} has one lane or more, and not {lanes}")


@dataclass(frozen=True, eq=False)
class Ramp(Expr):
    """`base`, `base + stride`, ... in `lanes` lanes.

    Raises:
        ArgumentError: there is no lane.
    """

    base: Expr
    stride: Expr
    lanes: int

    @checked
    def __init__(self, base: ExprLike, stride: ExprLike, lanes: int):
        _check_lanes("Ramp", lanes)
        object.__setattr__(self, "base", operand(base, index_like(stride)))
        object.__setattr__(self, "stride", operand(stride, self.base))
        object.__setattr__(self, "lanes", lanes)

    @property
    def type(self) -> Attribute:  # pyright: ignore[reportIncompatibleVariableOverride]
        return VectorType(self.base.type, [self.lanes])


@dataclass(frozen=True, eq=False)
class Broadcast(Expr):
    """`value` in each of `lanes` lanes.

    Raises:
        ArgumentError: there is no lane.
    """

    value: Expr
    lanes: int

    @checked
    def __init__(self, value: ExprLike, lanes: int):
        _check_lanes("Broadcast", lanes)
        object.__setattr__(self, "value", operand(value, value))
        object.__setattr__(self, "lanes", lanes)

    @property
    def type(self) -> Attribute:  # pyright: ignore[reportIncompatibleVariableOverride]
        return VectorType(self.value.type, [self.lanes])


def matched(what: str, a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Two values, one of them a vector, as vectors of one type.

    Raises:
        TypeError: they have different numbers of lanes, or elements of types that do not meet.
    """
    (one, lanes), (other, others) = lanes_of(a.type), lanes_of(b.type)
    type = common_type(one, other)
    if type is None or (lanes is not None and others is not None and lanes != others):
        raise TypeError(f"te: {what} have different types: {a.dtype} and {b.dtype}")
    count = lanes or others or 1
    return converted(a, VectorType(type, [count])), converted(b, VectorType(type, [count]))


def converted(value: Expr, type: Attribute) -> Expr:
    """A value as a vector of a type: a number in each lane, or lane by lane.

    Raises:
        TypeError: a vector of another number of lanes.
    """
    (element, lanes), (_, given) = lanes_of(type), lanes_of(value.type)
    if value.type == type:
        return value
    if given is not None and given != lanes:
        raise TypeError(f"te: no {given} lanes are {lanes}")
    return Broadcast(cast(value, element), lanes or 1) if given is None else Cast(value, type)


Expr.matched_lanes = staticmethod(matched)
Expr.converted_lanes = staticmethod(converted)

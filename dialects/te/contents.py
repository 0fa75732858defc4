"""What a small tensor of integers holds, as far as it follows from constants and from extents: `[n, m * 4, 64]`.

A number is an integer, a truth value, a float that is a constant, or index arithmetic on symbols (`te.dims`); `None` is
what data decides. So shapes that a graph computes are known as extents, whatever they are computed by.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from itertools import product
from typing import TypeAlias

from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Attribute

from ..support.hints import isa
from .assume import at_most
from .dim_order import extreme, sign_always, surely_at_most
from .dims import Compound, Dim, Symbol, as_signed, is_told, quotient, variables
from .expr import (
    Binary,
    BinaryKind,
    Cast,
    Check,
    Const,
    Expr,
    IterVar,
    Select,
    Unary,
    UnaryKind,
)
from .literals import held
from .reduction import COMBINER, Reduce
from .tensor import Read, Tensor

Number: TypeAlias = "Dim | float | None"
"""What an element is; `None` where data decides."""

MAX_ELEMENTS = 64
"""Of tensors with more elements nothing is said."""

MAX_POWER = 64
"""Beyond this power of integers nothing is said: no type holds it, but of 0, 1 and -1."""

MAX_SMALL = 16
"""The bits of integers that may not hold the sizes of tensors."""

B, U = BinaryKind, UnaryKind


def contents(tensor: Tensor) -> list[Number] | None:
    """The elements of `tensor`, row by row; `None` where there are too many, or nobody knows how many."""
    count = 1
    for dim in tensor.dims:
        if not isinstance(dim, int):
            return None
        count *= dim
    if count > MAX_ELEMENTS:
        return None
    reader = _Reader()
    places = product(*(range(dim) for dim in tensor.dims if isinstance(dim, int)))
    return [reader.element(tensor, place) for place in places]


class _Reader:
    """Reads elements, each once."""

    def __init__(self) -> None:
        self.known: dict[tuple[Tensor, tuple[int, ...]], Number] = {}

    def element(self, tensor: Tensor, place: tuple[int, ...]) -> Number:
        if (key := (tensor, place)) not in self.known:
            self.known[key] = self._element(tensor, place)
        return self.known[key]

    def _element(self, tensor: Tensor, place: tuple[int, ...]) -> Number:
        if tensor.producer is None:
            return None
        at = dict(zip(tensor.producer.axes, place, strict=True))
        body = tensor.producer.body
        if not isinstance(body, Reduce):
            return self.value(body, at)
        extents = [axis.dim for axis in body.axes]
        if any(not isinstance(extent, int) or extent > MAX_ELEMENTS for extent in extents):
            return None
        total: Number = None if body.start is None else self.value(body.start, at)
        if total is None and body.start is not None:
            return None
        steps = product(*(range(axis.start, axis.start + axis.dim) for axis in body.axes if isinstance(axis.dim, int)))
        for number, step in enumerate(steps):
            if number > MAX_ELEMENTS:
                return None
            one = self.value(body.operand, {**at, **dict(zip(body.axes, step, strict=True))})
            total = one if total is None else _held(_binary(COMBINER[body.kind], total, one), body.operand.type)
            if total is None:
                return None
        return total

    def value(self, expr: Expr, at: Mapping[IterVar, int]) -> Number:
        match expr:
            case Symbol() | Compound():
                return expr
            case Const(value):
                return value
            case IterVar():
                return at.get(expr)
            case Read(tensor, indices):
                places = [self.value(index, at) for index in indices]
                inside = [
                    place
                    for place, dim in zip(places, tensor.dims, strict=True)
                    if isinstance(place, int) and place >= 0 and (not isinstance(dim, int) or place < dim)
                ]
                return self.element(tensor, tuple(inside)) if len(inside) == len(places) else None
            case Select(condition, then, otherwise):
                holds = self.value(condition, at)
                if not isinstance(holds, bool):
                    return None
                return self.value(then if holds else otherwise, at)
            case Binary(kind, lhs, rhs):
                return _held(_binary(kind, self.value(lhs, at), self.value(rhs, at)), expr.type)
            case Unary(kind, operand):
                return _held(_unary(kind, self.value(operand, at)), expr.type)
            case Cast(operand, type):
                return _held(_cast(self.value(operand, at), type), type)
            case Check(operand, _, dim):
                inside = self.value(operand, at)
                return inside if isinstance(inside, int) and isinstance(dim, int) and 0 <= inside < dim else None
            case _:
                return None


def _held(value: Number, type: Attribute) -> Number:
    """A number as its type holds it: a float rounded; of an integer that it does not hold nothing is said, nor of one
    that is made of symbols, where the type is too small for them."""
    if value is None or not isinstance(value, Expr):
        return None if value is None else held(value, type)
    return None if is_small_integer(type) else value


def is_small_integer(type: Attribute) -> bool:
    """Whether a type is one of integers that wrap around at sizes which tensors have."""
    return isa(type, IntegerType) and 1 < type.width.data <= MAX_SMALL


def _cast(value: Number, type: object) -> Number:
    match type:
        case IntegerType() if type.width.data == 1:
            sign = None if value is None or isinstance(value, float) else sign_always(value)
            return bool(value) if isinstance(value, int | float) else None if sign is None else sign != 0
        case _ if isinstance(type, AnyFloat):
            return float(value) if isinstance(value, int) else value
        case IntegerType():
            width = type.width.data
            if isinstance(value, float):
                value = int(value) if math.isfinite(value) else None
            return value if not isinstance(value, int) or abs(value) < 1 << (width - 1) else None
        case _:  # an index
            return int(value) if isinstance(value, int) else None if isinstance(value, float) else value


_COMPARISONS: dict[BinaryKind, Callable[[float, float], bool]] = {
    B.EQ: operator.eq, B.NE: operator.ne, B.LT: operator.lt, B.LE: operator.le, B.GT: operator.gt, B.GE: operator.ge,
}  # fmt: skip
_LOGIC: dict[BinaryKind, Callable[[bool, bool], bool]] = {
    B.AND: lambda a, b: a and b,
    B.OR: lambda a, b: a or b,
    B.XOR: lambda a, b: a != b,
}


def _binary(kind: BinaryKind, a: Number, b: Number) -> Number:
    if isinstance(a, bool) and isinstance(b, bool) and kind in _LOGIC:
        return _LOGIC[kind](a, b)
    if a is None or b is None:
        return None
    if kind in _COMPARISONS:
        if not (isinstance(a, Expr) or isinstance(b, Expr)):
            return _COMPARISONS[kind](a, b)
        if (difference := _binary(B.SUB, a, b)) is None or isinstance(difference, float):
            return None
        sign = sign_always(difference)
        if sign is None and kind in (B.EQ, B.NE) and (_is_asked_above(a, b) or _is_asked_above(b, a)):
            return kind == B.NE
        return None if sign is None else _COMPARISONS[kind](sign, 0)
    if isinstance(a, Expr | float) and isinstance(b, Expr | float) and isinstance(a, Expr) != isinstance(b, Expr):
        a = _whole(a)
        b = _whole(b)
        if a is None or b is None:
            return None
    try:
        return _arithmetic(kind, a, b)
    except (TypeError, ZeroDivisionError, OverflowError, ValueError):
        return None


def _is_asked_above(a: Number, b: Number) -> bool:
    """Whether `b` is below zero, as the -1 of shapes, and `a` is not, or is asked not to be. A number that somebody
    tells may be the -1."""
    if not isinstance(a, Expr) or not isinstance(b, int) or b >= 0:
        return False
    return not any(map(is_told, variables([a]))) and at_most(0, a)


def _whole(value: Number) -> Number:
    """A float that is an integer, beside an extent that was made a float."""
    return int(value) if isinstance(value, float) and value.is_integer() else value if isinstance(value, Expr) else None


def _arithmetic(kind: BinaryKind, a: Dim | float, b: Dim | float) -> Number:
    match kind:
        case B.ADD:
            return as_signed(a + b)
        case B.SUB:
            return as_signed(a - b)
        case B.MUL:
            return as_signed(a * b)
        case B.DIV if not isinstance(a, Expr) and not isinstance(b, Expr):
            if isinstance(a, float) or isinstance(b, float):
                return a / b
            return int(a / b) if abs(a) < 1 << 50 else None
        case B.DIV | B.FLOORDIV | B.FLOORMOD | B.TRUNCMOD if not isinstance(a, float) and not isinstance(b, float):
            if kind in (B.DIV, B.TRUNCMOD):
                if (whole := _toward_zero(a, b)) is None:
                    return None
            elif not (isinstance(a, Expr) or isinstance(b, Expr)):
                return a // b if kind == B.FLOORDIV else a % b
            else:
                whole = quotient(a, b)
            return whole if kind in (B.DIV, B.FLOORDIV) else as_signed(a - whole * b)
        case B.MIN | B.MAX:
            if isinstance(a, float) or isinstance(b, float):
                return (min if kind == B.MIN else max)(a, b)
            return extreme(kind, a, b)
        case B.POW if isinstance(a, int | float) and isinstance(b, int | float) and abs(b) <= MAX_POWER:
            power = a**b
            return power if isinstance(power, int | float) else None
        case _:
            return None


def _toward_zero(a: Dim, b: Dim) -> Dim | None:
    """`a / b`, rounded toward zero. Nothing is said where an extent may be below zero and `b` is no positive number."""
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    if surely_at_most(0, a) and at_most(0, a):
        return quotient(a, b)
    if not isinstance(b, int) or b <= 0:
        return None
    above = quotient(extreme(B.MAX, a, 0), b)
    if surely_at_most(1 - b, a) and at_most(1 - b, a):
        return above
    return above - quotient(extreme(B.MAX, a * -1, 0), b)


def _unary(kind: UnaryKind, value: Number) -> Number:
    match kind, value:
        case _, None:
            return None
        case U.NOT, bool():
            return not value
        case U.NEG, _:
            return as_signed(-value)
        case ((U.FLOOR | U.CEIL | U.ROUND | U.TRUNC), Expr()):
            return value
        case ((U.FLOOR | U.CEIL | U.TRUNC), float()) if math.isfinite(value):
            return float({U.FLOOR: math.floor, U.CEIL: math.ceil, U.TRUNC: math.trunc}[kind](value))
        case U.SQRT, float() if value >= 0:
            return math.sqrt(value)
        case U.ABS, int() | float():
            return abs(value)
        case U.ABS, Symbol() | Compound():
            return extreme(B.MAX, value, value * -1)
        case _:
            return None

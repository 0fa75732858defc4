"""Arithmetic of literals, done where an expression is built: the number that the machine would compute.

Integers wrap, a division by zero is left for the machine; floats are rounded as their type rounds, and what no literal
of a type is (a float beyond its numbers turned into an integer) is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, isfinite, trunc
from struct import pack, unpack

from xdsl.dialects.builtin import Float16Type, Float32Type, Float64Type, IntegerType, Signedness, i1
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from .kinds import BinaryKind as B
from .kinds import UnaryKind as U
from .kinds import index

Number = int | float | bool

_ALIKE: dict[B, Callable[[float, float], Number]] = {
    B.ADD: lambda a, b: a + b,
    B.SUB: lambda a, b: a - b,
    B.MUL: lambda a, b: a * b,
    B.EQ: lambda a, b: a == b,
    B.NE: lambda a, b: a != b,
    B.LT: lambda a, b: a < b,
    B.LE: lambda a, b: a <= b,
    B.GT: lambda a, b: a > b,
    B.GE: lambda a, b: a >= b,
}
_INTEGERS: dict[B, Callable[[int, int], int]] = {
    B.MIN: min,
    B.MAX: max,
    B.AND: lambda a, b: a & b,
    B.OR: lambda a, b: a | b,
    B.XOR: lambda a, b: a ^ b,
}
_DIVISIONS: dict[B, Callable[[int, int], int]] = {
    B.FLOORDIV: lambda a, b: a // b,
    B.FLOORMOD: lambda a, b: a % b,
    B.DIV: lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    B.TRUNCMOD: lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
}
_ROUNDINGS: dict[U, Callable[[float], float]] = {U.FLOOR: floor, U.CEIL: ceil, U.TRUNC: trunc, U.ROUND: round}


def is_whole(type: Attribute) -> bool:
    """Whether the numbers of a type are integers."""
    return type == index or isa(type, IntegerType)


def wrapped(value: int, type: Attribute) -> int:
    """What a register of an integer's type holds of a number."""
    bits = type.width.data if isa(type, IntegerType) else 64
    unsigned = isa(type, IntegerType) and (type.signedness.data == Signedness.UNSIGNED or bits == 1)
    rest = value & ((1 << bits) - 1)
    return rest if unsigned or rest < 1 << bits - 1 else rest - (1 << bits)


def rounded(value: float, type: Attribute) -> float | None:
    """The number of a float's type nearest to one; `None` of a type whose numbers Python has not."""
    if isinstance(type, Float64Type):
        return value
    if not isinstance(type, Float16Type | Float32Type):
        return None
    if not isfinite(value):
        return value
    form = "f" if isinstance(type, Float32Type) else "e"
    try:
        return unpack(form, pack(form, value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def combined(kind: B, a: Number, b: Number, type: Attribute) -> Number | None:
    """`kind` of two literals of `type`; `None` where it is left to the machine."""
    if is_whole(type):
        return _of_integers(kind, int(a), int(b), type)
    if kind.is_comparison:
        return _ALIKE[kind](a, b)
    if kind == B.DIV and b:
        made = a / b
    elif kind in _ALIKE:
        made = float(_ALIKE[kind](a, b))
    else:
        return None
    return rounded(made, type)


def _of_integers(kind: B, a: int, b: int, type: Attribute) -> Number | None:
    if kind.is_comparison:
        return _ALIKE[kind](a, b)
    if kind in _DIVISIONS:
        return wrapped(_DIVISIONS[kind](a, b), type) if b and type != i1 else None
    if type == i1 and kind not in (B.AND, B.OR, B.XOR):
        return None
    if kind in (B.SHL, B.SHR):
        bits = type.width.data if isa(type, IntegerType) else 64
        return wrapped(a << b if kind == B.SHL else a >> b, type) if 0 <= b < bits else None
    made = _ALIKE.get(kind) or _INTEGERS.get(kind)
    return None if made is None else wrapped(int(made(a, b)), type)


def applied(kind: U, a: Number, type: Attribute) -> Number | None:
    """`kind` of a literal of `type`; `None` where it is left to the machine."""
    if is_whole(type):
        made = {U.NEG: -int(a), U.ABS: abs(int(a)), U.NOT: ~int(a)}.get(kind)
        return None if made is None else wrapped(made, type)
    if kind in _ROUNDINGS and isfinite(a):
        made = float(_ROUNDINGS[kind](a))
        return made if made else a * 0.0  # a zero keeps its sign
    return {U.NEG: -a, U.ABS: abs(a)}.get(kind)


def converted(value: Number, given: Attribute, type: Attribute) -> Number | None:
    """A literal of one type as one of another; `None` where it is left to the machine."""
    if is_whole(type):
        if type == i1:
            return bool(value)
        if not isfinite(value):
            return None
        whole = trunc(value)
        exact = is_whole(given) or wrapped(whole, type) == whole
        return wrapped(whole, type) if exact else None
    return rounded(float(value), type) if -(1 << 53) <= value <= 1 << 53 or isinstance(value, float) else None

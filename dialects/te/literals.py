"""Arithmetic of literals, done where an expression is built: the number that the machine would compute.

Integers wrap, a division by zero is left for the machine; floats are rounded as their type rounds, and what no literal
of a type is (a float beyond its numbers turned into an integer) is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, copysign, floor, frexp, inf, isfinite, ldexp, trunc
from struct import pack, unpack

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
    i1,
)
from xdsl.ir import Attribute

from ..support.dtypes import is_small_float, numpy_dtype
from ..support.hints import isa
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


def holds(type: IntegerType | IndexType, value: int) -> bool:
    """Whether `value` is one of an integer type's; a type that does not say so has a sign."""
    if isinstance(type, IndexType):
        return -(1 << 63) <= value < 1 << 63
    width = type.width.data
    if type.signedness.data == Signedness.UNSIGNED:
        return 0 <= value < 1 << width
    return -(1 << width - 1) <= value < 1 << width - 1


def held(value: Number, type: Attribute) -> Number | None:
    """What a literal of a type holds of a number; `None` where it is no integer of the type's. A float is rounded to
    the nearest, halves to even, and to an infinity beyond them."""
    if isa(type, IntegerType) and type.width.data == 1:
        return bool(value)
    if isa(type, IntegerType | IndexType):
        is_number = isinstance(value, int) or isfinite(value)
        return int(value) if is_number and holds(type, int(value)) else None
    number = value if isinstance(value, float) else _wide(int(value), type)
    if is_small_float(type):
        return float(numpy_dtype(type).type(number))
    return rounded(number, type)


def _wide(value: int, type: Attribute) -> float:
    """An integer as a float that rounds to a float's type as it would: of more than 53 bits, with the last of the 53
    set where one beyond them is."""
    size = abs(value)
    lost = size.bit_length() - 53
    try:
        if lost <= 0 or isinstance(type, Float64Type):
            return float(value)
        kept = size >> lost
        wide = ldexp(kept | (kept << lost != size), lost)
        return wide if value >= 0 else -wide
    except OverflowError:
        return inf if value >= 0 else -inf


_PACKED: dict[object, str] = {Float32Type: "f", Float16Type: "e"}


def rounded(value: float, type: Attribute) -> float:
    """The number of a float's type nearest to one, halves to even."""
    if isinstance(type, Float64Type) or not isfinite(value):
        return value
    if isinstance(type, BFloat16Type):
        return _short(value)
    form = _PACKED.get(type.__class__)
    if form is None:
        return value
    try:
        return unpack(form, pack(form, value))[0]
    except OverflowError:
        return copysign(inf, value)


def _short(value: float) -> float:
    """The bf16 nearest to a finite number: 8 bits, the last of them not below 2 ** -133."""
    last = max(frexp(value)[1] - 8, -133)
    number = copysign(ldexp(round(ldexp(value, -last)), last), value)
    return number if abs(number) < 2.0**128 else copysign(inf, value)


def shortest(value: Number, type: Attribute) -> Number:
    """A literal with the fewest digits that say which number of its type it is: `0.1`, not `0.10000000149011612`."""
    if not isinstance(value, float) or isinstance(type, Float64Type) or not isfinite(value):
        return value
    return next((short for n in range(1, 10) if held(short := float(f"{value:.{n}g}"), type) == value), value)


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
    return held(value, type)

"""Variables under TVM's names, with the bounds of their types; conversions between types."""

from __future__ import annotations

import re
from itertools import count

from ...support.arguments import ArgumentError, checked
from .build import truth, wrap
from .nodes import CONVERSIONS, ExprLike, Flag, IntExpr, Var, as_expr
from .nodes import var as keyed

_TYPE = re.compile(r"(u?)int(\d+)")
_number = count(1)


def width_of(dtype: str) -> tuple[int, bool]:
    """The bits of an integer type, and whether it has a sign.

    Raises:
        ArgumentError: it is no integer type.
    """
    if dtype == "bool":
        return 1, False
    if dtype == "index":
        return 64, True
    if (found := _TYPE.fullmatch(dtype)) is None or not int(found[2]):
        raise ArgumentError(f"'{dtype}' is no integer type: int32, uint8, bool, index ...")
    return int(found[2]), not found[1]


def _typed(name: str, low: int | None, high: int | None, kind: type[Var] = Var) -> IntExpr:
    number = next(_number)
    return keyed(("typed", number), name, kind, (low, high), number)


@checked
def var(name: str = "v", dtype: str = "int32") -> IntExpr:
    """A new variable, which equals no other of its name. Its values are those of `dtype`; those of 64 bits stand for
    all integers of their sign."""
    bits, signed = width_of(dtype)
    if dtype == "bool":
        return _typed(name, 0, 1, Flag)
    low = (-(1 << (bits - 1)) if bits < 64 else None) if signed else 0
    return _typed(name, low, (1 << (bits - signed)) - 1 if bits < 64 else None)


@checked
def size_var(name: str = "size", dtype: str = "int32") -> IntExpr:
    """A new variable that is not negative: a size, of any magnitude."""
    width_of(dtype)
    return _typed(name, 0, None)


@checked
def cast(dtype: str, value: ExprLike) -> IntExpr:
    """`value` converted to an integer type: what a register of it holds, or whether it is not zero."""
    bits, signed = width_of(dtype)
    value = as_expr(value)
    if dtype == "bool":
        return truth(value)
    return value if bits >= 64 and signed else wrap(value, bits, signed)


CONVERSIONS.append(cast)

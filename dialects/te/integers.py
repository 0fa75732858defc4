"""Index expressions as the analyzer's, each variable being the one that it is there."""

from __future__ import annotations

from collections.abc import Mapping

from ..tir.analyzer import Const as Integer
from ..tir.analyzer import IntExpr, maximum, minimum, var
from ..tir.analyzer import const as integer
from ..tir.analyzer.build import floordiv, floormod
from .dims import form_of
from .expr import Binary, Cast, Check, Const, Expr, IterVar, Slot, Var
from .kinds import BinaryKind


def variable_of(axis: IterVar | Slot | Var) -> IntExpr:
    """The analyzer's variable for an axis, a loop's variable or a symbol: the same each time."""
    return form_of(axis) if isinstance(axis, Var) else var(axis, axis.name)


def integer_of(expr: Expr, values: Mapping[Expr, IntExpr] | None = None) -> IntExpr | None:
    """An index as an expression of the analyzer's, with some variables having `values`; `None` where it depends on
    data, or divides by what is no positive number."""
    given = values or {}
    match expr:
        case IterVar() | Slot():
            return given.get(expr, variable_of(expr))
        case Var():
            return form_of(expr)
        case Const(value) if not isinstance(value, float):
            return integer(int(value))
        case Cast(operand) | Check(operand):
            return integer_of(operand, given)
        case Binary(kind, lhs, rhs):
            a, b = integer_of(lhs, given), integer_of(rhs, given)
            return None if a is None or b is None else _combined(kind, a, b)
        case _:
            return None


def _combined(kind: BinaryKind, a: IntExpr, b: IntExpr) -> IntExpr | None:
    match kind:
        case BinaryKind.ADD:
            return a + b
        case BinaryKind.SUB:
            return a - b
        case BinaryKind.MUL:
            return a * b
        case BinaryKind.MIN:
            return minimum(a, b)
        case BinaryKind.MAX:
            return maximum(a, b)
        case BinaryKind.FLOORDIV | BinaryKind.FLOORMOD if isinstance(b, Integer) and b.value > 0:
            return floordiv(a, b) if kind == BinaryKind.FLOORDIV else floormod(a, b)
        case _:
            return None

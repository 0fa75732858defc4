"""Functions of integer expressions under TVM's names."""

from __future__ import annotations

from collections.abc import Mapping

from ...support.arguments import checked
from . import build
from .convert import evaluate as evaluate_expression
from .convert import substitute as substitute_in
from .nodes import Const, ExprLike, IntExpr, as_expr


@checked
def const(value: int | bool, dtype: str = "int32") -> IntExpr:
    """The integer `value`, or the condition that always or never holds; its type makes no difference."""
    return as_expr(int(value))


def floordiv(a: ExprLike, b: ExprLike) -> IntExpr:
    """`a` divided by `b`, rounded down.

    Raises:
        ZeroDivisionError: `b` is the constant 0.
    """
    return build.floordiv(as_expr(a), build.not_zero(as_expr(b)))


def floormod(a: ExprLike, b: ExprLike) -> IntExpr:
    """The remainder of `floordiv`: it has the sign of `b`.

    Raises:
        ZeroDivisionError: `b` is the constant 0.
    """
    return build.floormod(as_expr(a), build.not_zero(as_expr(b)))


def truncdiv(a: ExprLike, b: ExprLike) -> IntExpr:
    """`a` divided by `b`, rounded towards zero.

    Raises:
        ZeroDivisionError: `b` is the constant 0.
    """
    return build.truncdiv(a, build.not_zero(as_expr(b)))


def truncmod(a: ExprLike, b: ExprLike) -> IntExpr:
    """The remainder of `truncdiv`: it has the sign of `a`.

    Raises:
        ZeroDivisionError: `b` is the constant 0.
    """
    return build.truncmod(a, build.not_zero(as_expr(b)))


indexdiv, indexmod = floordiv, floormod


def min(*values: ExprLike) -> IntExpr:
    """The least of one or more values."""
    return build.minimum(*values)


def max(*values: ExprLike) -> IntExpr:
    """The greatest of one or more values."""
    return build.maximum(*values)


def all(*conditions: ExprLike) -> IntExpr:
    """The conjunction; true where there are none."""
    return build.all_of(*conditions)


def any(*conditions: ExprLike) -> IntExpr:
    """The disjunction; false where there are none."""
    return build.any_of(*conditions)


def Not(condition: ExprLike) -> IntExpr:
    """Where `condition` does not hold."""
    return build.negate(build.truth(as_expr(condition)))


def if_then_else(condition: ExprLike, then: ExprLike, otherwise: ExprLike) -> IntExpr:
    """`then` where `condition` holds, else `otherwise`, each of which need have a value only there."""
    return build.select(condition, then, otherwise)


Select = if_then_else


def let(variable: ExprLike, value: ExprLike, body: ExprLike) -> IntExpr:
    """`body` with `value` for `variable`."""
    return substitute_in(as_expr(body), {as_expr(variable): as_expr(value)})


def shift_left(a: ExprLike, b: ExprLike) -> IntExpr:
    """`a` times two to the power of `b`."""
    return as_expr(a) << b


def shift_right(a: ExprLike, b: ExprLike) -> IntExpr:
    """`a` divided by two to the power of `b`, rounded down."""
    return as_expr(a) >> b


def bitwise_and(a: ExprLike, b: ExprLike) -> IntExpr:
    """The bits that both have, as two's complement numbers of unbounded length."""
    return as_expr(a) & b


def is_const(expr: ExprLike) -> bool:
    """Whether `expr` is a number."""
    return isinstance(as_expr(expr), Const)


@checked
def substitute(expr: ExprLike, values: Mapping[IntExpr, ExprLike]) -> IntExpr:
    """`expr` with its variables replaced."""
    return substitute_in(as_expr(expr), {variable: as_expr(value) for variable, value in values.items()})


@checked
def evaluate(expr: ExprLike, values: Mapping[IntExpr, int]) -> int:
    """The value of `expr` where its variables have `values`.

    Raises:
        KeyError: a variable has no value.
        ZeroDivisionError: something is divided by zero (on the chosen side of a `Select`).
        ValueError: two to a negative power.
    """
    return evaluate_expression(as_expr(expr), values)

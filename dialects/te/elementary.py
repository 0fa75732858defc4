"""Functions of one number that have an operation of their own in every phase."""

from __future__ import annotations

from .expr import Expr, unary
from .kinds import UnaryKind


def exp(x: Expr) -> Expr:
    return unary(UnaryKind.EXP, x)


def log(x: Expr) -> Expr:
    return unary(UnaryKind.LOG, x)


def sqrt(x: Expr) -> Expr:
    return unary(UnaryKind.SQRT, x)


def rsqrt(x: Expr) -> Expr:
    return unary(UnaryKind.RSQRT, x)


def erf(x: Expr) -> Expr:
    return unary(UnaryKind.ERF, x)


def tanh(x: Expr) -> Expr:
    return unary(UnaryKind.TANH, x)


def sigmoid(x: Expr) -> Expr:
    return unary(UnaryKind.SIGMOID, x)


def sin(x: Expr) -> Expr:
    return unary(UnaryKind.SIN, x)


def cos(x: Expr) -> Expr:
    return unary(UnaryKind.COS, x)


def abs(x: Expr) -> Expr:
    return unary(UnaryKind.ABS, x)


def floor(x: Expr) -> Expr:
    return unary(UnaryKind.FLOOR, x)


def ceil(x: Expr) -> Expr:
    return unary(UnaryKind.CEIL, x)


def round(x: Expr) -> Expr:
    return unary(UnaryKind.ROUND, x)


def trunc(x: Expr) -> Expr:
    return unary(UnaryKind.TRUNC, x)

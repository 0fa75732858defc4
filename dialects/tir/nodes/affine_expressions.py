"""Affine expressions of loops, iterators and symbols as nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from xdsl.dialects.builtin import i1
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from ...te.dims import ceil_divided
from ...te.expr import Const, Dim, Expr, as_expr, binary
from ...te.kinds import BinaryKind as B
from ...te.kinds import index
from ..affine import Linear, linear


def dim(expr: AffineExpr, dims: Sequence[Expr], symbols: Mapping[int, Expr]) -> Dim:
    """An affine expression where dimension `i` is `dims[i]`, and symbol `k` is `symbols[k]`; a number as it is."""
    match expr:
        case AffineConstantExpr(value):
            return value
        case AffineDimExpr(position):
            return dims[position]
        case AffineSymExpr(position):
            return symbols[position]
        case AffineBinaryOpExpr(kind, lhs, rhs):
            a, b = dim(lhs, dims, symbols), dim(rhs, dims, symbols)
            match kind:
                case AffineBinaryOpKind.Add:
                    return a - -b if isinstance(b, int) and b < 0 else a + b
                case AffineBinaryOpKind.Mul:
                    return a * b
                case AffineBinaryOpKind.FloorDiv:
                    return _divided(B.FLOORDIV, a, b)
                case AffineBinaryOpKind.Mod:
                    return _divided(B.FLOORMOD, a, b)
                case AffineBinaryOpKind.CeilDiv:
                    return ceil_divided(a, b)
        case _:
            raise AssertionError(f"{expr} is not affine")


def _divided(kind: B, a: Dim, b: Dim) -> Dim:
    """A quotient or remainder by what is positive: of sizes, an expression of them."""
    try:
        return a // b if kind == B.FLOORDIV else a % b
    except TypeError:  # nothing that the sizes alone say
        return binary(kind, as_expr(a, index), as_expr(b, index))


def expression(expr: AffineExpr, dims: Sequence[Expr], symbols: Mapping[int, Expr]) -> Expr:
    """The same as an expression."""
    return as_expr(dim(expr, dims, symbols), index)


def condition(exprs: Sequence[AffineExpr], dims: Sequence[Expr], symbols: Mapping[int, Expr]) -> Expr:
    """Where all of the expressions are 0 or more."""
    tests = [_not_negative(each, dims, symbols) for each in exprs]
    return reduce(lambda a, b: binary(B.AND, a, b), tests) if tests else Const(True, i1)


def _not_negative(expr: AffineExpr, dims: Sequence[Expr], symbols: Mapping[int, Expr]) -> Expr:
    """`expr >= 0` as people write it: `i * 4 + j < 30`."""
    form = linear(expr)
    less = Linear({atom: -factor for atom, factor in form.terms.items() if factor < 0}, 0)
    more = {atom: factor for atom, factor in form.terms.items() if factor > 0}
    if less.terms:
        end = Linear(more, form.constant + 1).to_expr()
        return binary(B.LT, expression(less.to_expr(), dims, symbols), expression(end, dims, symbols))
    return binary(B.GE, expression(Linear(more, 0).to_expr(), dims, symbols), Const(-form.constant, index))

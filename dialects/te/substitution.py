"""Expressions with some of their parts replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from .. import te

Elsewhere: TypeAlias = Callable[[tuple[te.Expr, ...]], te.Expr]
"""What is read instead of an element of a tensor, by its indices."""


def substitute(
    expr: te.Expr,
    values: Mapping[te.Expr, te.Expr],
    tensors: Mapping[te.Tensor, te.Tensor] | None = None,
    elsewhere: Mapping[te.Tensor, Elsewhere] | None = None,
) -> te.Expr:
    """`expr` with the expressions that `values` has replaced, and reads of `tensors` redirected; those of a tensor in
    `elsewhere` are what that makes of their indices. What is shared stays shared."""
    memo: dict[te.Expr, te.Expr] = dict(values)
    redirected, replaced = tensors or {}, elsewhere or {}

    def new(old: te.Expr) -> te.Expr:
        if old not in memo:
            memo[old] = rebuilt(old)
        return memo[old]

    def rebuilt(old: te.Expr) -> te.Expr:
        match old:
            case te.Unary(kind, operand):
                return te.unary(kind, new(operand))
            case te.Binary(kind, lhs, rhs):
                return te.binary(kind, new(lhs), new(rhs))
            case te.Cast(operand, element):
                return te.cast(new(operand), element)
            case te.Bitcast(operand, element):
                return te.bitcast(new(operand), element)
            case te.Select(condition, then, otherwise):
                return te.select(new(condition), new(then), new(otherwise))
            case te.Check(operand, given, extent, text):
                return te.check(new(operand), extent, text, new(given))
            case te.Read(tensor, indices) if tensor in replaced:
                return replaced[tensor](tuple(map(new, indices)))
            case te.Read(tensor, indices):
                return te.Read(redirected.get(tensor, tensor), tuple(map(new, indices)))
            case te.Reduce(kind, operand, axes, start):
                changed = tuple(axis for old in axes if isinstance(axis := new(old), te.IterVar))
                return te.Reduce(kind, new(operand), changed, None if start is None else new(start))
            case te.Fold(combiner, operands, axes, number, start):
                steps = tuple(step for each in axes if isinstance(step := new(each), te.IterVar))
                first = None if start is None else tuple(map(new, start))
                return te.Fold(combiner, tuple(map(new, operands)), steps, number, first)
            case te.Filled(te.External() as external, number, element):
                return te.Filled(external.redirected(redirected), number, element)
            case te.Call(word, result, name, args):
                return te.Call(
                    word, result, name, tuple(new(each) if isinstance(each, te.Expr) else each for each in args)
                )
            case _ if not te.operands_of(old):
                return old
            case _:
                raise TypeError(f"te: no rule for {type(old).__name__}")

    return new(expr)


def with_fresh_axes(compute: te.Compute, suffix: str) -> te.Compute:
    """The same computation over axes of its own; what it reduces over stays."""
    fresh: dict[te.Expr, te.Expr] = {}
    for axis in compute.axes:
        fresh[axis] = te.IterVar(f"{axis.name}{suffix}", axis.dim, axis.reduce, axis.start)
    axes = tuple(axis for old in compute.axes if isinstance(axis := fresh[old], te.IterVar))
    return replace(compute, axes=axes, body=substitute(compute.body, fresh))

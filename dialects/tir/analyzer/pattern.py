"""Rewrite rules as rows of a table: an identity, its pattern, what replaces it, and when it holds.

Patterns are integer expressions over the variables below, built by the same operators as any other expression; so are
guards, which a row needs to be true, and which the prover of the tests takes as assumptions.

* `X`, `Y`, `Z`, `V`, `W` match any expression; `P`, `Q` any condition; `A` to `E`, `K`, `L`, `M`, `Q_` any constant.
* In a sum, `K * f(X)` takes one term; `C * X` takes what is divisible by `C` (where `C` is not known yet, each
  coefficient is tried), and a lone `Y` takes the rest, which may be zero.
* `minimum`, `maximum`, `all_of` and `any_of` of two match any two of the operands; below the root, the second takes all
  others.
* A guard over constants is computed; one over expressions is asked of the analyzer. `let` gives further constants: by
  a formula, or by the analyzer's lower bound (`lower(X)`), of which the guards then say what they have to fulfil.

A row is applied where its result has a smaller `measure`: so that no rule relies on the order of rows, and an inverse
pair of rows cannot run for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from .nodes import Flag, IntExpr, Op, Var, as_expr, op, var


class Wild(Var):
    """Matches any expression."""

    __slots__ = ()


class Condition(Flag):
    """Matches any condition."""

    __slots__ = ()


class Literal(Var):
    """Matches any constant."""

    __slots__ = ()


class Lower(Op):
    """In `let`: the analyzer's constant lower bound."""

    __slots__ = ()


class Common(Op):
    """In `let`: the terms that two sums have in common."""

    __slots__ = ()


class Whole(Op):
    """In `let`: the multiple of a sum that terms of another are."""

    __slots__ = ()


X, Y, Z, V, W = (var(name, name, Wild) for name in "XYZVW")
P, Q = (var(name, name, Condition) for name in "PQ")
A, B, C, D, E, K, L, M = (var(name, name, Literal) for name in "ABCDEKLM")
Q_ = var("Q_", "q", Literal)


def lower(expr: IntExpr) -> IntExpr:
    """In `let`: the analyzer's constant lower bound of `expr`; the row does not hold where there is none."""
    return op(Lower, expr)


def common(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """In `let`: the terms that `lhs` and `rhs` have in common."""
    return op(Common, lhs, rhs)


def whole(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """In `let`: that of which the product with `rhs`, a sum, is some of the terms of `lhs`; the row does not hold where
    there is none."""
    return op(Whole, lhs, rhs)


class Questions(Protocol):
    """What the guards of rows ask."""

    def holds(self, condition: IntExpr) -> bool: ...
    def low(self, expr: IntExpr) -> int | None: ...


@dataclass(frozen=True)
class Row:
    """One rule. `cancels`: applied only where the second of these needs less work than the first (no more,
    unless `strictly`). `narrows`: what it
    says is stronger, not smaller, and its own guards no longer hold of it."""

    name: str
    pattern: IntExpr
    replacement: IntExpr
    guards: tuple[IntExpr, ...]
    let: Mapping[Var, IntExpr] = field(default_factory=dict[Var, IntExpr])
    cancels: tuple[IntExpr, IntExpr] | None = None
    narrows: bool = False
    strictly: bool = True


def row(
    name: str,
    pattern: IntExpr,
    replacement: IntExpr | int,
    *guards: IntExpr,
    let: Mapping[IntExpr, IntExpr] | None = None,
    cancels: tuple[IntExpr, IntExpr] | None = None,
    narrows: bool = False,
    strictly: bool = True,
) -> Row:
    """A row of a table of rules."""
    given = {key: value for key, value in (let or {}).items() if isinstance(key, Var)}
    return Row(name, pattern, as_expr(replacement), guards, given, cancels, narrows, strictly)

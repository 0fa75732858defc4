"""Expressions that stand in functions only: operations by their own names, and choices that compute both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import Attribute

from .expr import Expr, Select

Argument: TypeAlias = "Expr | str | int | float | tuple[Expr, ...]"


@dataclass(frozen=True, eq=False)
class Spelled(Expr):
    """`T.word(args, name=value, ...)`: an operation that no class of expressions is for, such as `T.exp2(x)` or
    `T.arith.addf(x, y, fastmath="none")`."""

    word: str
    args: tuple[Argument, ...]
    keywords: tuple[tuple[str, str | bool], ...]
    type: Attribute


@dataclass(frozen=True, eq=False)
class Choice(Select):
    """`T.Select(condition, then, otherwise)`, of which both sides are computed."""

"""The rules of simplification, by the operation at the root of their patterns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TypeAlias

from ..matching import Rewriter, compile_row
from ..nodes import IntExpr, Op, Product, Sum
from ..pattern import Row
from .choices import CHOICES
from .conditions import CONDITIONS
from .divisions import DIVISIONS
from .sums import SUMS

TABLES: Mapping[str, tuple[Row, ...]] = {
    "divisions": DIVISIONS,
    "sums": SUMS,
    "choices": CHOICES,
    "conditions": CONDITIONS,
}


Compiled: TypeAlias = "tuple[Row, frozenset[type[IntExpr]], Rewriter]"
"""A row, the classes of terms that its pattern needs if it is a sum, and the function that applies it."""


@cache
def rewriters() -> Mapping[type[IntExpr], tuple[Compiled, ...]]:
    """Each row compiled, by the class of its pattern's root."""
    found: dict[type[IntExpr], list[Compiled]] = {}
    for table in TABLES.values():
        for row in table:
            found.setdefault(type(row.pattern), []).append((row, _needs(row.pattern), compile_row(row)))
    return {kind: tuple(rows) for kind, rows in found.items()}


def _needs(pattern: IntExpr) -> frozenset[type[IntExpr]]:
    if not isinstance(pattern, Sum):
        return frozenset()
    factors = (f for atom in pattern.terms for f in (atom.args if isinstance(atom, Product) else (atom,)))
    return frozenset(type(f) for f in factors if isinstance(f, Op))

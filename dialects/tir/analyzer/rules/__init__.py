"""The rules of simplification, by the operation at the root of their patterns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cache
from typing import TypeAlias

from ..matching import Rewriter, compile_row
from ..nodes import Const, FloorDiv, FloorMod, IntExpr, Op, Product, Sum, TruncDiv, TruncMod, Var
from ..pattern import Literal, Row
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


Compiled: TypeAlias = "tuple[Row, Rewriter]"
_found: dict[Hashable, tuple[Compiled, ...]] = {}


@cache
def rewriters() -> Mapping[type[IntExpr], tuple[Compiled, ...]]:
    """Each row compiled, by the class of its pattern's root."""
    found: dict[type[IntExpr], list[Compiled]] = {}
    for table in TABLES.values():
        for row in table:
            found.setdefault(type(row.pattern), []).append((row, compile_row(row)))
    return {kind: tuple(rows) for kind, rows in found.items()}


def applicable(expr: IntExpr) -> tuple[Compiled, ...]:
    """The rows that may apply at the root of `expr`, by the classes of its terms, or of its dividend's terms."""
    kind = type(expr)
    if type(expr) is Sum:
        key: Hashable = (kind, frozenset(map(type, expr.terms)))
    elif isinstance(expr, FloorDiv | FloorMod | TruncDiv | TruncMod):
        dividend, divisor = expr.args
        is_sum = type(dividend) is Sum
        terms = frozenset(map(type, dividend.terms)) if type(dividend) is Sum else frozenset((type(dividend),))
        key = (kind, type(divisor) is Const, is_sum, terms)
    else:
        return rewriters().get(kind, ())
    if (rows := _found.get(key)) is None:
        rows = _found[key] = tuple(c for c in rewriters().get(kind, ()) if _may_apply(c[0].pattern, expr))
    return rows


def _may_apply(pattern: IntExpr, expr: IntExpr) -> bool:
    if not isinstance(pattern, Op) or not isinstance(expr, Op):
        return _needs(pattern) <= _classes(expr)
    dividend, divisor = pattern.args
    floors = isinstance(expr, FloorDiv | FloorMod)
    if floors and not isinstance(divisor, Literal) and isinstance(expr.args[1], Const):
        return False  # for a constant there is a row of its own
    takes_multiple = any(
        isinstance(atom, Product) and all(isinstance(factor, Var) for factor in atom.args) for atom in _terms(dividend)
    )
    if takes_multiple and isinstance(divisor, Literal) and not isinstance(expr.args[0], Sum):
        return False  # the coefficient of a single atom is 1
    return _needs(dividend) <= _classes(expr.args[0])


def _terms(expr: IntExpr) -> Iterable[IntExpr]:
    return expr.terms if isinstance(expr, Sum) else (expr,)


def _classes(expr: IntExpr) -> frozenset[type[IntExpr]]:
    return frozenset(map(type, _terms(expr)))


def _needs(pattern: IntExpr) -> frozenset[type[IntExpr]]:
    """The operations that are terms of a pattern, which those of an expression have to contain."""
    needed: set[type[IntExpr]] = set()
    for atom in _terms(pattern):
        factors = [f for f in (atom.args if isinstance(atom, Product) else (atom,)) if not isinstance(f, Literal)]
        if len(factors) > 1:
            needed.add(Product)
        else:
            needed.update(type(f) for f in factors if isinstance(f, Op))
    return frozenset(needed)

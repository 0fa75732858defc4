"""TVM's NarrowPredicateExpression on the conditions that a person writes: comparisons stay as they were written.

    i + n < 10     for all n from 0 to 7 where     i + 7 < 10

A side that rises or falls with the free parameters is replaced by that end of it which makes the condition hard to
fulfil, or under a `not` easy. What is no such comparison is decided by its form (`analyzer.narrowing`). What is read
from memory may be anything where the condition is asked, and is taken for what says least.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import i1

from ..support.arguments import ArgumentError
from ..tir.analyzer import IntExpr
from ..tir.analyzer.answers import IntervalSet, Range
from ..tir.analyzer.build import negate
from ..tir.analyzer.intset import Interval
from ..tir.analyzer.narrowing import ends_of, narrow_predicate_expression
from .expr import Binary, Const, Expr, Unary, binary, const, unary
from .integer_forms import direct_parts, integer_form, is_integer
from .kinds import BinaryKind as B
from .kinds import UnaryKind as U
from .written_forms import written

_LESS = {B.LT: False, B.LE: False, B.GT: True, B.GE: True}
"""The comparisons for order, and whether the left side is the greater one."""

Ends = tuple["Expr | None", "Expr | None"]
"""The least and greatest value, without free parameters; `None` where it is not known."""


def narrowed(expr: Expr, free: Mapping[IntExpr, Range | IntervalSet]) -> Expr:
    """A condition without the `free` parameters, from which `expr`, a condition of numbers that do not wrap, follows
    for all values that those may have."""
    return _Narrowing(free).of(expr, for_all=True)


@dataclass
class _Narrowing:
    free: Mapping[IntExpr, Range | IntervalSet]
    over: dict[IntExpr, Interval] = field(init=False)

    def __post_init__(self):
        self.over = {variable: ends_of(values) for variable, values in self.free.items()}

    def of(self, expr: Expr, *, for_all: bool) -> Expr:
        """What `expr` follows from for all values; or, if it is not for all, what follows from it for any."""
        if self._is_fixed(expr) and not _reads(expr):
            return expr
        match expr:
            case Binary(kind, lhs, rhs) if kind in (B.AND, B.OR) and lhs.type == i1:
                return binary(kind, self.of(lhs, for_all=for_all), self.of(rhs, for_all=for_all))
            case Unary(U.NOT, operand) if operand.type == i1:
                return unary(U.NOT, self.of(operand, for_all=not for_all))
            case _ if _reads(expr):
                return const(not for_all, i1)
            case Binary(kind, lhs, rhs) if kind.is_comparison and is_integer(lhs.type) and lhs.type != i1:
                if self._is_fixed(lhs) != self._is_fixed(rhs):  # of one that has them on both sides the form says more
                    return self._compared(kind, self._ends(lhs), self._ends(rhs), for_all)
                return self._by_form(expr, for_all)
            case _:
                return self._by_form(expr, for_all)

    def _is_fixed(self, expr: Expr) -> bool:
        return integer_form(expr).variables.isdisjoint(self.over)

    def _by_form(self, expr: Expr, for_all: bool) -> Expr:
        form = integer_form(expr)
        narrow = narrow_predicate_expression(form if for_all else negate(form), self.free)
        return written(narrow if for_all else negate(narrow), i1, [expr])

    def _compared(self, kind: B, lhs: Ends, rhs: Ends, for_all: bool) -> Expr:
        hard = 1 if for_all else 0  # the end of the lesser side with which it is less for all values, or for any
        if kind in _LESS:
            turned = _LESS[kind]
            pair = (lhs[1 - hard], rhs[hard]) if turned else (lhs[hard], rhs[1 - hard])
            return _compare(kind, *pair, for_all)
        inner, outer = (B.LE, B.AND) if kind == B.EQ else (B.LT, B.OR)
        sides = ((lhs[hard], rhs[1 - hard]), (rhs[hard], lhs[1 - hard]))
        return binary(outer, *(_compare(inner, a, b, for_all) for a, b in sides))

    def _ends(self, expr: Expr) -> Ends:
        """The least and the greatest value, sums and quotients as they are written."""
        if self._is_fixed(expr):
            return expr, expr
        match expr:
            case Binary(B.ADD | B.SUB as kind, lhs, rhs) if self._is_fixed(lhs) or self._is_fixed(rhs):
                (a, b), (c, d) = self._ends(lhs), self._ends(rhs)
                return (
                    (_joined(kind, a, c), _joined(kind, b, d))
                    if kind == B.ADD
                    else (
                        _joined(kind, a, d),
                        _joined(kind, b, c),
                    )
                )
            case Binary(B.FLOORDIV, lhs, Const(value) as divisor) if value > 0:
                low, high = self._ends(lhs)
                return _joined(B.FLOORDIV, low, divisor), _joined(B.FLOORDIV, high, divisor)
            case _:
                found = self.over.get(integer_form(expr)) or (None, None)
                return _written(found[0], expr), _written(found[1], expr)


def _reads(expr: Expr) -> bool:
    return expr.is_read or any(map(_reads, direct_parts(expr)))


def _joined(kind: B, a: Expr | None, b: Expr | None) -> Expr | None:
    return None if a is None or b is None else binary(kind, a, b)


def _written(form: IntExpr | None, like: Expr) -> Expr | None:
    try:
        return None if form is None else written(form, like.type, [like])
    except ArgumentError:  # no number of the type
        return None


def _compare(kind: B, a: Expr | None, b: Expr | None, for_all: bool) -> Expr:
    """A comparison of ends; where one is not known, the condition that says least."""
    return const(not for_all, i1) if a is None or b is None else binary(kind, a, b)

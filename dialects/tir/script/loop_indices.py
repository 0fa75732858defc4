"""Expressions over the variables of loops: what iterators are bound to, and where a block runs."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise
from operator import index
from typing import SupportsIndex

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ...support.diagnostics import Diagnostic
from ...te.expr import Const
from ..affine import simplify, substitute
from ..analyzer import Analyzer, from_affine, sym
from ..disjunctions import any_of
from ..loops import ForOp, dimension_ranges, loop_of
from ..symbols import MAX_EXTENT, Extent, as_extent, product, quotient, remainder, symbols_in
from . import words
from .scope import Iterator, Local, NotStatic, OuterIterator, Scope, Symbol

INDICES = ("int32", "int64", "index")
"""The types that an index is of: it is the same number in each."""


class LoopIndices:
    """Reads affine expressions; the loop variables that they speak of become their dimensions, in order."""

    def __init__(self, scope: Scope):
        self.scope = scope
        self.variables: list[SSAValue] = []

    def dimension(self, loop: ForOp) -> AffineExpr:
        """The dimension of a loop's variable."""
        if loop.var not in self.variables:
            self.variables.append(loop.var)
        return AffineExpr.dimension(self.variables.index(loop.var))

    def of(self, outer: OuterIterator) -> AffineExpr:
        """What an iterator of an outer block is bound to."""
        return substitute(outer.expr, [self.dimension(loop_of(v)) for v in outer.variables])

    def known(self, found: Local | None) -> AffineExpr | None:
        """What a name is worth, if it is one that expressions here may speak of."""
        match found:
            case ForOp():
                return self.dimension(found)
            case OuterIterator():
                return self.of(found)
            case _:
                return symbol(found)

    def expr(self, node: ast.expr) -> AffineExpr:
        """An expression.

        Raises:
            Diagnostic: it is not affine, or speaks of something else than loops.
        """
        try:
            number = self.scope.static(node)
        except NotStatic:
            return simplify(self._expr(node))
        if isinstance(number, Const) and not isinstance(number.value, float):
            number = int(number.value)
        if not isinstance(number, SupportsIndex):  # NumPy's integers too
            raise self._error(node, f"an index is an integer, not {number!r}")
        return AffineConstantExpr(index(number))

    def _expr(self, node: ast.expr) -> AffineExpr:
        match node:
            case ast.Name(id=name):
                if (known := self.known(self.scope.local.get(name))) is not None:
                    return known
                if name not in self.scope.local and name not in self.scope.python:
                    raise self.scope.unknown(node)
                raise self._not_known(node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.expr(operand) * -1
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(node, op, self.expr(left), self.expr(right))
            case ast.Call(func=func, args=[left, right]) if (name := self._word(func)) in words.OPERATORS:
                return self._binary(node, words.OPERATORS[name], self.expr(left), self.expr(right))
            case ast.Call(func=func, args=[inner]) if self._word(func) in INDICES:
                return self.expr(inner)
            case ast.Call(func=func, args=[ast.Constant(value=dtype), inner]) if (
                self._word(func) == "Cast" and dtype in INDICES
            ):
                return self.expr(inner)
            case _:
                raise self._error(node, "an iterator is bound to loop variables, by +, -, * with a number, // and %")

    def _not_known(self, node: ast.Name) -> Diagnostic:
        return self._error(node, f"'{node.id}' is neither a size known when the function is called nor a loop around")

    def _word(self, func: ast.expr) -> str:
        word = self.scope.word(func) or ""
        return words.ALIASES.get(word, word)

    def _binary(self, node: ast.expr, op: ast.operator, a: AffineExpr, b: AffineExpr) -> AffineExpr:
        match op, a, b:
            case ast.Add(), _, _:
                return a + b
            case ast.Sub(), _, _:
                return a + b * -1
            case ast.Mult(), _, AffineConstantExpr():
                return a * b
            case ast.Mult(), AffineConstantExpr(), _:
                return b * a
            case ast.Mult(), _, _ if not a.used_dims() or not b.used_dims():
                return product(a, b)
            case ast.FloorDiv(), _, AffineConstantExpr(value) if value > 0:
                return a // value
            case ast.Mod(), _, AffineConstantExpr(value) if value > 0:
                return a % value
            case ast.FloorDiv(), _, _ if not isinstance(b, AffineConstantExpr) and not b.used_dims():
                return quotient(a, b)
            case ast.Mod(), _, _ if not isinstance(b, AffineConstantExpr) and not b.used_dims():
                return remainder(a, b)
            case _:
                raise self._error(
                    node,
                    "an index multiplies and divides by numbers and sizes, and divides by positive ones",
                    "write it with +, -, *, //, %",
                )

    def conditions(self, node: ast.expr) -> list[AffineExpr]:
        """Expressions that are at least 0 where a condition holds.

        Raises:
            Diagnostic: it is no conjunction of inequalities of affine expressions.
        """
        match node:
            case ast.Constant(value=True):
                return []
            case ast.BoolOp(op=ast.And(), values=values):
                return [each for value in values for each in self.conditions(value)]
            case ast.Call(func=func, args=[left, right]) if self._word(func) == "And":
                return [*self.conditions(left), *self.conditions(right)]
            case ast.BoolOp(op=ast.Or(), values=values):
                return [self._any_of(node, values)]
            case ast.Call(func=func, args=[left, right]) if self._word(func) == "Or":
                return [self._any_of(node, [left, right])]
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                sides = [self.expr(each) for each in (left, *comparators)]
                found = [
                    each
                    for op, pair in zip(ops, pairwise(sides), strict=True)
                    for each in self._compared(node, op, *pair)
                ]
                return [simplify(each) for each in found]
            case _:
                raise self._error(
                    node, "T.where takes comparisons (<, <=, ==, !=, >, >=) of loop indices, joined by 'and' and 'or'"
                )

    def opposite(self, node: ast.expr, conditions: Sequence[AffineExpr]) -> list[AffineExpr]:
        """Expressions that are at least 0 where not all of some `conditions` are, which `node` stands for.

        Raises:
            Diagnostic: there is no such expression.
        """
        sides = [simplify(each * -1 + AffineConstantExpr(-1)) for each in conditions]
        return sides if len(sides) == 1 else [self._either(node, sides, "an else is for several conditions")]

    def _any_of(self, node: ast.expr, nodes: Sequence[ast.expr]) -> AffineExpr:
        """An expression that is at least 0 where one of some comparisons holds."""
        given = [self.conditions(each) for each in nodes]
        for each, found in zip(nodes, given, strict=True):
            if len(found) != 1:
                raise self._error(each, "'or' stands between comparisons, not between several joined by 'and'")
        return self._either(node, [found[0] for found in given], "'or' stands between comparisons")

    def _either(self, node: ast.expr, conditions: Sequence[AffineExpr], what: str) -> AffineExpr:
        either = any_of(conditions, dimension_ranges(self.variables))
        if either is None:
            raise self._error(node, f"{what} of loops that are known to end")
        return either

    def _compared(self, node: ast.expr, op: ast.cmpop, a: AffineExpr, b: AffineExpr) -> list[AffineExpr]:
        """Expressions that are at least 0 where a comparison holds."""
        match op:
            case ast.Lt():
                return [b + a * -1 + AffineConstantExpr(-1)]
            case ast.LtE():
                return [b + a * -1]
            case ast.Gt():
                return [a + b * -1 + AffineConstantExpr(-1)]
            case ast.GtE():
                return [a + b * -1]
            case ast.Eq():
                return [a + b * -1, b + a * -1]
            case ast.NotEq():
                sides = [simplify(each + AffineConstantExpr(-1)) for each in (a + b * -1, b + a * -1)]
                return [self._either(node, sides, "'!=' compares expressions")]
            case _:
                raise self._error(node, "T.where compares with <, <=, ==, !=, > and >=")

    def _error(self, node: ast.AST, message: str, hint: str | None = None) -> Diagnostic:
        return self.scope.source.error(node, message, hint)


class IteratorIndices(LoopIndices):
    """Reads affine expressions over a block's iterators, as T.reads and T.writes have them."""

    def known(self, found: Local | None) -> AffineExpr | None:
        return AffineExpr.dimension(found.number) + found.start if isinstance(found, Iterator) else symbol(found)


class PlaceIndices(LoopIndices):
    """Reads affine expressions over all that a block's statements may speak of: its iterators, and the loops and
    iterators of blocks around it. What is the same in each iteration is seen; which dimension is what is not told."""

    def __init__(self, scope: Scope):
        super().__init__(scope)
        self._dimensions: dict[int | SSAValue, AffineExpr] = {}

    def dimension(self, loop: ForOp) -> AffineExpr:
        return self._of(loop.var)

    def known(self, found: Local | None) -> AffineExpr | None:
        return self._of(found.number) + found.start if isinstance(found, Iterator) else super().known(found)

    def _of(self, key: int | SSAValue) -> AffineExpr:
        return self._dimensions.setdefault(key, AffineExpr.dimension(len(self._dimensions)))


class Extents(LoopIndices):
    """Reads extents: numbers, and expressions over the function's symbols."""

    def known(self, found: Local | None) -> AffineExpr | None:
        return symbol(found)

    def _not_known(self, node: ast.Name) -> Diagnostic:
        if not isinstance(self.scope.local.get(node.id), ForOp):
            return super()._not_known(node)
        hint = "loop over the most iterations that there are, and write the condition in the block's T.where"
        return self._error(node, f"'{node.id}' is a loop; how often another runs is known before it begins", hint)

    def extent(self, node: ast.expr) -> Extent:
        """A number of elements or iterations.

        Raises:
            Diagnostic: it is none, or it is known only within the function.
        """
        return as_extent(self.expr(node))


class ShapeExtents(Extents):
    """Reads extents of buffers, which have no elements where a symbol is 0: the lesser and the greater of two are known
    where they are for all symbols from 1 on."""

    def _expr(self, node: ast.expr) -> AffineExpr:
        match node:
            case ast.Call(func=func, args=[left, right]) if (word := self._word(func)) in ("min", "max"):
                return self._chosen(node, word, self.expr(left), self.expr(right))
            case _:
                return super()._expr(node)

    def _chosen(self, node: ast.expr, word: str, a: AffineExpr, b: AffineExpr) -> AffineExpr:
        analyzer = Analyzer({sym(number): (1, MAX_EXTENT) for number in {*symbols_in(a), *symbols_in(b)}})
        lhs, rhs = from_affine(a), from_affine(b)
        if analyzer.can_prove(lhs <= rhs):
            return a if word == "min" else b
        if analyzer.can_prove(rhs <= lhs):
            return b if word == "min" else a
        raise self._error(
            node, f"which extent is T.{word} differs from size to size", "a buffer may have more elements than are used"
        )


def symbol(found: Local | None) -> AffineExpr | None:
    """The expression that means a symbol."""
    return AffineExpr.symbol(found.position) if isinstance(found, Symbol) else None

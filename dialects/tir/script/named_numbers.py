"""Names for numbers that loops and blocks do not change: `n = T.int32(8)`, `with T.let(m, n * 2):`.

    with T.let(m, n * 2):
        for i in T.parallel(8):                for i in T.parallel(8):
            with T.block("b"):         is          with T.block("b"):
                A[i] = m                               A[i] = n * 2

What is computed of sizes, loops and literals alone can be computed wherever its name is, and so may be an extent, an
index, or a condition of branches around loops. Elements that are read have their names in blocks.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from ..loops import ForOp
from .scope import Constant, OuterIterator, Scope, Symbol
from .words import DTYPES

_OF_NUMBERS = ("And", "Not", "Or", "cast", "ceildiv", "floordiv", "floormod", "max", "min", "truncdiv", "truncmod")
"""Calls that give a number, or a condition, of other numbers."""


def with_number(scope: Scope, name: str, value: ast.expr, statements: Sequence[ast.stmt]) -> list[ast.stmt] | None:
    """Statements in which `name` stands for a number, without it; `None` if it stands for something else, or if they
    give the name, or one that is used in `value`, another meaning."""
    used = {name, *(each.id for each in ast.walk(value) if isinstance(each, ast.Name))}
    inside = (each for statement in statements for each in ast.walk(statement))
    if not _is_number(scope, value) or any(
        isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and each.id in used for each in inside
    ):
        return None
    rewrite = _Rewrite(name, value)
    return [rewrite.visit(copy.deepcopy(statement)) for statement in statements]


def is_condition(node: ast.expr) -> bool:
    """Whether a value is what a branch asks, as `i < 3 and n > 2`."""
    match node:
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return True
        case _:
            return False


def _is_number(scope: Scope, node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=int() | float()):
            return True
        case ast.Name(id=name):
            known = scope.local.get(name)
            return isinstance(known, ForOp | OuterIterator | Symbol) or (
                isinstance(known, Constant) and isinstance(known.value, int | float)
            )
        case ast.BinOp(left=left, right=right):
            return _is_number(scope, left) and _is_number(scope, right)
        case ast.UnaryOp(operand=operand):
            return _is_number(scope, operand)
        case ast.Compare(left=left, comparators=others):
            return all(_is_number(scope, each) for each in (left, *others))
        case ast.BoolOp(values=parts):
            return all(_is_number(scope, each) for each in parts)
        case ast.Call(func=func, args=[*arguments], keywords=[]):
            word = scope.word(func)
            if word == "cast":
                arguments = [each for each in arguments if not isinstance(each, ast.Constant) or each.value is None]
            elif word not in _OF_NUMBERS and word not in DTYPES:
                return False
            return all(_is_number(scope, each) for each in arguments)
        case _:
            return False


class _Rewrite(ast.NodeTransformer):
    def __init__(self, name: str, value: ast.expr):
        self.name = name
        self.value = value

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id != self.name:
            return node
        made = copy.deepcopy(self.value)
        for each in ast.walk(made):
            ast.copy_location(each, node)
        return made

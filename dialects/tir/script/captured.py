"""Python's expressions in a function's text: what `known` means in `if known: ...` where it is `tir.all(i < j, j < k)`.

An expression that the text names stands there as if it were written out. Its variables, to which nothing in the text
gives a value, are sizes of the function, as those of `n = T.var("int32")` are: they stand behind all other parameters,
in the order of their names.
"""

from __future__ import annotations

import ast
from typing import TypeVar

from xdsl.dialects.builtin import i32, i64

from ...support.diagnostics import UsageError
from ...te.expr import Const, Expr, Slot, Var
from ...te.kinds import index
from ...te.text import WORDS, render, type_word
from .scope import NotStatic, Scope, Words
from .texts import free_python_name

N = TypeVar("N", bound=ast.AST)


def written_out(scope: Scope, function: ast.FunctionDef) -> tuple[ast.FunctionDef, list[tuple[str, ast.AST]]]:
    """A function with its captured expressions written out, and the names of their variables, each with the place of
    its first use.

    Raises:
        Diagnostic: an expression has no form in TVMScript, or a variable that is no size.
    """
    finder = _Captured(scope, function)
    body = [finder.visit(statement) for statement in function.body]
    if not finder.found:
        return function, []
    made = ast.FunctionDef(function.name, function.args, body, function.decorator_list, function.returns, None)
    return ast.copy_location(made, function), sorted(finder.sizes.values(), key=lambda size: size[0])


class _Captured(ast.NodeTransformer):
    """Puts the syntax of expressions in the place of their names."""

    def __init__(self, scope: Scope, function: ast.FunctionDef):
        self.scope = scope
        self.found = False
        self.sizes: dict[Expr, tuple[str, ast.AST]] = {}
        """The variables, their names here, and where each is used first."""
        nodes = list(ast.walk(function))
        stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.bound = stored | {n.arg for n in nodes if isinstance(n, ast.arg)}
        plain = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(scope.python.get(n.id), Expr)}
        self.taken = self.bound | plain | {WORDS}
        self.place: ast.AST = function

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self._visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return self._visit(node)

    def _visit(self, node: ast.Name | ast.Attribute | ast.Subscript) -> ast.expr:
        found = self._value(node) if isinstance(node.ctx, ast.Load) else None
        if not isinstance(found, Expr) or isinstance(found, Const):
            return self.generic_visit(node)  # pyright: ignore[reportReturnType]
        self.place = node
        self._know_words()
        try:
            made = _located(render(found, self._leaf), node)
        except UsageError as error:
            raise self.scope.source.error(node, error.message, error.hint) from error
        self.found = True
        return made

    def _value(self, node: ast.expr) -> object:
        """What Python has at a place; `None` where the text gives it a meaning."""
        root = node
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in self.bound or root.id not in self.scope.python:
            return None
        if any(isinstance(inner, ast.Name) and inner.id in self.bound for inner in ast.walk(node)):
            return None
        try:
            return self.scope.static(node)
        except NotStatic:
            return None

    def _know_words(self) -> None:
        """Let the words be known that expressions are written in, where the text calls their namespace otherwise."""
        if WORDS not in self.bound and WORDS not in self.scope.python:
            self.scope.python = {**self.scope.python, WORDS: Words()}
        if WORDS in self.bound or not self.scope.is_words(ast.Name(WORDS, ast.Load())):
            raise self.scope.source.error(
                self.place, f"an expression of Python's is written in words of {WORDS}, which is something else here"
            )

    def _leaf(self, expr: Expr) -> ast.expr:
        if not isinstance(expr, Var | Slot) or expr.type not in (index, i32, i64):
            is_variable = isinstance(expr, Var | Slot)
            what = f"the variable '{expr.name}' is {type_word(expr.type)}" if is_variable else str(expr)
            raise UsageError(
                f"nothing gives the expression its value: {what}",
                hint="only sizes are parameters by being named: make it one of the function's, or a buffer's element",
            )
        if expr not in self.sizes:
            name = free_python_name(expr.name, self.taken)
            self.taken.add(name)
            self.sizes[expr] = name, self.place
        return ast.Name(self.sizes[expr][0], ast.Load())


def _located(made: N, at: ast.AST) -> N:
    """New syntax, all of which stands where `at` does."""
    for node in ast.walk(made):
        ast.copy_location(node, at)
    return made

"""Python functions that a text calls on scalars: what they make of them stands where the call stands.

    def clipped(x, low, high):
        return te.max(te.min(x, high), low)

    @T.prim_func
    def f(A: T.Buffer[(16,), "float32"]):
        for i in range(16):
            A[i] = clipped(A[i], 0.0, 1.0)          # T.max(T.min(A[i], 1.0), 0.0)

The function is called once, when the text is read, with a variable for each scalar that is known only when it runs; it
gives an expression, as the formula of a tensor is one (`weft.te`), or a number.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import IntegerType, Signedness, i1
from xdsl.ir import Attribute

from ...support.diagnostics import Diagnostic
from ...support.hints import is_sequence, isa, listed
from ...te.calls import Call
from ...te.expr import Expr, Slot
from ...te.text import WORDS, call_syntax, render
from ..meta_var import meta_var
from .emitter import Value
from .expressions import Expressions, Term
from .scope import Words

_WORDS = f"{WORDS}."
"""TVMScript's words under a name that no text can contain."""


def called(at: Expressions, node: ast.Call, function: Callable[..., object]) -> Term:
    """What a call of a Python function is worth.

    Raises:
        Diagnostic: it fails, or gives neither an expression nor a number.
    """
    made, given = _made(at, node, function)
    return _term(at, node, made, given)


def called_for(at: Expressions, node: ast.Call, function: Callable[..., object], count: int) -> list[Term]:
    """What a call of a Python function that gives so many values is worth.

    Raises:
        Diagnostic: it fails, or gives others.
    """
    made, given = _made(at, node, function)
    values = listed(made) if is_sequence(made) else [made]
    if len(values) != count:
        name = ast.unparse(node.func)
        raise at.scope.source.error(node, f"Python's '{name}' gives {len(values)} values for {count} names")
    return [_term(at, node, each, given) for each in values]


def _made(at: Expressions, node: ast.Call, function: Callable[..., object]) -> tuple[object, dict[Slot, Value]]:
    """What a Python function gives of the arguments of a call, and the slots that stand for those that are known when
    the function runs.

    Raises:
        Diagnostic: it fails.
    """
    given: dict[Slot, Value] = {}

    def argument(each: ast.expr) -> object:
        term = at.term(each)
        if not isinstance(term, Value):
            return term
        slot = Slot(ast.unparse(each), _type_of(term))
        given[slot] = term
        return slot

    error = at.scope.source.error
    name = ast.unparse(node.func)
    for each in (*node.args, *node.keywords):
        if isinstance(each, ast.Starred) or (isinstance(each, ast.keyword) and each.arg is None):
            raise error(each, f"the arguments of '{name}' are written one by one")
    positional = [argument(each) for each in node.args]
    named = {cast("str", each.arg): argument(each.value) for each in node.keywords}
    try:
        made = function(*positional, **named)
    except Exception as reason:
        message = reason.message if isinstance(reason, Diagnostic) else f"{type(reason).__name__}: {reason}"
        raise error(node, f"Python's '{name}' fails on scalars that are known when the function runs: {message}") from (
            reason
        )
    return made.value if isinstance(made, meta_var) else made, given


def _term(at: Expressions, node: ast.Call, made: object, given: dict[Slot, Value]) -> Term:
    """What a value that a function gives is worth, over the slots of its arguments."""
    if isinstance(made, int | float):
        return made
    if not isinstance(made, Expr):
        what, name = type(made).__name__, ast.unparse(node.func)
        hint = "only T.* and weft.te make one"
        raise at.scope.source.error(node, f"Python's '{name}' gives a {what}, and not an expression", hint)
    return _stated(at, node, made, given)


def _type_of(value: Value) -> Attribute:
    type = value.type
    if value.unsigned and isa(type, IntegerType) and type != i1:
        return IntegerType(type.width.data, Signedness.UNSIGNED)
    return type


def _stated(at: Expressions, node: ast.Call, made: Expr, given: dict[Slot, Value]) -> Term:
    """The value of an expression over slots that have values."""
    names = {slot: f"{slot.name}.{number}" for number, slot in enumerate(given)}

    def leaf(expr: Expr) -> ast.expr:
        if isinstance(expr, Slot) and expr in names:
            return ast.Name(names[expr], ast.Load())
        if isinstance(expr, Call):
            return call_syntax(expr, [render(each, leaf) for each in expr.operands])
        what = type(expr).__name__
        raise at.scope.source.error(
            node, f"Python's '{ast.unparse(node.func)}' gives a {what}, which stands in no text"
        )

    syntax = render(made, leaf)
    for inner in list(ast.walk(syntax)):
        ast.copy_location(inner, node)
        if isinstance(inner, ast.Name) and inner.id == WORDS:
            inner.id = _WORDS
    scope = at.scope
    local, python = scope.local, scope.python
    scope.local = {**local, **{names[slot]: value for slot, value in given.items()}}
    scope.python = {**python, _WORDS: Words()}
    try:
        return at.term(syntax)
    finally:
        scope.local, scope.python = local, python

"""Statements that stand among loops without a block: which of them can be a block of their own.

    for i in range(16):
        if i < 12:                                  with T.block("statement"):
            A[i] = B[i]               is                if i < 12:
        else:                                               A[i] = B[i]
            x = B[i] * 2.0                              else:
            A[i] = x                                        ...

A value's name is seen by all that follows it, so that they are one block: they hold no loops but `while` and what is in
it, which is done as often as data says. A branch around loops that no predicate of blocks says, as one that has an
`else`, is such a statement too, which counts those loops itself, in order.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .calls import CALLS
from .counting import may_be_counted
from .scope import NotStatic, Scope

LAYOUT = frozenset(
    (
        "match_buffer", "alloc_buffer", "allocate_const", "allocate", "Buffer", "decl_buffer", "buffer_decl",
        "env_thread", "var",
    )
)  # fmt: skip
"""Calls whose results are buffers, threads and sizes, and no values."""

OWN = frozenset(("alloc_buffer", "allocate_const"))
"""Calls that give statements memory of their own, which stands before the block that they are (`taken_out`)."""


def is_value(scope: Scope, statement: ast.stmt) -> bool:
    """Whether it gives a value a name that is known only when the function runs: `x = A[i]`."""
    match statement:
        case (
            ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(target=ast.Name(), value=ast.expr() as value)
        ):
            pass
        case _:
            return False
    if isinstance(value, ast.Call) and _gives_no_value(scope.word(value.func)):
        return False
    try:
        scope.static(value)
    except NotStatic:
        return True
    return False


def _gives_no_value(word: str | None) -> bool:
    """Whether what a call gives is a buffer, a thread or a size, or an iterator, which is a block's."""
    return word in LAYOUT or (word is not None and word.startswith("axis."))


def are_alone(scope: Scope, statements: Sequence[ast.stmt]) -> bool:
    """Whether one block can hold the statements: no loops but `while` and those in it, no blocks."""
    return all(_is_alone(scope, each) for each in statements)


def are_counted(scope: Scope, statements: Sequence[ast.stmt]) -> bool:
    """Whether one block can hold the statements, if it counts their loops itself."""
    return all(_is_counted(scope, each) for each in statements)


def _is_counted(scope: Scope, statement: ast.stmt) -> bool:
    match statement:
        case ast.If(body=body, orelse=otherwise) | ast.While(body=body, orelse=otherwise):
            return are_counted(scope, [*body, *otherwise])
        case ast.For(body=body):
            return may_be_counted(scope, statement) and are_counted(scope, body)
        case ast.With(items=[ast.withitem(context_expr=ast.Call(func=func))], body=body):
            return scope.word(func) in ("let", "Assert") and are_counted(scope, body)
        case _:
            return _is_alone(scope, statement)


def _is_alone(scope: Scope, statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Subscript()]) | ast.AugAssign(target=ast.Subscript()) | ast.Assert() | ast.Pass():
            return True
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            word = scope.word(value.func) if isinstance(value, ast.Call) else None
            return word in OWN or not _gives_no_value(word)
        case ast.If(body=body, orelse=otherwise):
            return are_alone(scope, body) and are_alone(scope, otherwise)
        case ast.While(body=body):
            return are_counted(scope, body)
        case ast.With(items=[ast.withitem(context_expr=ast.Call(func=func))], body=body):
            return scope.word(func) in ("let", "Assert") and are_alone(scope, body)
        case ast.Expr(value=ast.Call(func=func)):
            return scope.word(func) in CALLS or scope.word(func) in ("evaluate", "assume")
        case ast.Expr(value=ast.Constant()):
            return True
        case _:
            return False

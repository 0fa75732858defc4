"""Names of a buffer's layout: `s = T.var("int32")` and `A = T.match_buffer(a, (16, 16), strides=[s, 1])`.

A buffer of Weft's is dense, and a caller's array may lie in memory as it likes: such a name is the number that a dense
buffer has there, a stride or the offset 0.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from math import prod

from .scope import Scope

_NAMES = {"match_buffer": 4, "Buffer": 3, "alloc_buffer": 3, "decl_buffer": 3, "buffer_decl": 3}
"""Calls that describe buffers, and where `strides` stands among their arguments; `elem_offset` stands behind it."""


def layout_names(scope: Scope, function: ast.FunctionDef) -> frozenset[str]:
    """The names that `T.var` or `te.var` gives, and that stand in a function's text as strides and offsets alone."""
    given = {
        target.id
        for statement in ast.walk(function)
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
        for target in statement.targets
        if isinstance(target, ast.Name) and scope.gives_variable(statement.value.func)
    }
    if not given:
        return frozenset()
    layouts: set[str] = set()
    others: set[str] = set()
    for call in ast.walk(function):
        if isinstance(call, ast.Call) and (word := scope.word(call.func)) in _NAMES:
            parts = layout_of(call, str(word))
            named = {node.id for part in parts for node in _elements(part) if isinstance(node, ast.Name)}
            layouts |= named & given
            rest = [each for each in (*call.args, *(k.value for k in call.keywords)) if each not in parts]
            others |= {node.id for each in rest for node in ast.walk(each) if isinstance(node, ast.Name)}
    return frozenset(layouts - others)


def layout_of(call: ast.Call, word: str) -> list[ast.expr]:
    """The strides and the offset that a call says."""
    first = _NAMES[word]
    found = list(call.args[first : first + 2])
    return [*found, *(k.value for k in call.keywords if k.arg in ("strides", "elem_offset"))]


def _elements(node: ast.expr) -> Sequence[ast.expr]:
    return node.elts if isinstance(node, ast.List | ast.Tuple) else [node]


def dense_strides(shape: Sequence[object]) -> list[int | None]:
    """The strides of a dense buffer; `None` for one that depends on sizes."""
    found: list[int | None] = []
    for number in range(len(shape)):
        inner = [each for each in shape[number + 1 :] if isinstance(each, int)]
        found.append(prod(inner) if len(inner) == len(shape) - number - 1 else None)
    return found

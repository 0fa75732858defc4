"""What a function's text says of its parameters: buffers, handles and sizes, and the names that extents speak of."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from contextlib import suppress

from .alone import is_value
from .buffers import Described, annotated, described, is_size
from .scope import Constant, NotStatic, Scope


def sizes_of(scope: Scope, node: ast.FunctionDef) -> list[tuple[str, ast.AST]]:
    """The names of sizes: parameters, which stand behind the buffers in the function, and `n = T.var("int32")`."""
    found: list[tuple[str, ast.AST]] = [(p.arg, p) for p in node.args.args if is_size(scope, p.annotation)]
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func)) if (
                scope.word(func) == "var" and name not in scope.layouts
            ):
                found.append((name, statement))
            case _:
                pass
    return found


def know_names(scope: Scope, node: ast.FunctionDef) -> None:
    """The names that stand at the beginning of the text for what Python knows, `m = 100`: extents speak of them."""
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if name not in scope.local and not is_value(scope, statement):
                    with suppress(NotStatic):
                        scope.local[name] = Constant(scope.static(value))
            case ast.Expr():
                pass
            case _:
                return


def buffer_of(scope: Scope, parameter: ast.arg, matched: Mapping[str, ast.Call]) -> Described:
    """What the text says of a parameter.

    Raises:
        Diagnostic: it does not say what buffer it is.
    """
    annotation = parameter.annotation
    if annotation is None:
        raise scope.source.error(parameter, f"'{parameter.arg}' has no type", 'such as T.Buffer[(16,), "float32"]')
    if (found := annotated(scope, annotation)) is not None:
        return found
    if (call := matched.get(parameter.arg)) is None:
        raise scope.source.error(parameter, f"no T.match_buffer says what '{parameter.arg}' is")
    return described(scope, call, "T.match_buffer", ("param",))


def matched_handles(scope: Scope, node: ast.FunctionDef) -> dict[str, ast.Call]:
    """The `T.match_buffer` of each parameter that is a handle, by its name.

    Raises:
        Diagnostic: one has two.
    """
    found: dict[str, ast.Call] = {}
    for statement in ast.walk(node):
        if isinstance(statement, ast.Call) and scope.word(statement.func) == "match_buffer":
            first = statement.args[0] if statement.args else None
            if isinstance(first, ast.Name):
                if first.id in found:
                    raise scope.source.error(statement, f"'{first.id}' has been matched already")
                found[first.id] = statement
    return found

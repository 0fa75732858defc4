"""What a function's text says of its parameters: buffers, handles and sizes, and the names that extents speak of."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from contextlib import suppress

from xdsl.dialects.builtin import IntegerType

from .alone import is_value
from .buffers import Described, annotated, described, is_size
from .scope import Constant, NotStatic, Scope
from .views import DECLARING, shaped
from .words import ALIASES, DTYPES, element_type


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


ADDRESS = Described(IntegerType(8), (), False)
"""What a handle leads to that is only passed on: a byte, behind which are as many as whoever is called finds there."""


def is_passed_on(node: ast.FunctionDef, name: str) -> bool:
    """Whether functions are called with what has a name, and nothing else is done with it."""
    passed = {id(given) for each in ast.walk(node) if isinstance(each, ast.Call) for given in each.args}
    uses = [id(each) in passed for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name]
    return all(uses) and len(uses) > 0


def buffer_of(scope: Scope, node: ast.FunctionDef, parameter: ast.arg, matched: Mapping[str, ast.Call]) -> Described:
    """What the text of a function says of a parameter of it.

    Raises:
        Diagnostic: it does not say what buffer it is.
    """
    annotation = parameter.annotation
    if is_pointer(scope, parameter):
        return _pointed_at(scope, parameter, matched)
    if annotation is None:
        raise scope.source.error(parameter, f"'{parameter.arg}' has no type", 'such as T.Buffer[(16,), "float32"]')
    if scope.word(annotation.func if isinstance(annotation, ast.Call) else annotation) == "lookup_param":
        return ADDRESS
    if (found := annotated(scope, annotation)) is not None:
        return found
    if (call := matched.get(parameter.arg)) is None:
        if is_passed_on(node, parameter.arg):
            return ADDRESS
        raise scope.source.error(parameter, f"no T.match_buffer says what '{parameter.arg}' is")
    return described(scope, call, "T.match_buffer", ("param",))


def is_pointer(scope: Scope, parameter: ast.arg) -> bool:
    """Whether a parameter is `T.Ptr("float32")`, or `T.Ptr[T.float32]`."""
    match parameter.annotation:
        case ast.Call(func=base) | ast.Subscript(value=base):
            return scope.word(base) == "Ptr"
        case _:
            return False


def _pointed_at(scope: Scope, parameter: ast.arg, declared: Mapping[str, ast.Call]) -> Described:
    """The buffer that a pointer leads to: what the first declaration that gives its memory a shape says.

    Raises:
        Diagnostic: there is none, or it does not have all of the memory from its start on.
    """
    if (call := declared.get(parameter.arg)) is None:
        hint = f'such as T.Buffer((16,), "float32", data={parameter.arg})'
        raise scope.source.error(parameter, f"nothing says how many elements '{parameter.arg}' leads to", hint)
    found, strides, offset = shaped(scope, call)
    if strides is not None or offset:
        raise scope.source.error(call, f"'{parameter.arg}' is first used as a dense buffer that begins where it does")
    dtype = _pointed_dtype(scope, parameter)
    if dtype not in DTYPES or (element_type(dtype), dtype.startswith("uint")) != (found.element, found.unsigned):
        raise scope.source.error(call, f"'{parameter.arg}' leads to elements of {dtype}, and here to {found.element}")
    return found


def _pointed_dtype(scope: Scope, parameter: ast.arg) -> str:
    """The dtype in `T.Ptr("float32")` and in `T.Ptr[T.float32]`."""
    match parameter.annotation:
        case ast.Call(args=[node, *_]) | ast.Subscript(slice=ast.Tuple(elts=[node, *_])) | ast.Subscript(slice=node):
            pass
        case _:
            raise scope.source.error(parameter, "a pointer says what it leads to", 'T.Ptr("float32")')
    if (word := scope.word(node)) is not None:
        return ALIASES.get(word, word)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)


def matched_handles(scope: Scope, node: ast.FunctionDef) -> dict[str, ast.Call]:
    """The `T.match_buffer` of each parameter that is a handle, by its name; and the first declaration of a buffer whose
    memory a pointer leads to.

    Raises:
        Diagnostic: one has two.
    """
    found: dict[str, ast.Call] = {}
    pointers = {parameter.arg for parameter in node.args.args if is_pointer(scope, parameter)}
    for statement in ast.walk(node):
        if isinstance(statement, ast.Call) and scope.word(statement.func) in DECLARING:
            for keyword in statement.keywords:
                if keyword.arg == "data" and isinstance(keyword.value, ast.Name) and keyword.value.id in pointers:
                    found.setdefault(keyword.value.id, statement)
        if isinstance(statement, ast.Call) and scope.word(statement.func) == "match_buffer":
            first = statement.args[0] if statement.args else None
            if isinstance(first, ast.Name):
                if first.id in found:
                    raise scope.source.error(statement, f"'{first.id}' has been matched already")
                found[first.id] = statement
    return found

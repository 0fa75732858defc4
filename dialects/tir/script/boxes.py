"""What `T.realize(A[0:16, 0:n], scope)` gives memory: all of a buffer, as its shape is written."""

from __future__ import annotations

import ast

from .scope import NotStatic, Scope

DESCRIBING = {"Buffer": 0, "decl_buffer": 0, "alloc_buffer": 0, "buffer_decl": 0, "match_buffer": 1}
"""The calls that tell a buffer's shape, and which argument it is."""


def shapes_in(scope: Scope, node: ast.FunctionDef) -> dict[str, ast.expr]:
    """The shapes of the buffers of a function, by their names."""
    described: list[tuple[str, ast.expr | None]] = [(each.arg, each.annotation) for each in node.args.args]
    for inner in ast.walk(node):
        match inner:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                described.append((name, value))
            case _:
                continue
    found = {name: _shape_of(scope, value) for name, value in described}
    return {name: shape for name, shape in found.items() if shape is not None}


def _shape_of(scope: Scope, node: ast.expr | None) -> ast.expr | None:
    """The shape in what describes a buffer."""
    match node:
        case ast.Call(func=func, args=args, keywords=keywords) if (word := scope.word(func)) in DESCRIBING:
            named = [each.value for each in keywords if each.arg == "shape"]
            place = DESCRIBING[word]
            return args[place] if place < len(args) else named[0] if named else None
        case ast.Subscript(value=func, slice=ast.Tuple(elts=[shape, *_])) if scope.word(func) == "Buffer":
            return shape
        case _:
            return None


def check_box(scope: Scope, name: str, box: ast.expr, shape: ast.expr | None) -> None:
    """Hold a part of a buffer against its shape, where that is told in the function.

    Raises:
        Diagnostic: it is not all of the buffer.
    """
    extents = None if shape is None else _extents(scope, shape)
    if extents is None or not isinstance(box, ast.Subscript):
        return
    parts = list(box.slice.elts) if isinstance(box.slice, ast.Tuple) else [box.slice]
    if len(parts) != len(extents):
        raise scope.source.error(box, f"'{name}' has {len(extents)} dimensions, and a part of it as many")
    for number, (part, extent) in enumerate(zip(parts, extents, strict=True)):
        bounds = (part.lower, part.upper, part.step) if isinstance(part, ast.Slice) else (part, part, None)
        low, high, step = (None if each is None else _plain(scope, each) for each in bounds)
        end = _plain(scope, extent)
        if low not in (None, "0") or high not in (None, end) or step not in (None, "1"):
            message = f"T.realize gives all of '{name}' memory, 0:{end} in dimension {number}"
            raise scope.source.error(part, message)


def _extents(scope: Scope, shape: ast.expr) -> list[ast.expr] | None:
    """A shape as an extent for each dimension."""
    if isinstance(shape, ast.Tuple | ast.List):
        return list(shape.elts)
    try:
        known = scope.static(shape)
    except NotStatic:
        return [shape]
    if isinstance(known, tuple | list):
        return [ast.parse(str(each), mode="eval").body for each in known]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return [shape]


def _plain(scope: Scope, node: ast.expr) -> str:
    """An expression as text, a number where it is known."""
    try:
        return str(scope.static(node))
    except NotStatic:
        return ast.unparse(node)

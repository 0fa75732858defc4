"""Buffers in the text: `T.Buffer[(16, 16), "float32"]`, `T.match_buffer`, `T.alloc_buffer`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from ...support.diagnostics import did_you_mean
from ..buffers import AXIS_SEPARATORS
from . import words
from .arguments import Arguments
from .scope import Scope

PARAMETERS = (
    "data", "strides", "elem_offset", "scope", "align", "offset_factor", "buffer_type", "axis_separators",
)  # fmt: skip
"""What else a buffer is described by in TVM. A buffer of Weft's is dense and starts where its memory does."""
DENSE: dict[str, tuple[object, ...]] = {
    "data": (None,), "strides": (None, []), "elem_offset": (None, 0), "align": (None, -1, 0, 4, 8, 16, 32, 64),
    "offset_factor": (None, 0, 1), "buffer_type": (None, "", "default"), "axis_separators": (None, []),
}  # fmt: skip
"""The values that say nothing else than that."""


def buffer_type(scope: Scope, node: ast.expr, shape: object, dtype: object) -> tuple[MemRefType[Attribute], bool]:
    """The type of a buffer, and whether its integers have no sign.

    Raises:
        Diagnostic: it is none.
    """
    if isinstance(shape, int):
        shape = [shape]
    if not isinstance(shape, list | tuple):
        raise scope.source.error(node, f"the shape of a buffer is a tuple of numbers, not {shape!r}")
    extents: list[int] = []
    for extent in cast("Sequence[object]", shape):
        if not isinstance(extent, int) or isinstance(extent, bool) or extent < 0:
            raise scope.source.error(node, f"an extent is a number that is known here, not {extent!r}")
        extents.append(extent)
    if not isinstance(dtype, str) or dtype not in words.DTYPES:
        hint = did_you_mean(str(dtype), words.DTYPES) or f"known: {', '.join(words.DTYPES)}"
        raise scope.source.error(node, f"there is no dtype {dtype!r}", hint)
    return MemRefType(words.element_type(dtype), extents), dtype.startswith("uint")


def annotated(scope: Scope, node: ast.expr) -> tuple[MemRefType[Attribute], bool] | None:
    """The buffer that a parameter is annotated with; `None` where it is a handle.

    Raises:
        Diagnostic: it is annotated with something else.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = ast.copy_location(ast.parse(node.value, mode="eval").body, node)
    match node:
        case ast.Subscript(value=base) if scope.word(base) == "Buffer":
            given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if len(given) == 2 and isinstance(given[0], ast.Tuple | ast.List):
                call = ast.Call(base, list(given), [])
            else:  # T.Buffer[16, "float32"], T.Buffer[(16,)]
                last = given[-1]
                named = isinstance(last, ast.Constant) and isinstance(last.value, str) and len(given) > 1
                shape = (
                    given[0] if len(given) - named == 1 else ast.Tuple(list(given[: len(given) - named]), ast.Load())
                )
                call = ast.Call(base, [shape, last] if named else [shape], [])
            return described(scope, ast.copy_location(call, node), "T.Buffer", ())
        case ast.Call(func=base) if scope.word(base) == "Buffer":
            return described(scope, node, "T.Buffer", ())
        case _ if scope.word(node) == "handle":
            return None
        case ast.Call(func=base) if scope.word(base) == "handle":
            return None
        case _ if scope.word(node) in words.DTYPES:
            raise scope.source.error(node, "a function takes buffers only, no scalars", "pass a buffer of one element")
        case _:
            hint = 'such as T.Buffer[(16, 16), "float32"], or T.handle and T.match_buffer'
            raise scope.source.error(node, f"a parameter is a buffer, not {ast.unparse(node)}", hint)


def described(
    scope: Scope, call: ast.Call, name: str, first: Sequence[str], scopes: bool = False
) -> tuple[MemRefType[Attribute], bool]:
    """The buffer that the arguments of a call describe, after those named `first`.

    Raises:
        Diagnostic: it is none, or laid out in a way that Weft has no buffers of.
    """
    arguments = Arguments(scope, call, name)
    arguments.nodes(*first, "shape", optional=("dtype", *PARAMETERS))
    for parameter, values in DENSE.items():
        given = arguments.static(parameter, None)
        if parameter == AXIS_SEPARATORS and scopes:
            continue  # the buffer is the function's own
        if not any(given == value and type(given) is type(value) for value in values):
            node = arguments.given[parameter]
            raise scope.source.error(node, f"{name}: {parameter} = {given!r}, but a buffer is dense and starts at 0")
    storage = arguments.static("scope", "global")
    if not scopes and storage not in ("global", ""):
        raise scope.source.error(arguments.given["scope"], f"{name}: what is passed lies in the global memory")
    return buffer_type(scope, call, arguments.static("shape", None), arguments.static("dtype", "float32"))

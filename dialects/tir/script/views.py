"""Other names and shapes for the memory of buffers: `V = T.decl_buffer((256,), "float32", data=A.data)`.

    P = T.allocate([256], "float32", "global")           memory, of which T.Buffer and T.decl_buffer make buffers
    V = T.decl_buffer((16, 16), "float32", data=P)       rows one after the other
    V = T.Buffer((8, 8), "float32", data=A.data, strides=[16, 1], elem_offset=4)

Such a name stands for elements of the buffer: where `A` has 16 rows of 16, `V[i, j]` of the last line is element
`i * 16 + j + 4` from its start, and is read as `A[(i * 16 + j + 4) // 16, (i * 16 + j + 4) % 16]`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from math import prod

from ..axis_separators import AXIS_SEPARATORS
from .arguments import Arguments
from .buffers import Described, described
from .scope import Buffer, Scope

DECLARING = ("Buffer", "decl_buffer", "buffer_decl")
"""Calls that give memory a shape."""
_HIDDEN = count()


@dataclass(frozen=True)
class View:
    """A name for elements of a buffer, which `base` is a name of."""

    name: str
    base: str
    strides: tuple[int, ...]
    offset: int
    shape: tuple[int, ...]
    """Of the buffer."""


class _Rewrite(ast.NodeTransformer):
    """Puts the buffer's elements in the place of those of a view of it."""

    def __init__(self, scope: Scope, view: View):
        self.scope = scope
        self.view = view

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        view = self.view
        if not (isinstance(node.value, ast.Name) and node.value.id == view.name):
            return self.generic_visit(node)
        node.slice = self.visit(node.slice)
        given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(given) != len(view.strides):
            raise self.scope.source.error(node, f"{len(given)} indices for a buffer of {len(view.strides)} dimensions")
        if any(isinstance(each, ast.Slice) for each in given):
            whole = ast.Name(view.base, ast.Load())
            return ast.fix_missing_locations(ast.copy_location(whole, node))  # a region: somewhere in the buffer
        place: ast.expr = ast.Constant(view.offset)
        for index, stride in zip(given, view.strides, strict=True):
            term = index if stride == 1 else ast.BinOp(index, ast.Mult(), ast.Constant(stride))
            place = term if isinstance(place, ast.Constant) and place.value == 0 else ast.BinOp(place, ast.Add(), term)
        indices: list[ast.expr] = []
        for number, extent in enumerate(view.shape):
            inner = prod(view.shape[number + 1 :])
            part = place if inner == 1 else ast.BinOp(place, ast.FloorDiv(), ast.Constant(inner))
            indices.append(part if number == 0 else ast.BinOp(part, ast.Mod(), ast.Constant(extent)))
        if not indices:
            indices = [ast.Constant(0)]
        made = ast.Subscript(ast.Name(view.base, ast.Load()), ast.Tuple(indices, ast.Load()), node.ctx)
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == self.view.name and node.attr == "data":
            if self.view.offset:
                raise self.scope.source.error(node, f"'{self.view.name}' does not start where its memory does")
            made = ast.Attribute(ast.Name(self.view.base, ast.Load()), "data", node.ctx)
            return ast.fix_missing_locations(ast.copy_location(made, node))
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == self.view.name:
            raise self.scope.source.error(node, f"'{node.id}' is a view of a buffer", "name its elements")
        return node


def allocation(scope: Scope, call: ast.Call) -> ast.Call:
    """`T.allocate(extents, dtype, scope)` as `T.alloc_buffer`.

    Raises:
        Diagnostic: it is made where a condition holds only.
    """
    arguments = Arguments(scope, call, "T.allocate")
    arguments.nodes("extents", "dtype", optional=("scope", "condition", "annotations", AXIS_SEPARATORS))
    given = arguments.given
    if arguments.static("condition", True) not in (True, 1, None):
        raise scope.source.error(given["condition"], "memory is allocated always")
    named = [ast.keyword(each, given[each]) for each in ("scope", AXIS_SEPARATORS) if each in given]
    made = ast.Call(call.func, [given["extents"], given["dtype"]], named)
    return ast.fix_missing_locations(ast.copy_location(made, call))


def memory_of(scope: Scope, call: ast.Call) -> tuple[str, Buffer] | None:
    """The buffer, and its name, whose memory a call of `DECLARING` gives a shape; `None` where it has its own.

    Raises:
        Diagnostic: what is given is no memory.
    """
    node = next((keyword.value for keyword in call.keywords if keyword.arg == "data"), None)
    if node is None and len(call.args) > 2 and scope.word(call.func) != "buffer_decl":
        node = call.args[2]
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return None
    name = node.value if isinstance(node, ast.Attribute) and node.attr == "data" else node
    found = scope.local.get(name.id) if isinstance(name, ast.Name) else None
    if not isinstance(found, Buffer) or not isinstance(name, ast.Name):
        raise scope.source.error(node, "this is the memory of no buffer", "such as data=A.data")
    return name.id, found


def shaped(scope: Scope, call: ast.Call) -> tuple[Described, Sequence[int] | None, int]:
    """What a call of `DECLARING`, or `T.alloc_buffer`, describes, its strides, if it says any, and its offset.

    Raises:
        Diagnostic: they are not known here.
    """
    word = f"T.{scope.word(call.func)}"
    left = [keyword for keyword in call.keywords if keyword.arg not in ("data", "strides", "elem_offset")]
    plain = ast.copy_location(ast.Call(call.func, call.args[:2], left), call)
    found = described(scope, plain, word, ())
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    arguments = Arguments(scope, call, word)
    strides = arguments.literal(given["strides"]) if "strides" in given else None
    offset = arguments.literal(given["elem_offset"]) if "elem_offset" in given else 0
    offset = 0 if offset is None else offset
    if not isinstance(offset, int) or offset < 0:
        raise scope.source.error(given["elem_offset"], "an offset is a number of elements that is known here")
    if not strides:
        return found, None, offset
    if not isinstance(strides, list) or not all(isinstance(each, int) and each >= 0 for each in strides):  # pyright: ignore
        raise scope.source.error(given["strides"], "strides are numbers of elements that are known here")
    known: list[int] = [int(each) for each in strides]  # pyright: ignore
    if known == [1]:  # TVM's way to say that rows follow one another, whatever the rank
        return found, None, offset
    if len(known) != len(found.shape):
        raise scope.source.error(given["strides"], f"{len(known)} strides for {len(found.shape)} dimensions")
    return found, known, offset


def view_of(scope: Scope, name: str, call: ast.Call, base: str, buffer: Buffer) -> View | None:
    """What `name` stands for, which a call makes of the memory of a buffer; `None` where it is that buffer.

    Raises:
        Diagnostic: its elements are of another type, extents are not known, or it reaches beyond the memory.
    """
    found, strides, offset = shaped(scope, call)
    shape = tuple(buffer.type.get_shape())
    if found.element != buffer.type.element_type:
        message = f"the memory of '{base}' has elements of {buffer.type.element_type}, not {found.element}"
        raise scope.source.error(call, message)
    if found.shape == shape and strides is None and offset == 0:
        return None
    own = [extent for extent in found.shape if isinstance(extent, int)]
    if len(own) != len(found.shape) or any(extent < 0 for extent in shape):
        raise scope.source.error(call, "memory gets another shape where the extents are known")
    steps = [prod(own[number + 1 :]) for number in range(len(own))] if strides is None else list(strides)
    last = offset + sum((extent - 1) * step for extent, step in zip(own, steps, strict=True))
    if 0 not in own and last >= prod(shape):
        message = f"the memory of '{base}' has {prod(shape)} elements, and this reaches number {last}"
        raise scope.source.error(call, message)
    hidden = f"{base}__{next(_HIDDEN)}"
    scope.local[hidden] = buffer  # a name that nothing else can take
    return View(name, hidden, tuple(steps), offset, shape)


def without_view(scope: Scope, view: View, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Statements in which the elements of a buffer stand for those of a view of it."""
    return [_Rewrite(scope, view).visit(each) for each in statements]


def _is_spaced(scope: Scope, call: ast.Call) -> bool:
    """Whether a `T.alloc_buffer` says how its elements lie."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    said = [given[name] for name in ("strides", "elem_offset") if name in given]
    return scope.word(call.func) == "alloc_buffer" and any(not _says_nothing(each) for each in said)


def _says_nothing(node: ast.expr) -> bool:
    return (isinstance(node, ast.Constant) and node.value in (None, 0)) or (
        isinstance(node, ast.List) and not node.elts
    )


def is_dense(scope: Scope, call: ast.Call) -> bool:
    """Whether the elements that a call of `DECLARING` describes follow one another from the start of their memory."""
    _, strides, offset = shaped(scope, call)
    return strides is None and offset == 0


def own_memory(scope: Scope, call: ast.Call) -> ast.Call:
    """The `T.alloc_buffer` of what a call of `DECLARING` describes, which has its own memory.

    Raises:
        Diagnostic: extents are not known.
    """
    found, strides, offset = shaped(scope, call)
    plain = [keyword for keyword in call.keywords if keyword.arg in ("dtype", "scope", "shape", AXIS_SEPARATORS)]
    args = call.args[:2]
    if strides is not None or offset:
        extents = [extent for extent in found.shape if isinstance(extent, int)]
        if len(extents) != len(found.shape):
            raise scope.source.error(call, "strides and offsets are of buffers whose extents are known")
        steps = [prod(extents[number + 1 :]) for number in range(len(extents))] if strides is None else strides
        last = offset + sum((extent - 1) * step for extent, step in zip(extents, steps, strict=True))
        plain = [keyword for keyword in plain if keyword.arg not in ("shape", AXIS_SEPARATORS)]
        args = [ast.Tuple([ast.Constant(max(last + 1, 0))], ast.Load()), *args[1:]]
    return ast.fix_missing_locations(ast.copy_location(ast.Call(call.func, args, plain), call))


def declaration(scope: Scope, statement: ast.stmt) -> tuple[str, ast.Call, Sequence[ast.stmt] | None] | None:
    """The name and call of a statement that gives memory a shape, and what stands in it, if it is a `with`."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func) as call) if scope.word(
            func
        ) in DECLARING or _is_spaced(scope, call):
            return name, call, None
        case ast.With(
            items=[ast.withitem(context_expr=ast.Call(func=func) as call, optional_vars=ast.Name(id=name))], body=body
        ) if scope.word(func) in DECLARING:
            return name, call, body
        case _:
            return None

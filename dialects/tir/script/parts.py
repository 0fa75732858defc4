"""Parts of buffers under names of their own: `P = T.match_buffer(A[vi * 4 : vi * 4 + 4, vj], (4,))`.

Such a name stands for elements of the buffer: `P[i]` is `A[vi * 4 + i, vj]`, and is read as that. `P.data` is the
buffer's memory, in which the part begins at `P.elem_offset`, has the buffer's `P.strides`, and extents `P.shape`; names
that `T.match_buffer` gives to these are what they are.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ...support.dtypes import dtype_name
from ...support.unique_names import free_name
from ..affine import simplify
from ..loops import ForOp
from ..symbols import Extent
from .arguments import Arguments
from .buffers import PARAMETERS, described
from .layouts import dense_strides
from .scope import Buffer, OuterIterator, Scope

Placed = TypeVar("Placed", bound=ast.expr)


@dataclass(frozen=True)
class _Layout:
    """Where a part lies in the memory of its buffer: its extents, the buffer's strides, and where the part begins;
    `None` where that depends on sizes."""

    shape: Sequence[ast.expr | None]
    strides: Sequence[ast.expr | None]
    offset: ast.expr | None


class _Rewrite(ast.NodeTransformer):
    """Puts the buffer's elements in the place of those of its part."""

    def __init__(
        self,
        scope: Scope,
        name: str,
        buffer: str,
        starts: Sequence[ast.expr],
        layout: _Layout,
        names: Mapping[str, ast.expr],
    ):
        self.scope = scope
        self.name = name
        self.buffer = buffer
        self.starts = starts
        self.rank = len(layout.strides)
        self.layout = layout
        self.names = names

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if not (isinstance(node.value, ast.Name) and node.value.id == self.name):
            return self.generic_visit(node)
        match node.attr:
            case "data":
                return _placed(ast.Attribute(ast.Name(self.buffer, ast.Load()), "data", ast.Load()), node)
            case "elem_offset":
                return self._known(node, self.layout.offset)
            case _:
                return self.visit_Name(node.value)

    def _known(self, node: ast.expr, found: ast.expr | None) -> ast.AST:
        if found is None:
            raise self.scope.source.error(node, f"where '{self.name}' lies depends on sizes", "name its elements")
        return _placed(copy.deepcopy(found), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        match node:
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=self.name), attr="shape" | "strides" as which), slice=number
            ):
                at = self.scope.static(number) if isinstance(number, ast.Constant | ast.UnaryOp) else None
                if not isinstance(at, int) or not -self.rank <= at < self.rank:
                    word = "an extent" if which == "shape" else "a stride"
                    raise self.scope.source.error(number, f"{word} is of one of {self.rank} dimensions, by its number")
                return self._known(node, (self.layout.shape if which == "shape" else self.layout.strides)[at])
            case _:
                pass
        if not (isinstance(node.value, ast.Name) and node.value.id == self.name):
            return self.generic_visit(node)
        given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if self.rank == 0:
            given = []  # [()] or [0]
        if len(given) != self.rank:
            raise self.scope.source.error(node, f"{len(given)} indices for a part of {self.rank} dimensions")
        lead = len(self.starts) - self.rank
        indices = [*self.starts[:lead]]
        for start, each in zip(self.starts[lead:], given, strict=True):
            indices.append(_plus(start, self.visit(each)))
        made = ast.Subscript(ast.Name(self.buffer, ast.Load()), ast.Tuple(indices, ast.Load()), node.ctx)
        return _placed(made, node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.names:
            return _placed(copy.deepcopy(self.names[node.id]), node)
        if node.id == self.name:
            raise self.scope.source.error(node, f"'{self.name}' is a part of a buffer", "name its elements")
        return node


def _placed(made: Placed, node: ast.AST) -> Placed:
    return ast.fix_missing_locations(ast.copy_location(made, node))


def _plus(start: ast.expr, index: ast.expr) -> ast.expr:
    if isinstance(index, ast.Slice):
        lower, upper = (None if each is None else _plus(start, each) for each in (index.lower, index.upper))
        return ast.Slice(start if lower is None else lower, upper)
    if isinstance(start, ast.Constant) and start.value == 0:
        return index
    return ast.copy_location(ast.BinOp(start, ast.Add(), index), index)


def is_part(scope: Scope, statement: ast.stmt) -> bool:
    """Whether a statement names a part of a buffer: `P = T.match_buffer(A[...], ...)`."""
    match statement:
        case ast.Assign(targets=[ast.Name()], value=ast.Call(func=func, args=[ast.Subscript(), *_])):
            return scope.word(func) == "match_buffer"
        case _:
            return False


def fixed_in(scope: Scope, around: ast.AST) -> Callable[[ast.expr], ast.expr]:
    """Gives an expression with names of its own for the loops and iterators of outer blocks, which blocks within
    `around` may give to their iterators."""
    taken = {each.id for each in ast.walk(around) if isinstance(each, ast.Name)}

    def fixed(node: ast.expr) -> ast.expr:
        made = copy.deepcopy(node)
        for name in [each for each in ast.walk(made) if isinstance(each, ast.Name)]:
            if isinstance(known := scope.local.get(name.id), OuterIterator | ForOp):
                name.id = free_name(f"{name.id}_outside", taken)
                scope.local[name.id] = known
        return made

    return fixed


def without_parts(
    scope: Scope,
    statements: Sequence[ast.stmt],
    affine: Callable[[ast.expr], AffineExpr],
    fixed: Callable[[ast.expr], ast.expr] = lambda node: node,
) -> list[ast.stmt]:
    """Statements of a block, in which the elements of buffers stand for those of their parts. `affine` reads an index;
    `fixed` gives an expression that means the same wherever it stands.

    Raises:
        Diagnostic: a part has other extents than its shape says, or another element type, or is used as a whole.
    """
    left = list(statements)
    for number, statement in enumerate(left):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func) as call) if (
                scope.word(func) == "match_buffer"
            ):
                if _is_allocated(scope, call, left[:number]):
                    return left  # to be read when it is
                rewrite = _part(scope, name, call, affine, fixed)
                rest = [rewrite.visit(each) for each in left[number + 1 :]]
                return [*left[:number], *without_parts(scope, rest, affine, fixed)]
            case _:
                continue
    return left


def _is_allocated(scope: Scope, call: ast.Call, before: Sequence[ast.stmt]) -> bool:
    """Whether a part is one of memory that statements before it allocate, and that is not known yet."""
    region = call.args[0] if call.args else None
    base = region.value if isinstance(region, ast.Subscript) else region
    if not isinstance(base, ast.Name) or base.id in scope.local:
        return False
    for statement in before:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func)) if name == base.id:
                return scope.word(func) in ("alloc_buffer", "allocate", "match_buffer")
            case _:
                continue
    return False


def _part(
    scope: Scope,
    name: str,
    call: ast.Call,
    affine: Callable[[ast.expr], AffineExpr],
    fixed: Callable[[ast.expr], ast.expr],
) -> _Rewrite:
    error = scope.source.error
    region = call.args[0] if call.args else None
    base = region.value if isinstance(region, ast.Subscript) else region
    buffer = scope.local.get(base.id) if isinstance(base, ast.Name) else None
    if not isinstance(buffer, Buffer) or not isinstance(base, ast.Name) or not isinstance(region, ast.Subscript):
        raise error(call, "T.match_buffer in a block names a part of a buffer", "P = T.match_buffer(A[0:4, vi], (4,))")
    if not any(keyword.arg == "dtype" for keyword in call.keywords) and len(call.args) < 3:
        dtype = ast.Constant(_dtype(buffer))
        call = ast.copy_location(ast.Call(call.func, call.args, [*call.keywords, ast.keyword("dtype", dtype)]), call)
        ast.fix_missing_locations(call)
    given = region.slice.elts if isinstance(region.slice, ast.Tuple) else [region.slice]
    if len(given) != len(buffer.type.get_shape()):
        raise error(region, f"{len(given)} indices for a buffer of {len(buffer.type.get_shape())} dimensions")
    starts: list[ast.expr] = []
    sizes: list[AffineExpr] = []
    for each, extent in zip(given, buffer.type.get_shape(), strict=True):
        if not isinstance(each, ast.Slice):
            starts.append(each)
            sizes.append(AffineConstantExpr(1))
            continue
        low = ast.copy_location(ast.Constant(0), region) if each.lower is None else each.lower
        high = ast.copy_location(ast.Constant(extent), region) if each.upper is None else each.upper
        starts.append(low)
        sizes.append(simplify(affine(high) + affine(low) * -1))
    if len(call.args) < 2 and not any(keyword.arg == "shape" for keyword in call.keywords):
        call = _with_shape(scope, call, sizes)
    said = call
    call = _as_it_lies(scope, call, buffer)
    found = described(scope, call, "T.match_buffer", ("buffer",))
    if found.element != buffer.type.element_type:
        raise error(call, f"a part of '{base.id}' has elements of {buffer.type.element_type}, not {found.element}")
    rank = len(found.shape)
    lead = len(starts) - rank
    if lead < 0 or any(size != AffineConstantExpr(1) for size in sizes[:lead]):
        raise error(call, f"a part of {rank} dimensions leaves out dimensions of '{base.id}' with several elements")
    for size, extent in zip(sizes[lead:], found.shape, strict=True):
        if size != (AffineConstantExpr(extent) if isinstance(extent, int) else extent):
            raise error(call, f"the part has {size} elements along a dimension, and its shape says {extent}")
    starts = [fixed(start) for start in starts]
    layout = _layout(buffer, starts, found.shape)
    return _Rewrite(scope, name, base.id, starts, layout, _layout_names(scope, said, layout))


def _as_it_lies(scope: Scope, call: ast.Call, buffer: Buffer) -> ast.Call:
    """The call without strides, if they are the buffer's: by numbers, or by names that are these numbers then.

    Raises:
        Diagnostic: they are not.
    """
    arguments = Arguments(scope, call, "T.match_buffer")
    arguments.nodes("buffer", "shape", optional=("dtype", *PARAMETERS))
    node = arguments.given.get("strides")
    if not isinstance(node, ast.List | ast.Tuple) or not node.elts:
        return call
    dense = dense_strides(buffer.extents)
    for each, stride in zip(node.elts[::-1], dense[::-1], strict=False):
        named = isinstance(each, ast.Name) and each.id in scope.layouts
        if not named and (stride is None or arguments.literal(each) != stride):
            raise scope.source.error(
                each, f"the stride of this dimension of the buffer is {stride or 'not known here'}"
            )
    arguments.given = {name: value for name, value in arguments.given.items() if name != "strides"}
    keywords = [ast.keyword(name, value) for name, value in arguments.given.items() if name != "buffer"]
    return _placed(ast.Call(call.func, call.args[:1], keywords), call)


def _layout(buffer: Buffer, starts: Sequence[ast.expr], shape: Sequence[Extent]) -> _Layout:
    """Where a part of extents `shape` that begins at `starts` lies."""
    dense = dense_strides(buffer.extents)
    strides = [None if each is None else ast.Constant(each) for each in dense]
    offset: ast.expr | None = ast.Constant(0)
    for start, stride in zip(starts, dense, strict=True):
        if isinstance(start, ast.Constant) and start.value == 0:
            continue
        if stride is None or offset is None:
            offset = None
            continue
        term = start if stride == 1 else ast.BinOp(start, ast.Mult(), ast.Constant(stride))
        offset = term if isinstance(offset, ast.Constant) else ast.BinOp(offset, ast.Add(), term)
    extents = [ast.Constant(extent) if isinstance(extent, int) else None for extent in shape]
    return _Layout(extents, strides[len(strides) - len(shape) :], offset)


def _layout_names(scope: Scope, call: ast.Call, layout: _Layout) -> dict[str, ast.expr]:
    """The names that a part gives to its strides and its offset."""
    arguments = Arguments(scope, call, "T.match_buffer")
    arguments.nodes("buffer", "shape", optional=("dtype", *PARAMETERS))
    found: dict[str, ast.expr] = {}
    strides = arguments.given.get("strides")
    given = [
        *zip(strides.elts if isinstance(strides, ast.List | ast.Tuple) else [], layout.strides, strict=False),
        (arguments.given.get("elem_offset"), layout.offset),
    ]
    for node, value in given:
        if isinstance(node, ast.Name) and node.id in scope.layouts and value is not None:
            found[node.id] = value
    return found


def _with_shape(scope: Scope, call: ast.Call, sizes: Sequence[AffineExpr]) -> ast.Call:
    """`T.match_buffer(A[0:4, vi])`, whose shape is that of the part."""
    known = [size.value for size in sizes if isinstance(size, AffineConstantExpr)]
    if len(known) != len(sizes):
        hint = "shape="
        raise scope.source.error(call, "a part of a buffer whose extents are not known here says its shape", hint)
    shape = ast.keyword("shape", ast.Tuple([ast.Constant(size) for size in known], ast.Load()))
    made = ast.copy_location(ast.Call(call.func, call.args, [*call.keywords, shape]), call)
    return ast.fix_missing_locations(made)


def _dtype(buffer: Buffer) -> str:
    name = dtype_name(buffer.type.element_type)
    return f"u{name}" if buffer.unsigned and name.startswith("int") else name

"""Parts of buffers under names of their own: `P = T.match_buffer(A[vi * 4 : vi * 4 + 4, vj], (4,))`.

Such a name stands for elements of the buffer: `P[i]` is `A[vi * 4 + i, vj]`, and is read as that.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ...support.dtypes import dtype_name
from ..affine import simplify
from ..loops import ForOp
from .buffers import described
from .scope import Buffer, OuterIterator, Scope


class _Rewrite(ast.NodeTransformer):
    """Puts the buffer's elements in the place of those of its part."""

    def __init__(self, scope: Scope, name: str, buffer: str, starts: Sequence[ast.expr], rank: int, words: ast.expr):
        self.scope = scope
        self.name = name
        self.buffer = buffer
        self.starts = starts
        self.rank = rank
        self.words = words

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
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
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """`P.data`: the address of the first element of the part."""
        if not (isinstance(node.value, ast.Name) and node.value.id == self.name and node.attr == "data"):
            return self.generic_visit(node)
        element = ast.Subscript(ast.Name(self.buffer, ast.Load()), ast.Tuple([*self.starts], ast.Load()), ast.Load())
        made = ast.Call(ast.Attribute(self.words, "address_of", ast.Load()), [element], [])
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == self.name:
            raise self.scope.source.error(node, f"'{self.name}' is a part of a buffer", "name its elements")
        return node


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
                name.id = f"{name.id}_outside"
                while name.id in taken:
                    name.id += "_"
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
                rewrite = _part(scope, name, call, affine, fixed)
                rest = [rewrite.visit(each) for each in left[number + 1 :]]
                return [*left[:number], *without_parts(scope, rest, affine, fixed)]
            case _:
                continue
    return left


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
    found = described(scope, call, "T.match_buffer", ("buffer",), scopes=True)
    if found.element != buffer.type.element_type:
        raise error(call, f"a part of '{base.id}' has elements of {buffer.type.element_type}, not {found.element}")
    rank = len(found.shape)
    lead = len(starts) - rank
    if lead < 0 or any(size != AffineConstantExpr(1) for size in sizes[:lead]):
        raise error(call, f"a part of {rank} dimensions leaves out dimensions of '{base.id}' with several elements")
    for size, extent in zip(sizes[lead:], found.shape, strict=True):
        if size != (AffineConstantExpr(extent) if isinstance(extent, int) else extent):
            raise error(call, f"the part has {size} elements along a dimension, and its shape says {extent}")
    assert isinstance(call.func, ast.Attribute)
    return _Rewrite(scope, name, base.id, [fixed(start) for start in starts], rank, call.func.value)


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

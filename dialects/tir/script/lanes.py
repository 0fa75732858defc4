"""Vectors in the text: `B[T.ramp(i * 4, 1, 4)] = A[T.ramp(i * 4, 1, 4)] * T.broadcast(x, 4)`.

A block computes scalars, and machine code gets its vectors from loops of kind `vectorized` and from what stands side by
side in a block. So a vector is its lanes: a statement on vectors is one for each lane, in order, in which `T.ramp(b, s,
n)` and the slice `b : b + s * n : s` are `b + s * lane`, `T.broadcast(x, n)` is `x`, and `T.shuffle(vectors, lanes)` is
one lane of the vectors, which stand one behind the other. Every lane is computed before the first is stored.
"""

from __future__ import annotations

import ast
import re
from copy import deepcopy
from dataclasses import dataclass

from xdsl.ir.affine import AffineConstantExpr

from ..affine import simplify
from .arguments import Arguments, literal
from .loop_indices import IteratorIndices
from .scope import Constant, Scope

MAX_LANES = 1024
_VECTOR = re.compile(r"((?:float|int|uint|bool|bfloat)\d*)x(\d+)")
"""A dtype with a number of lanes."""


@dataclass(frozen=True)
class Vector:
    """The value of a name that stands for a vector: its lanes have names of their own."""

    lanes: int


def lane_name(name: str, lane: int) -> str:
    """The name of a lane of the vector `name`, which no text can contain."""
    return f"{name}.{lane}"


def lanes_of(scope: Scope, node: ast.AST) -> int | None:
    """The lanes of what a node is worth; `None` for a scalar.

    Raises:
        Diagnostic: vectors of several lengths meet, or the length of one is not known here.
    """
    if isinstance(node, ast.Call | ast.Name) and (made := _made(scope, node)) is not None:
        return made
    if isinstance(node, ast.Slice):
        return _length(scope, node)
    found: int | None = None
    for inner in ast.iter_child_nodes(node):
        lanes = lanes_of(scope, inner)
        if lanes is not None and found not in (None, lanes) and isinstance(inner, ast.expr):
            raise scope.source.error(inner, f"a vector of {lanes} lanes meets one of {found}")
        found = found if lanes is None else lanes
    return found


def _length(scope: Scope, node: ast.Slice) -> int:
    """The lanes of `A[i * 4 : i * 4 + 4]`."""
    if node.lower is None or node.upper is None:
        raise scope.source.error(node, "a vector has a first element and an end", "A[0:16]")
    indices = IteratorIndices(scope)
    found = simplify(indices.expr(node.upper) + indices.expr(node.lower) * -1)
    step = 1 if node.step is None else literal(scope, node.step)
    if not isinstance(found, AffineConstantExpr) or not isinstance(step, int) or step < 1:
        raise scope.source.error(node, "a vector has a number of elements that is known here")
    count = -(-found.value // step)
    if not 1 <= count <= MAX_LANES:
        raise scope.source.error(node, f"a vector has 1 to {MAX_LANES} lanes, not {count}")
    return count


def _word(scope: Scope, node: ast.Call) -> str:
    return (scope.word(node.func) or "").lower()


_MAKING = ("ramp", "broadcast", "shuffle")


def _made(scope: Scope, node: ast.expr) -> int | None:
    """The lanes of a vector that a name or a call makes."""
    if isinstance(node, ast.Name):
        known = scope.local.get(node.id)
        return known.value.lanes if isinstance(known, Constant) and isinstance(known.value, Vector) else None
    if not isinstance(node, ast.Call) or (word := _word(scope, node)) not in _MAKING:
        return None
    if word == "shuffle":
        _, order = Arguments(scope, node, "T.shuffle").nodes("vectors", "indices")
        if not isinstance(order, ast.List | ast.Tuple):
            raise scope.source.error(order, "T.shuffle takes a list of vectors, and one of lanes")
        return len(order.elts)
    names = ("base", "stride", "lanes") if word == "ramp" else ("value", "lanes")
    count = literal(scope, Arguments(scope, node, f"T.{word}").nodes(*names)[-1])
    if not isinstance(count, int) or not 1 <= count <= MAX_LANES:
        raise scope.source.error(node, f"a vector has 1 to {MAX_LANES} lanes, not {count!r}")
    return count


class _Lane(ast.NodeTransformer):
    """Makes of a node what it is in one lane."""

    def __init__(self, scope: Scope, lane: int):
        self.scope = scope
        self.lane = lane

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if _made(self.scope, node) is None:
            return node
        return ast.copy_location(ast.Name(lane_name(node.id, self.lane), ast.Load()), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        word = _word(self.scope, node)
        if word == "ramp":
            base, stride, _ = Arguments(self.scope, node, "T.ramp").nodes("base", "stride", "lanes")
            step = ast.BinOp(self.visit(stride), ast.Mult(), ast.Constant(self.lane))
            return _at(ast.BinOp(self.visit(base), ast.Add(), step), node)
        if word == "broadcast":
            value, _ = Arguments(self.scope, node, "T.broadcast").nodes("value", "lanes")
            return self.visit(value)
        if word == "shuffle":
            return self._shuffled(node)
        if (scalar := _scalar(word)) is not None and isinstance(node.func, ast.Attribute):
            func = _at(ast.Attribute(node.func.value, scalar, ast.Load()), node.func)
            node = ast.copy_location(ast.Call(func, node.args, node.keywords), node)
        return self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> ast.AST:
        assert node.lower is not None
        step = ast.Constant(1) if node.step is None else node.step
        place = ast.BinOp(self.visit(node.lower), ast.Add(), ast.BinOp(step, ast.Mult(), ast.Constant(self.lane)))
        return _at(place, node.lower)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        scalar = _scalar(node.value) if isinstance(node.value, str) else None
        return node if scalar is None else ast.copy_location(ast.Constant(scalar), node)

    def _shuffled(self, node: ast.Call) -> ast.AST:
        vectors, order = Arguments(self.scope, node, "T.shuffle").nodes("vectors", "indices")
        error = self.scope.source.error
        if not isinstance(vectors, ast.List | ast.Tuple) or not isinstance(order, ast.List | ast.Tuple):
            raise error(node, "T.shuffle takes a list of vectors, and one of lanes")
        number = literal(self.scope, order.elts[self.lane])
        if not isinstance(number, int) or number < 0:
            raise error(order, "a lane is a number from 0 on that is known here")
        for each in vectors.elts:
            lanes = lanes_of(self.scope, each) or 1
            if number < lanes:
                return lane_of(self.scope, each, number)
            number -= lanes
        raise error(order, "the vectors of T.shuffle have not so many lanes")


def _scalar(word: str) -> str | None:
    found = _VECTOR.fullmatch(word)
    return None if found is None else found[1]


def _at(made: ast.expr, node: ast.expr) -> ast.expr:
    return ast.fix_missing_locations(ast.copy_location(made, node))


def lane_of(scope: Scope, node: ast.expr, lane: int) -> ast.expr:
    """What a node is worth in one lane."""
    copy = deepcopy(node)
    return _Lane(scope, lane).visit(copy)

"""Whether two expressions or statements are one but for the names of their variables.

    structural_equal(tir.For(i, 0, 4, "serial", ...), tir.For(j, 0, 4, "serial", ...))

Variables that a statement defines may be called anything; others are the same where they are one object, or, if free
variables are mapped, where they stand at the same places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from ...support.arguments import checked
from ...te.expr import Binary, Const, Expr, IterVar, Slot, Var, index
from ...te.integer_forms import bits_of, integer_form, is_integer
from ...te.let import Let
from ...te.tensor import Tensor
from ..analyzer.nodes import IntExpr, as_expr
from ..script import equality as operations
from .buffers import Allocate, Buffer
from .statements import For, LetStmt, Stmt


@checked
def structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> bool:
    """Whether two nodes, or two operations, are one but for names.

    Raises:
        ArgumentError: they are neither.
    """
    if are_nodes(lhs, rhs):
        return _Comparison(map_free_vars).same(lhs, rhs)
    return operations.structural_equal(lhs, rhs)


@checked
def assert_structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> None:
    """
    Raises:
        AssertionError: `lhs` and `rhs` are not one but for names.
    """
    if not are_nodes(lhs, rhs):
        operations.assert_structural_equal(lhs, rhs)
    elif not _Comparison(map_free_vars).same(lhs, rhs):
        raise AssertionError(f"they differ:\n{lhs}\n{rhs}")


def are_nodes(lhs: object, rhs: object) -> bool:
    """Whether two values are compared here, and are no operations; numbers are, beside nodes."""
    return _is_node(lhs) and _is_node(rhs) and not all(isinstance(each, int | float | str) for each in (lhs, rhs))


def _is_node(value: object) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_node, cast("Sequence[object]", value)))
    return isinstance(value, Expr | IntExpr | Stmt | Buffer | int | float | str)


def as_integer(value: object) -> IntExpr | None:
    """What a value is to the analyzer; `None` where it is no integer."""
    if isinstance(value, IntExpr | int):
        return as_expr(value)
    return integer_form(value) if isinstance(value, Expr) and is_integer(value.type) else None


def is_extent(expr: Expr) -> bool:
    """Whether an expression is arithmetic of extents, or a condition of such: that has one form for all ways to write
    it, and an extent is the same number as a register of 32 bits or more holds it."""
    if expr.type == index:
        return True
    return is_integer(expr.type) and any(isinstance(each.key, Var) for each in integer_form(expr).variables)


def alike(a: Attribute, b: Attribute) -> bool:
    """Whether two types are one; an index is any integer with a sign that an extent may be in."""
    if a == b:
        return True
    if isa(a, VectorType[Attribute]) and isa(b, VectorType[Attribute]):
        return a.get_shape() == b.get_shape() and alike(a.element_type, b.element_type)
    return index in (a, b) and all(is_integer(each) and bits_of(each) >= (32, True) for each in (a, b))


def _class_of(value: object) -> type:
    """What kind of node a value is: `==` makes a comparison, and extents make arithmetic, like any other."""
    return Binary if isinstance(value, Binary) else type(value)


class _Comparison:
    def __init__(self, maps_free: bool):
        self.maps_free = maps_free
        self.there: dict[object, object] = {}
        self.back: dict[object, object] = {}

    def same(self, a: object, b: object) -> bool:
        """Whether two values are the same."""
        if isinstance(a, Const) and isinstance(b, int | float):
            a = a.value
        if isinstance(b, Const) and isinstance(a, int | float):
            b = b.value
        if isinstance(a, IntExpr) or isinstance(b, IntExpr):
            return as_integer(a) is as_integer(b)
        if isinstance(a, Slot | Var | IterVar | Tensor):
            return self._variable(a, b)
        if not self.there and not self.maps_free and isinstance(a, Expr) and isinstance(b, Expr):
            if is_extent(a) and is_extent(b):
                return as_integer(a) is as_integer(b)
        if _class_of(a) is not _class_of(b):
            return False
        if isinstance(a, Buffer) and isinstance(b, Buffer):
            return self._buffer(a, b)
        if isinstance(a, tuple | list):
            pairs = cast("Sequence[object]", a), cast("Sequence[object]", b)
            return len(pairs[0]) == len(pairs[1]) and all(map(self.same, *pairs))
        if isinstance(a, Expr) and isinstance(b, Expr):
            return alike(a.type, b.type) and self._node(a, b)
        return self._node(a, b) if isinstance(a, Stmt) else bool(a == b)

    def _node(self, a: Expr | Stmt, b: object) -> bool:
        """Whether two nodes of one class, and of one type, have the same in them."""
        match a, b:
            case For(), For():
                self._define(a.loop_var, b.loop_var)
            case (LetStmt(), LetStmt()) | (Let(), Let()):
                self._define(a.var, b.var)
            case Allocate(), Allocate():
                self._define(a.buffer.data, b.buffer.data)
            case _:
                pass
        shown = Binary if isinstance(a, Binary) else a
        names = [each.name for each in fields(shown) if each.name != "type"] if is_dataclass(shown) else []
        return all(self.same(getattr(a, name), getattr(b, name)) for name in names)

    def _define(self, a: Expr, b: Expr) -> None:
        self.there[a], self.back[b] = b, a

    def _variable(self, a: object, b: object) -> bool:
        if a in self.there or b in self.back:
            return self.there.get(a) is b
        if (a is not b and not self.maps_free) or type(a) is not type(b):
            return False
        if isinstance(a, Expr) and isinstance(b, Expr) and a.type != b.type:
            return False
        self.there[a], self.back[b] = b, a
        return True

    def _buffer(self, a: Buffer, b: Buffer) -> bool:
        known = self._variable(a.data, b.data)
        one = (a.shape, a.strides, a.elem_offset, a.scope())
        other = (b.shape, b.strides, b.elem_offset, b.scope())
        return known and a.type == b.type and self.same(one, other)

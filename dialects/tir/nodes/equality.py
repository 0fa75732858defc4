"""Whether two expressions or statements are one but for the names of their variables.

    structural_equal(tir.For(i, 0, 4, "serial", ...), tir.For(j, 0, 4, "serial", ...))

Variables that a statement defines may be called anything; others are the same where they are one object, or, if free
variables are mapped, where they stand at the same places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import count
from math import copysign
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute

from ...support.arguments import checked
from ...support.hints import is_mapping, is_sequence, isa
from ...te.expr import Binary, Cast, Const, Expr, IterVar, Slot, Var, index
from ...te.integer_forms import bits_of, direct_parts, integer_form, is_integer
from ...te.let import Let
from ...te.reduction import Combiner, Fold, Reduce
from ...te.tensor import Tensor
from ..analyzer.iter_nodes import IterMapExpr, IterMark, IterSplitExpr
from ..analyzer.nodes import Const as Integer
from ..analyzer.nodes import IntExpr, as_expr
from ..functions import trees
from ..script import equality as operations
from .blocks import AllocateConst, Block
from .buffers import Allocate, Buffer, BufferRegion, PointedTo, Pointer, Range
from .declared import MatchBufferRegion
from .statements import AttrStmt, For, LetStmt, Stmt, loop_over


@checked
def structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> bool:
    """Whether two nodes, or two operations, are one but for names.

    Raises:
        ArgumentError: they are neither.
    """
    lhs, rhs = as_nodes(lhs, rhs)
    if are_nodes(lhs, rhs):
        return _same(lhs, rhs, map_free_vars)
    return operations.structural_equal(lhs, rhs)


def as_nodes(lhs: object, rhs: object) -> tuple[object, object]:
    """Both, a loop or a block of a function as its node where the other one is a statement that is a node."""
    if isinstance(lhs, Stmt) and isinstance(rhs, operations.STATEMENTS):
        return lhs, trees().node(rhs)
    if isinstance(rhs, Stmt) and isinstance(lhs, operations.STATEMENTS):
        return trees().node(lhs), rhs
    return lhs, rhs


@checked
def structural_hash(node: Any, map_free_vars: bool = False) -> int:
    """A number that is the same for nodes, or operations, that `structural_equal` takes for one.

    Raises:
        ArgumentError: it is neither.
    """
    return hash(_form(node, map_free_vars)) if _is_node(node) else operations.structural_hash(node)


@checked
def expr_deep_equal(lhs: Expr | IntExpr | float | bool, rhs: Expr | IntExpr | float | bool) -> bool:
    """Whether two expressions are written alike, of the same variables: `x + y` is not `y + x`. One of the analyzer's,
    which has one form for all ways to write it, is compared by that."""
    if isinstance(lhs, IntExpr) or isinstance(rhs, IntExpr):
        return as_integer(lhs) is as_integer(rhs)
    return Forms(False, as_written=True).of(lhs) == Forms(False, as_written=True).of(rhs)


def are_nodes(lhs: object, rhs: object) -> bool:
    """Whether two values are compared here, and are no operations: nodes, arrays, and sequences and dictionaries of
    them. Numbers are beside or within those."""
    return _is_node(lhs) and _is_node(rhs) and not all(isinstance(each, int | float | str) for each in (lhs, rhs))


def _is_node(value: object) -> bool:
    if is_sequence(value):
        return all(map(_is_node, value))
    if is_mapping(value):
        return all(isinstance(key, str) and _is_node(each) for key, each in value.items())
    if isinstance(value, np.ndarray):
        return True
    kinds = Expr | IntExpr | IterMapExpr | IterMark | Stmt | Buffer | BufferRegion | Range | MatchBufferRegion
    return isinstance(value, kinds | int | float | str)


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


@dataclass(frozen=True)
class TypeForm:
    """A type within a form: an index is `alike` to several."""

    type: Attribute

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeForm) and alike(self.type, other.type)

    def __hash__(self) -> int:
        if isa(self.type, VectorType[Attribute]):
            return hash((self.type.get_shape(), TypeForm(self.type.element_type)))
        return 0 if is_integer(self.type) and bits_of(self.type) >= (32, True) else hash(self.type)


@dataclass(frozen=True)
class _Number:
    """A number within a form, of a type if it is a literal. The zeros are two, and NaNs one."""

    value: float
    type: TypeForm | None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Number) or None is not self.type != other.type is not None:
            return False
        return self._told_by() == other._told_by()

    def __hash__(self) -> int:
        return hash(self._told_by())

    def _told_by(self) -> object:
        if self.value != self.value:
            return "nan"
        return self.value, isinstance(self.value, float) and copysign(1.0, self.value) < 0


@dataclass(frozen=True)
class _Plain:
    """What else stands in a node."""

    value: object

    def __hash__(self) -> int:
        return hash(type(self.value))


Form: TypeAlias = "tuple[object, ...] | TypeForm | _Number | _Plain | str | None"


class Forms:
    """The form of a node: equal, and of one hash, where nodes are one but for names. Variables that are defined in it
    are known by the order of their definitions, and free ones by themselves, or by the order in which they appear."""

    def __init__(self, maps_free: bool, as_written: bool = False):
        self.maps_free = maps_free
        self.as_written = as_written
        self.bound: dict[object, int] = {}
        self.free: dict[object, int] = {}
        self.defined = count()

    def define(self, names: Sequence[Expr]) -> None:
        """Let variables be known from here on."""
        for name in names:
            self.bound[name] = next(self.defined)

    def of(self, value: object) -> Form:
        """The form of anything that stands in a node."""
        match value:
            case Const():
                return _Number(value.value, TypeForm(value.type))
            case IntExpr():
                return self._integer(index, value)
            case IterSplitExpr():
                return ("digit", *map(self.of, (value.source, value.lower_factor, value.extent, value.scale)))
            case IterMapExpr():
                return ("index", self.of(value.to_int_expr()), *map(self.of, getattr(value, "args", ())))
            case IterMark():
                return ("iterator", self.of(value.source), self.of(value.extent))
            case Slot() | Var() | IterVar() | Tensor():
                return self._variable(value)
            case Cast(operand, type) if not self.as_written and alike(operand.type, type):
                return self.of(operand)
            case Expr():
                if not self.maps_free and not self.as_written and is_extent(value) and not self._has_bound(value):
                    return self._integer(value.type, integer_form(value))
                return (TypeForm(value.type), *self._node(value))
            case Stmt() | Combiner():
                return self._node(value)
            case Pointer() | PointedTo():  # as many elements as are used
                return ("pointer", self._variable(value.data), value.type, value.scope())
            case Buffer():
                parts = value.shape, value.strides, value.elem_offset
                return ("buffer", self._variable(value.data), value.type, value.scope(), self.of(parts))
            case BufferRegion(buffer, region):
                return ("region", self.of(buffer), tuple((self.of(each.min), self.of(each.extent)) for each in region))
            case Range(low, extent):
                return ("range", self.of(low), self.of(extent))
            case MatchBufferRegion(buffer, source):
                return ("part", self.of(buffer), self.of(source))
            case _ if is_sequence(value):
                return tuple(map(self.of, value))
            case Mapping():
                items = cast("Mapping[str, object]", value)
                return ("map", *((name, self.of(items[name])) for name in sorted(items)))
            case np.ndarray():
                array = cast("npt.NDArray[np.generic]", value)
                return ("array", array.shape, str(array.dtype), array.tobytes())
            case int() | float():
                return _Number(value, None)
            case str() | None:
                return value
            case _:
                return _Plain(value)

    def _integer(self, type: Attribute, form: IntExpr) -> Form:
        kind = TypeForm(type)
        return _Number(form.value, kind) if isinstance(form, Integer) else (kind, "integer", form)

    def _has_bound(self, expr: Expr) -> bool:
        stack = [expr] if self.bound else []
        while stack:
            if (each := stack.pop()) in self.bound:
                return True
            stack += direct_parts(each)
        return False

    def _node(self, node: Expr | Stmt | Combiner) -> tuple[object, ...]:
        """The class of a node and what is in it; what it defines is defined in the last part only."""
        match node:
            case AttrStmt(
                node=Slot() | IterVar() as thread, attr_key="thread_extent"
            ):  # a loop over the thread's numbers
                return self._node(loop_over(node, thread))
            case For():
                head = self.of((node.min, node.extent, node.kind, node.thread_binding, node.annotations or None))
                return ("for", TypeForm(node.loop_var.type), head, self._within((node.loop_var,), node.body))
            case LetStmt() | Let():
                name = node.var
                return (type(node), TypeForm(name.type), self.of(node.value), self._within((name,), node.body))
            case Allocate():
                buffer = node.buffer
                head = self.of((buffer.shape, buffer.strides, buffer.elem_offset, node.annotations or None))
                return ("allocate", buffer.type, buffer.scope(), head, self._within((buffer.data,), node.body))
            case AllocateConst():
                buffer = node.buffer
                head = self.of((buffer.shape, node.annotations or None)), str(node.data.dtype), node.data.tobytes()
                return ("constant", buffer.type, head, self._within((buffer.data,), node.body))
            case Block():
                dims = tuple((self.of(each.extent), each.kind, each.partial) for each in node.iter_vars)
                owned = tuple((each.type, each.scope(), self.of(each.shape)) for each in node.alloc_buffers)
                names = (*(each.var for each in node.iter_vars), *(each.data for each in node.alloc_buffers))
                said = self.of(node.annotations), tuple(self.of(each.source) for each in node.match_buffers)
                owned += tuple((each.buffer.type, "part", self.of(each.buffer.shape)) for each in node.match_buffers)
                names += tuple(each.buffer.data for each in node.match_buffers)
                return ("block", node.name_hint, dims, owned, said, self._within(names, (node.init, node.body)))
            case Reduce():
                inside = self._within(node.axes, node.operand)
                return ("reduce", node.kind, self.of(node.start), self._axes(node.axes), inside)
            case Fold():
                inside = self._within(node.axes, node.operands)
                start = self.of(node.start)
                return ("fold", node.number, self.of(node.combiner), start, self._axes(node.axes), inside)
            case Combiner():
                slots = (*node.so_far, *node.step)
                types = tuple(TypeForm(each.type) for each in slots)
                return ("combiner", types, self.of(node.identity), self._within(slots, node.results))
            case _:
                shown = Binary if isinstance(node, Binary) else node
                names = [each.name for each in fields(shown) if each.name != "type"] if is_dataclass(shown) else []
                kind = Binary if isinstance(node, Binary) else type(node)
                return (kind, *(self.of(getattr(node, name)) for name in names))

    def _axes(self, axes: Sequence[IterVar]) -> tuple[object, ...]:
        return tuple((self.of(each.dim), each.start, each.reduce) for each in axes)

    def _within(self, names: Sequence[Expr], body: object) -> Form:
        """The form of what variables are defined in."""
        before = dict(self.bound)
        self.define(names)
        form = self.of(body)
        self.bound = before
        return form

    def _variable(self, value: Expr | Tensor) -> Form:
        if value in self.bound:
            return ("bound", self.bound[value])
        if not self.maps_free:
            return ("object", id(value))
        kind = TypeForm(value.type) if isinstance(value, Expr) else None
        return ("free", self.free.setdefault(value, len(self.free)), type(value), kind)


def _form(value: object, maps_free: bool) -> Form:
    """The form of a node by itself: an integer of the analyzer's is one of the extents."""
    return Forms(maps_free).of(value)


def _same(lhs: object, rhs: object, maps_free: bool) -> bool:
    if isinstance(lhs, IntExpr) or isinstance(rhs, IntExpr):
        return as_integer(lhs) is as_integer(rhs)
    return _form(lhs, maps_free) == _form(rhs, maps_free)

"""Where two trees of nodes first differ: `tir.get_first_structural_mismatch`.

The trees are compared as `structural_equal` does. Where two nodes differ, their parts are looked at in order, with the
variables that both have defined by then taken for the same; the first that differ are looked into, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import count
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp

from ...support.arguments import checked
from ...te.expr import Binary, Const, Expr, IterVar, Slot, Var, as_expr
from ...te.kinds import index
from ...te.let import Let
from ...te.reduction import Fold, Reduce
from ..functions import PrimFuncOp
from ..script import equality as operations
from .blocks import AllocateConst, Block, BlockRealize, MatchBufferRegion, Range
from .buffers import Allocate, Buffer, BufferLoad, BufferStore
from .equality import Forms, TypeForm, are_nodes, as_nodes, structural_equal
from .expressions import Handle
from .object_path import ObjectPath
from .statements import For, LetStmt, Stmt

MANY = 1 << 30
"""More variables than are defined in a tree."""

Paths: TypeAlias = tuple[ObjectPath, ObjectPath]


@dataclass(frozen=True)
class _Part:
    """A part of a node: TVM's name of it, and the variables that are defined for it."""

    name: str
    value: object
    defined: Sequence[Expr] = ()


@checked
def get_first_structural_mismatch(lhs: Any, rhs: Any, map_free_vars: bool = False) -> Paths | None:
    """The places in which two nodes, functions or modules first differ, in each of them; `None` where they are one but
    for names. Counterpart of TVM's function of that name.

    Raises:
        ArgumentError: they are neither.
    """
    if structural_equal(lhs, rhs, map_free_vars):
        return None
    return _Walk(map_free_vars).within(lhs, rhs, ObjectPath.root(), ObjectPath.root())


@checked
def assert_structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> None:
    """
    Raises:
        StructuralDifferenceError: `lhs` and `rhs` are not one but for names.
    """
    lhs, rhs = as_nodes(lhs, rhs)
    if not are_nodes(lhs, rhs):
        operations.assert_structural_equal(lhs, rhs)
    elif not structural_equal(lhs, rhs, map_free_vars):
        found = get_first_structural_mismatch(lhs, rhs, map_free_vars)
        where = "" if found is None else f" at {found[0]}"
        raise operations.StructuralDifferenceError(f"they differ{where}:\n{lhs}\n{rhs}")


class _Walk:
    def __init__(self, maps_free: bool):
        self.forms = Forms(maps_free), Forms(maps_free)
        self.begun = 0

    def within(self, lhs: object, rhs: object, a: ObjectPath, b: ObjectPath) -> Paths:
        """Where two things that differ do so."""
        match lhs, rhs:
            case ((tuple() | list()), (tuple() | list())):
                return self._sequences(cast("Sequence[object]", lhs), cast("Sequence[object]", rhs), a, b)
            case Mapping(), Mapping():
                return self._mappings(cast("Mapping[str, object]", lhs), cast("Mapping[str, object]", rhs), a, b)
            case PrimFuncOp(), PrimFuncOp():
                return self._functions(lhs, rhs, a, b)
            case _ if _kind(lhs) != _kind(rhs):
                return a, b
            case _:
                for left, right in zip(_parts(lhs), _parts(rhs), strict=False):
                    self._define(left, right)
                    if self._differ(left.value, right.value):
                        return self.within(left.value, right.value, a.attr(left.name), b.attr(right.name))
                return a, b

    def _functions(self, lhs: PrimFuncOp, rhs: PrimFuncOp, a: ObjectPath, b: ObjectPath) -> Paths:
        kinds, others = _kinds(lhs.params), _kinds(rhs.params)
        if kinds != others:
            return self._sequences(kinds, others, a.attr("params"), b.attr("params"))
        for form, func in zip(self.forms, (lhs, rhs), strict=True):
            form.define(func.params)
        for left, right in zip(lhs.params, rhs.params, strict=True):
            if isinstance(left, Handle) and self._differ(_shape(lhs.buffer_map[left]), _shape(rhs.buffer_map[right])):
                places = a.attr("buffer_map").map_value(left), b.attr("buffer_map").map_value(right)
                shape, other = _extents(lhs.buffer_map[left]), _extents(rhs.buffer_map[right])
                if self._differ(shape, other):
                    return self._sequences(shape, other, *(each.attr("shape") for each in places))
                return places
        body, other = lhs.body, rhs.body
        return self.within(body, other, a.attr("body"), b.attr("body")) if self._differ(body, other) else (a, b)

    def _sequences(self, lhs: Sequence[object], rhs: Sequence[object], a: ObjectPath, b: ObjectPath) -> Paths:
        for number, (left, right) in enumerate(zip(lhs, rhs, strict=False)):
            if self._differ(left, right):
                return self.within(left, right, a.array_index(number), b.array_index(number))
        common = min(len(lhs), len(rhs))
        if len(lhs) > len(rhs):
            return a.array_index(common), b.missing_array_element(common)
        return a.missing_array_element(common), b.array_index(common)

    def _mappings(self, lhs: Mapping[str, object], rhs: Mapping[str, object], a: ObjectPath, b: ObjectPath) -> Paths:
        for key in sorted(lhs.keys() | rhs.keys()):
            if key not in rhs:
                return a.map_value(key), b.missing_map_entry()
            if key not in lhs:
                return a.missing_map_entry(), b.map_value(key)
            if self._differ(lhs[key], rhs[key]):
                return self.within(lhs[key], rhs[key], a.map_value(key), b.map_value(key))
        return a, b

    def _define(self, left: _Part, right: _Part) -> None:
        for form, part in zip(self.forms, (left, right), strict=True):
            form.define(part.defined)

    def _differ(self, lhs: object, rhs: object) -> bool:
        """Whether two parts differ; if they do, variables are as unknown as before."""
        if isinstance(lhs, PrimFuncOp) and isinstance(rhs, PrimFuncOp):
            return not structural_equal(lhs, rhs)
        before = [dict(form.free) for form in self.forms]
        left, right = self.forms
        if left.of(lhs) == right.of(rhs):
            return False
        self.begun += MANY
        for form, free in zip(self.forms, before, strict=True):
            form.free, form.defined = free, count(self.begun)
        return True


def _kinds(params: Sequence[Expr]) -> tuple[object, ...]:
    """What the parameters of a function are."""
    return tuple(Handle if isinstance(each, Handle) else TypeForm(each.type) for each in params)


def _kind(value: object) -> object:
    """What is told apart before the parts."""
    if isinstance(value, Binary):
        return type(value), value.kind
    return type(value)


def _parts(node: object) -> Iterator[_Part]:
    """The parts of a node under TVM's names, in the order in which they are compared."""
    match node:
        case ModuleOp():
            yield _Part("functions", {op.sym_name.data: op for op in node.ops if isinstance(op, PrimFuncOp)})
        case For():
            yield _Part("loop_var", TypeForm(node.loop_var.type))
            for name in ("min", "extent", "kind", "thread_binding", "annotations"):
                yield _Part(name, getattr(node, name))
            yield _Part("body", node.body, (node.loop_var,))
        case LetStmt() | Let():
            yield _Part("var", TypeForm(node.var.type))
            yield _Part("value", node.value)
            yield _Part("body", node.body, (node.var,))
        case Allocate() | AllocateConst():
            yield _Part("dtype", node.dtype)
            yield _Part("extents", tuple(node.extents))
            yield _Part("annotations", node.annotations)
            yield _Part("body", node.body, (node.buffer.data,))
        case BlockRealize():
            yield _Part("iter_values", node.iter_values)
            yield _Part("predicate", node.predicate)
            yield _Part("block", node.block)
        case Block():
            yield _Part("iter_vars", tuple((each.extent, each.kind) for each in node.iter_vars))
            yield _Part("name_hint", node.name_hint)
            yield _Part("alloc_buffers", tuple(_shape(each) for each in node.alloc_buffers))
            yield _Part("match_buffers", node.match_buffers)
            yield _Part("annotations", node.annotations)
            names = *(each.var for each in node.iter_vars), *(each.data for each in node.alloc_buffers)
            yield _Part("init", node.init, names)
            yield _Part("body", node.body)
        case Const():
            yield _Part("dtype", node.type)
            yield _Part("value", node.value)
        case Binary(_, lhs, rhs):
            yield _Part("a", lhs)
            yield _Part("b", rhs)
        case Slot() | Var() | IterVar():
            pass
        case BufferStore() | BufferLoad():
            yield _Part("buffer", node.buffer)
            if isinstance(node, BufferStore):
                yield _Part("value", node.value)
            yield _Part("indices", node.indices)
        case Buffer():
            yield _Part("data", node.data)
            yield _Part("dtype", node.dtype)
            yield _Part("shape", node.shape)
            yield _Part("strides", node.strides)
            yield _Part("elem_offset", node.elem_offset)
        case Range(low, extent):
            yield _Part("min", low)
            yield _Part("extent", extent)
        case MatchBufferRegion(buffer, source):
            yield _Part("buffer", buffer)
            yield _Part("source", source)
        case Reduce() | Fold():
            return  # what it computes is a part of what its axes mean
        case Expr() | Stmt() if is_dataclass(node):
            for each in fields(node):
                if each.name != "type":
                    yield _Part(each.name, getattr(node, each.name))
        case _:
            return


def _extents(buffer: Buffer) -> tuple[Expr, ...]:
    return tuple(as_expr(each, index) for each in buffer.shape)


def _shape(buffer: Buffer) -> object:
    return buffer.shape, buffer.type, buffer.scope()

"""To look at trees of nodes, and to make other ones of them: TVM's `tir.stmt_functor`.

    post_order_visit(func, lambda node: found.append(node))
    func.with_body(ir_transform(func.body, None, lambda loop: loop.body, ["tir.For"]))

Parts are visited in the order in which they are written: of a loop its bounds and its body, of a store its value and
its indices. Variables that a statement defines are no parts of it. Nothing is changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TypeAlias, TypeVar, cast

from ...support.arguments import checked
from ...support.diagnostics import UsageError
from ...support.hints import is_tuple
from ...te.expr import Binary, Const, Dim, Equality, Expr, IterVar, Select, Slot, Unary, as_expr, binary
from ...te.expr import Var as Extent
from ...te.integer_forms import map_operands
from ..functions import PrimFuncOp
from ..parameter_nodes import renew_nodes
from . import expressions as names
from .blocks import Block, BufferRegion, Range
from .blocks import IterVar as BlockIter
from .buffers import Buffer
from .declared import MatchBufferRegion
from .statements import For, SeqStmt, Stmt

Node: TypeAlias = "Stmt | Expr"
Visited: TypeAlias = "Stmt | Expr | PrimFuncOp"
"""A node, or a function, whose statements it stands for."""
N = TypeVar("N", bound="Stmt | Expr")

_DEFINED = (
    "loop_var", "var", "axes", "buffer", "iter_vars", "alloc_buffers", "match_buffers", "reads", "writes",
    "annotations", "data", "bounds",
)  # fmt: skip
"""What in a node is no part of it: what it defines, and what is said of it."""


def parts_of(node: Node) -> list[Node]:
    """The statements and expressions directly in one, in order."""
    if isinstance(node, IterVar | Slot | Extent | Const) or not is_dataclass(node):
        return []
    found: list[Node] = []
    for each in fields(node):
        if each.name not in _DEFINED:
            value: object = getattr(node, each.name)
            for one in value if is_tuple(value) else (value,):
                if isinstance(one, Stmt | Expr):
                    found.append(one)
    if isinstance(node, Block):  # its init comes before its body
        found.sort(key=lambda part: part is node.body)
    return found


def walk(node: Node) -> Iterator[Node]:
    """A node and all in it, each before its parts."""
    stack: list[Node] = [node]
    while stack:
        yield (each := stack.pop())
        stack += reversed(parts_of(each))


def node_of(given: Visited) -> Node:
    """What is visited; of a function the statements.

    Raises:
        Diagnostic: something in the function is no statement.
    """
    return given.body if isinstance(given, PrimFuncOp) else given


@checked
def post_order_visit(stmt: Visited, fvisit: Callable[..., object]) -> None:
    """Call `fvisit` with each statement and expression, the parts of one before itself; with what stands several times
    in a tree once."""
    seen = set[int]()
    stack: list[tuple[Node, bool]] = [(node_of(stmt), False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            fvisit(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack += [(part, False) for part in reversed(parts_of(node))]


@checked
def pre_order_visit(stmt: Visited, fvisit: Callable[..., object]) -> None:
    """Call `fvisit` with each statement and expression, before its parts, which are left out if it gives `False`."""
    stack: list[Node] = [node_of(stmt)]
    while stack:
        node = stack.pop()
        if fvisit(node) is not False:
            stack += reversed(parts_of(node))


_NAMED = {
    name: getattr(names, name)
    for name in (
        "Add Sub Mul Div Mod FloorDiv FloorMod Min Max EQ NE LT LE GT GE And Or Not IntImm FloatImm Var SizeVar"
    ).split()
}


def kind_of(node: Node) -> str:
    """TVM's name of what a node is: `tir.For`, `tir.Add`."""
    if isinstance(node, Binary | Unary | Const | Slot | Extent | IterVar):
        for name, kind in reversed(_NAMED.items()):
            if isinstance(node, kind):
                return f"tir.{name}"
    return f"tir.{'Select' if isinstance(node, Select) else type(node).__name__}"


Change: TypeAlias = "Callable[..., Stmt | Expr | None] | None"


@checked
def ir_transform(
    stmt: Stmt | PrimFuncOp,
    preorder: Callable[..., Stmt | Expr | None] | None,
    postorder: Callable[..., Stmt | Expr | None] | None,
    only_enable: Sequence[str] | None = None,
) -> Stmt:
    """The statement with its parts replaced by what two functions give for them: `preorder` is asked first, and if it
    gives a node that stands there, whose parts are left as they are; else the parts are transformed, and `postorder`
    is asked for what they make. `None` leaves a node as it is. `only_enable` names the kinds that they are asked for:
    `tir.For`, `tir.Call`.

    Raises:
        UsageError: a statement is replaced by an expression, or the other way round.
    """
    enabled = None if only_enable is None else set(only_enable)

    def asked(function: Change, node: Node) -> Node | None:
        if function is None or (enabled is not None and kind_of(node) not in enabled):
            return None
        made = function(node)
        if made is not None and isinstance(made, Stmt) != isinstance(node, Stmt):
            what = type(node).__name__, type(made).__name__
            raise UsageError(f"tir.ir_transform: a {what[0]} cannot be replaced by a {what[1]}")
        return made

    def new(node: Node) -> Node:
        if (made := asked(preorder, node)) is not None:
            return made
        changed = with_parts(node, new)
        made = asked(postorder, changed)
        return changed if made is None else made

    return cast("Stmt", new(node_of(stmt)))


def with_parts(node: N, function: Callable[[Node], Node]) -> N:
    """A node with `function` applied to its parts; itself, where nothing changes."""
    if isinstance(node, Expr):
        return cast("N", map_operands(node, lambda part: cast("Expr", function(part))))
    if not is_dataclass(node):
        return node
    changed: dict[str, object] = {}
    for each in fields(node):
        if each.name in _DEFINED:
            continue
        value: object = getattr(node, each.name)
        new = _changed(value, function)
        if new is not value:
            changed[each.name] = new
    return cast("N", _with(node, changed))


def _changed(value: object, function: Callable[[Node], Node]) -> object:
    if isinstance(value, Stmt | Expr):
        return function(value)
    if is_tuple(value):
        new = tuple(_changed(each, function) for each in value)
        return value if all(a is b for a, b in zip(new, value, strict=True)) else new
    return value


def _with(node: Node, changed: Mapping[str, object]) -> Node:
    """A node with other values for some of its fields."""
    if not changed:
        return node
    made = object.__new__(type(node))
    for each in fields(cast("For", node)):
        object.__setattr__(made, each.name, changed.get(each.name, getattr(node, each.name)))
    if isinstance(made, SeqStmt):
        flat: list[Stmt] = []
        for each in made.seq:
            flat += each.seq if isinstance(each, SeqStmt) else [each]
        return SeqStmt(tuple(flat))
    return made


@checked
def substitute(node: N, vmap: Mapping[Expr, Expr | int | float]) -> N:
    """A statement or an expression with others in place of variables, in the extents of buffers, too."""
    values = {each: as_expr(value, each.type) for each, value in vmap.items()}
    return Substitution(values).of(node)


@checked
def renew_defs(func: PrimFuncOp) -> PrimFuncOp:
    """A copy of a function, all of whose parameters, buffers, loops and iterators are its own."""
    copy = func.clone()
    renew_nodes(copy)
    return copy


class Substitution:
    """Puts expressions in place of others, and buffers in place of others; a buffer whose extents that changes is
    another buffer."""

    def __init__(self, values: Mapping[Expr, Expr], buffers: Mapping[Buffer, Buffer] | None = None):
        self.values = dict(values)
        self.buffers = dict(buffers or {})
        self._made: dict[Expr, Expr] = {}

    def of(self, node: N) -> N:
        """A statement or an expression with what is to be replaced replaced."""
        if isinstance(node, Expr):
            return cast("N", self._expr(node))
        return cast("N", _with(node, self._changes(node)))

    def dim(self, dim: Dim) -> Dim:
        """An extent; a number where it is one."""
        made = dim if isinstance(dim, int) else self._expr(dim)
        return int(made.value) if isinstance(made, Const) else made

    def buffer(self, buffer: Buffer) -> Buffer:
        """The buffer that is there for one."""
        if buffer not in self.buffers:
            shape = [self.dim(each) for each in buffer.shape]
            strides = None if buffer.strides is None else [self.dim(each) for each in buffer.strides]
            offset = None if buffer.elem_offset is None else self.dim(buffer.elem_offset)
            pairs = [*zip(shape, buffer.shape, strict=True), *zip(strides or (), buffer.strides or (), strict=True)]
            same = all(a is b for a, b in pairs) and offset is buffer.elem_offset
            made = (
                buffer
                if same
                else Buffer(
                    buffer.name,
                    shape,
                    buffer.type,
                    strides,
                    offset,
                    buffer.scope(),
                    axis_separators=buffer.axis_separators,
                )
            )
            self.buffers[buffer] = made
        return self.buffers[buffer]

    def _expr(self, expr: Expr) -> Expr:
        if expr in self.values:
            return self.values[expr]
        if isinstance(expr, IterVar | Slot | Extent | Const) or not is_dataclass(expr):
            return expr
        if expr not in self._made:
            self._made[expr] = self._rebuilt(expr)
        return self._made[expr]

    def _rebuilt(self, expr: Expr) -> Expr:
        changed = self._changes(expr)
        if not changed:
            return expr
        if isinstance(expr, Binary) and not isinstance(expr, Equality):
            return binary(expr.kind, self._expr(expr.lhs), self._expr(expr.rhs))
        return cast("Expr", _with(expr, changed))

    def _changes(self, node: Node) -> dict[str, object]:
        changed: dict[str, object] = {}
        for each in fields(cast("For", node)):
            if each.name not in ("loop_var", "var", "axes", "type"):
                value: object = getattr(node, each.name)
                new = self._value(value)
                if new is not value:
                    changed[each.name] = new
        return changed

    def _value(self, value: object) -> object:
        match value:
            case Expr() | Stmt():
                return self.of(value)
            case Buffer():
                return self.buffer(value)
            case BlockIter() | Range():
                extent = self.dim(value.extent)
                low = value if isinstance(value, BlockIter) else self._expr(value.min)
                if extent is value.extent and (isinstance(value, BlockIter) or low is value.min):
                    return value
                if isinstance(value, BlockIter):
                    return BlockIter(extent, value.var, value.kind, partial=value.partial)
                return Range(cast("Expr", low), extent)
            case BufferRegion(buffer, region):
                new = self.buffer(buffer), cast("tuple[Range, ...]", self._value(region))
                return value if new[0] is buffer and new[1] is region else BufferRegion(*new)
            case MatchBufferRegion(buffer, source):
                part = self.buffer(buffer), cast("BufferRegion", self._value(source))
                return value if part[0] is buffer and part[1] is source else MatchBufferRegion(*part)
            case _ if is_tuple(value):
                made = tuple(map(self._value, value))
                return value if all(a is b for a, b in zip(made, value, strict=True)) else made
            case _:
                return value

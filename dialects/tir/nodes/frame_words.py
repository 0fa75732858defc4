"""TVMScript's words as functions, for `IRBuilder` (`frames`): `with T.block("add"): vi = T.axis.spatial(16, i)`.

Here are those of functions and blocks; `frame_loops` has loops, statements and values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, TypeVar, cast

from xdsl.dialects.builtin import i1

from ...support.arguments import checked
from ...support.diagnostics import UsageError
from ...te.expr import Dim, Expr, ExprLike, Slot, as_expr
from ...te.expr import IterVar as Axis
from ...te.expr import Var as Extent
from ...te.kinds import index
from .blocks import IterVar, MatchBufferRegion
from .buffers import Buffer as BufferNode
from .buffers import BufferLoad, BufferRegion, region_of
from .buffers import decl_buffer as buffer_node
from .expressions import Handle, vector_type
from .frames import (
    BlockFrame,
    FunctionFrame,
    InitFrame,
    IRBuilder,
    LoopsFrame,
    ModuleFrame,
)

A = TypeVar("A", bound="Expr | BufferNode")

# functions


@checked
def ir_module() -> ModuleFrame:
    """A module, of the functions in it."""
    return ModuleFrame()


@checked
def prim_func() -> FunctionFrame:
    """A function."""
    return FunctionFrame()


def _function(word: str) -> FunctionFrame:
    return IRBuilder.current().innermost(FunctionFrame, word)


@checked
def func_name(name: str) -> None:
    """What the function is called."""
    _function("T.func_name").name = name


@checked
def func_attr(attrs: Mapping[str, object]) -> None:
    """Attributes of the function."""
    _function("T.func_attr").attributes.update(attrs)


@checked
def func_ret(ret_type: object) -> NoReturn:
    """Refused: a function writes to its arguments, and returns nothing."""
    raise UsageError("T.func_ret: a function writes to its arguments", hint="store to a buffer of one element")


@checked
def arg(name: str, obj: A) -> A:
    """A parameter: a buffer, a variable, or a handle that `match_buffer` says to be a buffer. Gives it."""
    if not isinstance(obj, BufferNode | Slot | Extent):
        raise UsageError(f"a parameter is a buffer or a variable, and not {obj}")
    _function("T.arg").parameters.append(obj)
    return IRBuilder.name(name, obj)


@checked
def match_buffer(
    param: Expr | BufferNode | BufferRegion,
    shape: Dim | Sequence[Dim],
    dtype: str = "float32",
    strides: Sequence[Dim] | None = None,
    elem_offset: Dim | None = None,
    scope: str = "global",
) -> BufferNode:
    """The buffer that a handle among the parameters is; in a block a name for a part of another buffer.

    Raises:
        UsageError: it is neither.
    """
    if isinstance(param, BufferRegion):
        part = buffer_node(shape, dtype, "buffer", strides=strides, elem_offset=elem_offset, scope=scope)
        _block("T.match_buffer").parts.append(MatchBufferRegion(part, param))
        return part
    if not isinstance(param, Handle):
        raise UsageError("T.match_buffer is of a parameter, or of a part of a buffer", hint="A[0:16, 0:16]")
    frame = _function("T.match_buffer")
    if param not in frame.parameters:
        raise UsageError(f"'{param.name}' is no parameter of the function")
    made = buffer_node(shape, dtype, param.name, data=param, strides=strides, elem_offset=elem_offset, scope=scope)
    frame.matched[param] = made
    return made


# blocks


@checked
def block(name: str = "block", no_realize: bool = False) -> BlockFrame:
    """A block, at the values that its iterators have there; with `no_realize` the block alone."""
    return BlockFrame(name, no_realize=no_realize)


@checked
def init() -> InitFrame:
    """What the block does before the first step of its reduction."""
    return InitFrame()


def _block(word: str) -> BlockFrame:
    return IRBuilder.current().innermost(BlockFrame, word)


@checked
def where(predicate: ExprLike) -> None:
    """The block runs where this holds."""
    frame = _block("T.where")
    if frame.predicate is not None:
        raise UsageError("a block has one T.where")
    frame.predicate = as_expr(predicate, i1)


@checked
def reads(*regions: BufferRegion | Expr) -> None:
    """What the block reads; what a function is made of is worked out anew."""
    _block("T.reads").reads = _regions(regions)


@checked
def writes(*regions: BufferRegion | Expr) -> None:
    """What the block writes; what a function is made of is worked out anew."""
    _block("T.writes").writes = _regions(regions)


def _regions(regions: Sequence[BufferRegion | Expr]) -> tuple[BufferRegion, ...]:
    found: list[BufferRegion] = []
    for each in regions:
        if isinstance(each, BufferLoad):
            found.append(region_of(each.buffer, each.indices))
        elif isinstance(each, BufferRegion):
            found.append(each)
        else:
            raise UsageError(f"a region is an element or a part of a buffer, and not {each}", hint="A[i, 0:4]")
    return tuple(found)


@checked
def block_attr(attrs: Mapping[str, object]) -> None:
    """Annotations of the block."""
    frame = _block("T.block_attr")
    if frame.annotations:
        raise UsageError("a block has one T.block_attr")
    frame.annotations = dict(attrs)


@checked
def alloc_buffer(
    shape: Dim | Sequence[Dim], dtype: str = "float32", scope: str = "global", name: str = ""
) -> BufferNode:
    """A buffer of the block, or of the function outside of blocks."""
    made = buffer_node(shape, dtype, name or "buffer", scope=scope)
    frames = IRBuilder.current().frames
    for frame in reversed(frames):
        if isinstance(frame, BlockFrame | FunctionFrame):
            frame.buffers.append(made)
            return made
    raise UsageError("T.alloc_buffer stands in a T.block or a T.prim_func")


class _Axes:
    """`T.axis`: the iterators of a block. Each gives its variable."""

    @staticmethod
    def _made(extent: Dim | Sequence[Dim], value: ExprLike, kind: int, dtype: str) -> Slot:
        low, high = (0, extent) if not isinstance(extent, Sequence) else extent
        if low != 0:
            raise UsageError(f"an iterator of a block begins at 0, and not at {low}", hint="add it to the value")
        variable = Slot("v", vector_type(dtype))
        given = as_expr(value, index)
        _block("T.axis").iterators.append((IterVar(high, variable, kind), given))
        return variable

    def spatial(self, dom: Dim | Sequence[Dim], binding: ExprLike, dtype: str = "int32") -> Slot:
        """One whose values may be gone through in any order."""
        return self._made(dom, binding, Axis.DataPar, dtype)

    S = spatial

    def reduce(self, dom: Dim | Sequence[Dim], binding: ExprLike, dtype: str = "int32") -> Slot:
        """One of a reduction."""
        return self._made(dom, binding, Axis.CommReduce, dtype)

    R = reduce

    def scan(self, dom: Dim | Sequence[Dim], binding: ExprLike, dtype: str = "int32") -> Slot:
        """One whose order stays."""
        return self._made(dom, binding, Axis.Ordered, dtype)

    def opaque(self, dom: Dim | Sequence[Dim], binding: ExprLike, dtype: str = "int32") -> Slot:
        """One of which nothing is known."""
        return self._made(dom, binding, Axis.DimInfo, dtype)

    def remap(self, kinds: str, bindings: Sequence[Expr], dtype: str = "int32") -> Any:
        """One for each loop variable, of the kinds `S` (spatial) and `R` (of a reduction)."""
        makers = {"S": Axis.DataPar, "R": Axis.CommReduce, "O": Axis.DimInfo}
        if len(kinds) != len(bindings) or not set(kinds) <= set(makers):
            raise UsageError(f"T.axis.remap: {len(bindings)} kinds of S, R and O, and not {kinds!r}")
        extents: dict[Expr, Expr] = {}
        for frame in IRBuilder.current().frames:
            if isinstance(frame, LoopsFrame):
                extents.update(frame.extents)
        for each in bindings:
            if each not in extents:
                raise UsageError(f"T.axis.remap: {each} is the variable of no loop around that begins at 0")
        made = [self._made(cast("Dim", extents[v]), v, makers[k], dtype) for k, v in zip(kinds, bindings, strict=True)]
        return made[0] if len(made) == 1 else made


axis = _Axes()

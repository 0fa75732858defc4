"""TVMScript's words of loops, statements and values as functions, for `IRBuilder` (`frames`): `with T.serial(16):`.

Other words of values (`T.max`, `T.call_extern`) are those of `weft.tir`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import NoneType, i1

from ...support.arguments import checked
from ...support.diagnostics import UsageError
from ...te.element_types import element_type
from ...te.expr import Dim, Expr, ExprLike, Slot, as_expr
from ...te.expr import Var as Extent
from ...te.expr import cast as conversion
from ...te.kinds import index
from ..meta_var import meta_var as meta_var
from .blocks import AllocateConst
from .buffers import Allocate, BufferRegion, BufferStore, Range, pointer_to
from .buffers import Buffer as BufferNode
from .buffers import decl_buffer as buffer_node
from .declared import REALIZE_SCOPE, BufferRealize, DeclBuffer
from .expressions import Handle, StringImm, Var
from .frames import (
    Around,
    CaseFrame,
    Frame,
    IfFrame,
    IRBuilder,
    LoopsFrame,
    nested,
)
from .statements import AssertStmt, AttrStmt, Evaluate, For, LetStmt, Stmt
from .statements import While as WhileStmt

# loops


def _loop(
    kind: str,
    start: ExprLike,
    stop: ExprLike | None,
    annotations: Mapping[str, object] | None,
    thread: str | None = None,
) -> LoopsFrame[Slot]:
    first, end = (as_expr(0, index), start) if stop is None else (as_expr(start, index), stop)
    count = as_expr(end, index) if stop is None else as_expr(end, index) - first
    variable = Slot("i", index)

    def make(body: Stmt) -> Stmt:
        return For(variable, first, count, kind, body, thread, annotations)

    return LoopsFrame(variable, make, {variable: count} if stop is None else {})


@checked
def serial(
    start: ExprLike, stop: ExprLike | None = None, *, annotations: Mapping[str, object] | None = None
) -> LoopsFrame[Slot]:
    """A loop from `start`, or 0, up to `stop`."""
    return _loop("serial", start, stop, annotations)


@checked
def parallel(
    start: ExprLike, stop: ExprLike | None = None, *, annotations: Mapping[str, object] | None = None
) -> LoopsFrame[Slot]:
    """A loop whose iterations threads share."""
    return _loop("parallel", start, stop, annotations)


@checked
def vectorized(
    start: ExprLike, stop: ExprLike | None = None, *, annotations: Mapping[str, object] | None = None
) -> LoopsFrame[Slot]:
    """A loop whose iterations are lanes of vectors."""
    return _loop("vectorized", start, stop, annotations)


@checked
def unroll(
    start: ExprLike, stop: ExprLike | None = None, *, annotations: Mapping[str, object] | None = None
) -> LoopsFrame[Slot]:
    """A loop whose iterations are written out."""
    return _loop("unroll", start, stop, annotations)


@checked
def thread_binding(
    start: ExprLike, stop: ExprLike | None = None, thread: str = "", *, annotations: Mapping[str, object] | None = None
) -> LoopsFrame[Slot]:
    """A loop whose iterations are threads of a device."""
    return _loop("thread_binding", start, stop, annotations, thread)


@checked
def grid(*extents: ExprLike) -> LoopsFrame[list[Slot]]:
    """Loops, one in the other."""
    frames = [_loop("serial", extent, None, None) for extent in extents]
    known = {variable: extent for frame in frames for variable, extent in frame.extents.items()}
    return LoopsFrame([frame.value for frame in frames], partial(nested, [frame.make for frame in frames]), known)


# statements around others


@checked
def Assert(condition: ExprLike, message: str) -> Frame[None]:
    """What follows runs where a condition holds; where not, the run fails."""
    return Around(None, partial(AssertStmt, as_expr(condition, i1), str(message)))


@checked
def let(var: Expr, value: ExprLike) -> Frame[Expr]:
    """A name for a value."""
    if not isinstance(var, Slot | Extent):
        raise UsageError(f"T.let names a value by a variable, and not by {var}")
    return Around(var, partial(LetStmt, var, value))


@checked
def While(condition: ExprLike) -> Frame[None]:
    """As long as a condition holds."""
    return Around(None, partial(WhileStmt, as_expr(condition, i1)))


@checked
def If(condition: ExprLike) -> IfFrame:
    """If a condition holds: `with T.Then():`, and `with T.Else():` in it."""
    return IfFrame(as_expr(condition, i1))


@checked
def Then() -> CaseFrame:
    """What is done if the condition holds."""
    return CaseFrame("T.Then")


@checked
def Else() -> CaseFrame:
    """What is done if it does not."""
    return CaseFrame("T.Else")


@checked
def allocate(extents: Dim | Sequence[Dim], dtype: str, scope: str = "global") -> Frame[BufferNode]:
    """Memory for what follows."""
    made = buffer_node(extents, dtype, scope=scope)
    return Around(made, partial(Allocate.of, made))


@checked
def allocate_const(data: Sequence[float], dtype: str, extents: Sequence[int]) -> Frame[BufferNode]:
    """Memory that holds numbers, and that nothing writes."""
    made = buffer_node(extents, dtype)
    values = np.asarray(data, dtype).reshape(tuple(extents))
    return Around(made, partial(_constant, made, values))


@checked
def decl_buffer(
    shape: Dim | Sequence[Dim], dtype: str = "float32", data: BufferNode | Expr | None = None, scope: str = "global"
) -> Frame[BufferNode]:
    """Memory for what follows, or other extents for memory that is there."""
    if data is None:
        made = buffer_node(shape, dtype, scope=scope)
        return Around(made, partial(_owned, made))
    made = buffer_node(shape, dtype, data=data.data if isinstance(data, BufferNode) else data, scope=scope)
    return Around(made, partial(DeclBuffer, made))


@checked
def realize(buffer_slice: BufferRegion, storage_scope: str, condition: ExprLike = True) -> Frame[None]:
    """Memory of a buffer for what follows, at least for a part of it."""
    buffer, bounds = buffer_slice.buffer, buffer_slice.region
    return Around(None, partial(_realized, buffer, bounds, storage_scope, condition))


@checked
def attr(node: object, attr_key: str, value: object) -> Frame[None]:
    """Something that is said of a loop's variable or of a thread in what follows."""
    return Around(None, partial(AttrStmt, node, attr_key, value))


@checked
def env_thread(thread_tag: str) -> Slot:
    """A thread of a device, which `launch_thread` starts."""
    return Slot(thread_tag, index)


@checked
def launch_thread(thread: Expr | str, extent: Dim) -> Frame[Expr]:
    """As many threads of a device."""
    variable = env_thread(thread) if isinstance(thread, str) else thread
    return Around(variable, partial(AttrStmt, variable, "thread_extent", extent))


def _constant(buffer: BufferNode, data: npt.NDArray[np.generic], body: Stmt) -> Stmt:
    return AllocateConst.of(buffer, data, body)


def _owned(buffer: BufferNode, body: Stmt) -> Stmt:
    return Allocate.of(buffer, DeclBuffer(buffer, body))


def _realized(buffer: BufferNode, bounds: Sequence[Range], scope: str, condition: ExprLike, body: Stmt) -> Stmt:
    return AttrStmt(buffer, REALIZE_SCOPE, StringImm(scope), BufferRealize(buffer, bounds, condition, body))


# statements


@checked
def evaluate(value: ExprLike) -> None:
    """Compute a value for what that does: a call."""
    IRBuilder.current().emit(Evaluate(value))


@checked
def buffer_store(buffer: BufferNode, value: ExprLike, indices: Sequence[ExprLike]) -> None:
    """Store an element."""
    IRBuilder.current().emit(BufferStore(buffer, value, indices))


# values


@checked
def var(dtype: str, name: str = "v") -> Expr:
    """A variable."""
    return Var(name, dtype)


@checked
def Buffer(
    shape: Dim | Sequence[Dim],
    dtype: str = "float32",
    data: BufferNode | Expr | None = None,
    strides: Sequence[Dim] | None = None,
    elem_offset: Dim | None = None,
    scope: str = "global",
) -> BufferNode:
    """A buffer: a parameter, or one that lies where another's memory is (`data`)."""
    memory = data.data if isinstance(data, BufferNode) else data
    return buffer_node(shape, dtype, data=memory, strides=strides, elem_offset=elem_offset, scope=scope)


@checked
def number(dtype: str, value: ExprLike | None = None) -> Expr:
    """`T.float32(0.5)`, `T.int32(x)`: a number of a type; without one, a variable (`T.int32()`)."""
    if value is None:
        return Var("v", dtype)
    return (
        as_expr(value, element_type(dtype)) if not isinstance(value, Expr) else conversion(value, element_type(dtype))
    )


@checked
def ptr(dtype: str, storage_scope: str = "global") -> Handle:
    """Where memory of elements of a type is."""
    return pointer_to("v", element_type(dtype), storage_scope)


@checked
def handle(name: str = "v") -> Handle:
    """Where memory is: a parameter that `match_buffer` says to be a buffer."""
    return Handle(name, NoneType())

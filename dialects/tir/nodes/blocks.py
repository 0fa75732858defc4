"""Blocks as Python values, by TVM's names: `tir.BlockRealize`, `tir.Block`, `tir.BufferRegion`, and constants.

vi, vj = tir.IterVar((0, 16), "vi", 0), tir.IterVar((0, 16), "vj", 0)
body = B.vstore([vi.var, vj.var], A[vi.var, vj.var] * 2.0)
block = tir.Block([vi, vj], [], [], "double", body)
tir.BlockRealize([i, j], True, block)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import i1

from ...support.arguments import checked
from ...support.diagnostics import UsageError
from ...te.expr import Const, Dim, Expr, ExprLike, Slot, as_expr
from ...te.expr import IterVar as Axis
from ...te.forms import thread_axis
from ...te.kinds import index
from ..blocks import IterKind
from .buffers import Allocate, Allocation, Buffer
from .buffers import BufferRegion as BufferRegion
from .buffers import Range as Range
from .declared import MatchBufferRegion as MatchBufferRegion
from .statements import Stmt

ITER_TYPES: Mapping[int, IterKind] = {
    Axis.DataPar: IterKind.SPATIAL, Axis.CommReduce: IterKind.REDUCE, Axis.Ordered: IterKind.OPAQUE,
    Axis.DimInfo: IterKind.OPAQUE,
}  # fmt: skip
"""TVM's numbers of what an iterator is."""
NUMBERS: Mapping[IterKind, int] = {
    IterKind.SPATIAL: Axis.DataPar,
    IterKind.REDUCE: Axis.CommReduce,
    IterKind.OPAQUE: Axis.DimInfo,
}


@dataclass(frozen=True, eq=False)
class IterVar:
    """An iterator of a block: `extent` values from 0 on, of which it takes all, unless it is `partial`.

    `dom` is the extent, or 0 and that; `iter_type` is TVM's number of its kind (`te.IterVar.DataPar`). One of the kind
    `ThreadIndex` is what `te.thread_axis` makes: the thread of a device that is called `thread_tag`.

    Raises:
        UsageError: it does not begin at 0, or there is no such kind of iterators in blocks; or a thread has no name, or
            an iterator has a thread's.
    """

    DataPar: ClassVar[int] = Axis.DataPar
    ThreadIndex: ClassVar[int] = Axis.ThreadIndex
    CommReduce: ClassVar[int] = Axis.CommReduce
    Ordered: ClassVar[int] = Axis.Ordered
    DimInfo: ClassVar[int] = Axis.DimInfo

    var: Slot
    extent: Dim
    kind: IterKind
    partial: bool

    def __new__(
        cls, dom: object, var: object, iter_type: object = Axis.DataPar, thread_tag: str = "", partial: bool = False
    ) -> Self:
        if iter_type == Axis.ThreadIndex:
            return cast("Self", thread_axis(dom, thread_tag))
        return super().__new__(cls)

    @checked
    def __init__(
        self,
        dom: Dim | tuple[int, Dim],
        var: Slot | str,
        iter_type: int | IterKind = Axis.DataPar,
        thread_tag: str = "",
        partial: bool = False,
    ):
        if thread_tag:
            raise UsageError(f"an iterator of a block is no thread, as {thread_tag!r}", hint="IterVar.ThreadIndex")
        low, extent = dom if isinstance(dom, tuple) else (0, dom)
        if low != 0:
            raise UsageError(f"an iterator of a block begins at 0, and not at {low}", hint="add it to the value")
        if not isinstance(iter_type, IterKind) and iter_type not in ITER_TYPES:
            raise UsageError(f"no iterator of a block is of the kind {iter_type}", hint="0, 2 (of a reduction), or 4")
        object.__setattr__(self, "var", Slot(var, index) if isinstance(var, str) else var)
        object.__setattr__(self, "extent", extent)
        object.__setattr__(self, "kind", iter_type if isinstance(iter_type, IterKind) else ITER_TYPES[iter_type])
        object.__setattr__(self, "partial", partial)

    @property
    def dom(self) -> Range:
        """The values."""
        return Range(Const(0, index), self.extent)

    def script(self, *, verbose_expr: bool = False) -> str:
        """The iterator as TVM's printer writes it; with `verbose_expr` behind what its variable is."""
        return Expr.scripted(self, verbose_expr)

    @property
    def iter_type(self) -> int:
        """TVM's number of what it is: `DataPar`, `CommReduce`, or of one whose order stays."""
        return NUMBERS[self.kind]


@dataclass(frozen=True, eq=False)
class Block(Stmt):
    """What a computation does at each value of its iterators. `reads` and `writes` say what it touches, where it is
    known; what a function is made of is worked out anew. An element of one of `match_buffers`, names for parts of
    buffers, is one of the buffer in functions.
    """

    iter_vars: tuple[IterVar, ...]
    reads: tuple[BufferRegion, ...]
    writes: tuple[BufferRegion, ...]
    name_hint: str
    body: Stmt
    init: Stmt | None = None
    alloc_buffers: tuple[Buffer, ...] = ()
    annotations: Mapping[str, object] = field(default_factory=dict[str, object])
    match_buffers: tuple[MatchBufferRegion, ...] = ()

    @checked
    def __init__(
        self,
        iter_vars: Sequence[IterVar],
        reads: Sequence[BufferRegion],
        writes: Sequence[BufferRegion],
        name_hint: str,
        body: Stmt,
        init: Stmt | None = None,
        alloc_buffers: Sequence[Buffer] | None = None,
        match_buffers: Sequence[MatchBufferRegion] | None = None,
        annotations: Mapping[str, object] | None = None,
    ):
        given = {
            "iter_vars": tuple(iter_vars),
            "reads": tuple(reads),
            "writes": tuple(writes),
            "name_hint": name_hint,
            "body": body,
            "init": init,
            "alloc_buffers": tuple(alloc_buffers or ()),
            "annotations": dict(annotations or {}),
            "match_buffers": tuple(match_buffers or ()),
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class BlockRealize(Stmt):
    """A block at the values that its iterators have there, where `predicate` holds."""

    iter_values: tuple[Expr, ...]
    predicate: Expr
    block: Block

    @checked
    def __init__(self, iter_values: Sequence[ExprLike], predicate: ExprLike, block: Block):
        if len(iter_values) != len(block.iter_vars):
            count = len(block.iter_vars)
            raise UsageError(f"'{block.name_hint}' has {count} iterators, and is given {len(iter_values)} values")
        object.__setattr__(self, "iter_values", tuple(as_expr(each, index) for each in iter_values))
        object.__setattr__(self, "predicate", as_expr(predicate, i1))
        object.__setattr__(self, "block", block)


@dataclass(frozen=True, eq=False)
class AllocateConst(Allocation):
    """Memory that holds `data` in `body`, and that nothing writes."""

    data: npt.NDArray[np.generic]
    body: Stmt

    @checked
    def __init__(
        self,
        buffer_var: Expr,
        dtype: str,
        extents: Sequence[ExprLike],
        data_or_idx: object,
        body: Stmt,
        annotations: Mapping[str, object] | None = None,
    ):
        memory = Allocate(buffer_var, dtype, extents, True, body, annotations)
        shape = [each for each in memory.buffer.shape if isinstance(each, int)]
        if len(shape) != len(extents):
            raise UsageError(f"the extents of the constant '{memory.buffer.name}' are numbers")
        values = np.asarray(data_or_idx, dtype).reshape(shape)
        object.__setattr__(self, "buffer", memory.buffer)
        object.__setattr__(self, "data", values)
        object.__setattr__(self, "body", body)
        object.__setattr__(self, "annotations", memory.annotations)

    @staticmethod
    @checked
    def of(
        buffer: Buffer, data: npt.NDArray[np.generic], body: Stmt, annotations: Mapping[str, object] | None = None
    ) -> AllocateConst:
        """That of a buffer."""
        made = object.__new__(AllocateConst)
        said = dict(annotations or {})
        for name, value in (("buffer", buffer), ("data", data), ("body", body), ("annotations", said)):
            object.__setattr__(made, name, value)
        return made


def is_true(predicate: Expr) -> bool:
    """Whether a condition is the literal that always holds."""
    return isinstance(predicate, Const) and bool(predicate.value)

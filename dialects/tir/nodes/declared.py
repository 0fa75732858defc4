"""What says of memory that it is there, or called so, by TVM's names: `tir.BufferRealize`, `tir.DeclBuffer`,
`tir.MatchBufferRegion`.

Functions have one form for them: memory is allocated, and an element of another name for it is one of the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ...support.arguments import checked
from ...support.diagnostics import UsageError
from ...te.expr import Const, Expr, ExprLike, NodeRange
from ..analyzer.answers import Range as IntegerRange
from .buffers import Buffer, BufferRegion, Memory, Range
from .statements import Stmt

GivenRange: TypeAlias = Range | IntegerRange | NodeRange


@dataclass(frozen=True, eq=False)
class BufferRealize(Memory):
    """Memory that is there in `body`: of a buffer at least the elements within `bounds`; here all of it. One that is
    there already, as a parameter, stays what it is.

    Raises:
        UsageError: the memory is there under a condition, or there are more ranges than dimensions, or fewer.
    """

    bounds: tuple[Range, ...]
    condition: bool
    body: Stmt

    @checked
    def __init__(self, buffer: Buffer, bounds: Sequence[GivenRange], condition: ExprLike, body: Stmt):
        if not isinstance(condition, int | Const) or not condition:
            raise UsageError(f"the memory '{buffer.name}' is there under a condition", hint="let it be there always")
        object.__setattr__(self, "buffer", buffer)
        object.__setattr__(self, "bounds", BufferRegion(buffer, bounds).region)
        object.__setattr__(self, "condition", True)
        object.__setattr__(self, "body", body)


@dataclass(frozen=True, eq=False)
class DeclBuffer(Stmt):
    """A buffer in `body`, in memory that is there (`buffer.data`)."""

    buffer: Buffer
    body: Stmt

    @checked
    def __init__(self, buffer: Buffer, body: Stmt):
        object.__setattr__(self, "buffer", buffer)
        object.__setattr__(self, "body", body)


@dataclass(frozen=True, eq=False)
class MatchBufferRegion:
    """A name for a part of another buffer, for a block: element `0, 0` of `buffer` is the first of `source`."""

    buffer: Buffer
    source: BufferRegion

    @checked
    def __init__(self, buffer: Buffer, source: BufferRegion):
        object.__setattr__(self, "buffer", buffer)
        object.__setattr__(self, "source", source)

    def script(self, *, verbose_expr: bool = False) -> str:
        """What it says as TVM's printer writes it; with `verbose_expr` behind what the source is."""
        return Expr.scripted(self, verbose_expr)

    def __str__(self) -> str:
        return self.script()


REALIZE_SCOPE = "realize_scope"
"""The key of the statement around a `BufferRealize` that says where the memory is."""

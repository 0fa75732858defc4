"""Statements as Python values, by TVM's names: what `ir_builder` makes, and `tir.PrimFunc` takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation

from ...support.arguments import checked
from ...support.diagnostics import UsageError
from ...te.expr import Const, Expr, ExprLike, IterVar, Slot, Var, as_expr
from ..loops import ForKind

KINDS = {
    "serial": "serial", "parallel": "parallel", "vectorize": "vectorized", "vectorized": "vectorized",
    "unroll": "unroll", "unrolled": "unroll", "thread_binding": "thread_binding",
}  # fmt: skip
"""TVM's names of a loop's kind, and TVMScript's."""

THREAD_EXTENT = "thread_extent"
"""The key of the statement that gives a thread its numbers."""
VIRTUAL_THREAD = "virtual_thread"
"""The same of threads that a thread runs one after the other."""

_SPELLED = {"unroll": ForKind.UNROLLED.value, "vectorize": ForKind.VECTORIZED.value}
"""A kind as it is called, where TVMScript, or the builder, calls it otherwise."""

NUMBERED = tuple(kind.value for kind in ForKind)
"""A loop's kinds by TVM's numbers of them."""


class Stmt:
    """A statement. `str` of one is its TVMScript."""

    operation: ClassVar[Operation | None] = None
    """The operation that it was read from, of a loop or a block of a function; one that Python has put together has
    none."""

    def read_from(self, operation: Operation) -> Self:
        """Say what it was read from, which is no part of it."""
        object.__setattr__(self, "operation", operation)
        return self

    def __str__(self) -> str:
        return self.script()

    def script(self, *, verbose_expr: bool = False) -> str:
        """The statement as TVM's printer writes it; variables and buffers from outside are called as they are, and with
        `verbose_expr` it says first what each is.

        Raises:
            UsageError: something in it has no form there.
        """
        return Expr.scripted(self, verbose_expr)

    def same_as(self, other: object) -> bool:
        """Whether both are one object."""
        return self is other

    def show(self) -> None:
        """Print it as TVMScript."""
        print(self.script())


@dataclass(frozen=True, eq=False)
class SeqStmt(Stmt):
    """One after the other."""

    seq: tuple[Stmt, ...]

    @checked
    def __init__(self, seq: Sequence[Stmt]):
        object.__setattr__(self, "seq", tuple(seq))

    def __getitem__(self, number: int) -> Stmt:
        return self.seq[number]

    def __len__(self) -> int:
        return len(self.seq)

    def __iter__(self) -> Iterator[Stmt]:
        return iter(self.seq)


@dataclass(frozen=True, eq=False)
class For(Stmt):
    """For each value of `loop_var` from `min` on, `extent` of them."""

    loop_var: Slot | IterVar | Var
    min: Expr
    extent: Expr
    kind: str
    body: Stmt
    thread_binding: str | None = None
    annotations: Mapping[str, object] | None = None

    @checked
    def __init__(
        self,
        loop_var: Slot | IterVar | Var,
        min_val: ExprLike,
        extent: ExprLike,
        kind: str | int,
        body: Stmt | Expr,
        thread_binding: str | Slot | None = None,
        annotations: Mapping[str, object] | None = None,
    ):
        if isinstance(kind, int):
            if kind not in range(len(NUMBERED)):
                raise UsageError(f"there are no loops of kind {kind}", hint=f"0 to {len(NUMBERED) - 1}, or tir.ForKind")
            kind = NUMBERED[kind]
        kind = _SPELLED.get(kind, kind)
        given = {
            "loop_var": loop_var,
            "min": as_expr(min_val, loop_var.type),
            "extent": as_expr(extent, loop_var.type),
            "kind": kind.value if isinstance(kind, ForKind) else kind,
            "body": body if isinstance(body, Stmt) else Evaluate(body),
            "thread_binding": thread_binding.name if isinstance(thread_binding, Slot) else thread_binding,
            "annotations": annotations,
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class While(Stmt):
    """As long as a condition holds."""

    condition: Expr
    body: Stmt


@dataclass(frozen=True, eq=False)
class IfThenElse(Stmt):
    """If a condition holds, or else."""

    condition: Expr
    then_case: Stmt
    else_case: Stmt | None = None


@dataclass(frozen=True, eq=False)
class Evaluate(Stmt):
    """Compute a value for what that does: a call."""

    value: Expr

    @checked
    def __init__(self, value: ExprLike):
        object.__setattr__(self, "value", as_expr(value, i32))


@dataclass(frozen=True, eq=False)
class AttrStmt(Stmt):
    """Something that is said of `node`, a loop's variable or a thread, in `body`."""

    node: object
    attr_key: str
    value: object
    """An expression, or a text."""
    body: Stmt

    @checked
    def __init__(self, node: object, attr_key: str, value: object, body: Stmt):
        object.__setattr__(self, "node", node)
        object.__setattr__(self, "attr_key", attr_key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = as_expr(value, i32)
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "body", body)


def loop_over(launch: AttrStmt, thread: Slot | IterVar) -> For:
    """The loop that is the same as what says how many numbers a thread has."""
    extent = as_expr(cast("ExprLike", launch.value), thread.type)
    return For(thread, 0, extent, ForKind.THREAD_BINDING.value, launch.body, thread.name)


@dataclass(frozen=True, eq=False)
class LetStmt(Stmt):
    """A name for a value in `body`."""

    var: Slot
    value: Expr
    body: Stmt

    @checked
    def __init__(self, var: Slot | Var, value: ExprLike, body: Stmt):
        object.__setattr__(self, "var", var)
        object.__setattr__(self, "value", as_expr(value, var.type))
        object.__setattr__(self, "body", body)


@dataclass(frozen=True, eq=False)
class AssertStmt(Stmt):
    """The run fails with `message` where a condition does not hold."""

    condition: Expr
    message: str
    body: Stmt


def sequence(statements: Sequence[Stmt]) -> Stmt:
    """Several statements as one; where there are none, the one that does nothing, `T.evaluate(0)`."""
    flat: list[Stmt] = []
    for each in statements:
        flat += each.seq if isinstance(each, SeqStmt) else [each]
    if not flat:
        return Evaluate(Const(0, i32))
    return flat[0] if len(flat) == 1 else SeqStmt(tuple(flat))

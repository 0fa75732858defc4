"""TVM's imperative builder: statements are put one behind the other, those of a loop in a `with`.

ib = tir.ir_builder.create()
x = ib.buffer_ptr(A)
with ib.for_range(0, 16, kind="parallel") as i:
    with ib.if_scope(x[i] < 0.0):
        x[i] = 0.0
body = ib.get()                  # a For; `tir.PrimFunc([A], body)` is the function

"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from ...support.arguments import checked, checked_methods
from ...support.diagnostics import UsageError
from ...te.element_types import element_type
from ...te.expr import Dim, Expr, ExprLike, Slot, as_expr
from ...te.kinds import index
from . import node_script as node_script  # writes nodes
from .buffers import Allocate, Buffer, BufferLoad, BufferStore, Pointer
from .statements import KINDS, AttrStmt, Evaluate, For, IfThenElse, LetStmt, Stmt, While, sequence


@dataclass(eq=False)
class BufferVar:
    """A buffer whose elements are read and stored by `[]`; by one index, they are counted row by row."""

    builder: IRBuilder
    buffer: Buffer

    def asobject(self) -> Buffer:
        """The buffer."""
        return self.buffer

    @property
    def dtype(self) -> str:
        """The dtype of an element."""
        return self.buffer.dtype

    __iter__ = None

    def __getitem__(self, indices: ExprLike | tuple[ExprLike, ...]) -> BufferLoad:
        return self.buffer[indices]

    def __setitem__(self, indices: ExprLike | tuple[ExprLike, ...], value: ExprLike) -> None:
        places = indices if isinstance(indices, tuple) else (indices,)
        self.builder.emit(BufferStore(self.buffer, value, places))


@dataclass
class _Suite:
    """The statements of a suite. What is open surrounds all that follows it there."""

    statements: list[Stmt] = field(default_factory=list[Stmt])
    open: list[tuple[int, Callable[[Stmt], Stmt]]] = field(default_factory=list[tuple[int, "Callable[[Stmt], Stmt]"]])

    def whole(self) -> Stmt:
        """The statements as one."""
        statements = list(self.statements)
        for first, around in reversed(self.open):
            statements[first:] = [around(sequence(statements[first:]))]
        return sequence(statements)


@checked_methods
class IRBuilder:
    """Takes statements, one after the other."""

    def __init__(self) -> None:
        self._suites = [_Suite()]

    def emit(self, stmt: Stmt | Expr | Callable[[Stmt], Stmt]) -> None:
        """Append a statement; a call is one. A function makes one of all that follows in the same suite:
        `ib.emit(lambda body: tir.LetStmt(x, value, body))`."""
        if isinstance(stmt, Stmt | Expr):
            self._suites[-1].statements.append(stmt if isinstance(stmt, Stmt) else Evaluate(stmt))
        else:
            self._surround(stmt)

    def _surround(self, around: Callable[[Stmt], Stmt]) -> None:
        """Have all that follows in the suite stand in a statement."""
        suite = self._suites[-1]
        suite.open.append((len(suite.statements), around))

    @contextmanager
    def _suite(self) -> Generator[_Suite]:
        self._suites.append(suite := _Suite())
        try:
            yield suite
        finally:
            self._suites.pop()

    @contextmanager
    def for_range(
        self,
        begin: ExprLike,
        end: ExprLike,
        name: str = "i",
        dtype: str | None = None,
        kind: str = "serial",
        thread: str | None = None,
        annotations: Mapping[str, object] | None = None,
    ) -> Generator[Slot]:
        """A loop for each number from `begin` up to `end`; `kind` is `serial`, `parallel`, `vectorize` or `unroll`.

        Raises:
            UsageError: there are no such loops.
        """
        if kind not in KINDS:
            raise UsageError(f"there are no loops of kind {kind!r}", hint=f"one of {', '.join(KINDS)}")
        variable = Slot(name, index if dtype is None else element_type(dtype))
        first = as_expr(begin, index)
        count = as_expr(end, index) - first
        with self._suite() as suite:
            yield variable
        self.emit(For(variable, first, count, kind, suite.whole(), thread, annotations))

    @contextmanager
    def while_loop(self, condition: Expr) -> Generator[None]:
        """A loop that goes on as long as a condition holds, which is computed anew each time."""
        with self._suite() as suite:
            yield
        self.emit(While(condition, suite.whole()))

    @contextmanager
    def if_scope(self, cond: Expr) -> Generator[None]:
        """What is done if a condition holds."""
        with self._suite() as suite:
            yield
        self.emit(IfThenElse(cond, suite.whole()))

    @contextmanager
    def else_scope(self) -> Generator[None]:
        """What is done otherwise; directly behind an `if_scope`.

        Raises:
            UsageError: it stands elsewhere.
        """
        statements = self._suites[-1].statements
        last = statements[-1] if statements else None
        if not isinstance(last, IfThenElse) or last.else_case is not None:
            raise UsageError("else_scope stands directly behind an if_scope")
        with self._suite() as suite:
            yield
        statements[-1] = IfThenElse(last.condition, last.then_case, suite.whole())

    def allocate(self, dtype: str, shape: Dim | Sequence[Dim], name: str = "buf", scope: str = "") -> BufferVar:
        """Memory for what follows in the same suite."""
        dims = tuple(shape) if isinstance(shape, Sequence) else (shape,)
        buffer = Buffer(name, dims, element_type(dtype), scope=scope)
        self._surround(partial(Allocate.of, buffer))
        return BufferVar(self, buffer)

    def buffer_ptr(self, buf: Buffer, shape: Sequence[Dim] | None = None) -> BufferVar:
        """The elements of a buffer, by `[]`; of one that is looked at as one of another shape, if one is given."""
        if shape is not None and tuple(shape) != buf.shape:
            raise UsageError(f"'{buf.name}' has the shape {buf.shape}", hint="count its elements by one index")
        return BufferVar(self, buf)

    def pointer(self, content_type: str, name: str = "ptr", scope: str = "", shape: Sequence[Dim] = ()) -> BufferVar:
        """Memory that the function is given: `tir.PrimFunc([x], body)`. It has `shape` elements, or as many as the
        function's statements come to."""
        type = element_type(content_type)
        return BufferVar(self, Buffer(name, shape, type, scope=scope) if shape else Pointer(name, type, scope))

    def scope_attr(self, node: object, attr_key: str, value: object) -> None:
        """Something that is said of a loop, or of a thread, in what follows in the same suite."""
        self._surround(partial(AttrStmt, node, attr_key, value))

    def likely(self, expr: Expr) -> Expr:
        """The condition, which is likely to hold."""
        return expr

    @contextmanager
    def new_scope(self) -> Generator[None]:
        """A suite of its own: what is open in it ends with it."""
        with self._suite() as suite:
            yield
        self.emit(suite.whole())

    def let(self, var_name: str, value: Expr) -> Expr:
        """A name for what a value is here, in what follows in the same suite."""
        name = Slot(var_name, value.type)
        self._surround(partial(LetStmt, name, value))
        return name

    def get(self) -> Stmt:
        """All that was put in, as one statement.

        Raises:
            UsageError: a suite is open.
        """
        if len(self._suites) != 1:
            raise UsageError("a loop or branch of the builder is not closed")
        return self._suites[0].whole()


@checked
def create() -> IRBuilder:
    """A builder without statements."""
    return IRBuilder()

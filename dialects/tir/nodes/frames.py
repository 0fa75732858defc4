"""TVM's builder of functions in TVMScript's words, run as Python: what is open takes what follows.

with IRBuilder() as ib:
    with T.prim_func():
        A = T.arg("A", T.Buffer((16,), "float32"))
        with T.serial(16) as i:
            T.buffer_store(A, 0.0, [i])
function = ib.get()

A frame is what a `with` opens: it gathers statements, and is a statement itself once it is closed. The words (`T`) are
in `frame_words` and `frame_loops`; here is what they open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import local
from types import TracebackType
from typing import Generic, Self, TypeAlias, TypeVar

from ...support.arguments import checked
from ...support.diagnostics import UsageError
from ...te.expr import Expr, ExprLike, Slot
from ...te.expr import Var as Extent
from ..functions import PrimFuncOp
from ..script.modules import IRModule
from . import node_script as node_script  # writes nodes
from .blocks import Block, BlockRealize, IterVar, MatchBufferRegion
from .buffers import Buffer, BufferRegion
from .expressions import Handle
from .prim_func import function_of
from .statements import IfThenElse, Stmt, sequence

V = TypeVar("V", covariant=True)

Built: TypeAlias = "Stmt | PrimFuncOp | IRModule"
"""What a builder gives."""


class _Open(local):
    """The builders that are open in a thread, innermost last."""

    def __init__(self) -> None:
        self.builders: list[IRBuilder] = []


_OPEN = _Open()


class IRBuilder:
    """Takes what frames make; what is made outside of any frame is its result."""

    def __init__(self) -> None:
        self.frames: list[Frame[object]] = []
        self._result: Built | None = None
        self.names: dict[object, str] = {}
        """What variables and buffers are called."""

    def __enter__(self) -> Self:
        _OPEN.builders.append(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        _OPEN.builders.remove(self)

    @staticmethod
    def current() -> IRBuilder:
        """The innermost builder that is open.

        Raises:
            UsageError: none is; a `ValueError`, too.
        """
        if not _OPEN.builders:
            raise NoBuilderError("no builder is open", hint="with IRBuilder() as ib:")
        return _OPEN.builders[-1]

    def get(self) -> Built:
        """What was built: a statement, a function or a module.

        Raises:
            UsageError: nothing was; a `ValueError`, too.
        """
        if self._result is None:
            raise NoBuilderError("nothing was built", hint="put something in, within `with IRBuilder() as ib:`")
        return self._result

    @staticmethod
    @checked
    def name(name: str, value: V) -> V:
        """Call a variable or a buffer `name`; gives it."""
        IRBuilder.current().names[value] = name
        if isinstance(value, Slot | Buffer):
            object.__setattr__(value, "name", name)  # it is called so wherever it is printed
        return value

    @staticmethod
    @checked
    def name_many(names: Sequence[str], values: Sequence[V]) -> Sequence[V]:
        """Call several variables or buffers by these names; gives them.

        Raises:
            UsageError: there are not as many names as values.
        """
        if len(names) != len(values):
            raise UsageError(f"{len(values)} values have {len(names)} names")
        for name, value in zip(names, values, strict=True):
            IRBuilder.name(name, value)
        return values

    def emit(self, made: Built) -> None:
        """Put something into the innermost frame that is open, or into the result.

        Raises:
            UsageError: there is a result already, or the frame does not take it.
        """
        if self.frames:
            self.frames[-1].take(made)
        elif self._result is None:
            self._result = made
        else:
            raise UsageError("the builder has what it builds already", hint="put both into one frame")

    def innermost(self, kind: type[F], word: str) -> F:
        """The innermost frame of a kind that is open, which `word` is for.

        Raises:
            UsageError: there is none.
        """
        for frame in reversed(self.frames):
            if isinstance(frame, kind):
                return frame
        raise UsageError(f"{word} stands in {kind.STANDS_IN}")


class NoBuilderError(UsageError, ValueError):
    """There is no builder, or it has built nothing."""


@dataclass(eq=False)
class Frame(Generic[V]):
    """What a `with` opens. `V` is what its `as` gives."""

    STANDS_IN = "a frame"
    statements: list[Stmt] = field(default_factory=list[Stmt], init=False)

    def __enter__(self) -> V:
        builder = IRBuilder.current()
        self.opening(builder)
        builder.frames.append(self)
        return self.given()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        builder = IRBuilder.current()
        builder.frames.pop()
        if error is None:
            self.close(builder)

    def opening(self, builder: IRBuilder) -> None:
        """Look at where it is opened.

        Raises:
            UsageError: it does not stand there.
        """

    def given(self) -> V:
        """What `as` gives."""
        raise NotImplementedError

    def close(self, builder: IRBuilder) -> None:
        """Put what has become of it into what is open then."""
        raise NotImplementedError

    def take(self, made: Built) -> None:
        """Take what stands in it."""
        if not isinstance(made, Stmt):
            raise UsageError("a function or a module stands in no statement", hint="IRBuilder().get() gives it")
        self.statements.append(made)

    def body(self) -> Stmt:
        """What stands in it, as one statement."""
        return sequence(self.statements)


F = TypeVar("F", bound="Frame[object]")


@dataclass(eq=False)
class Around(Frame[V]):
    """A statement around others: `make` makes it of these."""

    value: V
    make: Callable[[Stmt], Stmt]

    def given(self) -> V:
        return self.value

    def close(self, builder: IRBuilder) -> None:
        builder.emit(self.make(self.body()))


@dataclass(eq=False)
class LoopsFrame(Around[V]):
    """Loops, one in the other. `extents` says how far each variable runs, which starts at 0."""

    extents: Mapping[Expr, Expr] = field(default_factory=dict[Expr, Expr])


@dataclass(eq=False)
class BlockFrame(Frame[None]):
    """A block, at the values that its iterators have there."""

    STANDS_IN = "a T.block"
    name: str
    iterators: list[tuple[IterVar, Expr]] = field(default_factory=list[tuple[IterVar, Expr]])
    predicate: Expr | None = None
    reads: tuple[BufferRegion, ...] = ()
    writes: tuple[BufferRegion, ...] = ()
    annotations: Mapping[str, object] = field(default_factory=dict[str, object])
    buffers: list[Buffer] = field(default_factory=list[Buffer])
    init: Stmt | None = None
    parts: list[MatchBufferRegion] = field(default_factory=list[MatchBufferRegion])
    no_realize: bool = False
    """Whether it is the block alone, at no values of its iterators."""

    def given(self) -> None:
        return None

    def close(self, builder: IRBuilder) -> None:
        given = self.iterators
        axes, said = [axis for axis, _ in given], dict(self.annotations)
        init, memory = self.init, self.buffers
        block = Block(axes, self.reads, self.writes, self.name, self.body(), init, memory, self.parts, said)
        if self.no_realize:
            builder.emit(block)
            return
        predicate: ExprLike = True if self.predicate is None else self.predicate
        builder.emit(BlockRealize([value for _, value in given], predicate, block))


@dataclass(eq=False)
class InitFrame(Frame[None]):
    """What a block does before the first step of its reduction."""

    STANDS_IN = "a T.init"
    block: BlockFrame | None = None

    def opening(self, builder: IRBuilder) -> None:
        self.block = builder.innermost(BlockFrame, "T.init")
        if self.block.init is not None:
            raise UsageError("a block has one T.init")

    def given(self) -> None:
        return None

    def close(self, builder: IRBuilder) -> None:
        assert self.block is not None
        self.block.init = self.body()


@dataclass(eq=False)
class IfFrame(Frame[None]):
    """A condition, with a `T.Then` and perhaps a `T.Else` in it."""

    STANDS_IN = "a T.If"
    condition: Expr
    cases: dict[str, Stmt] = field(default_factory=dict[str, Stmt])

    def given(self) -> None:
        return None

    def take(self, made: Built) -> None:
        raise UsageError("statements stand in the T.Then and the T.Else of a T.If")

    def close(self, builder: IRBuilder) -> None:
        if "T.Then" not in self.cases:
            raise UsageError("a T.If has a T.Then")
        builder.emit(IfThenElse(self.condition, self.cases["T.Then"], self.cases.get("T.Else")))


@dataclass(eq=False)
class CaseFrame(Frame[None]):
    """What is done if a condition holds (`T.Then`), or if not (`T.Else`)."""

    STANDS_IN = "a case"
    word: str
    branch: IfFrame | None = None

    def opening(self, builder: IRBuilder) -> None:
        frame = builder.frames[-1] if builder.frames else None
        if not isinstance(frame, IfFrame):
            raise UsageError(f"{self.word} stands directly in a T.If")
        if self.word in frame.cases:
            raise UsageError(f"a T.If has one {self.word}")
        self.branch = frame

    def given(self) -> None:
        return None

    def close(self, builder: IRBuilder) -> None:
        assert self.branch is not None
        self.branch.cases[self.word] = self.body()


@dataclass(eq=False)
class FunctionFrame(Frame[None]):
    """A function: its parameters, and what it does."""

    STANDS_IN = "a T.prim_func"
    name: str = "main"
    parameters: list[Buffer | Slot | Extent] = field(default_factory=list[Buffer | Slot | Extent])
    matched: dict[Handle, Buffer] = field(default_factory=dict[Handle, Buffer])
    buffers: list[Buffer] = field(default_factory=list[Buffer])
    attributes: dict[str, object] = field(default_factory=dict[str, object])

    def given(self) -> None:
        return None

    def close(self, builder: IRBuilder) -> None:
        given: list[Buffer | Slot | Extent] = []
        names: dict[object, str] = dict(builder.names)
        for each in self.parameters:
            if not isinstance(each, Handle):
                given.append(each)
            elif each in self.matched:
                given.append(buffer := self.matched[each])
                names.setdefault(buffer, names.get(each, each.name))
            else:
                name = names.get(each, each.name)
                raise UsageError(f"nothing says which buffer the parameter '{name}' is", hint="T.match_buffer")
        body = self.body()
        if self.buffers:
            always: ExprLike = True
            body = BlockRealize([], always, Block([], [], [], "root", body, None, self.buffers))
        function, _ = function_of(given, body, self.name, names=names)
        builder.emit(function.with_attr(self.attributes) if self.attributes else function)

    def body(self) -> Stmt:
        return sequence(self.statements)


@dataclass(eq=False)
class ModuleFrame(Frame[None]):
    """A module of functions."""

    STANDS_IN = "an I.ir_module"
    functions: list[PrimFuncOp] = field(default_factory=list[PrimFuncOp])

    def given(self) -> None:
        return None

    def take(self, made: Built) -> None:
        if not isinstance(made, PrimFuncOp):
            raise UsageError("a module holds functions", hint="with T.prim_func():")
        self.functions.append(made)

    def close(self, builder: IRBuilder) -> None:
        builder.emit(IRModule(self.functions))


def nested(loops: Sequence[Callable[[Stmt], Stmt]], body: Stmt) -> Stmt:
    """Loops, outermost first, around a statement."""
    for make in reversed(loops):
        body = make(body)
    return body

"""Tensors that statements fill, one after the other: what is no formula for each element, as the boxes that are kept.

    def fill(do):
        with do.loop(n) as i:
            with do.when(x[i] > 0):
                do.store(places[count[0]], i)
                do.store(count[0], count[0] + 1)

A statement reads what those before it have stored. Nothing may be read or stored outside of its tensor: an index that
data decides is bounded by whoever writes the statements. Stands in for TVM's `te.extern` and hybrid script.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute

from .dims import as_dim, dim_expr
from .expr import Dim, Expr, ExprLike, IterVar, Slot, as_expr, const, index
from .tensor import Compute, Filled, Read, Tensor, as_index, operands_of


@dataclass(frozen=True, eq=False)
class Store:
    """Put a value where an element stands."""

    place: Read
    value: Expr


@dataclass(frozen=True, eq=False)
class Let:
    """Compute a value once, which is `name` afterwards."""

    name: Slot
    value: Expr


@dataclass(frozen=True, eq=False)
class Loop:
    """For `name` from 0 up to `extent`, which is computed once."""

    name: Slot
    extent: Expr
    body: list[Statement]


@dataclass(frozen=True, eq=False)
class While:
    """As long as a condition holds."""

    condition: Expr
    body: list[Statement]


@dataclass(frozen=True, eq=False)
class When:
    """If a condition holds."""

    condition: Expr
    body: list[Statement]


Statement: TypeAlias = Store | Let | Loop | While | When
Shape: TypeAlias = tuple[Sequence[Dim], Attribute, str]
"""Extents, element type and name of a tensor."""


@dataclass(eq=False)
class Procedure:
    """Statements that run once for each point of `axes`, and the tensors that they fill, or use meanwhile."""

    axes: tuple[IterVar, ...]
    results: tuple[Tensor, ...] = ()
    scratch: tuple[Tensor, ...] = ()
    statements: list[Statement] = field(default_factory=list[Statement])
    begin: tuple[Tensor | None, ...] = ()
    """What the results hold before: zeros, unless there is a tensor."""

    def begins_with(self, number: int) -> Compute:
        """What the result `number` holds before."""
        result, given = self.results[number], self.begin[number]
        axes = tuple(IterVar(f"i{d}", extent) for d, extent in enumerate(result.dims))
        return Compute(axes, const(0, result.element_type) if given is None else given[axes])

    def is_straight(self) -> bool:
        """Whether the same statements run at every point, and none reads what others have stored."""
        straight = all(isinstance(each, Let | Store) for each in self.statements)
        return straight and set(self.results).isdisjoint(self._tensors_read())

    def reads(self) -> list[Read]:
        """A read of each tensor that it reads and that is not its own."""
        own = {*self.results, *self.scratch}
        found = [tensor for tensor in self._tensors_read() if tensor not in own]
        return [Read(tensor, (const(0, index),) * tensor.rank) for tensor in found]

    def _tensors_read(self) -> list[Tensor]:
        found: dict[Tensor, None] = dict.fromkeys(tensor for tensor in self.begin if tensor is not None)
        pending, seen = [e for s in walk(self.statements) for e in expressions(s)], set[Expr]()
        while pending:
            expr = pending.pop()
            if expr in seen:
                continue
            seen.add(expr)
            if isinstance(expr, Read):
                found[expr.tensor] = None
            pending += operands_of(expr)
        return [*reversed(found)]


def walk(statements: Sequence[Statement]) -> Generator[Statement]:
    """All statements, those within others too."""
    for statement in statements:
        yield statement
        if isinstance(statement, Loop | While | When):
            yield from walk(statement.body)


def expressions(statement: Statement) -> tuple[Expr, ...]:
    """What a statement itself computes with."""
    match statement:
        case Store(place, value):
            return (*place.indices, value)
        case Let(_, value):
            return (value,)
        case Loop(_, extent):
            return (extent,)
        case While(condition) | When(condition):
            return (condition,)


class Steps:
    """Takes the statements of a procedure."""

    def __init__(self, procedure: Procedure):
        self.axes: Sequence[Expr] = procedure.axes
        self._into = procedure.statements

    def store(self, place: Read, value: ExprLike) -> None:
        """Put a value where an element stands: `do.store(y[i], 0)`."""
        self._into.append(Store(place, as_expr(value, place.type)))

    def let(self, value: Expr, name: str = "value") -> Slot:
        """What a value is now."""
        self._into.append(Let(slot := Slot(name, value.type), value))
        return slot

    @contextmanager
    def loop(self, extent: ExprLike, name: str = "i") -> Generator[Slot]:
        """For each number from 0 up to an extent."""
        slot = Slot(name, index)
        with self._within(Loop(slot, as_index(extent), [])):
            yield slot

    @contextmanager
    def loops(self, extents: Sequence[Dim]) -> Generator[tuple[Slot, ...]]:
        """For each point of a space, the last index innermost."""
        with ExitStack() as stack:
            yield tuple([stack.enter_context(self.loop(dim_expr(extent))) for extent in extents])

    @contextmanager
    def while_(self, condition: Expr) -> Generator[None]:
        """As long as a condition holds, which is computed anew each time."""
        with self._within(While(condition, [])):
            yield

    @contextmanager
    def when(self, condition: Expr | bool) -> Generator[None]:
        """If a condition holds; comparing extents may tell that it does."""
        with self._within(When(as_expr(condition, i1), [])):
            yield

    @contextmanager
    def _within(self, statement: Loop | While | When) -> Generator[None]:
        outer = self._into
        outer.append(statement)
        self._into = statement.body
        try:
            yield
        finally:
            self._into = outer


def procedure(
    results: Sequence[Shape],
    fill: Callable[..., None],
    scratch: Sequence[Shape] = (),
    over: Sequence[Dim] = (),
    begin: Sequence[Tensor | None] = (),
) -> list[Tensor]:
    """The tensors that statements fill: `fill(do, *results, *scratch)` gives the statements to `do`, a `Steps`.

    They run once for each point of `over`, in any order or at the same time: `do.axes` are its coordinates. Results are
    zeros before, or what `begin` gives for them, of their shapes and types; `scratch` has memory that means nothing
    before and after.
    """
    made = Procedure(tuple(IterVar(f"b{d}", as_dim(extent)) for d, extent in enumerate(over)))
    tensors: list[Tensor] = []
    for number, (shape, element, name) in enumerate(results):
        dims = tuple(map(as_dim, shape))
        axes = tuple(IterVar(f"i{d}", extent) for d, extent in enumerate(dims))
        tensors.append(Tensor(dims, element, name, Compute(axes, Filled(made, number, element))))
    made.results = tuple(tensors)
    made.begin = (*begin, *(None,) * (len(tensors) - len(begin)))
    made.scratch = tuple(Tensor(tuple(map(as_dim, shape)), element, name) for shape, element, name in scratch)
    fill(Steps(made), *made.results, *made.scratch)
    return tensors

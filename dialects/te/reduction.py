"""Reductions: an expression combined over all values of some axes, and what its combining starts from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness, i1
from xdsl.ir import Attribute

from ..support.hints import isa
from .expr import Const, Expr, IterVar, Slot, binary, const
from .kinds import BinaryKind, ReduceKind


@dataclass(frozen=True, eq=False)
class Reduce(Expr):
    """`operand` combined over all values of `axes`, and with what it starts from, if there is a `start`, in which the
    axes do not occur. Stands only at the top of a `compute` body."""

    kind: ReduceKind
    operand: Expr
    axes: tuple[IterVar, ...]
    start: Expr | None = None

    @property
    def type(self) -> Attribute:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.operand.type

    @property
    def axis(self) -> tuple[IterVar, ...]:
        """The axes, as TVM calls them."""
        return self.axes

    @property
    def combiner(self) -> Combiner:
        """How it goes on, and what it starts from."""
        return combiner_of(self.kind, self.type)

    @property
    def source(self) -> tuple[Expr, ...]:
        """What is combined."""
        return (self.operand,)

    @property
    def init(self) -> tuple[Expr, ...]:
        """What it starts from, if not from the identity."""
        return () if self.start is None else (self.start,)

    @property
    def condition(self) -> Expr:
        """Where it combines: everywhere. Elsewhere, the operand is the identity."""
        return const(1, i1)

    @property
    def value_index(self) -> int:
        """The number of the result, which is the only one."""
        return 0


@dataclass(frozen=True, eq=False)
class Combiner:
    """How a reduction of one's own goes on: `results` over what it has `so_far` and its next `step`, one of each for
    each result; `identity` is what it starts from."""

    so_far: tuple[Slot, ...]
    step: tuple[Slot, ...]
    results: tuple[Expr, ...]
    identity: tuple[Const, ...]

    @property
    def lhs(self) -> tuple[Slot, ...]:
        """What it has so far, as TVM calls it."""
        return self.so_far

    @property
    def rhs(self) -> tuple[Slot, ...]:
        """Its next step, as TVM calls it."""
        return self.step

    @property
    def result(self) -> tuple[Expr, ...]:
        """Its results, as TVM calls them."""
        return self.results

    @property
    def identity_element(self) -> tuple[Const, ...]:
        """What it starts from, as TVM calls it."""
        return self.identity


@dataclass(frozen=True, eq=False)
class Fold(Expr):
    """Result `number` of `operands` combined over all values of `axes` by a combiner of one's own, and with what they
    start from, if that is not the identity. Stands only at the top of a `compute` body; the results of one reduction
    have the same combiner, operands and axes."""

    combiner: Combiner
    operands: tuple[Expr, ...]
    axes: tuple[IterVar, ...]
    number: int = 0
    start: tuple[Expr, ...] | None = None

    @property
    def type(self) -> Attribute:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.combiner.results[self.number].type

    @property
    def axis(self) -> tuple[IterVar, ...]:
        """The axes, as TVM calls them."""
        return self.axes

    @property
    def source(self) -> tuple[Expr, ...]:
        """What is combined."""
        return self.operands

    @property
    def init(self) -> tuple[Expr, ...]:
        """What it starts from, if not from the identity."""
        return self.start or ()

    @property
    def condition(self) -> Expr:
        """Where it combines: everywhere. Elsewhere, the operands are the identity."""
        return const(1, i1)

    @property
    def value_index(self) -> int:
        """The number of the result."""
        return self.number


def reduce_identity(kind: ReduceKind, type: Attribute) -> Const:
    """The value that `kind` leaves unchanged: 0 for a sum, minus infinity (or the least integer) for a maximum."""
    match kind:
        case "sum" | "or":
            return const(0, type)
        case "prod" | "and":
            return const(1, type)
        case "max" | "min":
            if isinstance(type, AnyFloat):
                return const(float("-inf") if kind == "max" else float("inf"), type)
            assert isa(type, IntegerType)
            width = type.width.data
            if type.signedness.data == Signedness.UNSIGNED or width == 1:
                return const(0 if kind == "max" else (1 << width) - 1, type)
            return const(-(1 << (width - 1)) if kind == "max" else (1 << (width - 1)) - 1, type)


COMBINER: dict[ReduceKind, BinaryKind] = {
    "sum": BinaryKind.ADD,
    "prod": BinaryKind.MUL,
    "max": BinaryKind.MAX,
    "min": BinaryKind.MIN,
    "and": BinaryKind.AND,
    "or": BinaryKind.OR,
}


@lru_cache(maxsize=1 << 8)
def combiner_of(kind: ReduceKind, type: Attribute) -> Combiner:
    """What combines in a reduction of a kind."""
    so_far, step = Slot("x", type), Slot("y", type)
    return Combiner((so_far,), (step,), (binary(COMBINER[kind], so_far, step),), (reduce_identity(kind, type),))


def first_value(body: Reduce) -> Expr:
    """What a reduction starts from."""
    return reduce_identity(body.kind, body.type) if body.start is None else body.start


def first_values(body: Fold) -> tuple[Expr, ...]:
    """What the results of a reduction of one's own start from."""
    return body.combiner.identity if body.start is None else body.start

"""Python's operators, each as the kind of expression that it makes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic, TypeVar

from .kinds import BinaryKind, UnaryKind

Made = TypeVar("Made")
Operand = TypeVar("Operand", contravariant=True)


class TakesOver:
    """What has operators of its own for what it is combined with (`te.tensor.Tensor`)."""

    TAKEN = frozenset({BinaryKind.ADD, BinaryKind.SUB, BinaryKind.MUL, BinaryKind.DIV})
    """The kinds that these are of."""


class Operators(Generic[Made, Operand]):
    """What can be computed with by Python's operators. `==` and `!=` are not here: Python asks them for truths."""

    @abstractmethod
    def combined(self, kind: BinaryKind, other: Operand) -> Made:
        """`kind(self, other)`."""

    @abstractmethod
    def combined_from(self, kind: BinaryKind, other: Operand) -> Made:
        """`kind(other, self)`."""

    @abstractmethod
    def applied(self, kind: UnaryKind) -> Made:
        """`kind(self)`."""

    def __add__(self, other: Operand) -> Made:
        return self.combined(BinaryKind.ADD, other)

    def __radd__(self, other: Operand) -> Made:
        return self.combined_from(BinaryKind.ADD, other)

    def __sub__(self, other: Operand) -> Made:
        return self.combined(BinaryKind.SUB, other)

    def __rsub__(self, other: Operand) -> Made:
        return self.combined_from(BinaryKind.SUB, other)

    def __mul__(self, other: Operand) -> Made:
        return self.combined(BinaryKind.MUL, other)

    def __rmul__(self, other: Operand) -> Made:
        return self.combined_from(BinaryKind.MUL, other)

    def __truediv__(self, other: Operand) -> Made:
        return self.combined(BinaryKind.DIV, other)

    def __rtruediv__(self, other: Operand) -> Made:
        return self.combined_from(BinaryKind.DIV, other)

    def __floordiv__(self, other: Operand) -> Made:
        return self.combined(BinaryKind.FLOORDIV, other)

    def __rfloordiv__(self, other: Operand) -> Made:
        return self.combined_from(BinaryKind.FLOORDIV, other)

    def __mod__(self, other: Operand) -> Made:
        return self.combined(BinaryKind.FLOORMOD, other)

    def __rmod__(self, other: Operand) -> Made:
        return self.combined_from(BinaryKind.FLOORMOD, other)

    def __and__(self, other: Operand) -> Made:
        return self.combined(BinaryKind.AND, other)

    def __rand__(self, other: Operand) -> Made:
        return self.combined_from(BinaryKind.AND, other)

    def __or__(self, other: Operand) -> Made:
        return self.combined(BinaryKind.OR, other)

    def __ror__(self, other: Operand) -> Made:
        return self.combined_from(BinaryKind.OR, other)

    def __xor__(self, other: Operand) -> Made:
        return self.combined(BinaryKind.XOR, other)

    def __rxor__(self, other: Operand) -> Made:
        return self.combined_from(BinaryKind.XOR, other)

    def __lshift__(self, other: Operand) -> Made:
        return self.combined(BinaryKind.SHL, other)

    def __rlshift__(self, other: Operand) -> Made:
        return self.combined_from(BinaryKind.SHL, other)

    def __rshift__(self, other: Operand) -> Made:
        return self.combined(BinaryKind.SHR, other)

    def __rrshift__(self, other: Operand) -> Made:
        return self.combined_from(BinaryKind.SHR, other)

    def __pow__(self, other: Operand) -> Made:
        return self.combined(BinaryKind.POW, other)

    def __rpow__(self, other: Operand) -> Made:
        return self.combined_from(BinaryKind.POW, other)

    def __invert__(self) -> Made:
        return self.applied(UnaryKind.NOT)

    def __neg__(self) -> Made:
        return self.applied(UnaryKind.NEG)

    def __abs__(self) -> Made:
        return self.applied(UnaryKind.ABS)

    def __lt__(self, other: Operand) -> Made:
        return self.combined(BinaryKind.LT, other)

    def __le__(self, other: Operand) -> Made:
        return self.combined(BinaryKind.LE, other)

    def __gt__(self, other: Operand) -> Made:
        return self.combined(BinaryKind.GT, other)

    def __ge__(self, other: Operand) -> Made:
        return self.combined(BinaryKind.GE, other)

"""Whether two bodies compute alike, but for where their elements stand: expressions are compared as trees.

The operands of sums and products may be the other way round. What an access means is said by who asks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from xdsl.dialects import memref
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

COMMUTATIVE = ("arith.addi", "arith.muli", "arith.addf", "arith.mulf", "arith.andi", "arith.ori", "arith.xori")

Found = TypeVar("Found")


class Differs(Exception):
    """Two expressions are not the same."""


class TreeMatcher(ABC, Generic[Found]):
    """Compares trees of operations. What is found is by buffer of the second; each comparison gives it anew, so that
    one that fails leaves nothing behind."""

    @abstractmethod
    def access(
        self,
        ours: memref.LoadOp | memref.StoreOp,
        theirs: memref.LoadOp | memref.StoreOp,
        places: dict[SSAValue, Found],
    ) -> dict[SSAValue, Found]:
        """Match two accesses.

        Raises:
            Differs: they are not the same.
        """

    def value(self, ours: SSAValue, theirs: SSAValue, places: dict[SSAValue, Found]) -> dict[SSAValue, Found]:
        """Match two values.

        Raises:
            Differs: they are not the same.
        """
        if ours.type != theirs.type:
            raise Differs(f"it has a value of type {theirs.type} where the block has one of {ours.type}")
        if not isinstance(ours, OpResult) or not isinstance(theirs, OpResult):
            raise Differs("it computes with an iterator, or the block does")
        a, b = ours.op, theirs.op
        if a.name != b.name or ours.index != theirs.index or a.regions or b.regions:
            raise Differs(f"it has {b.name} where the block has {a.name}")
        if isinstance(a, memref.LoadOp) and isinstance(b, memref.LoadOp):
            return self.access(a, b, places)
        if _facts(a) != _facts(b):
            raise Differs(f"its {b.name} is another one")
        if len(a.operands) == 2 and a.name in COMMUTATIVE:
            try:
                return self.operands(a.operands, b.operands, places)
            except Differs as difference:
                try:
                    return self.operands(a.operands[::-1], b.operands, places)
                except Differs:
                    raise difference from None
        return self.operands(a.operands, b.operands, places)

    def operands(
        self, ours: Sequence[SSAValue], theirs: Sequence[SSAValue], places: dict[SSAValue, Found]
    ) -> dict[SSAValue, Found]:
        if len(ours) != len(theirs):
            raise Differs("it has operations of other numbers of operands")
        for a, b in zip(ours, theirs, strict=True):
            places = self.value(a, b, places)
        return places


def _facts(op: Operation) -> dict[str, Attribute]:
    """What an operation says of itself, but how exact it is."""
    return {
        name: value
        for name, value in (op.properties | op.attributes).items()
        if name not in ("fastmath", "overflowFlags")
    }

"""Appends the operations of a block's body, each shared subexpression once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    f32,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...support.hints import isa
from .words import bits, conversion


@dataclass(frozen=True)
class Value:
    """A scalar, and whether the integer that it is has no sign: types in memory do not say so."""

    ssa: SSAValue
    unsigned: bool = False

    @property
    def type(self) -> Attribute:
        return self.ssa.type


class Emitter:
    """Appends to `block`; what was computed before, there or around, is not computed again."""

    def __init__(self, block: Block, around: Emitter | None = None):
        self.block = block
        self.location: LocationAttr | None = None if around is None else around.location
        self.known: dict[object, SSAValue] = {} if around is None else dict(around.known)
        self.epochs: dict[SSAValue, int] = {} if around is None else around.epochs
        """How often each buffer has been written."""

    def insert(self, op: Operation) -> Operation:
        """Append an operation as it is."""
        if self.location is not None:
            op.location = self.location
        self.block.add_op(op)
        return op

    def pure(self, op: Operation, more: object = None) -> SSAValue:
        """The result of an operation without effects: appended, unless an equal one stands there."""
        key = (type(op), tuple(op.operands), tuple(sorted(op.properties.items())), op.results[0].type, more)
        if (known := self.known.get(key)) is not None:
            op.erase()
            return known
        self.insert(op)
        self.known[key] = op.results[0]
        return op.results[0]

    def load(self, buffer: SSAValue, indices: Sequence[SSAValue]) -> SSAValue:
        """An element of a buffer, as it is after what was written so far."""
        return self.pure(memref.LoadOp.get(buffer, indices), self.epochs.get(buffer, 0))

    def store(self, value: SSAValue, buffer: SSAValue, indices: Sequence[SSAValue]) -> None:
        """Write an element of a buffer."""
        self.insert(memref.StoreOp.get(value, buffer, indices))
        self.epochs[buffer] = self.epochs.get(buffer, 0) + 1

    def effect(self, buffers: Sequence[SSAValue]) -> None:
        """Something else writes `buffers`."""
        for buffer in buffers:
            self.epochs[buffer] = self.epochs.get(buffer, 0) + 1

    def forget(self) -> None:
        """What was read before may have been written since, whatever it is."""
        self.known = {key: value for key, value in self.known.items() if not isinstance(value.owner, memref.LoadOp)}

    def constant(self, number: float, type: Attribute) -> SSAValue:
        """A literal.

        Raises:
            OverflowError: the type has no such number.
        """
        if isinstance(type, AnyFloat):
            return self.pure(arith.ConstantOp(FloatAttr(float(number), type)), repr(float(number)))
        assert isa(type, IntegerType | IndexType)
        value, width = int(number), bits(type)
        if not -(1 << (width - 1)) <= value < 1 << width:
            raise OverflowError(f"{value} does not fit {width} bits")
        if width > 1 and value >= 1 << (width - 1):
            value -= 1 << width  # the bits of an unsigned literal
        return self.pure(arith.ConstantOp(IntegerAttr(value, type)))

    def cast(self, value: Value, target: Attribute, unsigned: bool = False) -> Value:
        """`value` as `target`: to `i1` is `!= 0`, float to integer truncates, integers wrap."""
        source = value.type
        if source == target:
            return Value(value.ssa, unsigned)
        if target == i1:
            zero = self.constant(0, source)
            if isinstance(source, AnyFloat):
                return Value(self.pure(arith.CmpfOp(value.ssa, zero, "une")))
            return Value(self.pure(arith.CmpiOp(value.ssa, zero, "ne")))
        if (kind := conversion(source, target, value.unsigned, unsigned)) is not None:
            return Value(self.pure(kind.create(operands=[value.ssa], result_types=[target])), unsigned)
        middle = i64 if isinstance(source, IndexType) or isinstance(target, IndexType) else f32
        return self.cast(self.cast(value, middle), target, unsigned)

"""Between which values an integer lies that a body computes: its operations read as expressions of the analyzer.

What is computed from data is a variable with the bounds of its type, and clipping, remainders and checks say more. An
operation whose result may not fit its type has wrapped, for all that is known: it is such a variable too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.utils.hints import isa

from .analyzer import Analyzer, Flag, IntExpr, const, maximum, minimum, select, var
from .analyzer.build import floordiv, floormod
from .checks import CheckOp
from .symbols import MAX_EXTENT

Range: TypeAlias = tuple[int, int]
"""Least and greatest value, both included."""

_LEAST, _GREATEST = -(1 << 63), (1 << 63) - 1


def value_range(value: SSAValue, iters: Mapping[SSAValue, Range]) -> Range:
    """The least and greatest value of an integer or index in the body of a block, both included, given those of the
    block's iterators. Where nothing is known, those of its type."""
    if (known := iters.get(value)) is not None:
        return known
    reader = _Reader(iters)
    return reader.bounds(reader.read(value), value.type)


class _Reader:
    """Reads values as expressions, and remembers what is known of the variables in them."""

    def __init__(self, iters: Mapping[SSAValue, Range]):
        self.iters = iters
        self.analyzer = Analyzer()
        self.read_before: dict[SSAValue, IntExpr] = {}

    def read(self, value: SSAValue) -> IntExpr:
        """The expression that a value is, where it is sure not to have wrapped; else a variable."""
        if (known := self.read_before.get(value)) is None:
            if value in self.iters or not isinstance(value, OpResult):
                known = self.unknown(value)
            else:
                known = self._operation(value.op, value)
            low, high = self.analyzer.range(known)
            least, greatest = type_range(value.type)
            if low is None or high is None or low < least or high > greatest:
                known = self.unknown(value)
            self.read_before[value] = known
        return known

    def unknown(self, value: SSAValue, bounds: Range | None = None) -> IntExpr:
        """`value` as a variable, whose type or `bounds` say all that is known of it."""
        variable = var(value, "x")
        self.analyzer.facts.ranges[variable] = bounds or self.iters.get(value) or type_range(value.type)
        self.analyzer.forget()
        return variable

    def bounds(self, expr: IntExpr, type: Attribute) -> Range:
        """Between which values of its type an expression lies."""
        low, high = self.analyzer.const_int_bound(expr)
        least, greatest = type_range(type)
        return (least if low is None else max(low, least)), (greatest if high is None else min(high, greatest))

    def _operation(self, op: Operation, value: SSAValue) -> IntExpr:
        if (build := _BINARY.get(type(op))) is not None:
            return build(self.read(op.operands[0]), self.read(op.operands[1]))
        match op:
            case CheckOp():
                return self.unknown(value, (0, max((op.limit if isinstance(op.limit, int) else MAX_EXTENT) - 1, 0)))
            case arith.ConstantOp() if isinstance(op.value, IntegerAttr):
                return const(op.value.value.data)
            case arith.IndexCastOp() | arith.ExtSIOp():
                return -self.read(op.input) if op.input.type == IntegerType(1) else self.read(op.input)
            case arith.ExtUIOp() if isa(op.input.type, IntegerType):
                if self.is_natural(operand := self.read(op.input)):
                    return operand
                return self.unknown(value, (0, (1 << op.input.type.width.data) - 1))
            case arith.SelectOp():
                return select(var(op.cond, "c", Flag), self.read(op.lhs), self.read(op.rhs))
            case arith.FloorDivSIOp() if (divisor := _positive(op.rhs)) is not None:
                return floordiv(self.read(op.lhs), const(divisor))
            case arith.RemUIOp() | arith.DivUIOp() if (divisor := _positive(op.rhs)) is not None:
                dividend = self.read(op.lhs)
                if self.is_natural(dividend):
                    return (floormod if isinstance(op, arith.RemUIOp) else floordiv)(dividend, const(divisor))
                return self.unknown(value, (0, divisor - 1) if isinstance(op, arith.RemUIOp) else None)
            case _:
                return self.unknown(value)

    def is_natural(self, expr: IntExpr) -> bool:
        """Whether it is shown not to be negative."""
        low, _ = self.analyzer.const_int_bound(expr)
        return low is not None and low >= 0


_BINARY: dict[type[Operation], Callable[[IntExpr, IntExpr], IntExpr]] = {
    arith.AddiOp: lambda lhs, rhs: lhs + rhs,
    arith.SubiOp: lambda lhs, rhs: lhs - rhs,
    arith.MuliOp: lambda lhs, rhs: lhs * rhs,
    arith.MinSIOp: minimum,
    arith.MaxSIOp: maximum,
}


def type_range(type: Attribute) -> Range:
    """The values that an integer type holds, taken with a sign."""
    if isa(type, IntegerType) and type.width.data < 64:
        half = 1 << (type.width.data - 1)
        return (0, 1) if type.width.data == 1 else (-half, half - 1)
    return _LEAST, _GREATEST


def _positive(value: SSAValue) -> int | None:
    """The positive constant that an index is."""
    if not isinstance(value.type, IndexType) or not isinstance(value.owner, arith.ConstantOp):
        return None
    attribute = value.owner.value
    return attribute.value.data if isinstance(attribute, IntegerAttr) and attribute.value.data > 0 else None

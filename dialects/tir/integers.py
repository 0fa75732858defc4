"""Between which values an integer lies that a body computes: its operations read as expressions of the analyzer.

What is computed from data is a variable with the bounds of its type, and clipping, remainders and checks say more. A
value whose expression may not fit its type has wrapped, for all that is known: it is such a variable too. Sums and
products may wrap on the way to one that fits, as they do in `x - x floordiv 6 * 6`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, OpResult, SSAValue

from ..support.hints import isa
from .analyzer import Analyzer, Flag, IntExpr, const, maximum, minimum, select, var
from .analyzer.build import floordiv, floormod, power_of_two
from .checks import CheckOp
from .symbols import MAX_EXTENT

Range: TypeAlias = tuple[int, int]
"""Least and greatest value, both included."""

_LEAST, _GREATEST = -(1 << 63), (1 << 63) - 1


def value_range(value: SSAValue, iters: Mapping[SSAValue, Range]) -> Range:
    """The least and greatest value of an integer or index in the body of a block, both included, given those of the
    block's iterators. Where nothing is known, those of its type."""
    return ValueRanges(iters).of(value)


MAX_WORK = 256
"""An expression that takes more than this to evaluate becomes a variable with its bounds."""

_READ = (
    arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.MinSIOp, arith.MaxSIOp, arith.SelectOp, arith.FloorDivSIOp,
    arith.RemUIOp, arith.DivUIOp, arith.IndexCastOp, arith.ExtSIOp, arith.ExtUIOp, arith.ShLIOp,
)  # fmt: skip


class ValueRanges:
    """`value_range` of several values of one body, which has to stay as it is: what they are made of is read once.

    It reads values as expressions, and remembers what is known of the variables in them."""

    def __init__(self, iters: Mapping[SSAValue, Range]):
        self.iters = iters
        self.analyzer = Analyzer()
        self.forms: dict[SSAValue, IntExpr] = {}

    def of(self, value: SSAValue) -> Range:
        """The least and greatest value, both included."""
        if (known := self.iters.get(value)) is not None:
            return known
        low, high = self.analyzer.const_int_bound(self.exact(value))
        assert low is not None
        assert high is not None
        return low, high

    def is_within(self, value: SSAValue, extent: int) -> bool:
        """Whether it is shown that `0 <= value < extent`."""
        low, high = self.iters.get(value) or self.analyzer.range(self.exact(value))
        if low is None or high is None or low < 0 or high >= extent:
            low, high = self.of(value)
        return low >= 0 and high < extent

    def form(self, value: SSAValue) -> IntExpr:
        """The expression that a value is, but for multiples of `2 ** width`: sums and products wrap."""
        pending = [value]
        while pending:
            current = pending[-1]
            if current in self.forms:
                pending.pop()
            elif unread := [each for each in self._operands(current) if each not in self.forms]:
                pending += unread
            else:
                form = self.forms[current] = self._form(current)
                if form.measure[0] > MAX_WORK:
                    # What may be one of two values is simplified to no less, and to look for that takes long.
                    is_choice = isinstance(current.owner, arith.SelectOp)
                    bounds = self.analyzer.range if is_choice else self.analyzer.const_int_bound
                    low, high = bounds(self.exact(current))
                    assert low is not None
                    assert high is not None
                    self.forms[current] = self._unknown(current, (low, high))
        return self.forms[value]

    def _operands(self, value: SSAValue) -> Sequence[SSAValue]:
        """What `_form` reads."""
        return value.op.operands if isinstance(value, OpResult) and isinstance(value.op, _READ) else ()

    def exact(self, value: SSAValue) -> IntExpr:
        """The expression that a value is: one that fits its type has not wrapped."""
        form = self.form(value)
        least, greatest = type_range(value.type)
        for bounds in (self.analyzer.range, self.analyzer.const_int_bound):  # the second says more, but takes long
            low, high = bounds(form)
            if low is not None and high is not None and least <= low and high <= greatest:
                return form
        form = self.forms[value] = self._unknown(value)
        return form

    def _unknown(self, value: SSAValue, bounds: Range | None = None) -> IntExpr:
        """`value` as a variable, whose type or `bounds` say all that is known of it."""
        variable, ranges = var(value, "x"), self.analyzer.facts.ranges
        bounds = bounds or self.iters.get(value) or type_range(value.type)
        if ranges.setdefault(variable, bounds) != bounds:
            ranges[variable] = bounds
            self.analyzer.forget()
        return variable

    def _form(self, value: SSAValue) -> IntExpr:
        if value in self.iters or not isinstance(value, OpResult):
            return self._unknown(value)
        match value.op:
            case arith.AddiOp() as op:
                return self.form(op.lhs) + self.form(op.rhs)
            case arith.SubiOp() as op:
                return self.form(op.lhs) - self.form(op.rhs)
            case arith.MuliOp() as op:
                return self.form(op.lhs) * self.form(op.rhs)
            case arith.ShLIOp() as op if self.is_within(op.rhs, _width(op.result.type)):
                return self.form(op.lhs) * power_of_two(self.exact(op.rhs))
            case arith.SelectOp() as op:
                return select(var(op.cond, "c", Flag), self.form(op.lhs), self.form(op.rhs))
            case arith.MinSIOp() as op:
                return minimum(self.exact(op.lhs), self.exact(op.rhs))
            case arith.MaxSIOp() as op:
                return maximum(self.exact(op.lhs), self.exact(op.rhs))
            case arith.FloorDivSIOp() as op if (divisor := _positive(op.rhs)) is not None:
                return floordiv(self.exact(op.lhs), const(divisor))
            case arith.RemUIOp() | arith.DivUIOp() as op if (divisor := _positive(op.rhs)) is not None:
                is_remainder = isinstance(op, arith.RemUIOp)
                if self._is_natural(dividend := self.exact(op.lhs)):
                    return (floormod if is_remainder else floordiv)(dividend, const(divisor))
                return self._unknown(value, (0, divisor - 1) if is_remainder else None)
            case arith.ConstantOp() as op if isinstance(op.value, IntegerAttr):
                return const(op.value.value.data)
            case arith.IndexCastOp() | arith.ExtSIOp() as op:
                return -self.exact(op.input) if op.input.type == IntegerType(1) else self.exact(op.input)
            case arith.ExtUIOp() as op if isa(op.input.type, IntegerType):
                if self._is_natural(operand := self.exact(op.input)):
                    return operand
                return self._unknown(value, (0, (1 << op.input.type.width.data) - 1))
            case CheckOp() as op:
                return self._unknown(value, (0, max((op.limit if isinstance(op.limit, int) else MAX_EXTENT) - 1, 0)))
            case _:
                return self._unknown(value)

    def _is_natural(self, expr: IntExpr) -> bool:
        """Whether it is shown not to be negative."""
        lows = (bounds(expr)[0] for bounds in (self.analyzer.range, self.analyzer.const_int_bound))
        return any(low is not None and low >= 0 for low in lows)


def type_range(type: Attribute) -> Range:
    """The values that an integer type holds, taken with a sign."""
    if isa(type, IntegerType) and type.width.data < 64:
        half = 1 << (type.width.data - 1)
        return (0, 1) if type.width.data == 1 else (-half, half - 1)
    return _LEAST, _GREATEST


def _width(type: Attribute) -> int:
    """The bits of an integer; those of a register, of an index."""
    return type.width.data if isa(type, IntegerType) else 64


def _positive(value: SSAValue) -> int | None:
    """The positive constant that an index is."""
    if not isinstance(value.type, IndexType) or not isinstance(value.owner, arith.ConstantOp):
        return None
    attribute = value.owner.value
    return attribute.value.data if isinstance(attribute, IntegerAttr) and attribute.value.data > 0 else None

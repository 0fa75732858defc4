"""Integer arithmetic has a result for all operands, in `tir` as in `loops`: what that is, and where no care is needed.

| operation                                  | result                                                              |
|--------------------------------------------|---------------------------------------------------------------------|
| `divsi`, `divui`, `floordivsi`, `ceildiv*` | by 0: 0; the least integer by -1: itself                            |
| `remsi`, `remui`                           | by 0: 0; the least integer by -1: 0                                 |
| `shli`, `shrui`                            | by the width or more: 0                                             |
| `shrsi`                                    | by the width or more: 0, or -1 for a negative number                |
| `fptosi`, `fptoui`                         | towards zero; outside of the type: its nearest integer; of NaN: 0   |

A processor, LLVM and C leave these cases open, or end the process. The lowerings to LLVM (`loops_to_llvm/total.py`) and
to C (`loops_to_c/scalars.py`) therefore look at the operands at run time, unless what stands here shows that they need
not: divisors are mostly literals, and so are shifts. The interpreters of `tir` and `te` compute the same
(`dialects/tir/scalar_python.py`, `dialects/support/conversion.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import cast

from xdsl.dialects import arith, math, scf, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from ..dialects.extensions import arith as arith_extensions
from ..dialects.support.hints import isa
from ..dialects.support.vector_types import element_type
from ..dialects.tir.affine import Range
from ..dialects.tir.integers import value_range

SIGNED_DIVISIONS = ("arith.divsi", "arith.remsi", "arith.floordivsi", "arith.ceildivsi")


def width_of(type: Attribute) -> int:
    """Bits of an integer, of an index, or of the lanes of a vector of them."""
    element = element_type(type)
    if isinstance(element, IndexType):
        return 64
    assert isa(element, IntegerType)
    return element.width.data


def may_divide_by_zero(op: Operation) -> bool:
    """Whether it is not shown that the divisor of a division is another number than 0."""
    return not _is_without(op.operands[1], 0)


def is_by_literal(op: Operation) -> bool:
    """Whether the divisor of a division is a literal, in all lanes, which LLVM multiplies by the inverse of."""
    divisor = op.operands[1]
    while isinstance(divisor.owner, vector.BroadcastOp):
        divisor = divisor.owner.source
    return _literals(divisor) is not None


def may_overflow(op: Operation) -> bool:
    """Whether it is not shown that a signed division is none of the least integer by -1."""
    lhs, rhs = op.operands
    least = -(1 << (width_of(lhs.type) - 1))
    return op.name in SIGNED_DIVISIONS and not (_is_without(rhs, -1) or _is_without(lhs, least))


def may_shift_out(op: Operation) -> bool:
    """Whether it is not shown that an integer is shifted by less than its width."""
    low, high = _range(op.operands[1])
    return low < 0 or high >= width_of(op.operands[0].type)


def _is_without(value: SSAValue, number: int) -> bool:
    """Whether an integer is shown never to be `number`."""
    low, high = _range(value)
    return number < low or number > high or _is_replaced(value, number)


def _is_replaced(value: SSAValue, number: int) -> bool:
    """Whether `value` is `select(x == number, another literal, x)`."""
    op = value.owner
    if not isinstance(op, arith.SelectOp | arith_extensions.SelectOp):
        return False
    test, other = op.cond.owner, _literals(op.lhs)
    return (
        isinstance(test, arith.CmpiOp | arith_extensions.CmpiOp)
        and test.predicate.value.data == 0
        and test.lhs is op.rhs
        and _literals(test.rhs) == (number, number)
        and other is not None
        and not other[0] <= number <= other[1]
    )


def _literals(value: SSAValue) -> Range | None:
    """The least and greatest of the integers that a literal is, or holds."""
    if not isinstance(value.owner, arith.ConstantOp):
        return None
    match value.owner.value:
        case IntegerAttr() as number:
            return number.value.data, number.value.data
        case DenseIntOrFPElementsAttr() as dense if isinstance(element_type(value.type), IntegerType | IndexType):
            values = [int(v) for v in cast("Sequence[int]", dense.get_values())]
            return (min(values), max(values)) if values else None
        case _:
            return None


def _range(value: SSAValue) -> Range:
    """Between which integers a value lies, or its lanes."""
    if (known := _literals(value)) is not None:
        low, high = known
        half = 1 << (width_of(value.type) - 1)
        return (low, high) if low >= -half and high < half else (-half, half - 1)
    if isinstance(value.owner, vector.BroadcastOp):
        return _range(value.owner.operands[0])
    if element_type(value.type) is not value.type:
        half = 1 << (width_of(value.type) - 1)
        return -half, half - 1
    return value_range(value, _loop_ranges(value))


def _loop_ranges(value: SSAValue) -> Mapping[SSAValue, Range]:
    """The values of the variables of the loops around, as far as their bounds are known."""
    found: dict[SSAValue, Range] = {}
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    while block is not None:
        loop = block.parent_op()
        if isinstance(loop, scf.ForOp):
            low, _ = value_range(loop.lb, {})
            _, high = value_range(loop.ub, {})
            found[block.args[0]] = low, max(low, high - 1)
        block = None if loop is None else loop.parent
    return found


# Floats


@dataclass(frozen=True)
class Misfit:
    """Which floats that an integer type does not hold a conversion to it may meet, for all that is shown."""

    low: bool
    high: bool
    nan: bool

    def __bool__(self) -> bool:
        return self.low or self.high or self.nan


def limits(op: Operation) -> tuple[int, int]:
    """The least and the greatest integer that a conversion from floats gives."""
    width = width_of(op.results[0].type)
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if op.name == "arith.fptosi" else (0, (1 << width) - 1)


def misfit(op: Operation) -> Misfit:
    """What the operand of `arith.fptosi` or `arith.fptoui` may be."""
    least, greatest = limits(op)
    found = _float_range(op.operands[0])
    return Misfit(found.low <= least - 1, found.high >= greatest + 1, found.nan)


@dataclass(frozen=True)
class _Floats:
    """Between which numbers floats lie, and whether NaN may be among them."""

    low: float = -inf
    high: float = inf
    nan: bool = True


def _float_range(value: SSAValue) -> _Floats:
    if not isinstance(value, OpResult):
        return _Floats()
    op = value.op
    match op:
        case arith.ConstantOp():
            return _of_literal(op)
        case vector.BroadcastOp():
            return _float_range(op.operands[0])
        case arith.SIToFPOp() | arith_extensions.SIToFPOp() | arith.UIToFPOp() | arith_extensions.UIToFPOp():
            return _of_integer(op)
        case arith.ExtFOp():
            return _float_range(op.input)
        case math.RoundEvenOp() | math.RoundOp() | math.FloorOp() | math.CeilOp() | math.TruncOp():
            found = _float_range(op.operand)
            whole = [float(round(end)) if abs(end) < 2**53 else end for end in (found.low, found.high)]
            down, up = (min(found.low, whole[0] - 1), max(found.high, whole[1] + 1))
            exact = whole == [found.low, found.high]
            return found if exact else _Floats(down, up, found.nan)
        case arith.MaximumfOp() | arith.MinimumfOp():
            a, b = _float_range(op.lhs), _float_range(op.rhs)
            choose = max if isinstance(op, arith.MaximumfOp) else min
            return _Floats(choose(a.low, b.low), choose(a.high, b.high), a.nan or b.nan)
        case arith.SelectOp() | arith_extensions.SelectOp():
            return _of_choice(op)
        case _:
            return _Floats()


def _of_literal(op: arith.ConstantOp) -> _Floats:
    match op.value:
        case FloatAttr() as number:
            values = [float(number.value.data)]
        case DenseIntOrFPElementsAttr() as dense if isinstance(element_type(op.result.type), AnyFloat):
            values = [float(v) for v in cast("Sequence[float]", dense.get_values())]
        case _:
            values = []
    numbers = [v for v in values if v == v]
    if not numbers:
        return _Floats()
    return _Floats(min(numbers), max(numbers), len(numbers) < len(values))


def _of_integer(op: Operation) -> _Floats:
    """Twice the range holds what rounding makes of an integer, in floats that are large enough."""
    width = width_of(op.operands[0].type)
    signed = op.name == "arith.sitofp"
    low, high = _range(op.operands[0])
    if not signed and low < 0:
        low, high = 0, (1 << width) - 1
    element = element_type(op.results[0].type)
    assert isinstance(element, AnyFloat)
    exact = 1 << 24 if element.bitwidth >= 32 else 1 << 8 if element.bitwidth >= 16 else 0
    if max(abs(low), abs(high)) <= exact:
        return _Floats(low, high, nan=False)
    return _Floats(2.0 * min(low, 0), 2.0 * max(high, 0), nan=False) if element.bitwidth >= 32 else _Floats()


_GREATER, _LESS = (2, 3), (4, 5)
"""Numbers of the ordered predicates of comparisons."""


def _spread(value: SSAValue) -> SSAValue:
    """The number that all lanes of a vector hold; any other value itself."""
    return value.owner.operands[0] if isinstance(value.owner, vector.BroadcastOp) else value


def _of_choice(op: arith.SelectOp | arith_extensions.SelectOp) -> _Floats:
    """`select(bound > x, bound, x)` is no less than `bound`, or NaN; and so on."""
    then, other = _float_range(op.lhs), _float_range(op.rhs)
    test = op.cond.owner
    if isinstance(test, arith.CmpfOp | arith_extensions.CmpfOp):
        number = test.predicate.value.data
        compared, chosen = [(_spread(each.lhs), _spread(each.rhs)) for each in (test, op)]
        if number in (*_GREATER, *_LESS) and compared in (chosen, chosen[::-1]) and not then.nan:
            # Where the comparison fails, `other` stands on the far side of `then`, or is NaN.
            choose = max if (number in _GREATER) == (compared == chosen) else min
            return _Floats(choose(then.low, other.low), choose(then.high, other.high), other.nan)
    return _Floats(min(then.low, other.low), max(then.high, other.high), then.nan or other.nan)

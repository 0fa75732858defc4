"""Rules for the arithmetic that LLVM leaves open for some operands: guarded, where they are not ruled out.

What the results are, and what is shown, `lowering/total_arith.py` says. A division by what may be 0 divides by 1
instead, and one of the least integer by -1 too, which gives what wrapping does:

    %q = arith.divsi %a, %b    ->    %s = select (%b == 0 or %b == -1 and %a == least), 1, %b
                                     %q = select (%b == 0), 0, (sdiv %a, %s)

Of a remainder, the first of the two selections is enough. Shifts and conversions are computed as they are, and their
results not taken where they have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import Float16Type, IndexType, f32, f64, i1, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.extensions import arith as arith_extensions
from ...dialects.extensions import llvm as llvmx
from ...dialects.extensions import llvm_intrinsics as intr
from ...dialects.support.vector_types import element_type, with_element_type
from ..total_arith import is_by_literal, limits, may_divide_by_zero, may_overflow, may_shift_out, misfit, width_of
from .arith import SLT, ULT, flags, predicate, select
from .bfloat import widened
from .function import FunctionLowering, Rules, overflow
from .gpu import is_in_kernel
from .types import value_type

RULES = Rules()

_EQ, _NE = predicate(0), predicate(1)
_OLE, _OGE, _UNO = predicate(5), predicate(3), predicate(14)


def _compare(lowering: FunctionLowering, how: dict[str, Attribute], lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    return lowering.add(llvm.ICmpOp, (lhs, rhs), with_element_type(lhs.type, i1), how)


def _divisor(lowering: FunctionLowering, op: Operation) -> tuple[SSAValue, SSAValue, SSAValue | None]:
    """The dividend, what it can be divided by, and where the divisor was 0, if that may be."""
    lhs, rhs = lowering.get_all(op.operands)
    type = rhs.type
    is_zero: SSAValue | None = None
    unsafe: SSAValue | None = None
    if may_divide_by_zero(op):
        unsafe = is_zero = _compare(lowering, _EQ, rhs, lowering.integer(0, type))
    if may_overflow(op):
        least = lowering.integer(-(1 << (width_of(op.operands[0].type) - 1)), type)
        by_minus_one = _compare(lowering, _EQ, rhs, lowering.integer(-1, type))
        overflows = lowering.add(llvm.AndOp, (by_minus_one, _compare(lowering, _EQ, lhs, least)), by_minus_one.type)
        unsafe = overflows if unsafe is None else lowering.add(llvm.OrOp, (unsafe, overflows), unsafe.type)
    if unsafe is not None:
        rhs = select(lowering, unsafe, lowering.integer(1, type), rhs)
    return lhs, rhs, is_zero


def _set_quotient(lowering: FunctionLowering, op: Operation, quotient: SSAValue, is_zero: SSAValue | None) -> None:
    if is_zero is not None:
        quotient = select(lowering, is_zero, lowering.integer(0, quotient.type), quotient)
    lowering.set(op.results[0], quotient)


@dataclass(frozen=True)
class _Division:
    """The operations of LLVM for one sign: the quotient, the remainder, and the ways from and to floats."""

    quotient: type[Operation]
    remainder: type[Operation]
    to_float: type[Operation]
    from_float: type[Operation]


_SIGNED = _Division(llvm.SDivOp, llvm.SRemOp, llvm.SIToFPOp, llvmx.FPToSIOp)
_UNSIGNED = _Division(llvm.UDivOp, llvm.URemOp, llvmx.UIToFPOp, llvmx.FPToUIOp)


def _quotient(
    lowering: FunctionLowering, op: Operation, kind: _Division, lhs: SSAValue, rhs: SSAValue
) -> SSAValue | None:
    """The quotient of integers of at most 32 bits, by what is no literal, as one of floats where processors divide
    vectors of these alone (`float_divisions`). It is exact: it lies at least a 2^32th part of itself below the next
    integer, and is rounded by a 2^53rd part; of 16 bits, where floats of 32 bits do, a 2^16th and a 2^24th."""
    type, width = lhs.type, width_of(op.operands[0].type)
    if not lowering.symbols.float_divisions:
        return None
    if isinstance(element_type(type), IndexType) or not 8 <= width <= 32 or is_by_literal(op) or is_in_kernel(op):
        return None
    floats = with_element_type(type, f32 if width <= 16 else f64)
    sides = [lowering.add(kind.to_float, (side,), floats) for side in (lhs, rhs)]
    whole = lowering.add(llvm.FDivOp, sides, floats, {"fastmathFlags": intr.NO_FLAGS})
    converted = lowering.add(kind.from_float, (whole,), with_element_type(type, i32))
    return converted if width == 32 else lowering.add(llvm.TruncOp, (converted,), type)


def _divided(lowering: FunctionLowering, op: Operation, kind: _Division, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    found = _quotient(lowering, op, kind, lhs, rhs)
    return lowering.add(kind.quotient, (lhs, rhs), lhs.type) if found is None else found


@RULES.rule(arith.DivSIOp, arith.DivUIOp)
def division_rule(lowering: FunctionLowering, op: arith.DivSIOp | arith.DivUIOp) -> None:
    lhs, rhs, is_zero = _divisor(lowering, op)
    kind = _SIGNED if isinstance(op, arith.DivSIOp) else _UNSIGNED
    _set_quotient(lowering, op, _divided(lowering, op, kind, lhs, rhs), is_zero)


@RULES.rule(arith.RemSIOp, arith.RemUIOp)
def remainder_rule(lowering: FunctionLowering, op: arith.RemSIOp | arith.RemUIOp) -> None:
    lhs, rhs, _ = _divisor(lowering, op)
    kind = _SIGNED if isinstance(op, arith.RemSIOp) else _UNSIGNED
    if (quotient := _quotient(lowering, op, kind, lhs, rhs)) is None:
        lowering.set(op.result, lowering.add(kind.remainder, (lhs, rhs), lhs.type))
    else:
        whole = lowering.add(llvm.MulOp, (quotient, rhs), lhs.type)
        lowering.set(op.result, lowering.add(llvm.SubOp, (lhs, whole), lhs.type))


@RULES.rule(arith.CeilDivSIOp, arith.FloorDivSIOp)
def rounded_division_rule(lowering: FunctionLowering, op: arith.CeilDivSIOp | arith.FloorDivSIOp) -> None:
    """The quotient towards zero, one further where the division leaves a rest on the side that is rounded to."""
    lhs, rhs, is_zero = _divisor(lowering, op)
    type, up = lhs.type, isinstance(op, arith.CeilDivSIOp)
    bit, zero = with_element_type(type, i1), lowering.integer(0, type)
    quotient = _divided(lowering, op, _SIGNED, lhs, rhs)
    inexact = _compare(lowering, _NE, lowering.add(llvm.MulOp, (quotient, rhs), type), lhs)
    negative = [_compare(lowering, SLT, side, zero) for side in (lhs, rhs)]
    moved = _compare(lowering, _EQ if up else _NE, *negative)
    adjusted = lowering.add(llvm.AddOp, (quotient, lowering.integer(1 if up else -1, type)), type)
    condition = lowering.add(llvm.AndOp, (inexact, moved), bit)
    _set_quotient(lowering, op, select(lowering, condition, adjusted, quotient), is_zero)


@RULES.rule(arith.CeilDivUIOp)
def ceil_div_unsigned_rule(lowering: FunctionLowering, op: arith.CeilDivUIOp) -> None:
    lhs, rhs, is_zero = _divisor(lowering, op)
    type = lhs.type
    quotient = _divided(lowering, op, _UNSIGNED, lhs, rhs)
    inexact = _compare(lowering, _NE, lowering.add(llvm.MulOp, (quotient, rhs), type), lhs)
    whole = lowering.add(llvm.AddOp, (quotient, lowering.add(llvm.ZExtOp, (inexact,), type)), type)
    _set_quotient(lowering, op, whole, is_zero)


@RULES.rule(arith.ShLIOp, arith.ShRUIOp)
def shift_rule(lowering: FunctionLowering, op: arith.ShLIOp | arith.ShRUIOp) -> None:
    lhs, amount = lowering.get_all(op.operands)
    if isinstance(op, arith.ShLIOp):
        moved = lowering.add(llvm.ShlOp, (lhs, amount), lhs.type, overflow(op.overflow_flags))
    else:
        moved = lowering.add(llvm.LShrOp, (lhs, amount), lhs.type)
    if may_shift_out(op):
        width = lowering.integer(width_of(op.operands[0].type), amount.type)
        within = _compare(lowering, ULT, amount, width)
        moved = select(lowering, within, moved, lowering.integer(0, lhs.type))
    lowering.set(op.result, moved)


@RULES.rule(arith.ShRSIOp)
def arithmetic_shift_rule(lowering: FunctionLowering, op: arith.ShRSIOp) -> None:
    lhs, amount = lowering.get_all(op.operands)
    if may_shift_out(op):
        most = lowering.integer(width_of(op.operands[0].type) - 1, amount.type)
        amount = lowering.add(intr.UMinOp, (amount, most), amount.type)
    lowering.set(op.result, lowering.add(llvm.AShrOp, (lhs, amount), lhs.type))


_CONVERSIONS: dict[type[Operation], type[Operation]] = {
    arith.FPToSIOp: llvmx.FPToSIOp,
    arith.FPToUIOp: llvmx.FPToUIOp,
    arith_extensions.FPToSIOp: llvmx.FPToSIOp,
    arith_extensions.FPToUIOp: llvmx.FPToUIOp,
}


def to_integer_rule(lowering: FunctionLowering, op: Operation) -> None:
    """Towards zero; what the type does not hold is taken out by comparisons with powers of two, which floats hold, or
    with infinities."""
    kind = value_type(op.results[0].type)
    source = widened(lowering, op.operands[0])
    found, (least, greatest) = misfit(op), limits(op)
    end = 65504 if isinstance(element_type(source.type), Float16Type) else inf
    if found.nan:  # before it is made narrower: a comparison has lanes as wide as what it compares
        is_nan = lowering.add(llvmx.FCmpOp, (source, source), with_element_type(source.type, i1), _UNO | flags(_EXACT))
        source = select(lowering, is_nan, lowering.float(0.0, source.type), source)
    value = lowering.add(_CONVERSIONS[type(op)], (source,), kind)

    def replace(test: dict[str, Attribute], bound: SSAValue, by: int, value: SSAValue) -> SSAValue:
        properties = test | flags(_EXACT)
        condition = lowering.add(llvmx.FCmpOp, (source, bound), with_element_type(source.type, i1), properties)
        return select(lowering, condition, lowering.integer(by, kind), value)

    if found.low:
        low = float(least) if -least <= end else -inf
        value = replace(_OLE, lowering.float(low, source.type), least, value)
    if found.high:
        high = float(greatest + 1) if greatest < end else inf
        by = greatest if least else -1  # all bits, as a signed number
        value = replace(_OGE, lowering.float(high, source.type), by, value)
    lowering.set(op.results[0], value)


_EXACT = arith.FastMathFlagsAttr("none")

RULES.rule(*_CONVERSIONS)(to_integer_rule)

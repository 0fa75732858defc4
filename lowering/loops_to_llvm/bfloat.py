"""Arithmetic on bf16: in f32, rounded after every operation. And f64 rounded to 16 bits, which calls a library too.

Few processors compute in bf16, and LLVM calls library functions for conversions where a processor has none. On those
that have one, it flushes denormal numbers; some vectors it cannot even move. So a bf16 value of the loops phase is the
`i16` of its bits in the llvm dialect, and the conversions are integer arithmetic, exact and the same everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import BFloat16Type, IntegerAttr, f32, f64, i1, i16, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.extensions import llvm as llvmx
from ...dialects.extensions.llvm_intrinsics import NO_FLAGS
from ...dialects.support.dtypes import is_small_float
from ...dialects.support.vector_types import element_type, with_element_type
from .function import OVERFLOW, FunctionLowering
from .types import LoweringError


def is_bfloat(type: Attribute) -> bool:
    return isinstance(element_type(type), BFloat16Type)


def _refuse_small(type: Attribute) -> None:
    if is_small_float(element_type(type)):
        message = f"{type} is kept and moved, not computed with; arith.extf and arith.truncf are expanded before"
        raise LoweringError(None, message)


def widened(lowering: FunctionLowering, source: SSAValue) -> SSAValue:
    """What a value of the source has become, where it is bf16 as f32.

    Raises:
        LoweringError: it is a float of at most 8 bits, with which nothing is computed.
    """
    value = lowering.get(source)
    _refuse_small(source.type)
    if not is_bfloat(source.type):
        return value
    wide = with_element_type(value.type, i32)
    bits = lowering.add(llvm.ZExtOp, (value,), wide)
    shifted = lowering.add(llvm.ShlOp, (bits, lowering.integer(16, wide)), wide, OVERFLOW[2])
    return lowering.add(llvm.BitcastOp, (shifted,), with_element_type(value.type, f32))


def narrowed(lowering: FunctionLowering, value: SSAValue, type: Attribute) -> SSAValue:
    """An f32 value rounded to bf16, halves to even, if that is what `type`, of the source, is; a NaN stays one.

    Raises:
        LoweringError: `type` is a float of at most 8 bits.
    """
    _refuse_small(type)
    if not is_bfloat(type):
        return value
    wide = with_element_type(type, i32)

    def shifted(bits: SSAValue) -> SSAValue:
        return lowering.add(llvm.LShrOp, (bits, lowering.integer(16, wide)), wide)

    bits = lowering.add(llvm.BitcastOp, (value,), wide)
    top = shifted(bits)
    odd = lowering.add(llvm.AndOp, (top, lowering.integer(1, wide)), wide)
    half = lowering.add(llvm.AddOp, (odd, lowering.integer(0x7FFF, wide)), wide, OVERFLOW[0])
    rounded = shifted(lowering.add(llvm.AddOp, (bits, half), wide, OVERFLOW[0]))
    quiet = lowering.add(llvm.OrOp, (top, lowering.integer(0x40, wide)), wide)
    unordered = {"predicate": IntegerAttr(llvm.FCmpPredicateFlag.UNO.to_int(), i64), "fastmathFlags": NO_FLAGS}
    is_nan = lowering.add(llvmx.FCmpOp, (value, value), with_element_type(type, i1), unordered)
    chosen = lowering.add(llvmx.SelectOp, (is_nan, quiet, rounded), wide, {"fastmathFlags": NO_FLAGS})
    return lowering.add(llvm.TruncOp, (chosen,), with_element_type(type, i16))


def halfway_to_short(lowering: FunctionLowering, value: SSAValue) -> SSAValue:
    """An f64 value as an f32 that rounds to 16 bits as the f64 would: what f32 cannot hold sets its last bit.

    Source: Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd"
    (2008).
    """
    Is = llvm.FCmpPredicateFlag
    short, condition = (with_element_type(value.type, type) for type in (f32, i1))
    wide = with_element_type(value.type, i32)

    def compared(predicate: llvm.FCmpPredicateFlag, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        flag = IntegerAttr(predicate.to_int(), i64)
        return lowering.add(llvmx.FCmpOp, (lhs, rhs), condition, {"predicate": flag, "fastmathFlags": NO_FLAGS})

    nearest = lowering.add(llvm.FPTruncOp, (value,), short)
    back = lowering.add(llvm.FPExtOp, (nearest,), value.type)
    lost = compared(Is.ONE, back, value)
    greater, negative = compared(Is.OGT, back, value), compared(Is.OLT, value, lowering.float(0.0, value.type))
    away = lowering.add(llvm.XOrOp, (greater, negative), condition)  # from zero, where anything is lost
    step = lowering.add(llvm.SExtOp, (lowering.add(llvm.AndOp, (lost, away), condition),), wide)
    bits = lowering.add(llvm.BitcastOp, (nearest,), wide)
    towards_zero = lowering.add(llvm.AddOp, (bits, step), wide, OVERFLOW[0])
    odd = lowering.add(llvm.OrOp, (towards_zero, lowering.add(llvm.ZExtOp, (lost,), wide)), wide)
    return lowering.add(llvm.BitcastOp, (odd,), short)


def short_of_integer(lowering: FunctionLowering, value: SSAValue, kind: type[Operation]) -> SSAValue:
    """An integer of more than 16 bits as an f32 that rounds to bf16 as the integer would; `kind` converts it.

    f64 holds integers of 32 bits. Of longer ones that it may not hold, the last 12 bits become one, which says whether
    there were any.
    """
    long = value.type
    if element_type(long) == i64:
        is_signed = kind is llvm.SIToFPOp
        last = lowering.add(llvm.AndOp, (value, lowering.integer(0xFFF, long)), long)
        rest = lowering.add(llvm.AndOp, (value, lowering.integer(-0x1000, long)), long)
        carried = lowering.add(llvm.AddOp, (last, lowering.integer(0xFFF, long)), long, OVERFLOW[0])
        sticky = lowering.add(llvm.AndOp, (carried, lowering.integer(0x1000, long)), long)
        odd = lowering.add(llvm.OrOp, (rest, sticky), long)
        limit = 1 << 52
        moved = lowering.add(llvm.AddOp, (value, lowering.integer(limit, long)), long, OVERFLOW[0])
        below = IntegerAttr(llvm.ICmpPredicateFlag.ULT.to_int(), i64)
        held = (moved, lowering.integer(2 * limit, long)) if is_signed else (value, lowering.integer(limit, long))
        is_held = lowering.add(llvm.ICmpOp, held, with_element_type(long, i1), {"predicate": below})
        value = lowering.add(llvmx.SelectOp, (is_held, value, odd), long, {"fastmathFlags": NO_FLAGS})
    return halfway_to_short(lowering, lowering.add(kind, (value,), with_element_type(long, f64)))


def add_float(
    lowering: FunctionLowering,
    kind: type[Operation],
    operands: Sequence[SSAValue],
    properties: Mapping[str, Attribute],
) -> SSAValue:
    """Append an operation on floats of the source that have one type, as has the result; in f32 for bf16."""
    wide = [widened(lowering, operand) for operand in operands]
    return narrowed(lowering, lowering.add(kind, wide, wide[0].type, properties), operands[0].type)

"""Arithmetic on bf16: in f32, rounded after every operation. And f64 rounded to 16 bits, which calls a library too.

Few processors compute in bf16, and LLVM calls library functions for conversions where a processor has none. On those
that have one, it flushes denormal numbers. So the llvm dialect holds bf16 values only to load, store and move them; the
conversions are integer arithmetic, exact and the same everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import BFloat16Type, IntegerAttr, IntegerType, f32, i1, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects import llvm_extensions as llvmx
from ..dialects.llvm_intrinsics import NO_FLAGS
from ..dialects.vector_types import element_type, with_element_type
from .llvm_function import OVERFLOW, FunctionLowering

_I16 = IntegerType(16)


def is_bfloat(type: Attribute) -> bool:
    return isinstance(element_type(type), BFloat16Type)


def widened(lowering: FunctionLowering, value: SSAValue) -> SSAValue:
    """A bf16 value as f32; any other value as it is."""
    if not is_bfloat(value.type):
        return value
    short, wide = with_element_type(value.type, _I16), with_element_type(value.type, i32)
    bits = lowering.add(llvm.ZExtOp, (lowering.add(llvm.BitcastOp, (value,), short),), wide)
    shifted = lowering.add(llvm.ShlOp, (bits, lowering.integer(16, wide)), wide, OVERFLOW[2])
    return lowering.add(llvm.BitcastOp, (shifted,), with_element_type(value.type, f32))


def narrowed(lowering: FunctionLowering, value: SSAValue, type: Attribute) -> SSAValue:
    """An f32 value rounded to bf16, halves to even, if that is what `type` is; a NaN stays one."""
    if not is_bfloat(type) or value.type == type:
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
    short = lowering.add(llvm.TruncOp, (chosen,), with_element_type(type, _I16))
    return lowering.add(llvm.BitcastOp, (short,), type)


def halfway_to_short(lowering: FunctionLowering, value: SSAValue) -> SSAValue:
    """An f64 value as an f32 that rounds to 16 bits as the f64 would: what f32 cannot hold sets its last bit.

    Source: Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd"
    (2008).
    """
    wide = with_element_type(value.type, i64)
    lost = (1 << 29) - 1  # bits of the mantissa that f32 has not
    bits = lowering.add(llvm.BitcastOp, (value,), wide)
    rest = lowering.add(llvm.AndOp, (bits, lowering.integer(lost, wide)), wide)
    # Adding `lost` carries into the bit above where, and only where, something is lost.
    sticky = lowering.add(llvm.AddOp, (rest, lowering.integer(lost, wide)), wide, OVERFLOW[0])
    kept = lowering.add(
        llvm.AndOp, (lowering.add(llvm.OrOp, (bits, sticky), wide), lowering.integer(~lost, wide)), wide
    )
    odd = lowering.add(llvm.BitcastOp, (kept,), value.type)
    return lowering.add(llvm.FPTruncOp, (odd,), with_element_type(value.type, f32))


def add_float(
    lowering: FunctionLowering,
    kind: type[Operation],
    operands: Sequence[SSAValue],
    properties: Mapping[str, Attribute],
) -> SSAValue:
    """Append an operation on floats of one type, whose result has that type; in f32 for bf16."""
    type = operands[0].type
    if not is_bfloat(type):
        return lowering.add(kind, operands, type, properties)
    wide = [widened(lowering, operand) for operand in operands]
    return narrowed(lowering, lowering.add(kind, wide, wide[0].type, properties), type)

"""Rules for arith, on scalars and on vectors alike. Fast-math and overflow flags go along."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    AnyDenseElement,
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ReducedPrecisionFloatType,
    VectorType,
    f32,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.extensions import arith as arith_extensions
from ...dialects.extensions import llvm as llvmx
from ...dialects.extensions import llvm_intrinsics as intr
from ...dialects.support.interned import integer_attribute
from ...dialects.support.vector_types import as_vector, element_type, with_element_type
from ..llvm_ir.text import bfloat_bits
from .bfloat import add_float, halfway_to_short, is_bfloat, narrowed, short_of_integer, widened
from .function import FunctionLowering, Rules, overflow
from .types import LoweringError, value_type

RULES = Rules()


@lru_cache(maxsize=128)
def flags(fastmath: arith.FastMathFlagsAttr) -> dict[str, Attribute]:
    """arith's fast-math flags as the llvm dialect keeps them."""
    return {"fastmathFlags": llvm.FastMathAttr(list(fastmath.data))}


@lru_cache(maxsize=32)
def predicate(number: int) -> dict[str, Attribute]:
    return {"predicate": IntegerAttr(number, i64)}


SLT, ULT = predicate(2), predicate(6)


@RULES.rule(arith.ConstantOp)
def constant_rule(lowering: FunctionLowering, op: arith.ConstantOp) -> None:
    type = value_type(op.result.type)
    lowering.set_constant(op.result, _lowered_constant(op, type), type)


def _lowered_constant(op: arith.ConstantOp, type: Attribute) -> Attribute:
    value, vector = op.value, as_vector(type)
    if isinstance(value, IntegerAttr) and isinstance(type, IntegerType):
        return integer_attribute(value.value.data, type.bitwidth)
    if isinstance(value, DenseIntOrFPElementsAttr) and vector is not None:
        return DenseIntOrFPElementsAttr(cast(VectorType[AnyDenseElement], vector), value.data)
    if isinstance(value, FloatAttr):
        kind = op.result.type
        if isinstance(kind, ReducedPrecisionFloatType):
            return IntegerAttr(kind.pack((value.value.data,))[0], 8)
        return IntegerAttr(bfloat_bits(value.value.data), 16) if is_bfloat(kind) else value
    raise LoweringError(op, f"a constant of type {op.result.type} given by {value} has no LLVM value")


def binary(table: dict[type[Operation], type[Operation]]) -> None:
    """Register operations that have one counterpart with the same operands and no flags."""

    def rule(lowering: FunctionLowering, op: Operation) -> None:
        lhs, rhs = lowering.get_all(op.operands)
        lowering.set(op.results[0], lowering.add(table[type(op)], (lhs, rhs), lhs.type))

    RULES.rule(*table)(rule)


binary(
    {
        arith.AndIOp: llvm.AndOp,
        arith.OrIOp: llvm.OrOp,
        arith.XOrIOp: llvm.XOrOp,
        arith.MaxSIOp: intr.SMaxOp,
        arith.MinSIOp: intr.SMinOp,
        arith.MaxUIOp: intr.UMaxOp,
        arith.MinUIOp: intr.UMinOp,
    }
)

_WITH_OVERFLOW: dict[type[Operation], type[Operation]] = {
    arith.AddiOp: llvm.AddOp,
    arith.SubiOp: llvm.SubOp,
    arith.MuliOp: llvm.MulOp,
}


@RULES.rule(arith.AddiOp, arith.SubiOp, arith.MuliOp)
def overflow_rule(lowering: FunctionLowering, op: arith.SignlessIntegerBinaryOperationWithOverflow) -> None:
    lhs, rhs = lowering.get(op.lhs), lowering.get(op.rhs)
    lowering.set(op.result, lowering.add(_WITH_OVERFLOW[type(op)], (lhs, rhs), lhs.type, overflow(op.overflow_flags)))


_FLOAT: dict[type[Operation], type[Operation]] = {
    arith.AddfOp: llvm.FAddOp,
    arith.SubfOp: llvm.FSubOp,
    arith.MulfOp: llvm.FMulOp,
    arith.DivfOp: llvm.FDivOp,
    arith_extensions.RemFOp: llvm.FRemOp,
    arith.MaximumfOp: intr.MaximumOp,
    arith.MinimumfOp: intr.MinimumOp,
    arith.MaxnumfOp: llvm.VectorFMaxOp,
    arith.MinnumfOp: llvm.VectorFMinOp,
}


@RULES.rule(
    arith.AddfOp,
    arith.SubfOp,
    arith.MulfOp,
    arith.DivfOp,
    arith_extensions.RemFOp,
    arith.MaximumfOp,
    arith.MinimumfOp,
    arith.MaxnumfOp,
    arith.MinnumfOp,
)
def float_rule(lowering: FunctionLowering, op: arith.FloatingPointLikeBinaryOperation) -> None:
    lowering.set(op.result, add_float(lowering, _FLOAT[type(op)], (op.lhs, op.rhs), flags(op.fastmath)))


@RULES.rule(arith.NegfOp)
def negf_rule(lowering: FunctionLowering, op: arith.NegfOp) -> None:
    lowering.set(op.result, add_float(lowering, llvm.FNegOp, (op.operand,), flags(op.fastmath)))


@RULES.rule(arith.CmpiOp, arith_extensions.CmpiOp)
def cmpi_rule(lowering: FunctionLowering, op: arith.CmpiOp | arith_extensions.CmpiOp) -> None:
    lhs, rhs = lowering.get(op.lhs), lowering.get(op.rhs)
    properties = predicate(op.predicate.value.data)
    lowering.set(op.result, lowering.add(llvm.ICmpOp, (lhs, rhs), with_element_type(lhs.type, i1), properties))


@RULES.rule(arith.CmpfOp, arith_extensions.CmpfOp)
def cmpf_rule(lowering: FunctionLowering, op: arith.CmpfOp | arith_extensions.CmpfOp) -> None:
    lhs, rhs = widened(lowering, op.lhs), widened(lowering, op.rhs)
    properties = predicate(op.predicate.value.data) | flags(op.fastmath)
    lowering.set(op.result, lowering.add(llvmx.FCmpOp, (lhs, rhs), with_element_type(lhs.type, i1), properties))


@RULES.rule(arith.SelectOp, arith_extensions.SelectOp)
def select_rule(lowering: FunctionLowering, op: arith.SelectOp | arith_extensions.SelectOp) -> None:
    condition, lhs, rhs = lowering.get_all(op.operands)
    lowering.set(op.result, select(lowering, condition, lhs, rhs))


def select(lowering: FunctionLowering, condition: SSAValue, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    return lowering.add(llvmx.SelectOp, (condition, lhs, rhs), lhs.type, _NO_FLAGS)


_NO_FLAGS: dict[str, Attribute] = {"fastmathFlags": intr.NO_FLAGS}

# Conversions

_CASTS: dict[type[Operation], type[Operation]] = {
    arith.SIToFPOp: llvm.SIToFPOp,
    arith.UIToFPOp: llvmx.UIToFPOp,
    arith.ExtFOp: llvm.FPExtOp,
    arith.TruncFOp: llvm.FPTruncOp,
    arith.ExtSIOp: llvm.SExtOp,
    arith.ExtUIOp: llvm.ZExtOp,
    arith.TruncIOp: llvm.TruncOp,
    arith_extensions.SIToFPOp: llvm.SIToFPOp,
    arith_extensions.UIToFPOp: llvmx.UIToFPOp,
    arith_extensions.ExtSIOp: llvm.SExtOp,
    arith_extensions.ExtUIOp: llvm.ZExtOp,
    arith_extensions.TruncIOp: llvm.TruncOp,
}

_OF_INTEGERS = ("arith.sitofp", "arith.uitofp")


def cast_rule(lowering: FunctionLowering, op: Operation) -> None:
    type_of_result = op.results[0].type
    result = value_type(type_of_result)
    source = widened(lowering, op.operands[0])
    if isinstance(op, arith.TruncFOp) and width(source.type) == 64 and width(result) == 16:
        source = halfway_to_short(lowering, source)
    if op.name in _OF_INTEGERS and is_bfloat(type_of_result) and width(source.type) > 16:
        short = short_of_integer(lowering, source, _CASTS[type(op)])
        lowering.set(op.results[0], narrowed(lowering, short, type_of_result))
        return
    computed = with_element_type(result, f32) if is_bfloat(type_of_result) else result
    kind = _CASTS[type(op)]
    if isinstance(op, arith.ExtFOp | arith.TruncFOp):
        before, after = width(source.type), width(computed)
        kind = None if before == after else llvm.FPExtOp if before < after else llvm.FPTruncOp
    value = source if kind is None else lowering.add(kind, (source,), computed)
    lowering.set(op.results[0], narrowed(lowering, value, type_of_result))


RULES.rule(*_CASTS)(cast_rule)


@RULES.rule(arith.BitcastOp)
def bitcast_rule(lowering: FunctionLowering, op: arith.BitcastOp) -> None:
    source, result = lowering.get(op.input), value_type(op.result.type)
    same = source.type == result
    kind = llvm.BitcastOp
    if not same and width(source.type) != width(result):  # floats of less than 8 bits are in 8
        kind = llvm.ZExtOp if width(source.type) < width(result) else llvm.TruncOp
    lowering.set(op.result, source if same else lowering.add(kind, (source,), result))


@RULES.rule(arith.IndexCastOp, arith_extensions.IndexCastOp, arith_extensions.IndexCastUIOp)
def index_cast_rule(
    lowering: FunctionLowering,
    op: arith.IndexCastOp | arith_extensions.IndexCastOp | arith_extensions.IndexCastUIOp,
) -> None:
    """To the wider type with the sign, or without it where the operation says so; to the narrower by truncation."""
    static = lowering.static(op.input)
    result = value_type(op.result.type)
    if static is not None and isinstance(op.result.type, IndexType) and isinstance(op, arith.IndexCastOp):
        lowering.set_constant(op.result, IntegerAttr(static, i64), i64)
        return
    source = lowering.get(op.input)
    before, after = (width(type) for type in (source.type, result))
    widen = llvm.ZExtOp if isinstance(op, arith_extensions.IndexCastUIOp) else llvm.SExtOp
    kind = widen if after > before else llvm.TruncOp
    lowering.set(op.result, source if before == after else lowering.add(kind, (source,), result))


def width(type: Attribute) -> int:
    """Bits of an integer or a float, or of a vector's lanes."""
    element = element_type(type)
    assert isinstance(element, IntegerType | AnyFloat)
    return element.bitwidth


# Operations made of several


@RULES.rule(arith.AddUIExtendedOp)
def add_extended_rule(lowering: FunctionLowering, op: arith.AddUIExtendedOp) -> None:
    lhs, rhs = lowering.get(op.lhs), lowering.get(op.rhs)
    total = lowering.add(llvm.AddOp, (lhs, rhs), lhs.type)
    lowering.set(op.sum, total)
    lowering.set(op.overflow, lowering.add(llvm.ICmpOp, (total, lhs), with_element_type(lhs.type, i1), ULT))


@RULES.rule(arith.MulUIExtendedOp, arith.MulSIExtendedOp)
def mul_extended_rule(lowering: FunctionLowering, op: arith.MulUIExtendedOp | arith.MulSIExtendedOp) -> None:
    """The product in twice the width, in two halves."""
    lhs, rhs = lowering.get(op.lhs), lowering.get(op.rhs)
    type, bits = lhs.type, width(lhs.type)
    double = with_element_type(type, IntegerType(2 * bits))
    widen = llvm.ZExtOp if isinstance(op, arith.MulUIExtendedOp) else llvm.SExtOp
    product = lowering.add(llvm.MulOp, [lowering.add(widen, (side,), double) for side in (lhs, rhs)], double)
    high = lowering.add(llvm.LShrOp, (product, lowering.integer(bits, double)), double)
    lowering.set(op.low, lowering.add(llvm.TruncOp, (product,), type))
    lowering.set(op.high, lowering.add(llvm.TruncOp, (high,), type))

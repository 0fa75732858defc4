"""Intrinsics that xDSL's llvm dialect lacks, spelled as upstream MLIR 22 spells them."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects import llvm
from xdsl.dialects.builtin import AnyFloatConstr, BoolAttr, SignlessIntegerConstraint, VectorType
from xdsl.ir import Operation
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

_FLOAT = AnyFloatConstr | VectorType.constr(AnyFloatConstr)
_INTEGER = SignlessIntegerConstraint | VectorType.constr(SignlessIntegerConstraint)
_CALL_FORMAT = "`(` operands `)` attr-dict `:` functional-type(operands, results)"
NO_FLAGS = llvm.FastMathAttr(None)


class FloatIntrinsicOp(IRDLOperation, ABC):
    """Base of the intrinsics on floats: all operands and the result are of one type."""

    T: ClassVar = VarConstraint("T", _FLOAT)
    res = result_def(T)
    fastmathFlags = prop_def(llvm.FastMathAttr, default_value=NO_FLAGS)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = _CALL_FORMAT
    traits = traits_def(Pure())


class UnaryFloatIntrinsicOp(FloatIntrinsicOp, ABC):
    """Base of `%0 = llvm.intr.<name>(%a) : (T) -> T` on floats."""

    operand = operand_def(FloatIntrinsicOp.T)


class BinaryFloatIntrinsicOp(FloatIntrinsicOp, ABC):
    """Base of `%0 = llvm.intr.<name>(%a, %b) : (T, T) -> T` on floats."""

    lhs = operand_def(FloatIntrinsicOp.T)
    rhs = operand_def(FloatIntrinsicOp.T)


class IntegerIntrinsicOp(IRDLOperation, ABC):
    """Base of the intrinsics on integers: all operands and the result are of one type."""

    T: ClassVar = VarConstraint("T", _INTEGER)
    res = result_def(T)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = _CALL_FORMAT
    traits = traits_def(Pure())


class BinaryIntegerIntrinsicOp(IntegerIntrinsicOp, ABC):
    """Base of `%0 = llvm.intr.<name>(%a, %b) : (T, T) -> T` on integers."""

    lhs = operand_def(IntegerIntrinsicOp.T)
    rhs = operand_def(IntegerIntrinsicOp.T)


class UnaryIntegerIntrinsicOp(IntegerIntrinsicOp, ABC):
    """Base of `%0 = llvm.intr.<name>(%a) : (T) -> T` on integers."""

    operand = operand_def(IntegerIntrinsicOp.T)


class FlaggedIntrinsicOp(IRDLOperation, ABC):
    """Base of the intrinsics on integers that take a constant bit. Upstream prints them in the generic form."""

    T: ClassVar = VarConstraint("T", _INTEGER)
    operand = operand_def(T)
    res = result_def(T)
    traits = traits_def(Pure())


class ReductionOp(IRDLOperation, ABC):
    """Base of the reductions of a vector to its element type. Upstream prints those of integers in the generic form."""

    T: ClassVar = VarConstraint("T", AnyAttr())
    vector = operand_def(VectorType.constr(T))
    res = result_def(T)
    traits = traits_def(Pure())


class FloatReductionOp(ReductionOp, ABC):
    """Base of the reductions of floats that need no start value."""

    fastmathFlags = prop_def(llvm.FastMathAttr, default_value=NO_FLAGS)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = _CALL_FORMAT


@irdl_op_definition
class AcosOp(UnaryFloatIntrinsicOp):
    """Arc cosine: `llvm.intr.acos`."""

    name = "llvm.intr.acos"


@irdl_op_definition
class AsinOp(UnaryFloatIntrinsicOp):
    """Arc sine: `llvm.intr.asin`."""

    name = "llvm.intr.asin"


@irdl_op_definition
class AtanOp(UnaryFloatIntrinsicOp):
    """Arc tangent: `llvm.intr.atan`."""

    name = "llvm.intr.atan"


@irdl_op_definition
class CoshOp(UnaryFloatIntrinsicOp):
    """Hyperbolic cosine: `llvm.intr.cosh`."""

    name = "llvm.intr.cosh"


@irdl_op_definition
class SinhOp(UnaryFloatIntrinsicOp):
    """Hyperbolic sine: `llvm.intr.sinh`."""

    name = "llvm.intr.sinh"


@irdl_op_definition
class TanOp(UnaryFloatIntrinsicOp):
    """Tangent: `llvm.intr.tan`."""

    name = "llvm.intr.tan"


@irdl_op_definition
class TanhOp(UnaryFloatIntrinsicOp):
    """Hyperbolic tangent: `llvm.intr.tanh`."""

    name = "llvm.intr.tanh"


@irdl_op_definition
class Log10Op(UnaryFloatIntrinsicOp):
    """Logarithm to base 10: `llvm.intr.log10`."""

    name = "llvm.intr.log10"


@irdl_op_definition
class RintOp(UnaryFloatIntrinsicOp):
    """Rounding in the current mode: `llvm.intr.rint`."""

    name = "llvm.intr.rint"


@irdl_op_definition
class RoundOp(UnaryFloatIntrinsicOp):
    """Rounding, halves away from zero: `llvm.intr.round`."""

    name = "llvm.intr.round"


@irdl_op_definition
class RoundEvenOp(UnaryFloatIntrinsicOp):
    """Rounding, halves to even: `llvm.intr.roundeven`."""

    name = "llvm.intr.roundeven"


@irdl_op_definition
class FTruncOp(UnaryFloatIntrinsicOp):
    """Rounding towards zero: `llvm.intr.trunc`."""

    name = "llvm.intr.trunc"


@irdl_op_definition
class Atan2Op(BinaryFloatIntrinsicOp):
    """Angle of a point: `llvm.intr.atan2`."""

    name = "llvm.intr.atan2"


@irdl_op_definition
class MaximumOp(BinaryFloatIntrinsicOp):
    """The larger; NaN if either is NaN: `llvm.intr.maximum`."""

    name = "llvm.intr.maximum"


@irdl_op_definition
class MinimumOp(BinaryFloatIntrinsicOp):
    """The smaller; NaN if either is NaN: `llvm.intr.minimum`."""

    name = "llvm.intr.minimum"


@irdl_op_definition
class SMaxOp(BinaryIntegerIntrinsicOp):
    """The larger, signed: `llvm.intr.smax`."""

    name = "llvm.intr.smax"


@irdl_op_definition
class SMinOp(BinaryIntegerIntrinsicOp):
    """The smaller, signed: `llvm.intr.smin`."""

    name = "llvm.intr.smin"


@irdl_op_definition
class UMaxOp(BinaryIntegerIntrinsicOp):
    """The larger, unsigned: `llvm.intr.umax`."""

    name = "llvm.intr.umax"


@irdl_op_definition
class UMinOp(BinaryIntegerIntrinsicOp):
    """The smaller, unsigned: `llvm.intr.umin`."""

    name = "llvm.intr.umin"


@irdl_op_definition
class AbsOp(FlaggedIntrinsicOp):
    """Absolute value: `llvm.intr.abs`."""

    name = "llvm.intr.abs"
    is_int_min_poison = prop_def(BoolAttr)


@irdl_op_definition
class CtlzOp(FlaggedIntrinsicOp):
    """Number of leading zeros: `llvm.intr.ctlz`."""

    name = "llvm.intr.ctlz"
    is_zero_poison = prop_def(BoolAttr)


@irdl_op_definition
class CttzOp(FlaggedIntrinsicOp):
    """Number of trailing zeros: `llvm.intr.cttz`."""

    name = "llvm.intr.cttz"
    is_zero_poison = prop_def(BoolAttr)


@irdl_op_definition
class CtPopOp(UnaryIntegerIntrinsicOp):
    """Number of ones: `llvm.intr.ctpop`."""

    name = "llvm.intr.ctpop"


@irdl_op_definition
class VectorReduceAddOp(ReductionOp):
    """Sum of the lanes: `llvm.intr.vector.reduce.add`."""

    name = "llvm.intr.vector.reduce.add"


@irdl_op_definition
class VectorReduceMulOp(ReductionOp):
    """Product of the lanes: `llvm.intr.vector.reduce.mul`."""

    name = "llvm.intr.vector.reduce.mul"


@irdl_op_definition
class VectorReduceAndOp(ReductionOp):
    """Bitwise and of the lanes: `llvm.intr.vector.reduce.and`."""

    name = "llvm.intr.vector.reduce.and"


@irdl_op_definition
class VectorReduceOrOp(ReductionOp):
    """Bitwise or of the lanes: `llvm.intr.vector.reduce.or`."""

    name = "llvm.intr.vector.reduce.or"


@irdl_op_definition
class VectorReduceXorOp(ReductionOp):
    """Bitwise exclusive or of the lanes: `llvm.intr.vector.reduce.xor`."""

    name = "llvm.intr.vector.reduce.xor"


@irdl_op_definition
class VectorReduceSMaxOp(ReductionOp):
    """Largest, signed of the lanes: `llvm.intr.vector.reduce.smax`."""

    name = "llvm.intr.vector.reduce.smax"


@irdl_op_definition
class VectorReduceSMinOp(ReductionOp):
    """Smallest, signed of the lanes: `llvm.intr.vector.reduce.smin`."""

    name = "llvm.intr.vector.reduce.smin"


@irdl_op_definition
class VectorReduceUMaxOp(ReductionOp):
    """Largest, unsigned of the lanes: `llvm.intr.vector.reduce.umax`."""

    name = "llvm.intr.vector.reduce.umax"


@irdl_op_definition
class VectorReduceUMinOp(ReductionOp):
    """Smallest, unsigned of the lanes: `llvm.intr.vector.reduce.umin`."""

    name = "llvm.intr.vector.reduce.umin"


@irdl_op_definition
class VectorReduceFMaxOp(FloatReductionOp):
    """Largest, NaN lanes ignored, of the lanes: `llvm.intr.vector.reduce.fmax`."""

    name = "llvm.intr.vector.reduce.fmax"


@irdl_op_definition
class VectorReduceFMinOp(FloatReductionOp):
    """Smallest, NaN lanes ignored, of the lanes: `llvm.intr.vector.reduce.fmin`."""

    name = "llvm.intr.vector.reduce.fmin"


@irdl_op_definition
class VectorReduceFMaximumOp(FloatReductionOp):
    """Largest, NaN if any lane is, of the lanes: `llvm.intr.vector.reduce.fmaximum`."""

    name = "llvm.intr.vector.reduce.fmaximum"


@irdl_op_definition
class VectorReduceFMinimumOp(FloatReductionOp):
    """Smallest, NaN if any lane is, of the lanes: `llvm.intr.vector.reduce.fminimum`."""

    name = "llvm.intr.vector.reduce.fminimum"


INTRINSICS: list[type[Operation]] = [
    AcosOp,
    AsinOp,
    AtanOp,
    CoshOp,
    SinhOp,
    TanOp,
    TanhOp,
    Log10Op,
    RintOp,
    RoundOp,
    RoundEvenOp,
    FTruncOp,
    Atan2Op,
    MaximumOp,
    MinimumOp,
    SMaxOp,
    SMinOp,
    UMaxOp,
    UMinOp,
    AbsOp,
    CtlzOp,
    CttzOp,
    CtPopOp,
    VectorReduceAddOp,
    VectorReduceMulOp,
    VectorReduceAndOp,
    VectorReduceOrOp,
    VectorReduceXorOp,
    VectorReduceSMaxOp,
    VectorReduceSMinOp,
    VectorReduceUMaxOp,
    VectorReduceUMinOp,
    VectorReduceFMaxOp,
    VectorReduceFMinOp,
    VectorReduceFMaximumOp,
    VectorReduceFMinimumOp,
]

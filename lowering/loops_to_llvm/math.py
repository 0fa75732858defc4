"""Rules for math: LLVM's intrinsics where it has them, else the C library, lane by lane.

`expand-math` leaves little to do here: roundings, roots, and what has no polynomial. Functions of the C library are
called in `f32` or `f64`; the shorter floats go through `f32`.
"""

from __future__ import annotations

from xdsl.dialects import arith, llvm, math
from xdsl.dialects.builtin import BoolAttr, Float64Type, f32, f64
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.extensions import llvm as llvmx
from ...dialects.extensions import llvm_intrinsics as intr
from ...dialects.support.vector_types import element_type, lanes, with_element_type
from .arith import flags
from .bfloat import add_float, narrowed, widened
from .function import FunctionLowering, Rules
from .types import value_type

RULES = Rules()

_INTRINSICS: dict[type[Operation], type[Operation]] = {
    math.AbsFOp: llvm.FAbsOp,
    math.CeilOp: llvm.FCeilOp,
    math.FloorOp: llvm.FFloorOp,
    math.SqrtOp: llvm.FSqrtOp,
    math.RoundOp: intr.RoundOp,
    math.RoundEvenOp: intr.RoundEvenOp,
    math.TruncOp: intr.FTruncOp,
    math.ExpOp: llvm.FExpOp,
    math.Exp2Op: llvm.FExp2Op,
    math.LogOp: llvm.FLogOp,
    math.Log2Op: llvm.FLog2Op,
    math.Log10Op: intr.Log10Op,
    math.SinOp: llvm.FSinOp,
    math.CosOp: llvm.FCosOp,
    math.TanOp: intr.TanOp,
    math.AsinOp: intr.AsinOp,
    math.AcosOp: intr.AcosOp,
    math.AtanOp: intr.AtanOp,
    math.SinhOp: intr.SinhOp,
    math.CoshOp: intr.CoshOp,
    math.TanhOp: intr.TanhOp,
    math.Atan2Op: intr.Atan2Op,
    math.PowFOp: llvm.FPowOp,
    math.CopySignOp: llvm.FCopySignOp,
}

_LIBRARY: dict[type[Operation], str] = {
    math.ErfOp: "erf",
    math.ExpM1Op: "expm1",
    math.Log1pOp: "log1p",
    math.AsinhOp: "asinh",
    math.AcoshOp: "acosh",
    math.AtanhOp: "atanh",
    math.CbrtOp: "cbrt",
}


def intrinsic_rule(lowering: FunctionLowering, op: Operation) -> None:
    lowering.set(op.results[0], add_float(lowering, _INTRINSICS[type(op)], op.operands, _flags(op)))


def library_rule(lowering: FunctionLowering, op: Operation) -> None:
    result, source = op.results[0].type, widened(lowering, op.operands[0])
    wide = f64 if isinstance(element_type(result), Float64Type) else f32
    if element_type(source.type) != wide:
        source = lowering.add(llvm.FPExtOp, (source,), with_element_type(source.type, wide))
    name = _LIBRARY[type(op)] + ("f" if wide == f32 else "")
    value = _call_per_lane(lowering, name, source, wide)
    value, wanted = narrowed(lowering, value, result), value_type(result)
    lowering.set(op.results[0], value if value.type == wanted else lowering.add(llvm.FPTruncOp, (value,), wanted))


def _call_per_lane(lowering: FunctionLowering, name: str, source: SSAValue, element: Attribute) -> SSAValue:
    if not lanes(source.type):
        return lowering.call_runtime(name, [source], element)
    value = lowering.poison(source.type)
    for lane in range(lanes(source.type)[0]):
        position = lowering.integer(lane)
        single = lowering.add(llvmx.ExtractElementOp, (source, position), element)
        returned = lowering.call_runtime(name, [single], element)
        value = lowering.add(llvm.InsertElementOp, (value, returned, position), source.type)
    return value


def _flags(op: Operation) -> dict[str, Attribute]:
    fastmath = op.properties.get("fastmath")
    return flags(fastmath if isinstance(fastmath, arith.FastMathFlagsAttr) else _NONE)


_NONE = arith.FastMathFlagsAttr("none")

RULES.rule(*_INTRINSICS)(intrinsic_rule)
RULES.rule(*_LIBRARY)(library_rule)


@RULES.rule(math.FmaOp)
def fma_rule(lowering: FunctionLowering, op: math.FmaOp) -> None:
    lowering.set(op.result, add_float(lowering, llvm.FMAOp, op.operands, _flags(op)))


@RULES.rule(math.RsqrtOp)
def rsqrt_rule(lowering: FunctionLowering, op: math.RsqrtOp) -> None:
    operand = widened(lowering, op.operand)
    root = lowering.add(llvm.FSqrtOp, (operand,), operand.type, _flags(op))
    one = lowering.float(1.0, operand.type)
    value = lowering.add(llvm.FDivOp, (one, root), operand.type, _flags(op))
    lowering.set(op.result, narrowed(lowering, value, op.result.type))


_FALSE = BoolAttr.from_bool(False)
_COUNTS: dict[type[Operation], tuple[type[Operation], dict[str, Attribute]]] = {
    math.AbsIOp: (intr.AbsOp, {"is_int_min_poison": _FALSE}),
    math.CountLeadingZerosOp: (intr.CtlzOp, {"is_zero_poison": _FALSE}),
    math.CountTrailingZerosOp: (intr.CttzOp, {"is_zero_poison": _FALSE}),
    math.CtPopOp: (intr.CtPopOp, {}),
}


def integer_rule(lowering: FunctionLowering, op: Operation) -> None:
    kind, properties = _COUNTS[type(op)]
    operand = lowering.get(op.operands[0])
    lowering.set(op.results[0], lowering.add(kind, (operand,), operand.type, properties))


RULES.rule(*_COUNTS)(integer_rule)

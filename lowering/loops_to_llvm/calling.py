"""Rules for calls: of an intrinsic of LLVM; of a symbol that the loader finds, and of Python functions through one.

    %s, %r = rt.call_packed "mean|float32[16]|float64"(%row)

->  values[0] = %row                                     // an array of 8 bytes for each argument and for the result
    %s = call @weft_call_packed("mean|float32[16]|float64", values)
    %r = values[1]
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import Float32Type, Float64Type, IndexType, IntegerType, MemRefType, f64, i64
from xdsl.ir import Attribute, SSAValue

from ...dialects.rt.calls import CallOp, CallPackedOp
from ..abi import CALL_PACKED
from .function import FunctionLowering, Rules
from .types import LoweringError, value_type

RULES = Rules()


@RULES.rule(CallOp)
def call_rule(lowering: FunctionLowering, op: CallOp) -> None:
    name, operands = op.callee.data, lowering.get_all(op.arguments)
    if op.results:
        lowering.set(op.results[0], lowering.call_runtime(name, operands, value_type(op.results[0].type)))
    else:
        lowering.call_runtime_procedure(name, operands)


@RULES.rule(llvm.CallIntrinsicOp)
def call_intrinsic_rule(lowering: FunctionLowering, op: llvm.CallIntrinsicOp) -> None:
    """What `expand-math` has found an instruction for."""
    types = [value_type(result.type) for result in op.results]
    call = llvm.CallIntrinsicOp(op.intrin, lowering.get_all(op.args), types)
    lowering.add_op(call)
    for result, lowered in zip(op.results, call.results, strict=True):
        lowering.set(result, lowered)


@RULES.rule(CallPackedOp)
def call_packed_rule(lowering: FunctionLowering, op: CallPackedOp) -> None:
    values = lowering.stack(llvm.LLVMArrayType(len(op.arguments) + 1, i64), 8)
    for number, (value, lowered) in enumerate(zip(op.arguments, lowering.get_all(op.arguments), strict=True)):
        stored, type = _wide(lowering, lowered, value.type)
        lowering.store(stored, lowering.byte_offset(values, 8 * number), type)
    what = lowering.symbol_address(lowering.symbols.string(op.what.data))
    lowering.set(op.status, lowering.call_runtime(CALL_PACKED, [what, values], i64))
    if op.results[1:]:
        result = op.results[1]
        given = lowering.byte_offset(values, 8 * len(op.arguments))
        lowering.set(result, _narrow(lowering, given, result.type))


def _wide(lowering: FunctionLowering, value: SSAValue, type: Attribute) -> tuple[SSAValue, Attribute]:
    """A value in 8 bytes."""
    match type:
        case IndexType() | Float64Type():
            return value, type
        case Float32Type():
            return lowering.add(llvm.FPExtOp, (value,), f64), f64
        case IntegerType():
            return (value if type == i64 else lowering.add(llvm.SExtOp, (value,), i64)), i64
        case MemRefType():
            return lowering.add(llvm.PtrToIntOp, (value,), i64), i64
        case _:
            raise LoweringError(None, f"a packed function takes no {type}")


def _narrow(lowering: FunctionLowering, place: SSAValue, type: Attribute) -> SSAValue:
    """What stands in 8 bytes, as a value."""
    match type:
        case IndexType() | Float64Type():
            return lowering.load(place, type)
        case Float32Type():
            return lowering.add(llvm.FPTruncOp, (lowering.load(place, f64),), type)
        case IntegerType():
            wide = lowering.load(place, i64)
            return wide if type == i64 else lowering.add(llvm.TruncOp, (wide,), type)
        case _:
            raise LoweringError(None, f"a packed function gives no {type}")

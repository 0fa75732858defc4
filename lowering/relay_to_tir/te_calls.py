"""Calls of functions outside in a formula of `te`: `te.compute((n,), lambda i: tir.call_pure_extern("float32", "cosf",
x[i]))`. What a call is given there are numbers; buffers are given by statements (`te.extern`)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from ...dialects import te
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.hints import isa
from ...dialects.tir.calls import CallOp, Convention, is_passed

_CONVENTIONS = {
    "call_extern": Convention.EXTERN,
    "call_pure_extern": Convention.EXTERN,
    "call_llvm_intrin": Convention.INTRIN,
    "call_llvm_pure_intrin": Convention.INTRIN,
}


def call_of(call: te.Call, operands: Sequence[SSAValue]) -> CallOp:
    """The operation of a call whose arguments are these values.

    Raises:
        UsageError: it gives no number, or is given what is none, or what a function of C does not take.
    """
    kind = _CONVENTIONS.get(call.word)
    if kind is None or call.result is None:
        hint = "te.extern fills a tensor by statements"
        raise UsageError(f"te: '{call.name or call.word}' is called in a formula, and gives no number there", hint=hint)
    if len(operands) != len(call.args):
        raise UsageError(f"te: in a formula '{call.name}' is given expressions", hint="te.const, for a number")
    result = IntegerType(call.type.width.data) if isa(call.type, IntegerType) else call.type
    if kind == Convention.EXTERN:
        for type in (*(each.type for each in operands), result):
            if not is_passed(type):
                what = f"te: '{call.name}' takes and gives int32, int64, float32 and float64, and not {type}"
                raise UsageError(what, hint=".astype before it is given, or afterwards")
    return CallOp(kind, call.name, operands, (), result, pure="pure" in call.word)

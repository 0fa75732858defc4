"""TVM's operators of expressions that are calls there: `tir.exp(x).op.name` is `"tir.exp"`."""

from __future__ import annotations

from xdsl.dialects.builtin import i1

from .calls import Call
from .expr import Binary, Bitcast, Expr, Unary
from .kinds import BinaryKind as B
from .kinds import Operator
from .kinds import UnaryKind as U
from .spelled import Spelled

_OF_TWO = {
    B.POW: "pow", B.ATAN2: "atan2", B.COPYSIGN: "copysign", B.SHL: "shift_left", B.SHR: "shift_right",
    B.AND: "bitwise_and", B.OR: "bitwise_or", B.XOR: "bitwise_xor",
}  # fmt: skip
_OF_ONE = {U.NOT: "bitwise_not", U.ABS: "fabs"}
_CALLED = {"call_packed": "tvm_call_packed"}


def operator_of(expr: Expr) -> Operator | None:
    """The operator that a call is of; `None` where TVM has a class of such expressions."""
    match expr:
        case Call(word):
            return Operator(f"tir.{_CALLED.get(word, word)}")
        case Spelled(word):
            return Operator(f"tir.{word}")
        case Bitcast():
            return Operator("tir.reinterpret")
        case Binary(kind) if kind in _OF_TWO and expr.type != i1:
            return Operator(f"tir.{_OF_TWO[kind]}")
        case Unary(kind) if kind not in (U.NEG, U.SIGN) and (kind != U.NOT or expr.type != i1):
            return Operator(f"tir.{_OF_ONE.get(kind, kind.value)}")
        case _:
            return None


Expr.operator = staticmethod(operator_of)

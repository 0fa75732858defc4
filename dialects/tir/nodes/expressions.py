"""TVM's names of expressions: each makes one, and tells whether a value is one.

    x = tir.Var("x", "float32")
    tir.Max(x, tir.FloatImm("float32", 0.0))        # T.max(x, 0.0)
    isinstance(x + 1.0, tir.Add)                    # True

The expressions are those of `weft.te`; here are those too that stand in statements only: vectors, elements of buffers
(`buffers`), and calls of functions outside.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from json import dumps
from math import isfinite
from typing import Any, Generic, NoReturn, ParamSpec, TypeAlias

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, NoneType
from xdsl.ir import Attribute

from ...support.arguments import checked
from ...support.diagnostics import UsageError
from ...support.hints import isa
from ...te import text as text  # writes expressions
from ...te.calls import Argument as Argument
from ...te.calls import Call as Call
from ...te.dims import size_var as extent_var
from ...te.element_types import element_type
from ...te.element_types import vector_type as vector_type
from ...te.expr import (  # fmt: skip
    Binary,
    Const,
    Expr,
    ExprLike,
    IterVar,
    Slot,
    Unary,
    binary,
    cast,
    const,
    select,
    unary,
)
from ...te.expr import Cast as CastExpr
from ...te.expr import Select as SelectExpr
from ...te.expr import Var as Extent
from ...te.kinds import BinaryKind as B
from ...te.kinds import UnaryKind as U
from ...te.tensor import Read, Tensor
from ...te.vectors import Broadcast as Broadcast
from ...te.vectors import Ramp as Ramp
from ...te.vectors import operand
from ..analyzer import IntExpr, functions
from ..analyzer.nodes import Equality as IntEquality
from ..analyzer.nodes import as_expr as as_integer
from .types import PointerType, PrimType

P = ParamSpec("P")


class Node(Generic[P]):
    """A kind of expressions, as TVM has a class of it: it is called to make one, and `isinstance` tells them.

    Type checkers take what it makes for anything: in TVMScript it stands where a number of a type is wanted."""

    def __init__(self, make: Callable[P, Expr], holds: Callable[[Expr], bool]):
        self._make = make
        self._holds = holds

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        return self._make(*args, **kwargs)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, Expr) and self._holds(value)


@dataclass(frozen=True, eq=False)
class Handle(Slot):
    """Where memory is: the parameter that stands for a buffer, and what `Buffer.data` is."""

    type_annotation: PrimType | PointerType = field(default_factory=lambda: PrimType("handle"))
    """What it leads to, if that is known."""

    @property
    def dtype(self) -> str:
        return "handle"


@checked
def _var(name: str = "v", dtype: str | Attribute | PrimType | PointerType = "int32") -> Expr:
    if isinstance(dtype, PrimType):
        dtype = dtype.dtype
    if isinstance(dtype, PointerType):
        return Handle(name, NoneType(), dtype)
    if dtype == "handle":
        return Handle(name, NoneType())
    return Slot(name, vector_type(dtype))


@checked
def _size_var(name: str = "size", dtype: str = "int32") -> Expr:
    return _var(name, dtype) if isinstance(element_type(dtype), AnyFloat) else extent_var(name, dtype)


Var = Node(_var, lambda e: isinstance(e, Slot | Extent | IterVar))
"""A variable of a dtype: a loop's, a parameter, or the name of a value."""
SizeVar = Node(_size_var, lambda e: isinstance(e, Extent))
"""An extent that is known when the function is called (`te.var`)."""


Given: TypeAlias = "ExprLike | IntExpr | IntEquality"
"""A number: an expression, or one of the analyzer's, which the function of an index map is given."""

_OF_FORMS: dict[B, Callable[[Any, Any], object]] = {
    B.ADD: operator.add, B.SUB: operator.sub, B.MUL: operator.mul, B.MIN: functions.min, B.MAX: functions.max,
    B.FLOORDIV: functions.floordiv, B.FLOORMOD: functions.floormod,
    B.DIV: functions.truncdiv, B.TRUNCMOD: functions.truncmod,
    B.EQ: operator.eq, B.NE: operator.ne, B.LT: operator.lt, B.LE: operator.le, B.GT: operator.gt, B.GE: operator.ge,
    B.AND: functions.all, B.OR: functions.any,
}  # fmt: skip
"""What a kind is of the analyzer's expressions."""


def _of_forms(kind: B, a: Any, b: Any) -> object:
    return _OF_FORMS[kind](as_integer(a), as_integer(b))


def _binary(kind: B) -> Node[[Given, Given]]:
    @checked
    def make(a: Given, b: Given) -> Any:
        if isinstance(a, IntExpr | IntEquality) or isinstance(b, IntExpr | IntEquality):
            return _of_forms(kind, a, b)
        return binary(kind, operand(a, b), operand(b, a))

    return Node(make, lambda e: isinstance(e, Binary) and e.kind == kind)


Add, Sub, Mul, Div, Mod = _binary(B.ADD), _binary(B.SUB), _binary(B.MUL), _binary(B.DIV), _binary(B.TRUNCMOD)
FloorDiv, FloorMod, Min, Max = _binary(B.FLOORDIV), _binary(B.FLOORMOD), _binary(B.MIN), _binary(B.MAX)
EQ, NE, LT, LE, GT, GE = (_binary(kind) for kind in (B.EQ, B.NE, B.LT, B.LE, B.GT, B.GE))
And, Or = _binary(B.AND), _binary(B.OR)


@checked
def _not(a: Expr | IntExpr | IntEquality) -> Any:
    return unary(U.NOT, a) if isinstance(a, Expr) else functions.Not(a)


Not = Node(_not, lambda e: isinstance(e, Unary) and e.kind == U.NOT)


@checked
def _int_imm(dtype: str, value: int | bool) -> Expr:
    type = element_type(dtype)
    if isinstance(type, AnyFloat):
        raise UsageError(f"an IntImm is of integers, and not of {dtype}", hint="tir.FloatImm")
    return const(value, type)


@checked
def _float_imm(dtype: str, value: float) -> Expr:
    type = element_type(dtype)
    if not isinstance(type, AnyFloat):
        raise UsageError(f"a FloatImm is of floats, and not of {dtype}", hint="tir.IntImm")
    made = const(value, type)
    if isfinite(value) and not isfinite(made.value):
        raise UsageError(f"{value} is beyond all numbers of {dtype}", hint="tir.infinity is what is beyond")
    return made


IntImm = Node(_int_imm, lambda e: isinstance(e, Const) and isa(e.type, IntegerType | IndexType))
FloatImm = Node(_float_imm, lambda e: isinstance(e, Const) and isinstance(e.type, AnyFloat))


class StringImm(str):
    """A text."""

    @property
    def value(self) -> str:
        return str(self)

    def astype(self, dtype: str) -> NoReturn:
        """Refused: a text is no number."""
        raise UsageError(f"a text cannot be cast to {dtype}", hint="tir.const makes a number")

    def script(self, *, verbose_expr: bool = False) -> str:
        """The text as it stands in TVMScript, which names nothing."""
        return dumps(self, ensure_ascii=False)


@checked
def _cast(dtype: str, value: ExprLike) -> Expr:
    return cast(operand(value, value), element_type(dtype))


@checked
def _select(condition: Expr, true_value: ExprLike, false_value: ExprLike) -> Expr:
    return select(condition, operand(true_value, false_value), operand(false_value, true_value))


Cast = Node(_cast, lambda e: isinstance(e, CastExpr))
Select = Node(_select, lambda e: isinstance(e, SelectExpr))


@checked
def _producer_load(producer: Tensor, indices: Sequence[ExprLike]) -> Expr:
    return producer(*indices)


ProducerLoad = Node(_producer_load, lambda e: isinstance(e, Read))
"""An element of a tensor."""


def _prim_expr(value: ExprLike) -> Expr:
    return operand(value, value)


PrimExpr = Node(_prim_expr, lambda e: True)


def _outside(word: str, args: Sequence[Argument], dtype: str | None) -> Call:
    if not args or not isinstance(name := args[0], str):
        given = repr(args[0]) if args else "nothing"
        raise UsageError(f"tir.{word} takes the name of what it calls first, and not {given}")
    result = None if dtype in (None, "", "void", "handle") else dtype
    return Call(word, result, name, tuple(args[1:]))


@checked
def call_packed(*args: Argument) -> Call:
    """A call of a Python function by the name that `weft.register_func` gave it."""
    return _outside("call_packed", args, None)


@checked
def call_extern(dtype: str, func_name: str, *args: Argument) -> Call:
    """A call of a function in C."""
    return _outside("call_extern", (func_name, *args), dtype)


@checked
def call_pure_extern(dtype: str, func_name: str, *args: Argument) -> Call:
    """A call of a function in C that does nothing but give a value."""
    return _outside("call_pure_extern", (func_name, *args), dtype)


@checked
def call_llvm_intrin(dtype: str, name: str, *args: Argument) -> Call:
    """A call of an intrinsic of LLVM's."""
    return _outside("call_llvm_intrin", (name, *args), dtype)


@checked
def call_llvm_pure_intrin(dtype: str, name: str, *args: Argument) -> Call:
    """A call of an intrinsic of LLVM's that does nothing but give a value."""
    return _outside("call_llvm_pure_intrin", (name, *args), dtype)

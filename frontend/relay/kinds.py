"""What an expression is: `isinstance(e, relay.Call)`, and called, the same class makes one, as in TVM.

    call = relay.nn.relu(x)
    isinstance(call, relay.Call), call.op == relay.op.get("nn.relu"), call.args[0] == x

An expression is the value of an operation, so these are views of it, and hold nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy.typing as npt
from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Region, SSAValue

from ...dialects.relay.base import RelayOp, Value
from ...dialects.relay.control import ApplyOp, FnOp, IfOp, RefCreateOp, RefReadOp
from ...dialects.relay.core import CallOp, ConstantOp, FuncOp, PrimitiveOp, TupleGetOp, TupleOp
from ...dialects.relay.data import ConstructOp, MatchOp
from . import calls, matching
from .base import Span
from .data import Constructor
from .expr import Expr, GlobalVar, Operand, Var, const
from .expr import Function as _function
from .expr import If as _if
from .expr import Let as _let
from .expr import Tuple as _tuple
from .expr import TupleGetItem as _tuple_get_item
from .function_values import given_by
from .op_class import Op


class Kind(type):
    """Classes that say of an expression what it is."""

    operations: tuple[type, ...]

    def __instancecheck__(cls, instance: object) -> bool:
        if isinstance(instance, Region):  # the body of a function is what it gives
            return isinstance(instance.parent, FuncOp) and isinstance(given_by(instance).owner, cls.operations)
        return isinstance(instance, Expr) and isinstance(instance.value.owner, cls.operations)


class _ExprKind(Kind):
    def __instancecheck__(cls, instance: object) -> bool:
        if isinstance(instance, Region):
            return isinstance(instance.parent, FuncOp)
        return isinstance(instance, Expr | FuncOp | GlobalVar | Op | Constructor)


class AnyExpr(metaclass=_ExprKind):
    """What stands in TVM's place of an expression: an expression, a function, its name, an operator, a constructor."""

    operations = ()

    def __new__(cls, value: SSAValue) -> Expr:
        return Expr(value)


class Constant(Expr, metaclass=Kind):
    """A constant: `relay.Constant(array)`."""

    operations = (ConstantOp,)

    def __new__(cls, data: npt.ArrayLike) -> Expr:
        return const(data)


class Call(Expr, metaclass=Kind):
    """An operator, a function, or a constructor, applied to arguments."""

    operations = (RelayOp, ApplyOp, CallOp, ConstructOp, PrimitiveOp)

    def __new__(
        cls,
        op: Expr | FuncOp | GlobalVar | Op | Callable[..., Expr],
        args: Sequence[Operand],
        attrs: Mapping[str, object] | None = None,
        type_args: Sequence[Attribute] | None = None,
        span: Span | LocationAttr | None = None,
    ) -> Expr:
        return calls.Call(op, args, attrs, type_args, span)


class Tuple(Expr, metaclass=Kind):
    """A tuple of expressions."""

    operations = (TupleOp,)

    def __new__(cls, fields: Iterable[Operand]) -> Expr:
        return _tuple(fields)


class TupleGetItem(Expr, metaclass=Kind):
    """A field of a tuple."""

    operations = (TupleGetOp,)

    def __new__(cls, tuple_value: Operand, index: int) -> Expr:
        return _tuple_get_item(tuple_value, index)


class If(Expr, metaclass=Kind):
    """One of two expressions, as a condition says."""

    operations = (IfOp,)

    def __new__(cls, cond: Operand, true_branch: Operand, false_branch: Operand) -> Expr:
        return _if(cond, true_branch, false_branch)


class Let(Expr, metaclass=Kind):
    """A name for a value. Nothing is a `Let` once it is made: the body is an expression of the value."""

    operations = ()

    def __new__(cls, variable: Var, value: Operand, body: Operand) -> Expr:
        return _let(variable, value, body)


class Match(Expr, metaclass=Kind):
    """What the first of several clauses gives whose pattern a value has; see `weft.frontend.relay.matching`."""

    operations = (MatchOp,)

    def __new__(cls, data: Operand, clauses: Sequence[matching.Clause], complete: bool = True) -> Expr:
        return matching.match(data, clauses, complete)


class RefCreate(Expr, metaclass=Kind):
    """A reference that holds a value."""

    operations = (RefCreateOp,)

    def __new__(cls, value: Operand) -> Expr:
        return calls.RefCreate(value)


class RefRead(Expr, metaclass=Kind):
    """What a reference holds."""

    operations = (RefReadOp,)

    def __new__(cls, ref: Expr) -> Expr:
        return calls.RefRead(ref)


class _FunctionKind(Kind):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, FuncOp) or super().__instancecheck__(instance)


class Function(metaclass=_FunctionKind):
    """A function of parameters; see `weft.relay.expr.Function`."""

    operations = (FnOp,)

    def __new__(
        cls,
        params: Sequence[Var],
        body: Operand,
        ret_type: Attribute | None = None,
        type_params: Sequence[Attribute] | None = None,
        attrs: Mapping[str, Value] | None = None,
        *,
        name: str = "main",
    ) -> FuncOp:
        return _function(params, body, ret_type, type_params, attrs, name=name)

"""What changes functions, applied to single expressions."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from ...dialects.relay.core import FuncOp
from .expr import Expr, Function, Operand, as_value, free_vars


def applied(change: Callable[[FuncOp], object], expr: FuncOp | Operand) -> FuncOp | Expr:
    """A copy of a function, or of an expression, with a change made; what is given stays as it is. An expression is
    changed as the function of its free variables; it is the one that is given where `change` says `False`, nothing."""
    if isinstance(expr, FuncOp):
        copy = expr.clone()
        change(copy)
        return copy
    params = free_vars(expr)
    func = Function(params, expr)
    if change(func) is False:
        return expr if isinstance(expr, Expr) else Expr(as_value(expr))
    values: dict[SSAValue, SSAValue] = {}
    for argument, param in zip(func.body.block.args, params, strict=True):
        values[argument] = param.value
    end = func.return_op
    for op in func.body.block.ops:
        if op is not end:
            values.update(zip(op.results, op.clone(values).results, strict=True))
    (result,) = end.arguments
    return Expr(values.get(result, result))

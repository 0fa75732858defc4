"""Passes on single expressions, which TVM has beside those on modules.

three = relay.transform.FoldConstantExpr(relay.const(1) + relay.const(2))     # a constant
type = relay.transform.InferTypeLocal(x + three)                              # its type, known since it was made
"""

from __future__ import annotations

from typing import overload

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue

from ...dialects.relay.core import FuncOp
from ...transforms.relay.fold_constant import fold_constants
from .expr import Expr, Function, Operand, as_value, free_vars


@overload
def FoldConstantExpr(expr: FuncOp, mod: ModuleOp | None = None, fold_qnn: bool = False) -> FuncOp: ...
@overload
def FoldConstantExpr(expr: Operand, mod: ModuleOp | None = None, fold_qnn: bool = False) -> Expr: ...
def FoldConstantExpr(expr: FuncOp | Operand, mod: ModuleOp | None = None, fold_qnn: bool = False) -> FuncOp | Expr:
    """An expression, or a function, with what depends on constants alone evaluated. Functions of `mod` stay calls."""
    if isinstance(expr, FuncOp):
        copy = expr.clone()
        fold_constants(copy, fold_qnn=fold_qnn)
        return copy
    params = free_vars(expr)
    func = Function(params, expr)
    fold_constants(func, fold_qnn=fold_qnn)
    values: dict[SSAValue, SSAValue] = {}
    for argument, param in zip(func.body.block.args, params, strict=True):
        values[argument] = param.value
    end = func.return_op
    for op in func.body.block.ops:
        if op is not end:
            values.update(zip(op.results, op.clone(values).results, strict=True))
    (result,) = end.arguments
    return Expr(values[result])


def InferTypeLocal(expr: Operand) -> Attribute:
    """The type of an expression."""
    return as_value(expr).type

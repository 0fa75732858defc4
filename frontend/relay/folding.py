"""Passes on single expressions, which TVM has beside those on modules.

three = relay.transform.FoldConstantExpr(relay.const(1) + relay.const(2))     # a constant
type = relay.transform.InferTypeLocal(x + three)                              # its type, known since it was made
"""

from __future__ import annotations

from typing import overload

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from ...dialects.relay.core import FuncOp
from ...dialects.support.arguments import checked
from ...transforms.relay.fold_constant import fold_constants
from .applying import applied
from .expr import Expr, Operand, as_value


@overload
def FoldConstantExpr(  # pyright: ignore[reportOverlappingOverload]
    expr: FuncOp, mod: ModuleOp | None = None, fold_qnn: bool = False
) -> FuncOp: ...
@overload
def FoldConstantExpr(expr: Operand, mod: ModuleOp | None = None, fold_qnn: bool = False) -> Expr: ...
@checked
def FoldConstantExpr(expr: FuncOp | Operand, mod: ModuleOp | None = None, fold_qnn: bool = False) -> FuncOp | Expr:
    """An expression, or a function, with what depends on constants alone evaluated. Functions of `mod` stay calls."""
    return applied(lambda func: fold_constants(func, fold_qnn=fold_qnn), expr)


@checked
def InferTypeLocal(expr: Operand) -> Attribute:
    """The type of an expression."""
    return as_value(expr).type

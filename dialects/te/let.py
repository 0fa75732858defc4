"""An expression that names a value within another."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Attribute

from ..support.arguments import checked
from ..support.diagnostics import UsageError
from .expr import Expr, ExprLike, IterVar, Slot, Var, as_expr, cast


@dataclass(frozen=True, eq=False)
class Let(Expr):
    """`body`, in which `var` is `value`.

    Raises:
        UsageError: `var` is no variable.
    """

    var: Expr
    value: Expr
    body: Expr

    @checked
    def __init__(self, var: Expr, value: ExprLike, body: ExprLike):
        if not isinstance(var, Slot | Var | IterVar):
            raise UsageError(f"te: tir.Let names a value by a variable, and not by {var}")
        object.__setattr__(self, "var", var)
        object.__setattr__(self, "value", cast(as_expr(value, var.type), var.type))
        object.__setattr__(self, "body", as_expr(body, var.type))

    @property
    def type(self) -> Attribute:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.body.type

"""An expression that names a value within another."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Attribute

from ..support.arguments import checked
from ..support.diagnostics import UsageError
from .expr import Expr, ExprLike, IterVar, Slot, Var, as_expr, cast
from .kinds import index


@dataclass(frozen=True, eq=False)
class Let(Expr):
    """`body`, in which `var` is `value`.

    Raises:
        UsageError: `var` is no variable, or of another type than its value.
    """

    var: Expr
    value: Expr
    body: Expr

    @checked
    def __init__(self, var: Expr, value: ExprLike, body: ExprLike):
        if not isinstance(var, Slot | Var | IterVar):
            raise UsageError(f"te: tir.Let names a value by a variable, and not by {var}")
        if isinstance(value, Expr) and value.type != var.type and index not in (value.type, var.type):
            hint = f"cast the value: tir.Cast({var.dtype!r}, value)"
            raise UsageError(f"te: '{var.name}' is a {var.dtype}, and its value a {value.dtype}", hint=hint)
        object.__setattr__(self, "var", var)
        object.__setattr__(self, "value", cast(as_expr(value, var.type), var.type))
        object.__setattr__(self, "body", as_expr(body, var.type))

    @property
    def type(self) -> Attribute:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.body.type

"""Functions of scalars by the names of TVM's operators: `tir.call_intrin("float32", "tir.exp", x)` is `tir.exp(x)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...support.arguments import checked
from ...support.diagnostics import UsageError, did_you_mean
from ...te import forms
from ...te import functions as of
from ...te.element_types import element_type
from ...te.expr import Expr, ExprLike
from ...te.integer_forms import is_integer
from ...te.kinds import index
from ...te.vectors import operand
from . import functions

REINTERPRET = "reinterpret"
"""The one function that has to be told the type of what it gives."""

_ALIASES: Mapping[str, str] = {"fabs": "abs"}
"""TVM's names of operators, where its function has another."""

_FUNCTIONS: Mapping[str, Callable[..., Expr]] = {
    **{
        name: getattr(of, name)
        for name in """
            abs acos acosh asin asinh atan atan2 atanh bitwise_and bitwise_not bitwise_or bitwise_xor ceil copysign cos
            cosh erf exp exp2 floor fmod isfinite isinf isnan log log10 log1p log2 nearbyint pow round rsqrt shift_left
            shift_right sigmoid sin sinh sqrt tan tanh trunc
        """.split()
    },
    **{name: getattr(functions, name) for name in "clz exp10 hypot ldexp likely nextafter popcount".split()},
    "q_multiply_shift": functions.q_multiply_shift,
    "q_multiply_shift_per_axis": functions.q_multiply_shift_per_axis,
    "if_then_else": forms.if_then_else,
    REINTERPRET: functions.reinterpret,
}
"""The operators that are functions of numbers, without the prefix of their names."""


@checked
def call_intrin(dtype: str, func_name: str, *args: ExprLike) -> Expr:
    """What the operator `func_name`, such as `tir.exp`, makes of `args`: a scalar of `dtype`.

    Raises:
        UsageError: there is no such operator, or what it gives is of another type.
    """
    prefix, _, name = func_name.rpartition(".")
    name = _ALIASES.get(name, name)
    if prefix not in ("", "tir") or name not in _FUNCTIONS:
        hint = did_you_mean(func_name, [f"tir.{each}" for each in _FUNCTIONS])
        raise UsageError(f"no function of scalars is named '{func_name}'", hint=hint)
    values = args if any(isinstance(each, Expr) for each in args) else [operand(each, each) for each in args]
    made = _FUNCTIONS[name](*((dtype, *values) if name == REINTERPRET else values))
    wanted = element_type(dtype)
    if made.type != wanted and not (made.type == index and is_integer(wanted)):  # what counts has no width
        raise UsageError(f"{func_name} gives {made.dtype} here, and not {dtype}", hint=".astype converts it")
    return made

"""What TVM's `te` has and Weft's has not: why, and what to do instead. A call of one says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn

from ..support.diagnostics import UsageError

LEFT_OUT: Mapping[str, tuple[str, str]] = {
    "gradient": (
        "formulas are not differentiated: the gradient of a sum over overlapping windows is no formula",
        "relay.transform.gradient, of functions of operators",
    ),
    "hybrid": ("it is TVM's older form of TVMScript", "write a tir.prim_func, or statements in te.extern"),
    "trace": ("a formula gives numbers, and shows none", "tir.call_packed among the statements of te.extern"),
}
"""TVM's names, each with the reason why it is left out and with what takes its place."""


def _refusal(name: str) -> Callable[..., NoReturn]:
    reason, hint = LEFT_OUT[name]

    def refuse(*args: object, **options: object) -> NoReturn:
        raise UsageError(f"te.{name} is left out: {reason}", hint=hint)

    refuse.__name__ = name
    refuse.__doc__ = f"Left out: {reason}."
    return refuse


gradient, hybrid, trace = _refusal("gradient"), _refusal("hybrid"), _refusal("trace")

"""How `qnn.requantize` rounds, and in which type it computes, where a call does not say: TVM's `requantize_config`."""

from __future__ import annotations

import inspect
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError, did_you_mean
from .expr import Expr
from .operators import operator
from .told import rebound

UNSAID = "None"
ROUNDINGS = ("UPWARD", "TONEAREST")
COMPUTE_DTYPES = ("int64", "float32", "float64")


@dataclass(frozen=True)
class RequantizeConfig:
    """What calls that do not say it take."""

    rounding: str = UNSAID
    compute_dtype: str = UNSAID


_current: ContextVar[RequantizeConfig | None] = ContextVar("requantize_config", default=None)


@contextmanager
def requantize_config(rounding: str = "UPWARD", compute_dtype: str = "int64") -> Generator[RequantizeConfig]:
    """Within it, calls of `qnn.requantize` that say neither `rounding` nor `compute_dtype` take these.

    They are written into the operators that are made within it; what becomes of them does not depend on where they are
    compiled.

    Raises:
        UsageError: there is no such rounding or type.
    """
    _check("rounding", rounding, ROUNDINGS)
    _check("compute_dtype", compute_dtype, COMPUTE_DTYPES)
    config = RequantizeConfig(rounding, compute_dtype)
    token = _current.set(config)
    try:
        yield config
    finally:
        _current.reset(token)


@checked
def _check(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        hint = did_you_mean(value, known) or f"there are: {', '.join(known)}"
        raise UsageError(f"requantize_config: '{what}' cannot be '{value}'", hint=hint)


def _call(bound: inspect.BoundArguments) -> Expr:
    bound.apply_defaults()
    config, given = _current.get() or RequantizeConfig(), bound.arguments
    for name, value in (("rounding", config.rounding), ("compute_dtype", config.compute_dtype)):
        if given[name] == UNSAID:
            given[name] = value
    return _make(**given)


_make = operator("qnn.requantize")
requantize = rebound(_make, _call)

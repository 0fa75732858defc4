"""What a te schedule refuses: TVM's primitives of stages that have no meaning here, why, and what to do instead; and
scopes that no memory has."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from ...dialects.support.diagnostics import did_you_mean
from ...dialects.support.memory_scopes import memories, why_no_scope
from ...transforms.tir.schedule.errors import ScheduleError

REFUSED: dict[str, tuple[str, str]] = {
    "prefetch": ("processors fetch ahead by themselves", "cache_read copies what is wanted to where it is near"),
    "set_store_predicate": ("every element of a tensor is stored once", "te.if_then_else chooses what is stored"),
    "double_buffer": ("a copy runs before what reads it", "cache_read with compute_at in an outer loop"),
    "env_threads": ("a te.scan is computed in order, by its own loops", "bind the loops of a stage"),
}
"""TVM's primitives that are refused: why, and what to do instead."""


def refusal(name: str) -> Callable[..., NoReturn]:
    """A method that refuses."""
    reason, hint = REFUSED[name]

    def refuse(self: object, *args: object, **options: object) -> NoReturn:
        raise ScheduleError(f"te: {name} has no meaning here: {reason}", hint=hint)

    refuse.__name__ = name
    refuse.__doc__ = f"Refused: {reason}."
    return refuse


def known_scope(scope: str) -> str:
    """The name of a scope; `global`, where it is empty.

    Raises:
        ScheduleError: there is no such scope.
    """
    if scope and (wrong := why_no_scope(scope)) is not None:
        raise ScheduleError(f"te: {wrong}", hint=did_you_mean(scope, memories()))
    return scope or "global"

"""The target that is in scope: that of the innermost `with weft.Target(...)` around a call that is told none.

It is kept here, apart from targets, so that a program that is known already is found without them.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TypeVar, cast

T = TypeVar("T")

HOST = "llvm -mcpu=native"
"""The processor that this runs on."""

_scopes: ContextVar[tuple[object, ...]] = ContextVar("targets", default=())


def enter(target: object) -> None:
    """Begin the scope of a target."""
    _scopes.set((*_scopes.get(), target))


def leave() -> None:
    """End the innermost scope."""
    _scopes.set(_scopes.get()[:-1])


def current() -> object | None:
    """The target of the innermost scope; none outside of all."""
    return scopes[-1] if (scopes := _scopes.get()) else None


def or_current(target: T | None) -> T:
    """A target that is given, else that in scope, else this machine's processor."""
    return cast(T, current() or HOST) if target is None else target

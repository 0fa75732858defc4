"""What is found out about operations while nothing changes them is found out once.

    @remembered
    def accesses(block): ...

    with unchanged():
        accesses(block)
        accesses(block)         # the same object again

Outside of `unchanged` nothing is remembered, so that nobody has to say what a change makes untrue.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

About = TypeVar("About")
Found = TypeVar("Found")
Args = ParamSpec("Args")

_FACTS: ContextVar[dict[tuple[object, int], tuple[object, Any]] | None] = ContextVar("weft_facts", default=None)
"""Of which function and which object (kept, so that no other takes its place), and what was found."""


@contextmanager
def unchanged() -> Generator[None]:
    """Nothing changes the IR in the `with` block."""
    if _FACTS.get() is not None:
        yield
        return
    token = _FACTS.set({})
    try:
        yield
    finally:
        _FACTS.reset(token)


def while_unchanged(check: Callable[Args, Found]) -> Callable[Args, Found]:
    """A function that changes nothing."""

    @wraps(check)
    def run(*args: Args.args, **kwargs: Args.kwargs) -> Found:
        with unchanged():
            return check(*args, **kwargs)

    return run


def while_changing(change: Callable[Args, Found]) -> Callable[Args, Found]:
    """A function that changes what it has made itself, and nothing else: what is found in it is not remembered."""

    @wraps(change)
    def run(*args: Args.args, **kwargs: Args.kwargs) -> Found:
        token = _FACTS.set(None)
        try:
            return change(*args, **kwargs)
        finally:
            _FACTS.reset(token)

    return run


def remembered(find: Callable[[About], Found]) -> Callable[[About], Found]:
    """`find`, asked once about each object while nothing changes. What it gives is not to be changed either."""

    @wraps(find)
    def known(about: About) -> Found:
        facts = _FACTS.get()
        if facts is None:
            return find(about)
        key = (find, id(about))
        if (fact := facts.get(key)) is None:
            fact = facts[key] = (about, find(about))
        return fact[1]

    return known

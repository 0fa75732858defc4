"""What has to hold of extents so that a computation has a meaning: that two are equal, that one is not above another.

An addition of tensors of `n` and of `m` rows asks that `n` is `m`. Whoever compiles for extents that are symbols
collects what is asked (`assuming`) and sees to it that it holds when the computation runs; where nobody collects, it
has to be known before.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from .dims import Dim, always_at_most, linear, same, simplified, variables
from .expr import Expr, Var


@dataclass
class Assumptions:
    """What is asked of extents, each pair once."""

    equal: list[tuple[Dim, Dim]] = field(default_factory=list[tuple[Dim, Dim]])
    at_most: list[tuple[Dim, Dim]] = field(default_factory=list[tuple[Dim, Dim]])


_current: ContextVar[Assumptions | None] = ContextVar("assumptions", default=None)


@contextmanager
def assuming() -> Generator[Assumptions]:
    """Collect what is asked of extents meanwhile."""
    collected = Assumptions()
    token = _current.set(collected)
    try:
        yield collected
    finally:
        _current.reset(token)


def agree(a: Dim, b: Dim) -> bool:
    """Whether two extents are equal, or will be: it is noted that they must."""
    if same(a, b):
        return True
    collected = _current.get()
    if collected is None or not (isinstance(a, Expr) or isinstance(b, Expr)) or solved(a, b) is None:
        return False
    collected.equal.append((a, b))
    return True


def at_most(a: Dim, b: Dim) -> bool:
    """Whether `a` is not above `b`, or will not be: it is noted that it must not."""
    if always_at_most(a, b):
        return True
    collected = _current.get()
    if collected is None or (isinstance(a, int) and isinstance(b, int)):
        return False
    if (a, b) not in collected.at_most:
        collected.at_most.append((a, b))
    return True


def solved(a: Dim, b: Dim) -> tuple[Var, Dim] | None:
    """A symbol, and what it is if `a` equals `b`; `None` where no symbol follows from the rest."""
    for one, other in ((b, a), (a, b)):
        if isinstance(one, Var) and one not in variables([other]) and (isinstance(other, Expr) or other >= 0):
            return one, other
    if (difference := linear(simplified(_difference(a, b)))) is None:
        return None
    for symbol, factor in difference[0].items():
        if abs(factor) == 1:
            rest: Dim = -difference[1] * factor
            for other, times in difference[0].items():
                if other is not symbol:
                    rest = rest - other * (times * factor)
            return symbol, rest
    return None


def _difference(a: Dim, b: Dim) -> Dim:
    return a - b

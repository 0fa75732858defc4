"""What has to hold of extents so that a computation has a meaning: that two are equal, that one is not above another.

An addition of tensors of `n` and of `m` rows asks that `n` is `m`. Whoever compiles for extents that are symbols
collects what is asked (`assuming`) and sees to it that it holds when the computation runs; where nobody collects, it
has to be known before. Numbers are compared without what knows of symbols, which is imported where there are any.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .expr import Dim
    from .kinds import BinaryKind


@dataclass
class Assumptions:
    """What is asked of extents, each pair once."""

    equal: list[tuple[Dim, Dim]] = field(default_factory=list["tuple[Dim, Dim]"])
    at_most: list[tuple[Dim, Dim]] = field(default_factory=list["tuple[Dim, Dim]"])


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
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    from .dim_equations import never_equal, solved
    from .dims import same

    if same(a, b):
        return True
    collected = _current.get()
    if collected is None:
        return False
    if solved(a, b) is None and never_equal(a, b):
        return False
    collected.equal.append((a, b))
    return True


def at_most(a: Dim, b: Dim) -> bool:
    """Whether `a` is not above `b`, or will not be: it is noted that it must not."""
    if isinstance(a, int) and isinstance(b, int):
        return a <= b
    from .dim_order import always_at_most

    if always_at_most(a, b):
        return True
    if (collected := _current.get()) is None:
        return False
    if (a, b) not in collected.at_most:
        collected.at_most.append((a, b))
    return True


def equal_or_asked(a: Dim, b: Dim) -> bool:
    """Whether two extents are equal, or will be. Where no symbol follows from that, neither is to be above the other:
    so much can be seen of an index that is made of one and is to lie within the other."""
    from .dim_equations import never_equal, solved
    from .dims import same

    if same(a, b) or solved(a, b) is not None:
        return agree(a, b)
    return not never_equal(a, b) and at_most(a, b) and at_most(b, a)


def extreme(kind: BinaryKind, a: Dim, b: Dim) -> Dim:
    """The least or greatest of two extents: one of them where that is so for all symbols from 1 on; it is noted that it
    must be so for others."""
    from . import dim_order
    from .kinds import BinaryKind

    for one, other in ((a, b), (b, a)):
        if dim_order.surely_at_most(one, other) and at_most(one, other):
            return one if kind == BinaryKind.MIN else other
    return dim_order.extreme(kind, a, b)

"""Rules propose, choosers decide.

A rule finds out what can be done with a block: the tiles that fit the registers, whether it may be inlined, or computed
row by row. Where there are several ways it makes a `Decision` of them, each of which computes the same, and takes the
one that the chooser picks. Without a chooser that is the one of the most merit, as far as analysis can tell.

    with choosing(Drawn(seed)) as decisions:        # what a tuner does: draw, measure, and keep what was good
        schedule_by_rules(func, registers)
    with choosing(Replayed([each.index for each in decisions])):
        schedule_by_rules(same, registers)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from random import Random
from typing import Any, Generic, Protocol, TypeVar

from ....dialects.tir.core import BlockOp
from ..schedule.errors import ScheduleError

Option = TypeVar("Option")


@dataclass(frozen=True)
class Decision(Generic[Option]):
    """What a rule leaves open about a block: the options, and what analysis says of each, the more the better."""

    rule: str
    block: BlockOp
    options: Sequence[Option]
    merit: Callable[[Option], Any]


@dataclass(frozen=True)
class Decided:
    """What was decided: by which rule, about the block of which name, which of how many options."""

    rule: str
    block: str
    index: int
    count: int


class Chooser(Protocol):
    """Picks options."""

    def choose(self, decision: Decision[Any]) -> int:
        """The number of the option to take."""
        ...


class Analytic:
    """Picks the option of the most merit, the first of several such."""

    def choose(self, decision: Decision[Any]) -> int:
        merits = [decision.merit(option) for option in decision.options]
        return merits.index(max(merits))


class Drawn:
    """Picks at random, each option as likely as any other."""

    def __init__(self, seed: int):
        self.random = Random(seed)

    def choose(self, decision: Decision[Any]) -> int:
        return self.random.randrange(len(decision.options))


class Replayed:
    """Picks what was picked before, in order; once that is used up, the option of the most merit."""

    def __init__(self, indices: Iterable[int]):
        self.indices = list(indices)
        self.used = 0

    def choose(self, decision: Decision[Any]) -> int:
        if self.used == len(self.indices):
            return ANALYTIC.choose(decision)
        index = self.indices[self.used]
        self.used += 1
        return index


ANALYTIC = Analytic()
_CURRENT: ContextVar[tuple[Chooser, list[Decided]] | None] = ContextVar("weft_chooser", default=None)


@contextmanager
def choosing(chooser: Chooser) -> Generator[list[Decided]]:
    """Let `chooser` decide in the `with` block; gives what was decided, in order."""
    decided: list[Decided] = []
    token = _CURRENT.set((chooser, decided))
    try:
        yield decided
    finally:
        _CURRENT.reset(token)


def choose(rule: str, block: BlockOp, options: Sequence[Option], merit: Callable[[Option], Any]) -> Option:
    """The option that the chooser picks of what `rule` proposes for `block`, of which there is at least one.

    Raises:
        ScheduleError: the chooser picks an option that there is not.
    """
    if len(options) == 1:
        return options[0]
    decision = Decision(rule, block, options, merit)
    current = _CURRENT.get()
    if current is None:
        return options[ANALYTIC.choose(decision)]
    chooser, decided = current
    index = chooser.choose(decision)
    if not 0 <= index < len(options):
        raise ScheduleError.at(block, f"{rule} has {len(options)} options for this block, none of number {index}")
    decided.append(Decided(rule, block.block_name, index, len(options)))
    return options[index]


def is_chosen(rule: str, block: BlockOp) -> bool:
    """Whether what pays for a block, as far as analysis can tell, is done."""
    return choose(rule, block, (True, False), int)

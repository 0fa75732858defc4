"""Threads that wait for one another, in the interpreter of `tir`: each is a generator, which stops at every barrier."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass

from ..support.diagnostics import Diagnostic
from .loops import ForOp


@dataclass(frozen=True, eq=False)
class Turns:
    """Runs the threads of a loop in turns: all of them to the next barrier, then all of them on from there.

    It is a generator itself, and stops where its threads have come to a barrier, so that those of a loop around do as
    well. What was noted of who touches what (`notes`) is forgotten there: what comes behind a barrier does not meet
    what stands in front of it.
    """

    loop: ForOp

    def __call__(
        self,
        thread: Callable[[int], Generator[None]],
        steps: Iterable[int],
        notes: Iterable[dict[int, int]],
    ) -> Generator[None]:
        """
        Raises:
            Diagnostic: some threads wait, and others have come to their end.
        """
        running = [thread(step) for step in steps]
        notes = list(notes)
        while running:
            waiting = [each for each in running if next(each, _END) is not _END]
            if waiting and len(waiting) < len(running):
                what = f"{len(waiting)} of {len(running)} threads wait for the others, which have come to their end"
                raise Diagnostic.at(self.loop, what)
            running = waiting
            for each in notes:
                each.clear()
            if running:
                yield


_END = object()


def own(steps: range, number: int) -> tuple[int, ...]:
    """The iteration of a loop that the thread of a number runs, where a loop around is bound to the same threads."""
    return (steps[number],) if number < len(steps) else ()

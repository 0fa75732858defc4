"""Heaps within procedures: numbers in a row of a tensor, none of which stands below one that it belongs above (Knuth,
The Art of Computer Programming 3, 5.2.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import i64

from .. import te


@dataclass(frozen=True)
class Heap:
    """A heap of integers.

    Args:
        at: the integer at a place of i64, from 0, the root.
        is_above: whether one belongs above another one; an order of all of them.
        state: two elements of i64 that it may write to.
    """

    at: Callable[[te.Expr], te.Read]
    is_above: Callable[[te.Expr, te.Expr], te.Expr]
    state: tuple[te.Read, te.Read]

    def build(self, do: te.Steps, count: te.Expr) -> None:
        """Make a heap of the first `count` (i64) numbers."""
        with do.loop(te.as_index(count // 2)) as i:
            place = do.let(count // 2 - 1 - te.cast(i, i64), "place")
            self.sink(do, do.let(self.at(place), "number"), place, count)

    def sink(self, do: te.Steps, number: te.Expr, place: te.Expr, end: te.Expr) -> None:
        """Put `number` where `place` stands, or below what belongs above it, in a heap of `end` numbers (i64)."""
        hole, goes_on = self.state
        do.store(hole, place)
        do.store(goes_on, 1)
        with do.while_(goes_on > 0):
            here = do.let(hole, "here")
            do.store(goes_on, 0)
            with do.when(here * 2 + 1 < end):
                left, right = here * 2 + 1, te.minimum(here * 2 + 2, end - 1)
                upper = do.let(te.select(self.is_above(self.at(right), self.at(left)), right, left), "upper")
                with do.when(self.is_above(self.at(upper), number)):
                    do.store(self.at(here), self.at(upper))
                    do.store(hole, upper)
                    do.store(goes_on, 1)
        do.store(self.at(hole), number)

"""Where each tensor of a graph lies: offsets in one arena, such that tensors alive together do not overlap.

Greedy by size: the largest first, each at the lowest place that is free while it is alive. Source: Pisarchyk and Lee,
"Efficient Memory Management for Deep Neural Net Inference" (2020), section 5.3 (greedy by size for offset calculation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..abi import ALIGNMENT


@dataclass(frozen=True)
class Lifetime:
    """A buffer of `size` bytes that is needed in steps `first` to `last`, both included."""

    size: int
    first: int
    last: int

    def overlaps(self, other: Lifetime) -> bool:
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class MemoryPlan:
    """A byte offset for each lifetime, and the arena's size in bytes."""

    offsets: tuple[int, ...]
    size: int


def aligned(size: int) -> int:
    """`size` rounded up to the arena's alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def plan_memory(lifetimes: Sequence[Lifetime]) -> MemoryPlan:
    """Place all buffers. Offsets are multiples of `ALIGNMENT`."""
    order = sorted(range(len(lifetimes)), key=lambda i: (-lifetimes[i].size, lifetimes[i].first))
    offsets = [0] * len(lifetimes)
    placed: list[int] = []
    total = 0
    for i in order:
        mine = lifetimes[i]
        busy = sorted(
            (offsets[j], offsets[j] + aligned(lifetimes[j].size)) for j in placed if lifetimes[j].overlaps(mine)
        )
        place = 0
        for start, end in busy:
            if place + mine.size <= start:
                break
            place = max(place, end)
        offsets[i] = place
        placed.append(i)
        total = max(total, place + aligned(mine.size))
    return MemoryPlan(tuple(offsets), total)

"""Buffers that are needed at times, to be laid in pools of memory such that those needed together do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush

from ....dialects.support.alignment import aligned

UNRESTRICTED = -1
"""Where users give the bytes of pools, those of one that is as large as it needs to be."""


class DoesNotFit(Exception):
    """There is not enough memory in the pools. `request` is the number of the buffer that found no place."""

    def __init__(self, request: int):
        super().__init__(f"buffer {request} fits into no pool")
        self.request = request


@dataclass(frozen=True)
class Request:
    """A buffer of `size` bytes that is needed in steps `first` to `last`, both included.

    Of several that are needed for the last time in one step, those with a lower `rank` are given back earlier.
    """

    size: int
    first: int
    last: int
    rank: int = 0


@dataclass(frozen=True)
class Place:
    """A byte offset in a pool, by its number."""

    pool: int
    offset: int


@dataclass(frozen=True)
class MemoryPlan:
    """A place for each request, and the bytes of each pool."""

    places: tuple[Place, ...]
    pools: tuple[int, ...]

    @property
    def size(self) -> int:
        """The bytes of all pools together."""
        return sum(self.pools)


@dataclass(frozen=True)
class Buffers:
    """Buffers by number, of which each may overlap with none of its `conflicts`, and what each asks for.

    Args:
        sizes: bytes.
        conflicts: for each, the numbers of others; both of a pair have each other.
        capacities: bytes of each pool; None of one that is as large as it needs to be.
        candidates: for each, the pools that it may lie in, that it would rather lie in first.
        alignments: for each, what its offset is a multiple of.
    """

    sizes: Sequence[int]
    conflicts: Sequence[Sequence[int]]
    capacities: Sequence[int | None]
    candidates: Sequence[Sequence[int]]
    alignments: Sequence[int]


@dataclass(frozen=True)
class Problem:
    """The requests in the order in which they are first needed.

    Offsets are multiples of `alignment`. `capacities` are the bytes of the pools there are, in the order in which they
    are to be used, None of one that is as large as it needs to be; without any there is one such pool.
    """

    requests: tuple[Request, ...]
    alignment: int = 1
    capacities: tuple[int | None, ...] = field(default=())

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The bytes that each request takes up."""
        return tuple(aligned(request.size, self.alignment) for request in self.requests)

    @cached_property
    def by_time(self) -> tuple[int, ...]:
        """The requests that take up memory at any time, in the order in which they are first needed."""
        needed = [i for i, r in enumerate(self.requests) if r.size and r.last >= r.first]
        return tuple(sorted(needed, key=lambda i: self.requests[i].first))

    @cached_property
    def lower_bound(self) -> int:
        """The most bytes that are needed at one time: no plan is smaller."""
        greatest = live = 0
        ends: list[tuple[int, int]] = []
        for i in self.by_time:
            while ends and ends[0][0] < self.requests[i].first:
                live -= self.sizes[heappop(ends)[1]]
            heappush(ends, (self.requests[i].last, i))
            live += self.sizes[i]
            greatest = max(greatest, live)
        return greatest

    @cached_property
    def without_reuse(self) -> int:
        """The bytes of all requests together."""
        return sum(self.sizes[i] for i in self.by_time)

    @cached_property
    def conflicts(self) -> tuple[Sequence[int], ...]:
        """For each request, the others that are needed at one time with it."""
        found: list[list[int]] = [[] for _ in self.requests]
        alive: list[tuple[int, int]] = []
        for i in self.by_time:
            while alive and alive[0][0] < self.requests[i].first:
                heappop(alive)
            for _, j in alive:
                found[i].append(j)
                found[j].append(i)
            heappush(alive, (self.requests[i].last, i))
        return tuple(found)

    @cached_property
    def buffers(self) -> Buffers:
        """The requests without their times: sizes are multiples of the alignment, so that offsets are."""
        count, capacities = len(self.requests), self.capacities or (None,)
        return Buffers(self.sizes, self.conflicts, capacities, [range(len(capacities))] * count, [1] * count)

    @cached_property
    def num_conflicts(self) -> int:
        """How many pairs of requests are needed at one time; counted, not listed."""
        count = 0
        alive: list[int] = []
        for i in self.by_time:
            while alive and alive[0] < self.requests[i].first:
                heappop(alive)
            count += len(alive)
            heappush(alive, self.requests[i].last)
        return count

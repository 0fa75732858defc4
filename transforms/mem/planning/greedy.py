"""One buffer after the other is laid where it fits, and stays there.

Sources: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020), section 5.3, for greedy
by size; TVM's Unified Static Memory Planner (v0.10) for `greedy-by-size` and `greedy-by-conflicts` as it has them: a
buffer goes above all that it is in conflict with, and the gaps between these stay empty.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from ....dialects.support.alignment import aligned
from .problem import Buffers, DoesNotFit, MemoryPlan, Place, Problem


def try_in_order(buffers: Buffers, order: Iterable[int], *, fill_gaps: bool = True) -> list[Place | None]:
    """Lay each buffer at the lowest free place of its first candidate that has one; or, with `fill_gaps` false, above
    all others that it is in conflict with. None where no pool has room."""
    places: list[Place | None] = [None] * len(buffers.sizes)
    for i in order:
        size, alignment = buffers.sizes[i], buffers.alignments[i]
        busy = [(place.pool, place.offset, aligned(place.offset + buffers.sizes[j], alignment))
                for j in buffers.conflicts[i] if (place := places[j]) is not None]  # fmt: skip
        busy.sort()
        for pool in buffers.candidates[i]:
            offset = 0
            for other, start, end in busy:
                if other != pool:
                    continue
                if fill_gaps and offset + size <= start:
                    break
                offset = max(offset, end)
            capacity = buffers.capacities[pool]
            if capacity is None or offset + size <= capacity:
                places[i] = Place(pool, offset)
                break
    return places


def place_in_order(problem: Problem, order: Sequence[int], *, fill_gaps: bool = True) -> MemoryPlan:
    """The plan of `try_in_order`.

    Raises:
        DoesNotFit: no pool has room for a request.
    """
    return plan_of(problem, try_in_order(problem.buffers, order, fill_gaps=fill_gaps))


def plan_of(problem: Problem, places: Sequence[Place | None]) -> MemoryPlan:
    """The plan that has all requests at their places, and those that take up no memory anywhere.

    Raises:
        DoesNotFit: one has no place.
    """
    for i in problem.by_time:
        if places[i] is None:
            raise DoesNotFit(i)
    return MemoryPlan(tuple(place or Place(0, 0) for place in places), pool_sizes(problem.buffers, places))


def pool_sizes(buffers: Buffers, places: Sequence[Place | None]) -> tuple[int, ...]:
    """The bytes of each pool that buffers at these places need."""
    ends = [0] * len(buffers.capacities)
    for place, size in zip(places, buffers.sizes, strict=True):
        if place is not None:
            ends[place.pool] = max(ends[place.pool], place.offset + size)
    return tuple(ends)


def by_size(problem: Problem) -> list[int]:
    """The requests, the largest first."""
    return sorted(problem.by_time, key=lambda i: (-problem.requests[i].size, problem.requests[i].first))


def by_conflicts(problem: Problem) -> list[int]:
    """The requests, those that are in conflict with most others first."""
    return order_by_conflicts(problem.buffers, problem.by_time)


def by_area(problem: Problem) -> list[int]:
    """The requests, those that take up most memory for the longest time first."""
    requests = problem.requests
    return sorted(problem.by_time, key=lambda i: -requests[i].size * (1 + requests[i].last - requests[i].first))


def by_life(problem: Problem) -> list[int]:
    """The requests, those that are needed for the longest time first."""
    requests = problem.requests
    return sorted(problem.by_time, key=lambda i: (requests[i].first - requests[i].last, -requests[i].size))


def order_by_size(buffers: Buffers, which: Iterable[int]) -> list[int]:
    """TVM's `greedy_by_size`: the largest first, those in conflict with most others first among equals."""
    return sorted(which, key=lambda i: (-buffers.sizes[i], -len(buffers.conflicts[i])))


def order_by_conflicts(buffers: Buffers, which: Iterable[int]) -> list[int]:
    """TVM's `greedy_by_conflicts`: those in conflict with most others first, the largest first among equals."""
    return sorted(which, key=lambda i: (-len(buffers.conflicts[i]), -buffers.sizes[i]))


def greedy_by_size(problem: Problem) -> MemoryPlan:
    """TVM's plan of that name."""
    return place_in_order(problem, order_by_size(problem.buffers, sorted(problem.by_time)), fill_gaps=False)


def greedy_by_conflicts(problem: Problem) -> MemoryPlan:
    """TVM's plan of that name."""
    return place_in_order(problem, order_by_conflicts(problem.buffers, sorted(problem.by_time)), fill_gaps=False)


def in_time(problem: Problem) -> MemoryPlan:
    """Lay each request in the smallest gap that it fits into when it is first needed, as an allocator at run time
    would; O(n log n) in all but shifting lists. Knows one pool only."""
    places = [Place(0, 0)] * len(problem.requests)
    gaps: list[tuple[int, int]] = []  # size and start
    starts: list[tuple[int, int]] = []  # start and size of the same gaps
    alive: list[tuple[int, int]] = []
    end = 0

    def take(gap: tuple[int, int]) -> None:
        del gaps[bisect_left(gaps, gap)]
        del starts[bisect_left(starts, (gap[1], gap[0]))]

    def give(start: int, size: int) -> None:
        nonlocal end
        at = bisect_left(starts, (start, 0))
        if at < len(starts) and starts[at][0] == start + size:
            size += starts[at][1]
            take((starts[at][1], starts[at][0]))
        if at and sum(starts[at - 1]) == start:
            start, before = starts[at - 1]
            size += before
            take((before, start))
        insort(gaps, (size, start))
        insort(starts, (start, size))

    for i in problem.by_time:
        request, size = problem.requests[i], problem.sizes[i]
        while alive and alive[0][0] < request.first:
            _, gone = heappop(alive)
            give(places[gone].offset, problem.sizes[gone])
        at = bisect_left(gaps, (size, 0))
        if at < len(gaps):
            room, start = gaps[at]
            take((room, start))
        elif starts and sum(starts[-1]) == end:
            start, room = starts[-1]
            take((room, start))
        else:
            start, room = end, 0
        if room > size:
            give(start + size, room - size)
        end = max(end, start + size)
        places[i] = Place(0, start)
        heappush(alive, (request.last, i))
    return MemoryPlan(tuple(places), (end,))

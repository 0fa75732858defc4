"""TVM's GraphPlanMemory (v0.10): storages that are handed on, each a pool of its own.

Where a buffer is first needed it gets a storage that nobody has: the smallest that is as large as the buffer and no
more than 16 times that; else the largest that is smaller, but not by more than 16 times, which grows; else a new one.
"""

from __future__ import annotations

from bisect import bisect_left, insort

from .problem import MemoryPlan, Place, Problem

MATCH_RANGE = 16


def tvm_greedy(problem: Problem) -> MemoryPlan:
    """A storage for each request; all offsets are zero."""
    requests = problem.requests
    storage = [0] * len(requests)
    sizes: list[int] = []
    free: list[tuple[int, int, int]] = []  # bytes, when it was given back, storage
    given_back = 0
    releases = sorted((r.last, r.rank, i) for i, r in enumerate(requests) if r.last >= r.first)
    next_release = 0
    order = sorted(range(len(requests)), key=lambda i: (requests[i].first, i))
    for i in order:
        if requests[i].last < requests[i].first:
            continue
        while next_release < len(releases) and releases[next_release][0] < requests[i].first:
            number = storage[releases[next_release][2]]
            insort(free, (sizes[number], given_back, number))
            given_back += 1
            next_release += 1
        number = _take(free, requests[i].size)
        if number is None:
            number = len(sizes)
            sizes.append(0)
        sizes[number] = max(sizes[number], requests[i].size)
        storage[i] = number
    return MemoryPlan(tuple(Place(number, 0) for number in storage), tuple(sizes))


def _take(free: list[tuple[int, int, int]], size: int) -> int | None:
    at = bisect_left(free, (size, -1, -1))
    if at < len(free) and free[at][0] <= size * MATCH_RANGE:
        return free.pop(at)[2]
    if at and free[at - 1][0] >= size // MATCH_RANGE:
        return free.pop(at - 1)[2]
    return None


def stacked(problem: Problem) -> MemoryPlan:
    """The storages of `tvm_greedy`, one behind the other in one pool."""
    plan = tvm_greedy(problem)
    starts = [0]
    for size in plan.pools:
        starts.append(starts[-1] + -(-size // problem.alignment) * problem.alignment)
    return MemoryPlan(tuple(Place(0, starts[place.pool]) for place in plan.places), (starts[-1],))

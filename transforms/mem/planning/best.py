"""The least memory that a handful of strategies find, TVM's among them, so that it is never more than TVM's.

Each is O(n log n + c) for c pairs of buffers that are needed at one time; in a network, where few are, that is little
more than n. Where they are very many, only the strategies that do not list them are tried.
"""

from __future__ import annotations

from .greedy import by_area, by_conflicts, by_life, by_size, in_time, place_in_order
from .hill_climb import climb
from .problem import MemoryPlan, Problem
from .tvm_greedy import stacked

MANY_CONFLICTS = 500_000
"""Pairs of buffers that are listed at most."""

CLIMBING = 50_000
"""Pairs of buffers that are looked at, at most, in search of something better."""


def best(problem: Problem) -> MemoryPlan:
    """The smallest of several plans; stops where there is none smaller.

    Raises:
        DoesNotFit: the pools have no room for a request.
    """
    if problem.capacities:
        return climb(problem, max(1, CLIMBING // max(1, problem.num_conflicts)))
    orders = [by_size, by_area, by_life, by_conflicts] if problem.num_conflicts <= MANY_CONFLICTS else []
    found: MemoryPlan | None = None
    for order in orders:
        plan = place_in_order(problem, order(problem))
        found = plan if found is None or plan.size < found.size else found
        if found.size <= problem.lower_bound:
            return found
    for strategy in (in_time, stacked):
        plan = strategy(problem)
        found = plan if found is None or plan.size < found.size else found
    assert found is not None
    attempts = CLIMBING // max(1, problem.num_conflicts)
    if found.size > problem.lower_bound and orders and attempts:
        climbed = climb(problem, attempts)
        found = climbed if climbed.size < found.size else found
    return found

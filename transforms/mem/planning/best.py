"""The least memory that a handful of strategies find, TVM's among them, so that it is never more than TVM's.

Each is O(n log n + c) for c pairs of buffers that are needed at one time; in a network, where few are, that is little
more than n. Where they are many, fewer orders are tried; where they are very many, only the strategies that do not list
them.
"""

from __future__ import annotations

from itertools import chain

from .greedy import by_area, by_conflicts, by_life, by_size, in_time, place_in_order
from .hill_climb import climb, climb_from_order
from .problem import MemoryPlan, Problem
from .tvm_greedy import stacked

LAYING = 1_500_000
"""Pairs of buffers that are looked at, at most, while they are laid in one order after the other."""

CLIMBING = 50_000
"""Buffers, or pairs of them, that are looked at, at most, in search of something better from each of these orders."""


def best(problem: Problem) -> MemoryPlan:
    """The smallest of several plans; stops where there is none smaller.

    Raises:
        DoesNotFit: the pools have no room for a request.
    """
    if problem.capacities:
        return climb(problem, max(1, _attempts(problem)))
    conflicts, attempts = max(1, problem.num_conflicts), _attempts(problem)
    orders = [order(problem) for order in (by_size, by_area, by_life, by_conflicts)[: LAYING // conflicts]]
    found: list[MemoryPlan] = []
    tried = chain(
        (place_in_order(problem, order) for order in orders),
        (strategy(problem) for strategy in (in_time, stacked)),
        (climb_from_order(problem, order, attempts) for order in orders if attempts),
    )
    for plan in tried:
        found.append(plan)
        if plan.size <= problem.lower_bound:
            break
    return min(found, key=lambda plan: plan.size)


def _attempts(problem: Problem) -> int:
    """How often something better is looked for; never where no two buffers are in each other's way."""
    return CLIMBING // max(len(problem.requests), problem.num_conflicts) if problem.num_conflicts else 0

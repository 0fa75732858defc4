"""Change the order in which buffers are laid, keep what is better, and sometimes what is not.

After TVM's `hill_climb` (v0.10, Unified Static Memory Planner): what is moved is a buffer that ends where the plan
does, to the place in the order of one that it is in conflict with, or that such a one is in conflict with.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from .greedy import by_size, place_in_order
from .problem import MemoryPlan, Problem

ATTEMPTS = 500


def hill_climb(problem: Problem) -> MemoryPlan:
    """The best plan in `ATTEMPTS`, from the order by size on; the same one each time."""
    return climb(problem, by_size(problem), ATTEMPTS)


def climb(problem: Problem, order: Sequence[int], attempts: int) -> MemoryPlan:
    """The best plan in so many attempts, from an order on."""
    random = Random(0)
    current = list(order)
    plan = best = place_in_order(problem, current)
    for attempt in range(attempts):
        if best.size <= problem.lower_bound:
            break
        changed = list(current)
        _swap(problem, plan, changed, random)
        tried = place_in_order(problem, changed)
        if tried.size <= plan.size or random.randrange(100) < 50 // (1 + attempt):
            current, plan = changed, tried
        if plan.size < best.size:
            best = plan
    return best


def _swap(problem: Problem, plan: MemoryPlan, order: list[int], random: Random) -> None:
    """Swap a buffer at the end of the plan with one that is in its way."""
    top = [i for i in order if plan.places[i].offset + problem.sizes[i] == plan.pools[plan.places[i].pool]]
    chosen = random.choice(top)
    near = problem.conflicts[chosen]
    if near and random.randrange(2):
        near = problem.conflicts[random.choice(near)]
    others = [i for i in near if i != chosen]
    if not others:
        return
    a, b = order.index(chosen), order.index(random.choice(others))
    order[a], order[b] = order[b], order[a]

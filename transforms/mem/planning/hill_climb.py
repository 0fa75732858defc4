"""Change the order in which buffers are laid, keep what is better, and sometimes what is not.

After TVM's `hill_climb` (v0.10, Unified Static Memory Planner): what is moved is a buffer that ends where a pool does,
or that has no place, to the place in the order of one that it is in conflict with, or that such a one is in conflict
with.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from .greedy import order_by_size, plan_of, pool_sizes, try_in_order
from .problem import Buffers, MemoryPlan, Place, Problem

ATTEMPTS = 500


def hill_climb(problem: Problem) -> MemoryPlan:
    """The best plan in `ATTEMPTS`, from the order by size on; the same one each time.

    Raises:
        DoesNotFit: in none of them the pools have room for all requests.
    """
    return climb(problem, ATTEMPTS)


def climb(problem: Problem, attempts: int) -> MemoryPlan:
    """The best plan in so many attempts.

    Raises:
        DoesNotFit: in none of them the pools have room for all requests.
    """
    return climb_from_order(problem, order_by_size(problem.buffers, sorted(problem.by_time)), attempts)


def climb_from_order(problem: Problem, order: Sequence[int], attempts: int) -> MemoryPlan:
    """The best plan in so many attempts from an order on.

    Raises:
        DoesNotFit: in none of them the pools have room for all requests.
    """
    return plan_of(problem, climb_from(problem.buffers, order, problem.lower_bound, attempts))


def climb_from(buffers: Buffers, order: Sequence[int], enough: int, attempts: int = ATTEMPTS) -> list[Place | None]:
    """The best places in so many attempts from an order on, or the first that take up no more than `enough` bytes.
    The better ones are those with more buffers in place, and of these the ones that take up fewer bytes."""

    def cost(places: Sequence[Place | None]) -> tuple[int, int]:
        return sum(places[i] is None for i in order), sum(pool_sizes(buffers, places))

    random = Random(0)
    current = list(order)
    places = best = try_in_order(buffers, current)
    for attempt in range(attempts):
        if cost(best) <= (0, enough) or not order:
            break
        changed = list(current)
        _swap(buffers, places, changed, random)
        tried = try_in_order(buffers, changed)
        if cost(tried) <= cost(places) or random.randrange(100) < 50 // (1 + attempt):
            current, places = changed, tried
        if cost(places) < cost(best):
            best = places
    return best


def _swap(buffers: Buffers, places: Sequence[Place | None], order: list[int], random: Random) -> None:
    """Swap a buffer at the end of a pool, or without a place, with one that is in its way."""
    ends = pool_sizes(buffers, places)
    top = [i for i in order if (place := places[i]) is None or place.offset + buffers.sizes[i] == ends[place.pool]]
    chosen = random.choice(top)
    near = buffers.conflicts[chosen]
    if near and random.randrange(2):
        near = buffers.conflicts[random.choice(near)]
    others = [i for i in near if i != chosen]
    if not others:
        return
    a, b = order.index(chosen), order.index(random.choice(others))
    order[a], order[b] = order[b], order[a]

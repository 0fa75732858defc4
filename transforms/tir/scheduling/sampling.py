"""How decisions are drawn: factors of an extent, one of several candidates, a loop to compute a block in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb, prod
from random import Random

from ....dialects.tir.core import BlockOp, ForOp, IterKind, enclosing_loops
from ..analysis.loop_kinds import loop_kind
from ..analysis.producers import consumers
from ..schedule.checks import check_known_trips
from ..schedule.compute_at import check_compute_at
from ..schedule.errors import ScheduleError
from ..schedule.inline import check_inline


def draw_tile(random: Random, extent: int, count: int, max_innermost: int) -> list[int]:
    """`count` factors of `extent`, the last at most `max_innermost`: every such list is equally likely."""
    factors: list[int] = []
    rest = extent
    for left in range(count, 1, -1):
        choices = [d for d in divisors(rest) if factors or d <= max_innermost]
        weights = [_ways(rest // d, left - 1) for d in choices]
        factors.append(random.choices(choices, weights)[0])
        rest //= factors[-1]
    return [rest, *reversed(factors)]


def check_tile(loop: ForOp, factors: Sequence[int]) -> None:
    """Whether a recorded decision fits `loop`. What bounds the last factor is for those that are drawn.

    Raises:
        ScheduleError: the factors' product is not its extent, which must be known.
    """
    if prod(factors) != (trips := check_known_trips(loop)):
        raise ScheduleError.at(loop, f"the decision {list(factors)} does not divide its {trips} iterations")


@lru_cache(maxsize=256)
def divisors(n: int) -> tuple[int, ...]:
    """All divisors of a positive number, in order."""
    small = [d for d in range(1, int(n**0.5) + 1) if n % d == 0]
    return tuple(sorted({*small, *(n // d for d in small)}))


@lru_cache(maxsize=4096)
def _ways(n: int, count: int) -> int:
    """How many lists of `count` factors have the product `n`."""
    ways, prime = 1, 2
    while n > 1:
        if prime * prime > n:
            prime = n
        power = 0
        while n % prime == 0:
            n //= prime
            power += 1
        ways *= comb(power + count - 1, count - 1)
        prime += 1
    return ways


def locations(block: BlockOp) -> list[int]:
    """Where `block` may be computed: -2, inlined; -1, where it stands; else the loop of that number around its first
    reader, which is around all of them. In order; the numbers are TVM's.

    Of the loops those are left out that gain nothing, as in TVM's `CollectComputeLocation`: loops of one iteration,
    spatial ones in one of several that is not, and all that are not behind the last spatial one.
    """
    found = [-1]
    try:
        check_inline(block)
        found.insert(0, -2)
    except ScheduleError:
        pass
    around = _loops_of_readers(block)
    kinds = [loop_kind(loop) for loop in around]
    last = max((n for n, kind in enumerate(kinds) if kind is IterKind.SPATIAL), default=-1)
    others = (n for n, kind in enumerate(kinds) if kind is not IterKind.SPATIAL and around[n].size != 1)
    first_other = next(others, len(kinds))
    for number, (loop, kind) in enumerate(zip(around, kinds, strict=True)):
        if loop.size == 1:
            continue
        if number > (first_other if kind is IterKind.SPATIAL else last):
            break
        try:
            check_compute_at(block, loop)
            found.append(number)
        except ScheduleError:
            continue
    return found


def _loops_of_readers(block: BlockOp) -> list[ForOp]:
    """Of the loops around the first block that reads what `block` writes those that are around all of these blocks."""
    if len(block.writes) != 1:
        return []
    nests = [enclosing_loops(each) for each in consumers(block)]
    return [loop for n, loop in enumerate(nests[0]) if all(loop in nest[: n + 1] for nest in nests)] if nests else []


def loops_of_reader(block: BlockOp) -> list[ForOp]:
    """The loops around the first block that reads what `block` writes."""
    if len(block.writes) != 1:
        return []
    readers = consumers(block)
    return enclosing_loops(readers[0]) if readers else []

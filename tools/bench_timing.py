"""Timing systems against each other: they take turns, so that what else the machine does meets all of them alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter

MIN_RUNS = 3
MIN_SECONDS = 0.15


@dataclass(frozen=True)
class Timing:
    """The seconds that runs of one system took."""

    seconds: tuple[float, ...]

    @property
    def median_ms(self) -> float:
        return median(self.seconds) * 1e3

    @property
    def min_ms(self) -> float:
        return min(self.seconds) * 1e3


def interleaved(
    systems: Mapping[str, Callable[[], object]],
    rounds: int,
    min_runs: int = MIN_RUNS,
    min_seconds: float = MIN_SECONDS,
) -> dict[str, Timing]:
    """Time each system in every round, one after the other: A B A B.

    A system's turn is at least `min_runs` runs and `min_seconds` seconds, after a first run that does not count: it
    finds the caches, and perhaps the processors, as the system before has left them.
    """
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    for _ in range(rounds):
        for name, run in systems.items():
            run()
            begin = end = perf_counter()
            runs = 0
            while runs < min_runs or end - begin < min_seconds:
                start = perf_counter()
                run()
                end = perf_counter()
                seconds[name].append(end - start)
                runs += 1
    return {name: Timing(tuple(times)) for name, times in seconds.items()}

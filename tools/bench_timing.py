"""Timing systems against each other: they take turns, so that what else the machine does meets all of them alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time, sleep

MIN_RUNS = 3
MIN_SECONDS = 0.15

PAUSE = 0.005
"""Seconds in which a process that has nothing to do takes a tenth of a processor at most."""

MOST_PAUSES = 100


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
    finds the caches as the system before has left them. A turn begins when no thread of the process is at work any
    more: those of some systems look for work for a while behind a run, on processors that the next system needs.
    """
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    for _ in range(rounds):
        for name, run in systems.items():
            _wait_for_rest()
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


def _wait_for_rest() -> None:
    """Sleep until this process takes no processor time, or for half a second."""
    for _ in range(MOST_PAUSES):
        before = process_time()
        sleep(PAUSE)
        if process_time() - before <= PAUSE / 10:
            return

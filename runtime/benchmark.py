"""How long something takes: repeated, and told with its spread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from statistics import fmean, median, pstdev
from time import perf_counter

from ..dialects.support.diagnostics import UsageError


@dataclass(frozen=True)
class BenchmarkResult:
    """Seconds for one call, of each repetition; the names are those of TVM's result."""

    results: tuple[float, ...]

    @property
    def mean(self) -> float:
        return fmean(self.results)

    @property
    def median(self) -> float:
        return median(self.results)

    @property
    def std(self) -> float:
        return pstdev(self.results)

    @property
    def min(self) -> float:
        return min(self.results)

    @property
    def max(self) -> float:
        return max(self.results)

    def __str__(self) -> str:
        names = ("mean", "median", "max", "min", "std")
        values = (self.mean, self.median, self.max, self.min, self.std)
        head = " ".join(f"{name + ' (ms)':>12}" for name in names)
        return f"Execution time summary:\n{head}\n" + " ".join(f"{value * 1e3:12.4f}" for value in values)


def benchmark(call: Callable[[], object], repeat: int, number: int, min_repeat_ms: float) -> BenchmarkResult:
    """Time `repeat` repetitions of `number` calls, or of as many as `min_repeat_ms` milliseconds take, after one call
    that is not timed.

    Raises:
        UsageError: a number is not positive.
    """
    if repeat < 1 or number < 1 or not 0 <= min_repeat_ms < inf:
        raise UsageError(
            f"{repeat} repetitions of {number} calls in {min_repeat_ms} ms: at least one of each is needed"
        )
    call()
    results: list[float] = []
    for _ in range(repeat):
        while True:
            start = perf_counter()
            for _ in range(number):
                call()
            spent = perf_counter() - start
            if spent * 1e3 >= min_repeat_ms:
                break
            number = max(number + 1, int(number * min(10.0, min_repeat_ms / max(spent * 1e3, 1e-6)) * 1.1))
        results.append(spent / number)
    return BenchmarkResult(tuple(results))

"""Where the time of tuning goes (`tvm.meta_schedule.Profiler`)."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Self

from ..dialects.support.arguments import checked_methods
from .rule import Named

TOTAL = "Total"
"""What the time between entering and leaving a profiler is called."""


@checked_methods
class Profiler(Named):
    """Adds up the seconds of what goes on by name while it is entered. Counterpart of TVM's `Profiler`.

        with ms.Profiler() as profiler:
            ms.tune_tir(..., strategy="evolutionary")
        print(profiler.table())

    A `TaskScheduler` tells it of its steps: `GenerateDesignSpace`, `SearchStrategy`, `SendToBuilder`, `SendToRunner`,
    `JoinRunnerFutures`, and `MeasureCallback/...` of each callback. Times of steps within others are in both.
    """

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._begun: float | None = None

    def get(self) -> dict[str, float]:
        """The seconds of each name; `Total` are those since it was entered."""
        now = {} if self._begun is None else {TOTAL: perf_counter() - self._begun}
        return {**self._seconds, **now}

    def table(self) -> str:
        """The same as a table, what took most first, each with its part of the total."""
        found = self.get()
        total = found.pop(TOTAL, 0.0)
        rows = [(TOTAL, total), *sorted(found.items(), key=lambda row: -row[1])]
        width = max(len(name) for name, _ in rows)
        lines = [f"{'name':<{width}}  {'minutes':>9}  {'part':>7}"]
        for name, seconds in rows:
            part = f"{seconds / total:7.1%}" if total else "-".rjust(7)
            lines.append(f"{name:<{width}}  {seconds / 60:9.4f}  {part}")
        return "\n".join(lines)

    def __enter__(self) -> Self:
        self._begun = perf_counter()
        _ENTERED.set((*_ENTERED.get(), self))
        return self

    def __exit__(self, *error: object) -> None:
        assert self._begun is not None
        self._add(TOTAL, perf_counter() - self._begun)
        self._begun = None
        _ENTERED.set(_ENTERED.get()[:-1])

    def _add(self, name: str, seconds: float) -> None:
        self._seconds[name] = self._seconds.get(name, 0.0) + seconds

    @staticmethod
    def current() -> Profiler | None:
        """The one that was entered last; `None` where there is none."""
        return next(reversed(_ENTERED.get()), None)

    @staticmethod
    @contextmanager
    def timeit(name: str) -> Generator[None]:
        """Add the time of the `with` block to a name of the current one, if there is one."""
        begun = perf_counter()
        try:
            yield
        finally:
            if (profiler := Profiler.current()) is not None:
                profiler._add(name, perf_counter() - begun)


_ENTERED: ContextVar[tuple[Profiler, ...]] = ContextVar("weft_profilers", default=())

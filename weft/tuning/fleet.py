"""Many jobs at once on a pool of workers, some of which may be lost meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Self

from ..dialects.support.diagnostics import Diagnostic
from .jobs import Job, Measurement, NoMeasurement, measurement
from .measure import Future, Pool, end_children, run_job

RETRIES = 3
"""A job whose worker was lost, or answers what cannot be, is given to another one so often."""
SILENCE_S = 60.0
"""Beyond the time that all jobs may take, a pool that says nothing for so long is given up."""


class Fleet:
    """Measures on `pool`, or, without one, on `workers` threads of this process with a measuring process each."""

    def __init__(self, pool: Pool | None = None, workers: int = 1):
        self._own = ThreadPoolExecutor(workers, "weft-tune") if pool is None else None
        self._pool: Pool = self._own if self._own is not None else pool  # pyright: ignore[reportAttributeAccessIssue]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End what this fleet has started itself; what is being measured is given up."""
        if self._own is not None:
            self._own.shutdown(wait=False, cancel_futures=True)
            end_children()

    def measure(self, jobs: Sequence[Job]) -> Iterator[tuple[int, Measurement]]:
        """The numbers of jobs with what became of them, as they are done.

        Raises:
            Diagnostic: no worker can measure, or the pool does not answer any more.
        """
        done: SimpleQueue[tuple[int, Future]] = SimpleQueue()
        tries = [0] * len(jobs)
        pending: dict[int, Future] = {}

        def submit(number: int) -> None:
            tries[number] += 1
            future = self._pool.submit(run_job, jobs[number])
            pending[number] = future
            future.add_done_callback(lambda _: done.put((number, future)))

        try:
            for number in range(len(jobs)):
                submit(number)
            patience = SILENCE_S + sum(job.effort.limit_s for job in jobs)
            while pending:
                try:
                    number, future = done.get(timeout=patience)
                except Empty:
                    raise Diagnostic(f"the pool of workers has not answered for {patience:.0f} seconds") from None
                if pending.get(number) is not future:
                    continue
                del pending[number]
                try:
                    found = measurement(future.result())
                except NoMeasurement as error:
                    raise Diagnostic(f"a worker cannot measure: {error}") from error
                except Exception as error:
                    if tries[number] == RETRIES:
                        raise Diagnostic(
                            f"{RETRIES} workers were lost, one after the other: {str(error) or type(error).__name__}",
                            hint="what was measured before is kept: the same call goes on from there",
                        ) from error
                    submit(number)
                    continue
                yield number, found
        finally:
            _cancel(pending)


def _cancel(pending: Mapping[int, Future]) -> None:
    for future in pending.values():
        future.cancel()

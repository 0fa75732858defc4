"""Worker processes that lower kernels and generate code, and that end when the process which needs them does.

A worker is forked, so it has all that this process has made until then: a task that it is to do by name (`Workers.run`)
may use any of it, and nothing has to be sent but the name and what comes of it.

However that process ends, nothing of it stays behind (`lifelines`); a worker also ends when it is told to. It does not
answer an interrupt from the keyboard, which goes to the whole group: the parent does. Where the system gives no process
or no thread any more, there are no workers, and whoever wanted them does the work.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from typing import TypeAlias

from ...dialects.support import knobs
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.digests import start_thread
from ...dialects.support.lifelines import end_with
from ...dialects.support.processors import available_processors

Task: TypeAlias = Callable[[], "bytes | None"]
"""What a worker may be asked to do by name."""


class Workers:
    """Processes that are forked now.

    Args:
        jobs: how many.
        tasks: what they can be asked to do by name.

    Raises:
        NoWorkers: the system gives no processes, or no threads to look after them.
    """

    def __init__(self, jobs: int, tasks: Mapping[str, Task] | None = None):
        _check_threads()
        self._jobs = jobs
        lifeline, self._end = os.pipe()
        context = multiprocessing.get_context("fork")
        self.pool = ProcessPoolExecutor(
            jobs, mp_context=context, initializer=_begin, initargs=(os.getpid(), lifeline, self._end, tasks or {})
        )
        try:
            with _no_interrupts():
                self.pool.submit(available_processors)  # the first task has the executor start them all
        except (RuntimeError, OSError) as error:
            self._tell()
            os.close(self._end)
            raise NoWorkers from error
        finally:
            os.close(lifeline)

    def run(self, name: str) -> Future[bytes | None]:
        """Have a task done that they were given."""
        return self.pool.submit(_do, name)

    def close(self, *, at_once: bool = False) -> None:
        """Stop them; tasks that have not begun are dropped, and with `at_once` those that have begun as well."""
        if at_once:
            self._tell()
        self.pool.shutdown(wait=True, cancel_futures=True)
        os.close(self._end)

    def _tell(self) -> None:
        """Have them end; where another's workers hold the pipe too, closing it is not enough."""
        with suppress(OSError):
            os.write(self._end, bytes(self._jobs))


class NoWorkers(Exception):
    """The system gives no processes, or no threads."""


_THREADS = 2
"""That Python's pools of processes have in this process."""


def _check_threads() -> None:
    """Whether the threads can be started that an executor needs: it would never be done without one of them.

    Raises:
        NoWorkers: they cannot.
    """
    enough = threading.Event()
    threads = [start_thread(enough.wait, "weft-trial") for _ in range(_THREADS)]
    enough.set()
    for thread in filter(None, threads):
        thread.join()  # who is forked has no other threads
    if None in threads:
        raise NoWorkers


def start_workers(jobs: int | None = None, tasks: Mapping[str, Task] | None = None) -> Workers | None:
    """Workers, unless given as many as `$WEFT_JOBS` says or there are processors; none where there is no use or no way.

    A worker of Python's own pools may not have children.

    Raises:
        UsageError: the environment's number is negative.
    """
    jobs = _jobs() if jobs is None else jobs
    forks = "fork" in multiprocessing.get_all_start_methods() and not multiprocessing.current_process().daemon
    if jobs <= 1 or not forks:
        return None
    try:
        return Workers(jobs, tasks)
    except NoWorkers:
        return None


def _jobs() -> int:
    jobs = knobs.JOBS.get()
    if jobs < 0:
        raise UsageError(f"${knobs.JOBS.variable} is negative")
    return jobs or available_processors()


@contextmanager
def _no_interrupts() -> Generator[None]:
    """Keep an interrupt waiting while workers are forked, until they have said that they ignore it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # interrupts are handled by the main thread alone
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_TASKS: dict[str, Task] = {}
"""Of a worker: what it can be asked to do by name."""


def _do(name: str) -> bytes | None:
    return _TASKS[name]()


def _begin(parent: int, lifeline: int, end: int, tasks: Mapping[str, Task]) -> None:
    """What a worker does first."""
    _TASKS.update(tasks)
    gc.freeze()  # what it has from its parent is not looked through, which would copy it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    os.close(end)
    end_with(lifeline, when_told=True)
    if os.getppid() != parent:
        os._exit(1)

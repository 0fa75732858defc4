"""Worker processes that lower kernels and generate code, and that end when the process which needs them does.

A worker is forked, so it has all that this process has made until then: a task that it is to do by name (`Workers.run`)
may use any of it, and nothing has to be sent but the name and what comes of it.

However that process ends, nothing of it may stay behind: not a worker, and not a pipe that a worker holds open for
those who read what the process prints. A worker therefore ends when it is told to, when the system says that its parent
died (Linux), and when the pipe closes whose other end is only the parent's. It does not answer an interrupt from the
keyboard, which goes to the whole group: the parent does.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from typing import TypeAlias

from ...dialects.support import knobs
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.processors import available_processors

_PR_SET_PDEATHSIG = 1

Task: TypeAlias = Callable[[], "bytes | None"]
"""What a worker may be asked to do by name."""


class Workers:
    """Processes that are forked now.

    Args:
        jobs: how many.
        tasks: what they can be asked to do by name.
    """

    def __init__(self, jobs: int, tasks: Mapping[str, Task] | None = None):
        self._jobs = jobs
        lifeline, self._end = os.pipe()
        context = multiprocessing.get_context("fork")
        self.pool = ProcessPoolExecutor(
            jobs, mp_context=context, initializer=_begin, initargs=(os.getpid(), lifeline, self._end, tasks or {})
        )
        try:
            with _no_interrupts():
                self.pool.submit(available_processors)  # the first task has the executor start them all
        finally:
            os.close(lifeline)

    def run(self, name: str) -> Future[bytes | None]:
        """Have a task done that they were given."""
        return self.pool.submit(_do, name)

    def close(self, *, at_once: bool = False) -> None:
        """Stop them; tasks that have not begun are dropped, and with `at_once` those that have begun as well."""
        if at_once:
            with suppress(OSError):
                os.write(self._end, bytes(self._jobs))  # where another's workers hold it too, closing is not enough
        self.pool.shutdown(wait=True, cancel_futures=True)
        os.close(self._end)


def start_workers(jobs: int | None = None, tasks: Mapping[str, Task] | None = None) -> Workers | None:
    """Workers, unless given as many as `$WEFT_JOBS` says or there are processors; none where there is no use or no way.

    A worker of Python's own pools may not have children.

    Raises:
        UsageError: the environment's number is negative.
    """
    jobs = _jobs() if jobs is None else jobs
    forks = "fork" in multiprocessing.get_all_start_methods() and not multiprocessing.current_process().daemon
    return Workers(jobs, tasks) if jobs > 1 and forks else None


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
    threading.Thread(target=_end_with_parent, args=(lifeline,), daemon=True).start()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _end_with_parent(lifeline: int) -> None:
    """Wait until nobody holds the other end of the pipe, or somebody writes to it."""
    with suppress(OSError):
        os.read(lifeline, 1)
    os._exit(1)

"""Where measuring happens: `run_job` in any pool of workers that takes functions as `concurrent.futures` does.

A worker is a thread or a process of the pool, on this machine or another. In each, the work is done by a process of its
own (`worker`), which may die or be late without harm to the pool; it lives on from job to job. So a pool of threads is
enough on one machine, and `dask.distributed.Client` or its like is a fleet.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any, Protocol, cast

from ..transforms.tir.scheduling.tuning_records import Status
from .jobs import Job, Measurement, NoMeasurement


class Future(Protocol):
    """What a pool gives for a call."""

    def result(self) -> Any: ...

    def cancel(self) -> Any: ...

    def add_done_callback(self, fn: Callable[[Any], object], /) -> Any: ...


class Pool(Protocol):
    """What measures: a `concurrent.futures.Executor`, a `dask.distributed.Client`, or anything else with `submit`."""

    def submit(self, fn: Callable[[Job], Measurement], /, *args: Any) -> Future: ...


START_S = 120.0
"""Seconds that a measuring process may take to begin: it imports Weft, on a machine with much else to do."""


class Child:
    """A measuring process. It ends when this object does, or when this process does, however it does."""

    def __init__(self) -> None:
        self.connection, other = Pipe()
        command = [sys.executable, "-m", "weft.tuning.worker", str(other.fileno())]
        try:
            # In a session of its own, so that Ctrl-C is for this process alone.
            self.process = subprocess.Popen(
                command, pass_fds=[other.fileno()], stdin=subprocess.DEVNULL, start_new_session=True
            )
        except OSError as error:
            raise NoMeasurement(f"a measuring process cannot be started: {error}") from error
        finally:
            other.close()
        self.end = weakref.finalize(self, _end, self.process, self.connection)
        self._has_begun = False
        _CHILDREN.add(self)

    def begin(self) -> None:
        """Wait until the process takes jobs. What keeps it from that is not to be blamed on a schedule.

        Raises:
            NoMeasurement: it has ended by itself, or does not begin.
            ConnectionError: it was ended.
        """
        if self._has_begun:
            return
        try:
            if not self.connection.poll(START_S):
                self.end()
                raise NoMeasurement(f"a measuring process has not begun after {START_S:g} seconds")
            self.connection.recv()
        except (EOFError, OSError) as error:
            code = self.process.wait()
            if code < 0:
                raise ConnectionError(_death(code)) from error
            why = f"a measuring process cannot begin: {_death(code)}; it is `{sys.executable} -m weft.tuning.worker`"
            raise NoMeasurement(why) from error
        self._has_begun = True

    def ask(self, job: Job) -> Measurement | None:
        """The answer; `None` where it is late. Then, and where the process has died, the process is no more.

        Raises:
            NoMeasurement: the process cannot measure.
            EOFError, OSError: it has died.
        """
        self.connection.send(job)
        if not self.connection.poll(job.effort.limit_s):
            return None
        answer = cast("Measurement | NoMeasurement", self.connection.recv())
        if isinstance(answer, NoMeasurement):
            raise answer
        return answer


_CHILDREN: weakref.WeakSet[Child] = weakref.WeakSet()


def end_children() -> None:
    """End the measuring processes of this process, whatever they are doing."""
    for child in list(_CHILDREN):
        child.process.kill()


def _end(process: subprocess.Popen[bytes], connection: Connection) -> None:
    connection.close()
    process.kill()
    process.wait()


_HERE = threading.local()


def run_job(job: Job) -> Measurement:
    """Have a job done, by the measuring process of this thread.

    Raises:
        NoMeasurement: this machine cannot do it.
        ConnectionError: the measuring process was ended before it could.
    """
    child: Child | None = getattr(_HERE, "child", None)
    if child is None or child.process.poll() is not None:
        child = _HERE.child = Child()
    child.begin()
    start = perf_counter()
    try:
        answer = child.ask(job)
    except (EOFError, OSError):
        code = child.process.wait()
        _HERE.child = None
        return Measurement(Status.DIED, message=_death(code), spent={"compile": perf_counter() - start})
    if answer is None:
        child.end()
        _HERE.child = None
        what = f"not done after {job.effort.limit_s:g} seconds"
        return Measurement(Status.LATE, message=what, spent={"time": perf_counter() - start})
    return answer


def _death(code: int) -> str:
    if code >= 0:
        return f"the process has ended with status {code}"
    try:
        return f"the process was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"the process was ended by signal {-code}"

"""Work in a process of its own, which may fail or hang: what builders and runners are made of."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection

from ..dialects.support.diagnostics import UsageError
from ..dialects.support.lifelines import end_with
from ..dialects.support.packed import get_global_func


@dataclass(frozen=True)
class Failure:
    """Why work has given nothing."""

    message: str


class NoFunctionError(UsageError, ValueError):
    """No function is registered under a name."""


def check_named(*functions: Callable[..., object] | str | None) -> None:
    """Whether something is registered under each of the names that are given instead of functions.

    Raises:
        NoFunctionError: nothing is.
    """
    for name in functions:
        if isinstance(name, str) and get_global_func(name, allow_missing=True) is None:
            raise NoFunctionError(f"no function is registered as {name!r}", hint="weft.register_func, or initializer=")


def function_of(given: Callable[..., object] | str) -> Callable[..., object]:
    """The function, or what is registered under its name."""
    if not isinstance(given, str):
        return given
    found = get_global_func(given)
    assert found is not None
    return found


def work_apart(work: Callable[[], object], seconds: float) -> object:
    """What `work` gives in a process of its own, or a `Failure`. The process is ended, with all that it has started,
    when its time is up."""
    context = get_context("fork")  # functions need not be found by their names in another process
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(work, ours, theirs))
    process.start()
    theirs.close()
    assert process.pid is not None
    result: object = None
    try:
        if not ours.poll(seconds):
            return Failure(f"Timeout, killed after {seconds} seconds")
        result = ours.recv()
    except EOFError:
        pass  # it is told below, with the code that the process ended with
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with what it has started; it has not been waited for yet
        process.kill()
        process.join()
        ours.close()
    if result is None:
        return Failure(f"An exception occurred\nthe process ended with {process.exitcode}")
    return result


def _work(work: Callable[[], object], ours: Connection, connection: Connection) -> None:
    os.setsid()
    ours.close()
    end_with(connection.fileno())
    try:
        result = work()
    except BaseException:
        result = Failure(f"An exception occurred\n{traceback.format_exc()}")
    connection.send(result)
    connection.close()
    os._exit(0)  # what the parent had open is the parent's

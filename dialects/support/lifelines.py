"""Processes that end with the one that needs them, however that ends.

    read, write = os.pipe()
    if os.fork() == 0:
        os.close(write)
        end_with(read)

The child holds an end of a pipe, or of a socket, whose other end its parent alone has. That closes when the parent
dies, whatever of, even where the system does not tell children of it. So nothing of the parent stays behind: not a
process, and not a pipe that a process holds open for those who read what the parent prints.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
from contextlib import suppress
from functools import partial

from .digests import start_thread

_PR_SET_PDEATHSIG = 1


def end_with(end: int, *, when_told: bool = False) -> None:
    """From now on, this process ends as soon as nobody has the other end of a pipe or a socket, or as soon as the
    thread dies that has started it (Linux). It ends at once, whatever it is doing.

    Args:
        end: the file descriptor of this process's end.
        when_told: it also ends when something can be read there.
    """
    start_thread(partial(_wait_and_end, end, select.POLLIN if when_told else 0), "weft-lifeline")
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _wait_and_end(end: int, events: int) -> None:
    poller = select.poll()
    poller.register(end, events)
    poller.poll()
    os._exit(1)

"""Programs on their way to disk, beginning with their constants, while code is still being generated for them; large
ones until after their compilations are done. Who looks on disk in the same process waits for these (`settle`), and so
do the next compilation, which forks workers where it is the only thread, and the end of the process. Writers take what
processors have left.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakSet

from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.digests import start_thread
from ..dialects.support.file_cache import PROGRAM_SUFFIX, FileCache
from . import artefact

if TYPE_CHECKING:
    from ..lowering.abi import CompiledGraph, NDArray

WRITER = "weft-keep"
"""What threads are called that write programs to disk."""
BEHIND = 1 << 26
"""Compilations do not wait until more bytes than this are written."""
_NICEST = 19
_behind: WeakSet[ProgramWriter] = WeakSet()
"""Whom their compilations did not wait for, while they write; what they have written is not held on to."""
_registering = threading.Lock()


def kept_bytes(graph: CompiledGraph) -> int:
    """How much there is to keep of a graph."""
    return sum(map(len, (*graph.objects, *graph.images))) + sum(array.nbytes for array in graph.constants)


class ProgramWriter:
    """A program that is being written to disk by a thread: its constants, and the rest of it when that is there. Not
    one that would drive out most of what is kept.

    Args:
        key: what the program is known by.
        constants: those of the graph that it `end`s with.
    """

    def __init__(self, key: str, constants: Sequence[NDArray]):
        self._rest: Future[CompiledGraph] = Future()
        self._cache = FileCache.from_environment()
        self._thread: threading.Thread | None = None
        if self._cache is not None and sum(each.nbytes for each in constants) <= self._cache.limit // 2:
            self._thread = start_thread(partial(self._write, key, constants, self._cache), WRITER)

    def _write(self, key: str, constants: Sequence[NDArray], cache: FileCache) -> None:
        with suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICEST)
        with suppress(OSError, Diagnostic, CancelledError):
            path = cache.room(key + PROGRAM_SUFFIX)
            artefact.save_as_known(constants, self._rest.result, path, kept_as=key)
            cache.keep_within_limit(path)

    def end(self, graph: CompiledGraph | None) -> None:
        """Have what lacks written, if there is a graph; else wait until nothing is there."""
        if self._rest.done():
            return
        if graph is None or self._thread is None or self._cache is None or kept_bytes(graph) > self._cache.limit // 2:
            self._rest.cancel()
        else:
            self._rest.set_result(graph)
            if kept_bytes(graph) > BEHIND:
                with _registering:
                    _behind.add(self)
                return
        self.wait()

    def wait(self) -> None:
        """Wait until nothing more is written."""
        if self._thread is not None:
            self._thread.join()


def settle() -> None:
    """Wait for all that is being written."""
    with _registering:
        writers = list(_behind)
    for writer in writers:
        writer.wait()


@atexit.register
def _settle_at_exit() -> None:
    with suppress(KeyboardInterrupt):  # what was begun has no name yet, and is gone with the process
        settle()

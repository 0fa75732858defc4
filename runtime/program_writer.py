"""Programs on their way to disk, beginning with their constants, while code is still being generated for them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.file_cache import PROGRAM_SUFFIX, FileCache
from . import artefact

if TYPE_CHECKING:
    from ..lowering.abi import CompiledGraph, NDArray

WRITER = "weft-keep"
"""What threads are called that write programs to disk."""


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
        self._thread: Thread | None = None
        if self._cache is not None and sum(each.nbytes for each in constants) <= self._cache.limit // 2:
            self._thread = Thread(target=self._write, args=(key, constants, self._cache), name=WRITER, daemon=True)
            self._thread.start()

    def _write(self, key: str, constants: Sequence[NDArray], cache: FileCache) -> None:
        with suppress(OSError, Diagnostic, CancelledError):
            artefact.save_as_known(constants, self._rest.result, cache.room(key + PROGRAM_SUFFIX), kept_as=key)

    def end(self, graph: CompiledGraph | None) -> None:
        """Wait until all is written, if there is a graph; else until nothing of it is there."""
        if self._rest.done():
            return
        if graph is None or self._cache is None or kept_bytes(graph) > self._cache.limit // 2:
            self._rest.cancel()
        else:
            self._rest.set_result(graph)
        if self._thread is not None:
            self._thread.join()
            if graph is not None and self._cache is not None:
                self._cache.trim()

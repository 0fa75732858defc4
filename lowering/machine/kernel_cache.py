"""Compiled kernels that are kept, found by their content: in memory for this process, and on disk for all.

An object is kept under a hash of the text that it was compiled from, the target, the optimisation level, the version of
LLVM, and how it is asked: what is found is what would be compiled. The text is that of one kernel, whatever graph it is
of and wherever it stands there; so kernels are shared by the layers of a model, by models, and by processes. Beside the
objects stand kernels as LLVM IR, found by what they were lowered from (`kernel_memo`), and whole programs, found by
the model (`weft.kept_programs`), with the same care, which is that of `support.file_cache`.
"""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from functools import cache
from pathlib import Path
from threading import Lock

from ...dialects.support.file_cache import LOWERED_SUFFIX as LOWERED_SUFFIX
from ...dialects.support.file_cache import MEGABYTE as MEGABYTE
from ...dialects.support.file_cache import CacheCounts as CacheCounts
from ...dialects.support.file_cache import FileCache
from . import binding, half_floats
from .binding import version
from .target import Target


class KernelCache(FileCache):
    """The files, with names for object code."""

    @staticmethod
    def key(text: str, target: Target, opt_level: int) -> str:
        """The name under which the object of this module is stored."""
        parts = (version(), _code_generator(), str(target.resolved()), str(opt_level), text)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@cache
def _code_generator() -> str:
    """A digest of what has LLVM make an object of a text: another version of it may ask for another one."""
    texts = [Path(binding.__file__).read_bytes(), half_floats.CONVERSIONS.encode()]
    return hashlib.sha256(b"".join(texts)).hexdigest()


class MemoryCache:
    """Objects in this process's memory: those used last, as far as they are within the limit."""

    def __init__(self, limit: int):
        self._limit = limit
        self._objects: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._unlock)

    def _unlock(self) -> None:
        """Another thread may have had the lock when this process was forked."""
        self._lock = Lock()

    def get(self, key: str) -> bytes | None:
        """The object of a key, if it is kept."""
        with self._lock:
            if key in self._objects:
                self._objects.move_to_end(key)
            return self._objects.get(key)

    def put(self, key: str, object_file: bytes) -> None:
        """Keep an object."""
        with self._lock:
            if key not in self._objects:
                self._objects[key] = object_file
                self._bytes += len(object_file)
            self._objects.move_to_end(key)
            while self._bytes > self._limit:
                _, dropped = self._objects.popitem(last=False)
                self._bytes -= len(dropped)

    def clear(self) -> None:
        """Drop all."""
        with self._lock:
            self._objects.clear()
            self._bytes = 0

    def __len__(self) -> int:
        return len(self._objects)


IN_MEMORY = MemoryCache(128 * MEGABYTE)
"""What the compilations of this process share."""

"""Compiled kernels that are kept, found by their content: in memory for this process, and on disk for all.

An object is kept under a hash of the text that it was compiled from, the target, the optimisation level, and the
version of LLVM: what is found is what would be compiled. The text is that of one kernel, whatever graph it is of and
wherever it stands there; so kernels are shared by the layers of a model, by models, and by processes. Beside the
objects stand kernels as LLVM IR, found by what they were lowered from (`kernel_memo`), with the same care.

On disk several processes may write at once, and any of them may end at any moment: a file appears whole, by renaming,
and what a writer has left behind is swept away an hour later. A directory that grows beyond its limit loses what was
used longest ago. One that cannot be written is no error, and a file that was damaged is compiled over.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from ...dialects.support import knobs
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.files import replacing
from .binding import version
from .target import Target


@dataclass
class CacheCounts:
    """Where the object code of a compilation came from; that of equal kernels counts once. `known` are the kernels that
    did not have to be lowered, as their LLVM IR was known."""

    memory: int = 0
    disk: int = 0
    compiled: int = 0
    known: int = 0

    def __str__(self) -> str:
        return f"{self.compiled} compiled, {self.disk} from disk, {self.memory} from memory; {self.known} not lowered"


@dataclass(frozen=True)
class Entry:
    """A kept object: its file, its bytes, and when it was last used, in seconds since 1970."""

    path: Path
    bytes: int
    used: float


class KernelCache:
    """Objects in a directory, which is made when the first is stored.

    Args:
        directory: where.
        limit: the bytes that `trim` leaves at most; what `$WEFT_CACHE_LIMIT` says, unless given.
    """

    def __init__(self, directory: Path, limit: int | None = None):
        self.directory = directory
        self._limit = limit

    @staticmethod
    def from_environment() -> KernelCache | None:
        """The cache in `$WEFT_CACHE_DIR`; none where that is not set.

        Raises:
            UsageError: it begins with the home directory of a user whom there is not; or the limit is negative.
        """
        directory = knobs.CACHE_DIR.get()
        if not directory:
            return None
        try:
            cache = KernelCache(Path(directory).expanduser() / "kernels")
        except RuntimeError as error:
            variable = knobs.CACHE_DIR.variable
            raise UsageError(f"${variable} is '{directory}', which is no directory: {error}".rstrip(".")) from None
        _ = cache.limit  # which is refused here rather than when kernels have been compiled
        return cache

    @property
    def limit(self) -> int:
        """The bytes that are kept at most.

        Raises:
            UsageError: the environment's is no number of them.
        """
        limit = knobs.CACHE_LIMIT.get() * MEGABYTE if self._limit is None else self._limit
        if limit < 0:
            raise UsageError(f"${knobs.CACHE_LIMIT.variable} is negative")
        return limit

    @staticmethod
    def key(text: str, target: Target, opt_level: int) -> str:
        """The name under which the object of this module is stored."""
        parts = (version(), str(target.resolved()), str(opt_level), text)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def get(self, key: str) -> bytes | None:
        """The object stored under a key, if it is there and whole."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        digest, object_file = data[:_DIGEST], data[_DIGEST:]
        if digest != hashlib.sha256(object_file).digest():
            return None
        with suppress(OSError):
            os.utime(path)
        return object_file

    def put(self, key: str, object_file: bytes) -> None:
        """Store an object; without a word where the directory cannot be written."""
        path = self._path(key)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path, mode=0o600) as file:
                file.write(hashlib.sha256(object_file).digest() + object_file)

    def objects(self) -> Iterator[Entry]:
        """The compiled kernels, in no order."""
        return (entry for entry in self.entries() if _is_object(entry.path))

    def entries(self) -> Iterator[Entry]:
        """What is stored, in no order."""
        for path in self._files():
            if not path.name.startswith("."):
                with suppress(OSError):
                    status = path.stat()
                    yield Entry(path, status.st_size, status.st_mtime)

    def trim(self) -> int:
        """Remove what was used longest ago, until the rest is within the limit, and what writers that were killed have
        left. Gives how many compiled kernels were removed."""
        for path in self._files():
            with suppress(OSError):
                if path.name.startswith(".") and path.stat().st_mtime < time.time() - _ABANDONED:
                    path.unlink()
        limit = self.limit
        entries = sorted(self.entries(), key=lambda entry: entry.used)
        total, removed = sum(entry.bytes for entry in entries), 0
        for entry in entries:
            if total <= limit:
                break
            with suppress(OSError):
                entry.path.unlink()
                removed += _is_object(entry.path)
            total -= entry.bytes
        return removed

    def clear(self) -> int:
        """Remove all; gives how many compiled kernels there were."""
        removed = 0
        for path in list(self._files()):
            with suppress(OSError):
                path.unlink()
                removed += _is_object(path)
        return removed

    def _files(self) -> Iterator[Path]:
        with suppress(OSError):
            for folder in self.directory.iterdir():
                with suppress(OSError):
                    yield from (path for path in folder.iterdir() if path.is_file())

    def _path(self, key: str) -> Path:
        return self.directory / key[:2] / key[2:]


def _is_object(path: Path) -> bool:
    return not path.name.startswith(".") and path.suffix != LOWERED_SUFFIX


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


MEGABYTE = 1 << 20
IN_MEMORY = MemoryCache(128 * MEGABYTE)
"""What the compilations of this process share."""

LOWERED_SUFFIX = ".lowered"
"""Ends the names of kernels that are kept as LLVM IR, beside the objects."""
_DIGEST = hashlib.sha256().digest_size
_ABANDONED = 3600.0
"""Seconds after which a file that was not renamed is nobody's any more."""

"""Files that are kept, found by their content, in the directory that `$WEFT_CACHE_DIR` names.

Several processes may write at once, and any of them may end at any moment: a file appears whole, by renaming, and what
a writer has left behind is swept away an hour later. A directory that grows beyond its limit loses what was used
longest ago: each process looks through it when it first stores something there, and then each time that it has stored a
sixty-fourth of the limit. One that cannot be written is no error, and a file that was damaged is made again, or one
that stands under another's name.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from . import knobs
from .diagnostics import UsageError
from .files import replacing

MEGABYTE = 1 << 20
LOWERED_SUFFIX = ".lowered"
"""Ends the names of kernels that are kept as LLVM IR, beside the objects."""

PROGRAM_SUFFIX = ".weft"
"""Ends the names of whole programs, which are artefacts."""

FACTS_SUFFIX = ".facts"
"""Ends the names of what was read out of files once: of large ones of models, and of the modules of the compiler."""

_DIGEST_BYTES = hashlib.sha256().digest_size
_HOUR = 3600.0
"""Seconds; after one, a file that was not renamed is nobody's any more."""
_PARTS = 64
"""One part in so many of the limit is stored between two looks through a directory."""
_since_trimmed: dict[Path, int] = {}
"""The bytes that this process has stored in each directory since it last looked through it."""


@dataclass
class CacheCounts:
    """Where the object code of a compilation came from; that of equal kernels counts once. `known` are the kernels that
    did not have to be lowered, as their LLVM IR was known. Where the whole program was known, `whole` says from where,
    `disk` or `memory`, and nothing was looked for beside it."""

    memory: int = 0
    disk: int = 0
    compiled: int = 0
    known: int = 0
    whole: str = ""

    def __str__(self) -> str:
        if self.whole:
            return f"the whole program from {self.whole}"
        return f"{self.compiled} compiled, {self.disk} from disk, {self.memory} from memory; {self.known} not lowered"


@dataclass(frozen=True)
class Entry:
    """A kept object: its file, its bytes, and when it was last used, in seconds since 1970."""

    path: Path
    bytes: int
    used: float


class FileCache:
    """Objects in a directory, which is made when the first is stored.

    Args:
        directory: where.
        limit: the bytes that `trim` leaves at most; what `$WEFT_CACHE_LIMIT` says, unless given.
    """

    def __init__(self, directory: Path, limit: int | None = None):
        self.directory = directory
        self._limit = limit

    @classmethod
    def from_environment(cls) -> Self | None:
        """The cache in `$WEFT_CACHE_DIR`; none where that is set to nothing, or where it is not set and this user has
        no directory of that kind.

        Raises:
            UsageError: it begins with the home directory of a user whom there is not, or with a file that is no
                directory; or the limit is negative.
        """
        directory = knobs.CACHE_DIR.get()
        if not directory:
            return None
        is_default = directory == knobs.CACHE_DIR.default
        try:
            place = Path(directory.replace("$XDG_CACHE_HOME", knobs.XDG_CACHE_HOME.get()) if is_default else directory)
            place = place.expanduser()
        except RuntimeError as error:
            if is_default:
                return None
            variable = knobs.CACHE_DIR.variable
            raise UsageError(f"${variable} is '{directory}', which is no directory: {error}".rstrip(".")) from None
        cache = cls(place / "kernels")
        if not is_default and (file := _file_in_the_way(cache.directory)) is not None:
            raise UsageError(f"${knobs.CACHE_DIR.variable} is '{directory}', and '{file}' is no directory")
        if is_default and not (_is_there(cache.directory.parents[1]) and _is_own(cache.directory)):
            return None
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

    def get(self, key: str) -> bytes | None:
        """The object stored under a key, if it is there and whole."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        digest, object_file = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
        if digest != _digest(key, object_file):
            return None
        with suppress(OSError):
            os.utime(path)
        return object_file

    def path(self, key: str) -> Path:
        """Where a file is kept that knows by itself whether it is whole, and what it is kept as."""
        return self._path(key)

    def room(self, key: str) -> Path:
        """The same, to write it.

        Raises:
            OSError: the directory cannot be written.
        """
        self._make_folder(self._path(key))
        return self._path(key)

    def _make_folder(self, path: Path) -> None:
        """The folder of a file; others may not look into the directory, which holds code that is run."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.mkdir(exist_ok=True)

    def put(self, key: str, object_file: bytes) -> None:
        """Store an object; without a word where the directory cannot be written."""
        path = self._path(key)
        with suppress(OSError):
            self._make_folder(path)
            with replacing(path, mode=0o600) as file:
                file.write(_digest(key, object_file) + object_file)
            self._note(_DIGEST_BYTES + len(object_file))

    def _note(self, stored: int) -> None:
        if self.directory in _since_trimmed:
            _since_trimmed[self.directory] += stored

    def objects(self) -> Iterator[Entry]:
        """The compiled kernels, in no order."""
        return (entry for entry in self.entries() if _is_object(entry.path))

    def programs(self) -> Iterator[Entry]:
        """The compiled models, in no order."""
        return (entry for entry in self.entries() if entry.path.suffix == PROGRAM_SUFFIX)

    def entries(self) -> Iterator[Entry]:
        """What is stored, in no order."""
        return (entry for entry in self._files() if not _is_unfinished(entry))

    def keep_within_limit(self, written: str | Path | None = None) -> None:
        """`trim`, where this process has stored so much that the directory may have grown beyond its limit. `written`
        is what was stored last where that was not by `put`: the file in the `room` of it."""
        if written is not None:
            with suppress(OSError):
                self._note(os.stat(written).st_size)
        if _since_trimmed.get(self.directory, self.limit) * _PARTS >= self.limit:
            self.trim()

    def trim(self) -> int:
        """Remove what was used longest ago, until the rest is within the limit, and what writers that were killed have
        left. Gives how many compiled kernels and programs were removed."""
        _since_trimmed[self.directory] = 0
        limit, found = self.limit, list(self._files())
        for entry in found:
            if _is_unfinished(entry) and entry.used < time.time() - _HOUR:
                with suppress(OSError):
                    entry.path.unlink()
        entries = sorted((each for each in found if not _is_unfinished(each)), key=lambda entry: entry.used)
        total, removed = sum(entry.bytes for entry in entries), 0
        for entry in entries:
            if total <= limit:
                break
            with suppress(OSError):
                entry.path.unlink()
                removed += _is_counted(entry.path)
            total -= entry.bytes
        return removed

    def clear(self) -> int:
        """Remove all; gives how many compiled kernels and programs there were."""
        removed = 0
        for entry in list(self._files()):
            with suppress(OSError):
                entry.path.unlink()
                removed += _is_counted(entry.path)
        return removed

    def _files(self) -> Iterator[Entry]:
        """All files, those among them that are being written."""
        with suppress(OSError), os.scandir(self.directory) as folders:
            for folder in folders:
                with suppress(OSError), os.scandir(folder) as files:
                    for file in files:
                        with suppress(OSError):
                            if file.is_file():
                                status = file.stat()
                                yield Entry(Path(file.path), status.st_size, status.st_mtime)

    def _path(self, key: str) -> Path:
        return self.directory / key[:2] / key[2:]


def mark_used(path: Path) -> None:
    """Note that a file, which is known by its times too, was used just now. Within an hour of its last use that is no
    news, and it is left alone."""
    with suppress(OSError):
        if path.stat().st_mtime < time.time() - _HOUR:
            os.utime(path)


def _digest(key: str, object_file: bytes) -> bytes:
    """What tells whether a file is whole, and stands under its own key."""
    return hashlib.sha256(b"%d %s %s" % (len(key), key.encode(), object_file)).digest()


def _is_there(kept: Path) -> bool:
    """Whether `~/.cache`, or what is said in its place, is there or can be: a home is not made here, and a place that
    depends on where a process was started is not the user's."""
    return kept.is_absolute() and kept.parent.is_dir()


def _file_in_the_way(place: Path) -> Path | None:
    """The nearest of a directory and those that it stands in that there is, if that is a file."""
    nearest = next((each for each in (place, *place.parents) if os.path.exists(each)), None)
    return None if nearest is None or os.path.isdir(nearest) else nearest


def _is_own(place: Path) -> bool:
    """Whether the directory, or that which it would stand in, is this user's: root with the home of somebody else
    leaves nothing there, and runs nothing from there."""
    for each in (place, *place.parents):
        with suppress(OSError):
            return each.stat().st_uid == os.geteuid()
    return False


def _is_unfinished(entry: Entry) -> bool:
    """Whether it is being written, or whoever wrote it was killed."""
    return entry.path.name.startswith(".")


def _is_counted(path: Path) -> bool:
    return _is_object(path) or path.suffix == PROGRAM_SUFFIX


def _is_object(path: Path) -> bool:
    return not path.name.startswith(".") and path.suffix not in (LOWERED_SUFFIX, PROGRAM_SUFFIX, FACTS_SUFFIX)

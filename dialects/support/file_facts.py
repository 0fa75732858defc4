"""What was found in large files, known as long as they are left alone: in a process, and in all that share a cache."""

from __future__ import annotations

import json
import os
import time
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

from .file_cache import FACTS_SUFFIX, FileCache

if TYPE_CHECKING:
    from pathlib import Path

Identity: TypeAlias = tuple[object, ...]
Json: TypeAlias = "bool | int | str | list[Json] | None"

LARGE = 1 << 24
"""Bytes of a file that take a while to read."""

_SETTLED = 3.0
"""Seconds after which a file's time tells of the next change, whatever the file system counts time in."""


def identity(path: Path, status: os.stat_result) -> Identity:
    """What tells a file, as it is now, from all others."""
    return str(path.absolute()), *looks_of(status)


def looks_of(status: os.stat_result) -> Identity:
    """What a change to a file changes, once it is settled."""
    return status.st_ino, status.st_dev, status.st_size, *_times(status)


def is_settled(status: os.stat_result) -> bool:
    """Whether a file was left alone for so long that its times tell of the next change."""
    return max(status.st_mtime, status.st_ctime) < time.time() - _SETTLED


def _times(status: os.stat_result) -> tuple[int, int]:
    """When a file was written, as it says, and when it was touched at all: what copies files sets the one anew."""
    return status.st_mtime_ns, status.st_ctime_ns


class FileFacts:
    """What is found in files by one way of reading them.

    Args:
        reading: names the way, and how what is found is written down; another name knows nothing of this one's.
    """

    def __init__(self, reading: str):
        self.reading = reading
        self._found: dict[Identity, Json] = {}

    def of(self, path: Path, status: os.stat_result) -> Json:
        """What was found in a file whose status is `status`, by this process or another; `None` if nothing was."""
        known = identity(path, status)
        if known not in self._found and (cache := _cache(status)) is not None:
            if (kept := cache.get(self._key(known))) is not None:
                self._found[known] = json.loads(kept)
        return self._found.get(known)

    def remember(self, path: Path, status: os.stat_result, found: Json) -> None:
        """Remember what was `found` in a file that had this status before it was read; unless it was written to
        meanwhile, or so short a time before that its times might not tell."""
        if not is_settled(status) or _times(path.stat()) != _times(status):
            return
        known = identity(path, status)
        self._found[known] = found
        if (cache := _cache(status)) is not None:
            cache.put(self._key(known), json.dumps(found).encode())

    def forget(self) -> None:
        """Forget what this process knows."""
        self._found.clear()

    def _key(self, known: Identity) -> str:
        return sha256(repr((self.reading, known)).encode()).hexdigest() + FACTS_SUFFIX


def is_large(status: os.stat_result) -> bool:
    """Whether a file takes a while to read."""
    return status.st_size >= LARGE


def _cache(status: os.stat_result) -> FileCache | None:
    """Where what was found in a file is kept for other processes."""
    return FileCache.from_environment() if is_large(status) else None

"""The files of a model: their digests, and those that they name, read once in a process as long as they stay alone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, TypeVar, cast

from .digests import Digest

T = TypeVar("T")
_EXTERNAL = b"\x0a\x08location"
"""How an entry of ONNX begins that names a file with the data of a tensor."""


class Unknown(Exception):
    """It cannot be said what a program depends on."""


def external_files(path: Path) -> tuple[str, ...]:
    """The files beside an ONNX model that hold data of its tensors.

    Raises:
        Unknown: they are named in a way that is not read here.
    """
    if (names := _read_once(path, _facts)[1]) is None:
        raise Unknown
    return names


def digest_of(path: Path) -> str:
    """SHA-256 of a file."""
    return _read_once(path, _facts)[0]


def _facts(file: IO[bytes]) -> tuple[str, tuple[str, ...] | None]:
    """The digest of a file, and the external files that it names if it is an ONNX model."""
    names, before = set[str](), b""
    readable = True
    with Digest() as digest:
        while piece := file.read(1 << 20):
            digest.update(piece)
            piece = before + piece
            at = piece.find(_EXTERNAL)
            while at >= 0:
                end = at + len(_EXTERNAL)
                held = piece[end : end + 130]
                if len(held) < 130:
                    here = file.tell()
                    held += file.read(130 - len(held))
                    file.seek(here)
                if len(held) < 2 or held[0] != 0x12 or held[1] > 0x7F:
                    readable = False
                else:
                    names.add(held[2 : 2 + held[1]].decode(errors="replace"))
                at = piece.find(_EXTERNAL, end)
            before = piece[len(piece) - len(_EXTERNAL) + 1 :]
    return digest.hexdigest(), tuple(sorted(names)) if readable else None


def _read_once(path: Path, read: Callable[[IO[bytes]], T]) -> T:
    """What a function reads out of a file; where it has read it already, and the file was left alone since, what it
    found then."""
    status = path.stat()
    identity = (read, str(path.absolute()), status.st_ino, status.st_dev, status.st_size, *_times(status))
    if identity in _KNOWN_FILES:
        return cast("T", _KNOWN_FILES[identity])
    with open(path, "rb") as file:
        found = read(file)
    if max(status.st_mtime, status.st_ctime) < time.time() - _SETTLED and _times(path.stat()) == _times(status):
        _KNOWN_FILES[identity] = found
    return found


def _times(status: os.stat_result) -> tuple[int, int]:
    """When a file was written, as it says, and when it was touched at all: what copies files sets the one anew."""
    return status.st_mtime_ns, status.st_ctime_ns


_KNOWN_FILES: dict[tuple[object, ...], object] = {}
_SETTLED = 10.0
"""Seconds after which a file's time tells of the next change, whatever the file system counts time in."""

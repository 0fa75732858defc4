"""The files of a model: their digests, and those that they name, read once as long as they stay alone: in a process,
and, where a file is large, by all processes that share a cache."""

from __future__ import annotations

import json
import os
import time
from hashlib import sha256
from pathlib import Path
from typing import IO, TypeAlias

from .digests import BLOCK, Digest
from .file_cache import FACTS_SUFFIX, FileCache

_Facts: TypeAlias = tuple[str, tuple[str, ...] | None]
"""The digest of a file, and the files that it names; `None` where that cannot be said."""

_Identity: TypeAlias = tuple[object, ...]

_FORMAT = 2
"""Raised whenever other facts are found in a file, or they are written in another way."""

LARGE = 1 << 24
"""Bytes of a file that take a while to read."""

_EXTERNAL = b"\x0a\x08location"
"""How an entry of ONNX begins that names a file with the data of a tensor."""


class Unknown(Exception):
    """It cannot be said what a program depends on."""


def external_files(path: Path) -> tuple[str, ...]:
    """The files beside an ONNX model that hold data of its tensors.

    Raises:
        Unknown: they are named in a way that is not read here.
    """
    if (names := _read_once(path)[1]) is None:
        raise Unknown
    return names


def digest_of(path: Path) -> str:
    """The digest of a file's bytes."""
    return _read_once(path)[0]


def takes_long(path: Path) -> bool:
    """Whether the digest of a file takes a while: it is large, and nobody has read it yet."""
    status = path.stat()
    return status.st_size >= LARGE and _known(_identity(path, status), status) is None


def _facts(file: IO[bytes]) -> _Facts:
    """The digest of a file, and the external files that it names if it is an ONNX model."""
    names, before = set[str](), b""
    readable = True
    with Digest() as digest:
        while piece := file.read(BLOCK):
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


def _read_once(path: Path) -> _Facts:
    """What is said of a file; where it was read already, and the file was left alone since, what was found then."""
    status = path.stat()
    identity = _identity(path, status)
    if (known := _known(identity, status)) is not None:
        return known
    with open(path, "rb") as file:
        found = _facts(file)
    if max(status.st_mtime, status.st_ctime) < time.time() - _SETTLED and _times(path.stat()) == _times(status):
        _KNOWN_FILES[identity] = found
        if (cache := _cache(status)) is not None:
            cache.put(_key(identity), json.dumps(found).encode())
    return found


def _known(identity: _Identity, status: os.stat_result) -> _Facts | None:
    """What was found in a file before, by this process or another."""
    if identity not in _KNOWN_FILES and (cache := _cache(status)) is not None:
        if (kept := cache.get(_key(identity))) is not None:
            digest, names = json.loads(kept)
            _KNOWN_FILES[identity] = (digest, None if names is None else tuple(names))
    return _KNOWN_FILES.get(identity)


def _cache(status: os.stat_result) -> FileCache | None:
    """Where the facts of a file are kept for other processes."""
    return FileCache.from_environment() if status.st_size >= LARGE else None


def _key(identity: _Identity) -> str:
    return sha256(repr((_FORMAT, identity)).encode()).hexdigest() + FACTS_SUFFIX


def _identity(path: Path, status: os.stat_result) -> _Identity:
    """What tells a file, as it is now, from all others."""
    return str(path.absolute()), status.st_ino, status.st_dev, status.st_size, *_times(status)


def _times(status: os.stat_result) -> tuple[int, int]:
    """When a file was written, as it says, and when it was touched at all: what copies files sets the one anew."""
    return status.st_mtime_ns, status.st_ctime_ns


_KNOWN_FILES: dict[_Identity, _Facts] = {}
_SETTLED = 10.0
"""Seconds after which a file's time tells of the next change, whatever the file system counts time in."""

"""The files of a model: their digests, and those that they name, read once while they stay alone (`file_facts`)."""

from __future__ import annotations

import os
from contextlib import suppress
from mmap import ACCESS_READ, mmap
from pathlib import Path
from stat import S_ISREG
from typing import IO, TypeAlias, cast

from .digests import Digest
from .file_facts import FileFacts, is_large
from .onnx_fields import Unusual, without_weights

_Facts: TypeAlias = tuple[str, tuple[str, ...] | None]
"""The digest of a file, and the files that it names; `None` where that cannot be said."""

FACTS = FileFacts("digest and external files, 3")
"""What is found in files; the number is raised whenever other facts are, or they are written in another way."""

_EXTERNAL = b"\x0a\x08location"
"""How an entry of ONNX begins that names a file with the data of a tensor."""


_BLOCK = 1 << 25
"""Bytes of the blocks of a file's digest. The compiler is imported meanwhile, and who has taken the digest of one waits
until the import lets others have the interpreter, some milliseconds: as long as a block of 4 MiB takes."""


class Unknown(Exception):
    """It cannot be said what a program depends on."""


def external_files(path: Path) -> tuple[str, ...]:
    """The files beside an ONNX model that hold data of its tensors.

    Raises:
        Unknown: they are named in a way that is not read here, or the model is no ordinary file.
    """
    if (names := _read_once(path)[1]) is None:
        raise Unknown
    return names


def digest_of(path: Path) -> str:
    """The digest of a file's bytes.

    Raises:
        Unknown: it is no ordinary file.
    """
    return _read_once(path)[0]


def takes_long(path: Path) -> bool:
    """Whether the digest of a file takes a while: it is large, and nobody has read it yet."""
    status = path.stat()
    return is_large(status) and FACTS.of(path, status) is None


def _facts(file: IO[bytes]) -> _Facts:
    """The digest of a file, and the external files that it names if it is an ONNX model."""
    large = is_large(os.fstat(file.fileno()))
    data = mmap(file.fileno(), 0, access=ACCESS_READ) if large else file.read()
    with Digest(_BLOCK) as digest:
        digest.update(data)
    names = _named(data)
    return digest.hexdigest(), names if names is None else tuple(sorted(names))


def _named(data: bytes | mmap) -> set[str] | None:
    """The external files that are named in a file; `None` where they are named in a way that is not read here. The
    weights of a model are not looked through."""
    searched: bytes | mmap = data
    with suppress(Unusual), memoryview(data) as view:
        searched, _ = without_weights(view)
    names = set[str]()
    at = searched.find(_EXTERNAL)
    while at >= 0:
        end = at + len(_EXTERNAL)
        held = searched[end : end + 130]
        if len(held) < 2 or held[0] != 0x12 or held[1] > 0x7F:
            return None
        names.add(held[2 : 2 + held[1]].decode(errors="replace"))
        at = searched.find(_EXTERNAL, end)
    return names


def _read_once(path: Path) -> _Facts:
    """What is said of a file; where it was read already, and the file was left alone since, what was found then.

    Raises:
        Unknown: it is no ordinary file. A pipe would be waited for and gives its bytes once; a device may never end.
    """
    status = path.stat()
    if not S_ISREG(status.st_mode):
        raise Unknown
    if (known := FACTS.of(path, status)) is not None:
        digest, names = cast("tuple[str, list[str] | None]", known)
        return digest, None if names is None else tuple(names)
    with open(path, "rb") as file:
        digest, names = _facts(file)
    FACTS.remember(path, status, [digest, None if names is None else list(names)])
    return digest, names

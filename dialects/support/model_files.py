"""The files of a model: their digests, and those that they name, read once while they stay alone (`file_facts`)."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TypeAlias, cast

from .digests import BLOCK, Digest
from .file_facts import FileFacts, is_large

_Facts: TypeAlias = tuple[str, tuple[str, ...] | None]
"""The digest of a file, and the files that it names; `None` where that cannot be said."""

FACTS = FileFacts("digest and external files, 2")
"""What is found in files; the number is raised whenever other facts are, or they are written in another way."""

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
    return is_large(status) and FACTS.of(path, status) is None


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
    if (known := FACTS.of(path, status)) is not None:
        digest, names = cast("tuple[str, list[str] | None]", known)
        return digest, None if names is None else tuple(names)
    with open(path, "rb") as file:
        digest, names = _facts(file)
    FACTS.remember(path, status, [digest, None if names is None else list(names)])
    return digest, names

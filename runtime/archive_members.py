"""The members of an artefact's archive, read into memory of their own."""

from __future__ import annotations

import os
import struct
import zipfile
from contextlib import suppress
from threading import Thread
from typing import IO, cast

from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.digests import BLOCK, Digest
from .memory import aligned_bytes


class ArtefactError(Diagnostic):
    """A file is not a saved executable, is damaged, or is of another version."""


def place(archive: zipfile.ZipFile, file: IO[bytes], name: str) -> memoryview:
    """Aligned memory for a member, which `file` stands before then: it is stored as it is, since nothing is
    compressed."""
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
        raise ArtefactError(f"'{name}' is compressed or encrypted, which Weft does not write")
    if info.file_size > os.fstat(file.fileno()).st_size:
        raise ArtefactError(f"'{name}' is longer than the file")
    file.seek(info.header_offset)
    header = struct.unpack("<4s22xHH", file.read(30))
    if header[0] != b"PK\3\4":
        raise ArtefactError(f"'{name}' is not where the archive says")
    file.seek(header[1] + header[2], os.SEEK_CUR)
    return aligned_bytes(info.file_size).data


def read_member(archive: zipfile.ZipFile, file: IO[bytes], name: str) -> tuple[memoryview, str]:
    """The bytes of a member, in aligned memory, and their digest."""
    memory = place(archive, file, name)
    with Digest() as digest:
        for start in range(0, len(memory), BLOCK):
            piece = memory[start : start + BLOCK]
            if cast("int", file.readinto(piece)) != len(piece):  # type: ignore[attr-defined]
                raise ArtefactError(f"'{name}' is cut off")
            digest.update(piece)
    return memory, digest.hexdigest()


def fill(file: IO[bytes], memory: memoryview, name: str) -> None:
    """Read the bytes that follow into `memory`, by two threads: whoever reads gives new memory its pages as well."""
    begin, read = file.tell(), [0, 0]

    def run(part: int) -> None:
        with suppress(OSError):
            for start in range(part * BLOCK, len(memory), 2 * BLOCK):
                read[part] += os.preadv(file.fileno(), [memory[start : start + BLOCK]], begin + start)

    other = Thread(target=run, args=(1,), name="weft-read", daemon=True)
    other.start()
    run(0)
    other.join()
    if sum(read) != len(memory):
        raise ArtefactError(f"'{name}' is cut off")

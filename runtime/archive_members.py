"""The members of an artefact's archive, read into memory of their own.

An archive is ZIP, of members that are stored as they are (PKWARE's APPNOTE 6.3, with its extensions for large files).
What of it Weft writes is read here, for Python's `zipfile` takes as long to import as an artefact to load.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from typing import BinaryIO, Self

from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.digests import BLOCK, digest_of_blocks, start_thread
from .memory import aligned_bytes


class ArtefactError(Diagnostic):
    """A file is not a saved executable, is damaged, or is of another version."""


_END, _END_64, _LOCATOR = struct.Struct("<4s4H2LH"), struct.Struct("<4sQ2H2L4Q"), struct.Struct("<4sLQL")
_ENTRY, _HEADER = struct.Struct("<4s4B4HL2L5H2L"), struct.Struct("<4s22xHH")
_FULL, _FULL_SHORT = (1 << 32) - 1, (1 << 16) - 1
"""What stands where a number is too large for its place, and stands elsewhere."""


class Archive:
    """A file with members; or the part of one that begins at `start`, of so many bytes.

    Raises:
        ArtefactError: it is no archive, or a damaged one.
        OSError: it cannot be read.
    """

    def __init__(self, file: BinaryIO, start: int = 0, size: int | None = None):
        self._file = file
        self._start = start
        self._bytes = os.fstat(file.fileno()).st_size if size is None else size
        self._members: dict[str, tuple[int, int]] = {}
        """Where the header of each is, and its bytes."""
        self.comment = b""
        try:
            self._read_directory()
        except (struct.error, UnicodeDecodeError, OverflowError) as error:
            raise ArtefactError(f"not a saved Weft executable (its directory is damaged: {error})") from None

    def _read_directory(self) -> None:
        tail_at = max(0, self._bytes - _END.size - _FULL_SHORT)
        tail = self._read(tail_at, self._bytes - tail_at)
        if (at := tail.rfind(b"PK\5\6")) < 0:
            raise ArtefactError("not a saved Weft executable (it has no directory of members)")
        *_, count, size, start, comment = _END.unpack_from(tail, at)
        self.comment = tail[at + _END.size : at + _END.size + comment]
        if (count == _FULL_SHORT or _FULL in (size, start)) and at >= _LOCATOR.size:
            mark, _, place, _ = _LOCATOR.unpack_from(tail, at - _LOCATOR.size)
            if mark == b"PK\6\7":
                *_, count, size, start = _END_64.unpack(self._read(place, _END_64.size))
        directory, at = self._read(start, size), 0
        for _ in range(count):
            mark, *_, flags, method, _, _, _, packed, bytes, name, extra, note, _, _, _, place = _ENTRY.unpack_from(
                directory, at
            )
            if mark != b"PK\1\2":
                raise ArtefactError("not a saved Weft executable (its directory is damaged)")
            at += _ENTRY.size
            called = directory[at : at + name].decode()
            if flags & 1 or method:
                raise ArtefactError(f"'{called}' is compressed or encrypted, which Weft does not write")
            more = directory[at + name : at + name + extra]
            bytes, packed, place = _large(more, bytes, packed, place)
            self._members[called] = place, bytes
            at += name + extra + note

    def _read(self, start: int, size: int) -> bytes:
        if start + size > self._bytes:
            raise ArtefactError("not a saved Weft executable (it is cut off)")
        return os.pread(self._file.fileno(), size, self._start + start)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def find(self, name: str) -> tuple[int, int]:
        """Where in the archive the bytes of a member begin, and how many they are.

        Raises:
            ArtefactError: there is no such member, or it is not all there.
        """
        if name not in self._members:
            raise ArtefactError(f"not a saved Weft executable (there is no '{name}' in the archive)")
        place, bytes = self._members[name]
        if place + _HEADER.size + bytes > self._bytes:
            raise ArtefactError(f"'{name}' is longer than the file")
        mark, named, extra = _HEADER.unpack(self._read(place, _HEADER.size))
        if mark != b"PK\3\4":
            raise ArtefactError(f"'{name}' is not where the archive says")
        return place + _HEADER.size + named + extra, bytes

    def read(self, name: str) -> bytes:
        """The bytes of a member, which is not a large one.

        Raises:
            ArtefactError: see `find`.
        """
        data = self._read(*self.find(name))
        if len(data) != self._members[name][1]:
            raise ArtefactError(f"'{name}' is cut off")
        return data

    def read_aligned(self, name: str, *, digested: bool) -> AlignedMember:
        """The bytes of a member, in aligned memory, which are being read while others go on.

        Raises:
            ArtefactError: see `find`.
        """
        begin, size = self.find(name)
        return AlignedMember(self._file.fileno(), name, self._start + begin, size, digested)


class AlignedMember:
    """A member that is being read, and its digest (`digests`) taken, if that is wanted: by a thread, where one can be
    started, and by whoever waits for it. Two threads give new memory its pages as well. It is read no further when its
    `with` block ends."""

    def __init__(self, descriptor: int, name: str, begin: int, size: int, digested: bool):
        self.memory = aligned_bytes(size).data
        """The bytes, once they are waited for."""
        self._name, self._descriptor, self._begin, self._digested = name, descriptor, begin, digested
        starts = range(0, size, BLOCK)
        self._starts: Iterator[tuple[int, int]] = iter(list(enumerate(starts)))
        self._read: list[int] = []
        self._digests = [b""] * len(starts)
        self._thread = start_thread(self._run, "weft-read")

    def _run(self) -> None:
        with suppress(OSError):
            while (place := next(self._starts, None)) is not None:
                number, start = place
                block = self.memory[start : start + BLOCK]
                self._read.append(os.preadv(self._descriptor, [block], self._begin + start))
                if self._digested:
                    self._digests[number] = sha256(block).digest()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._starts = iter(())
        if self._thread is not None:
            self._thread.join()

    def wait(self) -> str:
        """See that all is read: its digest, if that is wanted.

        Raises:
            ArtefactError: it is cut off.
        """
        self._run()
        if self._thread is not None:
            self._thread.join()
        if sum(self._read) != len(self.memory):
            raise ArtefactError(f"'{self._name}' is cut off")
        return digest_of_blocks(self._digests) if self._digested else ""


def _large(extra: bytes, *numbers: int) -> list[int]:
    """The sizes and the place of a member, those that are too large for the directory's own fields from what stands
    behind them."""
    found, at = [*numbers], 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            words = iter(struct.unpack_from(f"<{size // 8}Q", extra, at + 4))
            found = [next(words, number) if number == _FULL else number for number in found]
        at += 4 + size
    return found

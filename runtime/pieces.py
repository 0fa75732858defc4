"""Artefacts inside of libraries: where they stand in a file.

What `export_library` writes has, beside what C programs call, the artefacts that it was made of, in a section `.weft`.
A linker that puts several object files into one puts their sections one behind the other, each at a multiple of 64
bytes, so that a section is a row of pieces: eight bytes that mark one, where in the piece its artefact begins, the
bytes of that, both in 64 bits and little-endian, and, so that the artefact's constants are aligned, zeros before it.

Libraries are ELF files of 64 bits, little-endian, shared or relocatable; archives (`.a`, and `.tar`) are files of such.
Only what stands in the headers is read here: a library may be as large as the weights in it.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ..lowering.abi import ALIGNMENT
from .archive_members import ArtefactError
from .elf.objects import ELF_HEADER, ELF_SECTION, IDENT

SECTION = ".weft"
_PIECE = struct.Struct("<8sQQ")
_MARK = b"weftpart"
_AR, _AR_MEMBER = b"!<arch>\n", struct.Struct("<16s32s10s2s")
_TAR_MARK_AT, _TAR_MARK, _TAR_BLOCK = 257, b"ustar", 512
_KINDS = (1, 2, 3)
"""Relocatable files, programs at a fixed address, and shared libraries, as which other programs count."""
_MOST_NAMES = 1 << 20


class Window(NamedTuple):
    """A part of a file: where it begins, and its bytes."""

    start: int
    size: int


class _Section(NamedTuple):
    """What an ELF file says of a section: of this, where its name stands among the names, where it is, and its size."""

    name: int
    type: int
    flags: int
    address: int
    at: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int


def piece_source(file: Path, constants_at: int, size: int, constants: str) -> str:
    """Assembly, as GNU's and LLVM's assemblers read it, of a piece with the artefact `file`, whose constants begin at
    `constants_at`, where the symbol `constants` will be."""
    start = _PIECE.size + -(_PIECE.size + constants_at) % ALIGNMENT
    name = str(file).replace("\\", "\\\\").replace('"', '\\"')
    return f"""  .section {SECTION},"a",%progbits
  .balign {ALIGNMENT}
  .ascii "{_MARK.decode()}"
  .quad {start}, {size}
  .zero {start - _PIECE.size}
  .incbin "{name}", 0, {constants_at}
  .globl {constants}
{constants}:
  .incbin "{name}", {constants_at}
  .balign {ALIGNMENT}
  .section .note.GNU-stack,"",%progbits
"""


def has_artefacts(path: str) -> bool:
    """Whether a file that is loaded in this process is a library of Weft's."""
    with open(path, "rb") as file:
        window = Window(0, os.fstat(file.fileno()).st_size)
        if window.size < ELF_HEADER.size or not _read(file, window, 0, len(IDENT)) == IDENT:
            return False
        try:
            return any(True for _ in _sections(file, window))
        except (struct.error, ArtefactError):  # somebody else's, cut off or without names
            return False


def artefacts_in(file: BinaryIO) -> list[Window] | None:
    """Where the artefacts of a library stand, in order; `None` where the file is none.

    Raises:
        ArtefactError: it is a library that holds none, or a damaged one.
    """
    whole = Window(0, os.fstat(file.fileno()).st_size)
    try:
        members = list(_members(file, whole))
        if not members:
            return None
        found = [artefact for member in members for artefact in _in_elf(file, member)]
    except (struct.error, UnicodeDecodeError, ValueError) as error:
        raise ArtefactError(f"not a library of Weft ({error})") from None
    if not found:
        raise ArtefactError(
            f"a library that Weft has not written: it has no section '{SECTION}'",
            hint="weft.load_library loads functions of C",
        )
    return found


def _members(file: BinaryIO, whole: Window) -> Iterator[Window]:
    """The ELF files that a file is, or that an archive has."""
    start = _read(file, whole, 0, min(whole.size, _TAR_BLOCK))
    if start.startswith(IDENT):
        yield whole
    elif start.startswith(_AR):
        at = len(_AR)
        while at + _AR_MEMBER.size <= whole.size:
            _, _, size, _ = _AR_MEMBER.unpack(_read(file, whole, at, _AR_MEMBER.size))
            yield from _if_elf(file, whole, at + _AR_MEMBER.size, int(size))
            at += _AR_MEMBER.size + int(size) + int(size) % 2
    elif start[_TAR_MARK_AT:].startswith(_TAR_MARK):
        import tarfile

        try:
            with tarfile.open(fileobj=os.fdopen(os.dup(file.fileno()), "rb"), mode="r:") as archive:
                for member in archive:
                    if member.isreg() and not member.issparse():
                        yield from _if_elf(file, whole, member.offset_data, member.size)
        except tarfile.TarError as error:
            raise ArtefactError(f"a damaged archive: {error}") from None


def _if_elf(file: BinaryIO, whole: Window, start: int, size: int) -> Iterator[Window]:
    if size >= len(IDENT) and _read(file, whole, start, len(IDENT)) == IDENT:
        yield Window(start, size)


def _in_elf(file: BinaryIO, library: Window) -> Iterator[Window]:
    """The artefacts in an ELF file."""
    for section in _sections(file, library):
        yield from _in_section(file, section)


def _sections(file: BinaryIO, library: Window) -> Iterator[Window]:
    """The sections of an ELF file that have artefacts."""
    header = _read(file, library, 0, ELF_HEADER.size)
    _, kind, _, _, _, _, sections_at, _, _, _, _, _, count, names_in = ELF_HEADER.unpack(header)
    if kind not in _KINDS:
        raise ArtefactError("neither a library nor an object file nor a program")
    table = _read(file, library, sections_at, count * ELF_SECTION.size)
    sections = [_Section(*each) for each in ELF_SECTION.iter_unpack(table)]
    if not sections:
        return
    if names_in >= count:
        raise ArtefactError("a damaged library: its sections have no names")
    named = sections[int(names_in)]
    names = _read(file, library, named.at, min(named.size, _MOST_NAMES))
    for each in sections:
        if names[each.name : each.name + len(SECTION) + 1] == SECTION.encode() + b"\0":
            _check_inside(library, each.at, each.size)
            yield Window(library.start + each.at, each.size)


def _in_section(file: BinaryIO, section: Window) -> Iterator[Window]:
    at = 0
    while at + _PIECE.size <= section.size:
        mark, start, size = _PIECE.unpack(_read(file, section, at, _PIECE.size))
        if mark != _MARK or start < _PIECE.size:
            raise ArtefactError(f"its section '{SECTION}' is damaged")
        _check_inside(section, at + start, size)
        yield Window(section.start + at + start, size)
        at += start + size
        at += -at % ALIGNMENT


def _check_inside(window: Window, start: int, size: int) -> None:
    if start + size > window.size:
        raise ArtefactError("a damaged library: it is cut off")


def _read(file: BinaryIO, window: Window, start: int, size: int) -> bytes:
    """Bytes of a window.

    Raises:
        ArtefactError: they do not lie in it.
    """
    _check_inside(window, start, size)
    return os.pread(file.fileno(), size, window.start + start)

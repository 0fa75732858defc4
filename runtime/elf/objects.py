"""Reading relocatable object files of ELF (64 bits, little-endian): sections, symbols, relocations."""

from __future__ import annotations

import struct
from typing import NamedTuple


class Unlinkable(Exception):
    """Objects hold something that is not linked here; LLVM's linker in memory takes them."""


X86_64 = 62
WRITE, ALLOC, EXECUTE = 1, 2, 4
NOBITS, _SYMTAB, _RELA, _REL = 8, 2, 4, 9
UNDEFINED, ABSOLUTE, COMMON = 0, 0xFFF1, 0xFFF2
LOCAL, GLOBAL, WEAK = 0, 1, 2
_TLS_SECTION, _TLS_SYMBOL, _IFUNC_SYMBOL = 1 << 10, 6, 10

IDENT = b"\x7fELF\x02\x01"
"""How files of 64 bits begin that are little-endian."""
_LARGEST = 1 << 30
ELF_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
ELF_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")


class Relocation(NamedTuple):
    """A place in a section that depends on where a symbol comes to lie."""

    offset: int
    kind: int
    symbol: int
    addend: int


class Section(NamedTuple):
    """What is loaded: its bytes (none where it is zeros), and where it depends on symbols."""

    name: str
    flags: int
    is_zeros: bool
    data: bytes
    size: int
    alignment: int
    relocations: tuple[Relocation, ...]


class Symbol(NamedTuple):
    """A name for a place in a section, counted among those of the object."""

    name: str
    binding: int
    section: int
    value: int
    size: int


class ObjectFile(NamedTuple):
    """An object file: sections by their number, where they are loaded, and all symbols."""

    sections: dict[int, Section]
    symbols: tuple[Symbol, ...]


def read_object(data: bytes) -> ObjectFile:
    """
    Raises:
        Unlinkable: it is no object file of x86-64, or has thread-local or indirect symbols.
    """
    try:
        return _read(data)
    except (struct.error, IndexError, KeyError, UnicodeDecodeError, ValueError) as error:
        raise Unlinkable(f"not an object file: {error}") from None


def _read(data: bytes) -> ObjectFile:
    ident, kind, machine, *_, sections_at, _, _, _, _, _, count, names_in = ELF_HEADER.unpack_from(data)
    if ident[:6] != IDENT or kind != 1 or machine != X86_64:
        raise Unlinkable("not an object file of x86-64")
    headers = [ELF_SECTION.unpack_from(data, sections_at + number * ELF_SECTION.size) for number in range(count)]

    def content(number: int) -> bytes:
        _, _, _, _, at, size, *_ = headers[number]
        if at + size > len(data):
            raise Unlinkable("it is cut off")
        return data[at : at + size]

    names = content(names_in)
    relocations: dict[int, tuple[Relocation, ...]] = {}
    symbols: tuple[Symbol, ...] = ()
    for number, (_, section_kind, _, _, _, _, link, info, _, _) in enumerate(headers):
        if section_kind == _REL:
            raise Unlinkable("relocations without addends")
        if section_kind == _RELA:
            relocations[info] = tuple(
                Relocation(offset, packed & 0xFFFFFFFF, packed >> 32, addend)
                for offset, packed, addend in _RELOCATION.iter_unpack(content(number))
            )
        if section_kind == _SYMTAB:
            symbols = tuple(_symbols(content(number), content(link)))
    if any(relocation.symbol >= len(symbols) for each in relocations.values() for relocation in each):
        raise Unlinkable("relocations to symbols that are not there")
    sections: dict[int, Section] = {}
    for number, (name, section_kind, flags, _, _, size, _, _, alignment, _) in enumerate(headers):
        title = _text(names, name)
        if not flags & ALLOC or title == ".eh_frame":  # nothing unwinds through what is compiled
            continue
        if flags & _TLS_SECTION:
            raise Unlinkable("thread-local variables")
        zeros = section_kind == NOBITS
        if size > _LARGEST:
            raise Unlinkable("a section is too large")
        held = b"" if zeros else content(number)
        sections[number] = Section(title, flags, zeros, held, size, max(alignment, 1), relocations.get(number, ()))
    return ObjectFile(sections, symbols)


def _symbols(table: bytes, names: bytes) -> list[Symbol]:
    found: list[Symbol] = []
    for name, info, _, section, value, size in _SYMBOL.iter_unpack(table):
        if info & 15 in (_TLS_SYMBOL, _IFUNC_SYMBOL):
            raise Unlinkable("thread-local or indirect symbols")
        found.append(Symbol(_text(names, name), info >> 4, section, value, size))
    return found


def _text(table: bytes, at: int) -> str:
    return table[at : table.index(b"\0", at)].decode()

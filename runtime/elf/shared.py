"""Linking objects of x86-64 to a shared object, without a linker of the system.

    image = link_shared(objects, filled={"weft_pool_2_run"}, slot="weft_slot:")

All that the objects define is exported, and what they use of each other is bound for good. Of what they do not define,
the `filled` get a slot, whose address is exported as `weft_slot:NAME`, and which is filled by who loads the image; the
rest is found by the system in what the process has. The file is laid out as it is in memory: tables and constants,
code, variables, each from a page of its own.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from .objects import (
    ABSOLUTE,
    COMMON,
    EXECUTE,
    LOCAL,
    UNDEFINED,
    WEAK,
    WRITE,
    ObjectFile,
    Relocation,
    Unlinkable,
    read_object,
)

PAGE = 4096

_R64, _PC32, _PLT32, _GLOB_DAT, _RELATIVE = 1, 2, 4, 6, 8
_PC64, _GOTOFF64, _GOTPC32, _GOT64, _GOTPCREL64, _GOTPC64, _PLTOFF64 = 24, 25, 26, 27, 28, 29, 31
_GOTPCREL = (9, 41, 42)
_BY_SLOT = (*_GOTPCREL, _GOT64, _GOTPCREL64)
_BY_STUB = (_PC32, _PLT32, _PC64, _PLTOFF64)
_NARROW = (_PC32, _PLT32, _GOTPC32, *_GOTPCREL)
_KNOWN = {_R64, _PC32, _PLT32, _PC64, _GOTOFF64, _GOTPC32, _GOTPC64, _PLTOFF64, *_BY_SLOT}
_GOT_SYMBOL = "_GLOBAL_OFFSET_TABLE_"
_READ, _CODE, _DATA, _ZEROS = range(4)


def link_shared(objects: Sequence[bytes], filled: Collection[str] = (), slot: str = "") -> bytes:
    """The shared object that object files make together.

    Raises:
        Unlinkable: they hold what is not linked here, or define something twice.
    """
    link = _Link([read_object(each) for each in objects], frozenset(filled), slot)
    try:
        return link.image()
    except (struct.error, IndexError, OverflowError, MemoryError) as error:  # places that are in no section
        raise Unlinkable(f"relocations lead nowhere: {error}") from None


@dataclass(frozen=True)
class _Goal:
    """What a relocation refers to: a name that is known to all objects, or a symbol of one."""

    name: str = ""
    owner: int = 0
    number: int = 0


@dataclass
class _Tables:
    """The tables by which the system's loader finds its way, as far as they are known before anything has a place."""

    names: bytearray = field(default_factory=lambda: bytearray(1))
    symbols: list[tuple[str, _Goal | None]] = field(default_factory=list["tuple[str, _Goal | None]"])
    """Exported names with what they stand for; imported ones with nothing."""
    numbers: dict[str, int] = field(default_factory=dict[str, int])
    at: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, name: str, goal: _Goal | None) -> int:
        if name not in self.numbers:
            self.at[name] = len(self.names)
            self.names += name.encode() + b"\0"
            self.symbols.append((name, goal))
            self.numbers[name] = len(self.symbols)
        return self.numbers[name]


class _Link:
    def __init__(self, objects: Sequence[ObjectFile], filled: frozenset[str], slot: str):
        self.objects = objects
        self.slot = slot
        self.filled = filled
        self.defined = self._definitions()
        self.slots: dict[_Goal, int] = {}
        self.stubs: dict[_Goal, int] = {}
        self.tables = _Tables()
        self.pointers = 0
        self._scan()

    def _definitions(self) -> dict[str, tuple[int, int]]:
        """Each name that is defined, with the object and the number of the symbol there."""
        found: dict[str, tuple[int, int]] = {}
        strong: set[str] = set()
        for owner, each in enumerate(self.objects):
            for number, symbol in enumerate(each.symbols):
                if symbol.binding == LOCAL or symbol.section == UNDEFINED:
                    continue
                if symbol.section == COMMON:
                    raise Unlinkable("common symbols")
                is_strong = symbol.binding != WEAK
                if is_strong and symbol.name in strong:
                    raise Unlinkable(f"'{symbol.name}' is defined twice")
                if is_strong or symbol.name not in found:
                    found[symbol.name] = owner, number
                if is_strong:
                    strong.add(symbol.name)
        return found

    def _goal(self, owner: int, number: int) -> _Goal:
        symbol = self.objects[owner].symbols[number]
        if symbol.binding == LOCAL:
            return _Goal("", owner, number)
        if (found := self.defined.get(symbol.name)) is not None:
            return _Goal("", *found)
        return _Goal(symbol.name)

    def _each(self) -> list[tuple[int, int, Relocation]]:
        return [
            (owner, number, relocation)
            for owner, each in enumerate(self.objects)
            for number, section in each.sections.items()
            for relocation in section.relocations
        ]

    def _scan(self) -> None:
        """Which slots and stubs are needed, and which names are exported and imported."""
        for owner, number, (_, kind, symbol, _) in self._each():
            if kind not in _KNOWN:
                raise Unlinkable(f"relocations of kind {kind}")
            goal = self._goal(owner, symbol)
            if goal.name == _GOT_SYMBOL:
                continue
            outside = bool(goal.name)
            if kind in _BY_SLOT or (outside and kind in _BY_STUB):
                self.slots.setdefault(goal, len(self.slots))
            if outside and kind in _BY_STUB:
                self.stubs.setdefault(goal, len(self.stubs))
            if kind == _R64:
                if not self.objects[owner].sections[number].flags & WRITE or goal.name in self.filled:
                    raise Unlinkable("addresses among constants")
                self.pointers += 1
                if outside:
                    self.tables.add(goal.name, None)
            elif outside and kind == _GOTOFF64:
                raise Unlinkable(f"'{goal.name}' is not here")
        for name, (owner, number) in self.defined.items():
            self.tables.add(name, _Goal("", owner, number))
        for goal in self.slots:
            if goal.name:
                if goal.name in self.filled:
                    self.tables.add(f"{self.slot}{goal.name}", goal)
                else:
                    self.tables.add(goal.name, None)

    def _layout(self) -> None:
        symbols = len(self.tables.symbols) + 1
        hashes = 4 * (2 + symbols + symbols)
        self.relocations_most = 24 * (len(self.slots) + self.pointers)
        at = 64 + 56 * 5
        self.symbols_at = at
        self.names_at = self.symbols_at + 24 * symbols
        self.hash_at = _up(self.names_at + len(self.tables.names), 8)
        self.relocations_at = _up(self.hash_at + hashes, 8)
        end = self.relocations_at + self.relocations_most
        self.places: dict[tuple[int, int], int] = {}
        end = self._place(_READ, end)
        self.code_at = _up(end, PAGE)
        end = self._place(_CODE, self.code_at)
        self.stubs_at = _up(end, 16)
        self.code_end = self.stubs_at + 8 * len(self.stubs)
        self.read_end = self.code_at
        self.data_at = _up(self.code_end, PAGE)
        self.dynamic_at = self.data_at
        self.slots_at = self.dynamic_at + 16 * 9
        self.data_end = self._place(_DATA, self.slots_at + 8 * len(self.slots))
        self.end = self._place(_ZEROS, self.data_end)

    def _place(self, group: int, at: int) -> int:
        for owner, each in enumerate(self.objects):
            for number, section in each.sections.items():
                if _group(section.flags, section.is_zeros) == group:
                    if section.alignment > PAGE:
                        raise Unlinkable("sections that are aligned beyond a page")
                    at = _up(at, section.alignment)
                    self.places[owner, number] = at
                    at += section.size
        return at

    def _address(self, goal: _Goal) -> int:
        symbol = self.objects[goal.owner].symbols[goal.number]
        if symbol.section == ABSOLUTE:
            raise Unlinkable("absolute symbols")
        try:
            return self.places[goal.owner, symbol.section] + symbol.value
        except KeyError:
            raise Unlinkable(f"'{symbol.name}' is not loaded") from None

    def _slot(self, goal: _Goal) -> int:
        return self.slots_at + 8 * self.slots[goal]

    def image(self) -> bytes:
        self._layout()
        image = bytearray(self.data_end)
        for (owner, number), at in self.places.items():
            data = self.objects[owner].sections[number].data
            image[at : at + len(data)] = data
        dynamic: list[tuple[int, int, int, int]] = []
        for owner, number, relocation in self._each():
            self._relocate(image, self.places[owner, number], self._goal(owner, relocation.symbol), relocation, dynamic)
        for goal in self.slots:
            at = self._slot(goal)
            if not goal.name:
                address = self._address(goal)
                struct.pack_into("<Q", image, at, address)
                dynamic.append((at, 0, _RELATIVE, address))
            elif goal.name not in self.filled:
                dynamic.append((at, self.tables.numbers[goal.name], _GLOB_DAT, 0))
        for goal, number in self.stubs.items():
            at = self.stubs_at + 8 * number
            struct.pack_into("<HiH", image, at, 0x25FF, self._slot(goal) - at - 6, 0x9066)  # jmp [rip + ...]; nop
        self._write_tables(image, dynamic)
        return bytes(image)

    def _relocate(
        self,
        image: bytearray,
        base: int,
        goal: _Goal,
        relocation: Relocation,
        dynamic: list[tuple[int, int, int, int]],
    ) -> None:
        offset, kind, _, addend = relocation
        here = base + offset
        table = self.slots_at
        if kind == _R64:
            if goal.name:
                dynamic.append((here, self.tables.numbers[goal.name], _R64, addend))
                return
            value = self._address(goal) + addend
            dynamic.append((here, 0, _RELATIVE, value))
        elif kind in (_GOTPC32, _GOTPC64):
            value = table + addend - here
        elif kind in (_GOT64, _GOTPCREL64):
            value = self._slot(goal) + addend - (table if kind == _GOT64 else here)
        elif kind in _GOTPCREL:
            value = self._slot(goal) + addend - here
        else:
            aim = self.stubs_at + 8 * self.stubs[goal] if goal.name else self._address(goal)
            value = aim + addend - (table if kind in (_GOTOFF64, _PLTOFF64) else here)
        struct.pack_into("<i" if kind in _NARROW else "<q", image, here, value)

    def _write_tables(self, image: bytearray, dynamic: Sequence[tuple[int, int, int, int]]) -> None:
        chains = [0] * (len(self.tables.symbols) + 1)
        buckets = [0] * len(chains)
        for number, (name, goal) in enumerate(self.tables.symbols, 1):
            value, section = 0, UNDEFINED
            if goal is not None:
                value, section = (self._slot(goal) if goal.name else self._address(goal)), 1
            struct.pack_into(
                "<IBBHQQ", image, self.symbols_at + 24 * number, self.tables.at[name], 1 << 4, 0, section, value, 0
            )
            place = _hash(name.encode()) % len(buckets)
            chains[number], buckets[place] = buckets[place], number
        image[self.names_at : self.names_at + len(self.tables.names)] = self.tables.names
        words = (len(buckets), len(chains), *buckets, *chains)
        struct.pack_into(f"<{len(words)}I", image, self.hash_at, *words)
        for number, (at, symbol, kind, addend) in enumerate(dynamic):
            struct.pack_into("<QQq", image, self.relocations_at + 24 * number, at, symbol << 32 | kind, addend)
        entries = [
            (4, self.hash_at), (5, self.names_at), (6, self.symbols_at), (10, len(self.tables.names)), (11, 24),
            (7, self.relocations_at), (8, 24 * len(dynamic)), (9, 24), (0, 0),
        ]  # fmt: skip
        for number, entry in enumerate(entries):
            struct.pack_into("<QQ", image, self.dynamic_at + 16 * number, *entry)
        segments = [
            (1, 4, 0, self.read_end, self.read_end, PAGE),
            (1, 5, self.code_at, self.code_end - self.code_at, self.code_end - self.code_at, PAGE),
            (1, 6, self.data_at, self.data_end - self.data_at, self.end - self.data_at, PAGE),
            (2, 6, self.dynamic_at, 16 * len(entries), 16 * len(entries), 8),
            (0x6474E551, 6, 0, 0, 0, 16),  # the stack is not executable
        ]
        ident = b"\x7fELF\x02\x01\x01" + bytes(9)
        struct.pack_into("<16sHHIQQQIHHHHHH", image, 0, ident, 3, 62, 1, 0, 64, 0, 0, 64, 56, len(segments), 64, 0, 0)
        for number, (kind, flags, at, in_file, in_memory, align) in enumerate(segments):
            struct.pack_into("<IIQQQQQQ", image, 64 + 56 * number, kind, flags, at, at, at, in_file, in_memory, align)


def _group(flags: int, zeros: bool) -> int:
    if flags & EXECUTE:
        return _CODE
    if flags & WRITE:
        return _ZEROS if zeros else _DATA
    return _READ


def _up(at: int, alignment: int) -> int:
    return at + -at % alignment


def _hash(name: bytes) -> int:
    """ELF's own hash of a symbol's name."""
    value = 0
    for byte in name:
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high
    return value

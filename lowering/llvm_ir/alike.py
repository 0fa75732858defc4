"""Kernels whose LLVM IR is alike up to numbers are compiled once.

Layers that differ in a number of channels give kernels that differ in how often a loop runs and how far apart rows of
a buffer lie:

    define void @a(ptr %a0, ptr %a1) { ... mul i64 %k, 6144 ... }
    define void @b(ptr %a0, ptr %a1) { ... mul i64 %k, 8192 ... }
    define void @c(ptr %a0, ptr %a1) { ... mul i64 %k, 9216 ... }

The first of them is compiled as it stands, without waiting for others. What those that follow have in common is
compiled once, with the numbers as arguments, and each is a call of that. The calls are one module, since LLVM takes as
long for a module of one call as for one of many:

    define void @alike_1(ptr %a0, ptr %a1, i64 %n0) { ... mul i64 %k, %n0 ... }
    define void @b(ptr %a0, ptr %a1) { call void @alike_1(ptr %a0, ptr %a1, i64 8192)  ret void }

Only numbers become arguments of which code is not made worse: what is added, what is multiplied with, offsets of
addresses, and how often a loop runs that nobody asks LLVM to unroll. Divisors stay, as do lanes, alignments, and the
sizes of memory on the stack: kernels that differ in these are different. So do numbers below `LEAST`, which decide what
LLVM makes of a loop or an address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

FEWEST = 2
"""So many kernels that are like one before them are compiled as one."""
MOST_NUMBERS = 6
"""They may differ in no more numbers than there are registers for."""
LEAST = 4
"""Numbers below this stay."""
PREFIX = "weft_alike_"
"""How the names begin of what kernels have in common."""
CALLS = "_calls"
"""How the names go on of the modules in which these kernels call that."""

_HEAD = re.compile(r"define void @(?P<name>[-\w$.]+)\((?P<arguments>[^(){}<]*)\)(?P<rest>[^{}]*) \{")
_VALUE = r"(?:%[-\w$.]+|-?\d+)"
_ARITHMETIC = re.compile(rf"  (?P<name>%\S+) = (?:add|sub|mul)(?: nuw| nsw)* i64 (?P<a>{_VALUE}), (?P<b>{_VALUE})$")
_COMPARISON = re.compile(rf"  (?P<name>%\S+) = icmp \w+ i64 (?P<a>{_VALUE}), (?P<b>{_VALUE})$")
_CHOICE = re.compile(rf"  (?P<name>%\S+) = select i1 %\S+, i64 (?P<a>{_VALUE}), i64 (?P<b>{_VALUE})$")
_ADDRESS = re.compile(r"  (?P<name>%\S+) = getelementptr(?: inbounds)? \w+, ptr %\S+, i64 (?P<a>-?\d+)$")
_ANNOTATED = re.compile(r"  br i1 (%\S+), .*!llvm\.loop (!\d+)")
_METADATA = re.compile(r"^(!\d+) = (.*)$", re.MULTILINE)
_NODE = re.compile(r"!\d+")


class Alike:
    """Takes kernels as LLVM IR, and gives what there is to compile, by name, to `compile`: a kernel that is like none
    before it at once, and the others, with what they have in common, when all are there."""

    def __init__(self, compile: Callable[[str, str], None]):
        self._compile = compile
        self._later: dict[str, list[_Form]] = {}

    def take(self, name: str, text: str) -> None:
        """Take a kernel."""
        form = _form(name, text)
        if form is not None and form.skeleton in self._later:
            self._later[form.skeleton].append(form)
            return
        if form is not None:
            self._later[form.skeleton] = []
        self._compile(name, text)

    def finish(self) -> None:
        """There are no more kernels."""
        for alike in self._later.values():
            for name, text in _together(alike).items():
                self._compile(name, text)
        self._later.clear()


@dataclass(frozen=True)
class _Form:
    """A kernel's text, taken apart where numbers stand that may differ."""

    name: str
    text: str
    arguments: str
    pieces: tuple[str, ...]
    """What stands before, between and behind the numbers, with `@` and a space for the kernel's own name."""
    numbers: tuple[int, ...]
    skeleton: str


_OWN = "@ "
"""Stands for the kernel's own name, which no text has in it."""


def _form(name: str, text: str) -> _Form | None:
    """The form of a kernel's text; `None` where it is none that can be called with more arguments."""
    heads = [head for head in _HEAD.finditer(text) if head["name"] == name]
    if len(heads) != 1 or "\ndefine" in text[heads[0].end() :] or _OWN in text:
        return None
    own = re.compile(rf"@{re.escape(name)}(?![-\w$])")
    annotated = _unrolled(text)
    pieces: list[str] = []
    numbers: list[int] = []
    before = 0
    for begin, end in _numbers(text, annotated):
        pieces.append(own.sub(_OWN, text[before:begin]))
        numbers.append(int(text[begin:end]))
        before = end
    pieces.append(own.sub(_OWN, text[before:]))
    return _Form(name, text, heads[0]["arguments"], tuple(pieces), tuple(numbers), "\0".join(pieces))


def _unrolled(text: str) -> set[str]:
    """The conditions of loops of which LLVM is told whether to unroll them."""
    nodes = dict(_METADATA.findall(text))
    found = [each for line in text.splitlines() if (each := _ANNOTATED.match(line))]
    return {each[1] for each in found if any("llvm.loop.unroll" in nodes[n] for n in _NODE.findall(nodes[each[2]]))}


def _numbers(text: str, annotated: set[str]) -> Iterator[tuple[int, int]]:
    """Where the numbers stand that may differ."""
    begin = 0
    for line in text.splitlines(keepends=True):
        found = _ARITHMETIC.match(line) or _ADDRESS.match(line) or _COMPARISON.match(line) or _CHOICE.match(line)
        if found is not None and not (" icmp " in line and found["name"] in annotated):
            for group in ("a", "b") if found.re is not _ADDRESS else ("a",):
                if not found[group].startswith("%") and abs(int(found[group])) >= LEAST:
                    yield begin + found.start(group), begin + found.end(group)
        begin += len(line)


def _together(alike: Sequence[_Form]) -> dict[str, str]:
    """The modules of kernels that are alike, by name: that of what they have in common and that of their calls, if
    they are better compiled so."""
    columns = list(zip(*(form.numbers for form in alike), strict=True))
    differing = list(dict.fromkeys(column for column in columns if len(set(column)) > 1))
    if len(alike) < FEWEST or not 0 < len(differing) <= MOST_NUMBERS:
        return {form.name: form.text for form in alike}
    pieces = alike[0].pieces
    text = pieces[0]
    for column, piece in zip(columns, pieces[1:], strict=True):
        text += (f"%n{differing.index(column)}" if column in differing else str(column[0])) + piece
    taking = _taking(text, "".join(f", i64 %n{place}" for place in range(len(differing))))
    if taking is None:
        return {form.name: form.text for form in alike}
    name = PREFIX + sha256(taking.encode()).hexdigest()[:16]
    calls = [_call(form, name, [column[number] for column in differing]) for number, form in enumerate(alike)]
    types = [*(_type(argument) for argument in alike[0].arguments.split(", ")), *("i64" for _ in differing)]
    declared = f"declare void @{name}({', '.join(types)})\n"
    return {name: taking.replace(_OWN, f"@{name}"), name + CALLS: declared + "".join(calls)}


_USE = re.compile(rf"{re.escape(_OWN)}[-\w$.]*")
_TAKES = re.compile(rf"(?:define (?:internal )?void|  call void) {re.escape(_OWN)}[-\w$.]*\(([^()]*)(\))")


def _taking(text: str, added: str) -> str | None:
    """A text of which each own function takes more arguments, and hands them on; `None` where it does anything else
    with its own functions than to call them."""
    places = [found.start(2) for found in _TAKES.finditer(text) if found[1]]
    if len(places) != len(_USE.findall(text)):
        return None
    for place in reversed(places):
        text = text[:place] + added + text[place:]
    return text


def _type(argument: str) -> str:
    """The type of an argument, without what else is known of it."""
    return argument.split(" ")[0]


def _call(form: _Form, name: str, numbers: Sequence[int]) -> str:
    """A kernel that calls what it has in common with others."""
    arguments = form.arguments.split(", ")
    handed = [f"{_type(argument)} {argument.split(' ')[-1]}" for argument in arguments]
    given = ", ".join([*handed, *(f"i64 {number}" for number in numbers)])
    return (
        f"define void @{form.name}({form.arguments}) nounwind {{\n  tail call void @{name}({given})\n  ret void\n}}\n"
    )

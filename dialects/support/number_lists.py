"""Long lists of numbers, read in runs.

xDSL makes a token of each number and of each comma, which takes some 25 us for an element. Here a run of numbers of one
kind, `1, 2, 3`, is one match of a regular expression, and becomes a list of Python's at once. What is no plain number
ends a run and is read by the parser, which knows what is wrong with it, and where.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, cast

from xdsl.utils.lexer import Input, Position, Span

Number: TypeAlias = "int | float | bool | tuple[int, int] | tuple[float, float]"

GAP_TEXT = r"(?:[ \t\r\n]++|//[^\n]*+)*+"
INTEGER_TEXT = r"-?[0-9]++(?![.x])"
FLOAT_TEXT = r"-?[0-9]++\.[0-9]*+(?:[eE][+-]?[0-9]++)?+"
_BITS = r"0x[0-9a-fA-F]++"
_TRUTH = r"(?:true|false)(?![a-zA-Z0-9_$.])"
_COMMA = rf"{GAP_TEXT},{GAP_TEXT}"
_PAIR = rf"(?:{INTEGER_TEXT}{_COMMA}{INTEGER_TEXT}|{FLOAT_TEXT}{_COMMA}{FLOAT_TEXT})"
_COMPLEX = rf"\({GAP_TEXT}{_PAIR}{GAP_TEXT}\)"

GAP = re.compile(GAP_TEXT, re.ASCII)
"""White space and comments."""


def _truth(text: str) -> bool:
    return text == "true"


def _complex(text: str) -> Number:
    real, imaginary = COMMENT.sub("", text)[1:-1].split(",")
    kind = float if "." in real else int
    return cast("Number", (kind(real), kind(imaginary)))


@dataclass(frozen=True, eq=False)
class Kind:
    """Numbers that are written alike."""

    read: Callable[[str], Number]
    run: re.Pattern[str]
    """Several of them with commas between."""
    one: re.Pattern[str]


def _kind(pattern: str, read: Callable[[str], Number]) -> Kind:
    # The loop itself is no possessive one: up to Python 3.11.4 such a loop goes on behind what its body gave back.
    run = rf"{pattern}(?:{GAP_TEXT},{GAP_TEXT}{pattern})*"
    return Kind(read, re.compile(run, re.ASCII), re.compile(pattern, re.ASCII))


COMMENT = re.compile(r"//[^\n]*+")
INTEGER = _kind(INTEGER_TEXT, int)
FLOAT = _kind(FLOAT_TEXT, float)
BITS = _kind(_BITS, partial(int, base=16))
"""Integers in hexadecimal digits, which among floats are the bits of one."""
TRUTH = _kind(_TRUTH, _truth)
COMPLEX = _kind(_COMPLEX, _complex)
KINDS = (INTEGER, FLOAT, BITS, TRUTH, COMPLEX)


@dataclass(slots=True)
class Run:
    """Numbers that stand one after the other in a text, with where they begin and end."""

    kind: Kind | None
    """`None` for one that the parser has read."""
    values: list[Number]
    start: Position
    end: Position

    def located(self, input: Input[str]) -> Iterator[tuple[Number, Span[str]]]:
        """The numbers, each with its place."""
        if self.kind is None:
            yield self.values[0], Span(self.start, self.end, input)
            return
        position = self.start
        for value in self.values:
            match = self.kind.one.match(input.content, position)
            assert match is not None
            yield value, Span(match.start(), match.end(), input)
            after = GAP.match(input.content, match.end())
            assert after is not None
            comma = GAP.match(input.content, after.end() + 1)
            assert comma is not None
            position = comma.end()


def read_run(text: str, position: Position, like: Run | None = None) -> Run | None:
    """The run of numbers that begins at `position`, if one does: most likely one `like` the last.

    Raises:
        ValueError: a number has more digits than Python reads.
    """
    for kind in KINDS if like is None or like.kind is None else (like.kind, *KINDS):
        if (match := kind.run.match(text, position)) is not None:
            found = match.group()
            if "//" in found or kind is COMPLEX or kind is TRUTH:
                parts = kind.one.findall(COMMENT.sub("", found))
            else:
                parts = found.split(",")
            return Run(kind, list(map(kind.read, parts)), position, match.end())
    return None

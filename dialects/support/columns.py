"""Printing what is too long for a line: a header in parts, broken between them and after commas."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import StringIO
from typing import NamedTuple

from xdsl.ir import Attribute
from xdsl.printer import Printer

WIDTH = 160
"""No line of a header is wider, where it can be broken."""


@dataclass(frozen=True)
class Part:
    """A piece of a header: `begin` + `items` with commas between + `end`."""

    begin: str
    items: Sequence[str]
    end: str

    @property
    def whole(self) -> str:
        return self.begin + ", ".join(self.items) + self.end


def attribute_parts(printer: Printer, attributes: Mapping[str, Attribute]) -> list[Part]:
    """What `print_op_attributes` prints behind a keyword, as a part; none where there are no attributes."""
    if not attributes:
        return []
    items = [
        to_text(printer, partial(printer.print_op_attributes, {name: value}))[len(" {") : -len("}")]
        for name, value in attributes.items()
    ]
    return [Part("attributes {", items, "}")]


def print_parts(printer: Printer, parts: Sequence[Part]) -> None:
    """Print `parts` with spaces between them; where one does not fit, with a `{` after it, it begins a line."""
    column, indent = current_column(printer), current_indent(printer)
    end = len(" {")
    for number, part in enumerate(parts):
        if number:
            if column + 1 + len(part.whole) + end > WIDTH:
                column = indent + 4
                printer.print_string("\n" + " " * column, indent=0)
            else:
                column += 1
                printer.print_string(" ")
        column = _print_part(printer, part, column, indent + 8)


def _print_part(printer: Printer, part: Part, column: int, indent: int) -> int:
    """Print `part` from `column` on; gives the column after it."""
    printer.print_string(part.begin)
    column += len(part.begin)
    for number, item in enumerate(part.items):
        last = number == len(part.items) - 1
        if number:
            printer.print_string(",")
            if column + len(", ") + len(item) + (len(part.end) + len(" {") if last else 1) > WIDTH:
                printer.print_string("\n" + " " * indent, indent=0)
                column = indent
            else:
                printer.print_string(" ")
                column += 2
        printer.print_string(item)
        column += len(item)
    printer.print_string(part.end)
    return column + len(part.end)


@contextmanager
def printed(printer: Printer) -> Generator[StringIO]:
    """What is printed meanwhile, instead of where the printer prints to."""
    stream, column = printer.stream, printer._current_column  # pyright: ignore[reportPrivateUsage]
    printer.stream = text = StringIO()
    try:
        yield text
    finally:
        printer.stream = stream
        printer._current_column = column  # pyright: ignore[reportPrivateUsage]


def to_text(printer: Printer, print: Callable[[], object]) -> str:
    """What `print` prints."""
    with printed(printer) as text:
        print()
    return text.getvalue()


def current_column(printer: Printer) -> int:
    """How many columns of the line that is being printed are filled."""
    return printer._current_column  # pyright: ignore[reportPrivateUsage]


def current_indent(printer: Printer) -> int:
    """By how many columns lines are indented."""
    return printer._indent * printer.indent_num_spaces  # pyright: ignore[reportPrivateUsage]


def broken(text: str) -> str:
    """`text`, the print of a module, with the lines that are too wide broken: after commas and before what follows a
    list, as far outside of brackets as may be. Between tokens MLIR reads a line's end as it does a space.

    Where nothing of that is within reach, a line is broken at any space between two tokens, or behind a bracket that
    opens; a line that stays too wide has neither.
    """
    lines = text.split("\n")
    if max(map(len, lines)) <= WIDTH:
        return text
    return "\n".join(line if len(line) <= WIDTH else _broken_line(line) for line in lines)


_TOKEN = re.compile(
    r"""(?P<quoted> "(?:[^"\\]|\\.)*"? )
      | (?P<arrow> -> )
      | (?P<opening> [(\[{<] )
      | (?P<closing> [)\]}>] )
      | (?P<comma> , )?(?P<space> (?<![ ])(?<!attributes)[ ](?![ ]) )
        (?P<following> (?= ->|:[ ]|<?\{.|attributes[ ]|to[ ]|loc\( ))?""",
    re.VERBOSE,
)
"""What breaks depend on; `following` is before what a line may begin with outside of brackets, beside what comes after
a comma: a `{` that ends the line begins a region, and stays there."""

_PAIRS = {")": "(", "]": "[", "}": "{", ">": "<"}
_PART = re.compile(": |<?{|attributes ")
"""What begins a part of an operation that is best seen from the start of a line: its attributes, its types."""
_LAST_RESORT = 1000
"""More than any depth of brackets: the cost of a break between tokens that belong together."""


class _Break(NamedTuple):
    """Where a line may be broken: what stands before `end` is one line, what stands from `begin` on the next.

    Of two, that with the smaller `cost` is better: 0 before a part of the operation, beyond that in how many brackets
    it stands.
    """

    end: int
    begin: int
    cost: int


def _broken_line(line: str) -> str:
    indent = len(line) - len(line.lstrip())
    following = " " * min(indent + (8 if line.endswith("{") else 4), WIDTH // 2)
    breaks = _breaks(line, indent)
    parts: list[str] = []
    start, room, first = 0, WIDTH, 0
    while len(line) - start > room:
        while first < len(breaks) and breaks[first].end <= start:
            first += 1
        past = first
        while past < len(breaks) and breaks[past].end <= start + room:
            past += 1
        within = breaks[first:past]
        if wide := [each for each in within if each.end > start + room // 4]:
            within = wide
        if within:
            chosen = min(within, key=lambda each: (each.cost, -each.end))
        elif past < len(breaks):
            chosen = breaks[past]
        else:
            break
        parts.append(line[start : chosen.end])
        start, room = chosen.begin, WIDTH - len(following)
    return f"\n{following}".join([*parts, line[start:]])


def _breaks(line: str, indent: int) -> list[_Break]:
    """The places of `line`, behind its `indent`, where it may be broken."""
    found: list[_Break] = []
    open_brackets: list[str] = []
    for token in _TOKEN.finditer(line, indent):
        match token.lastgroup:
            case "opening":
                open_brackets.append(token[0])
                if token[0] in "([" and token.end() < len(line):
                    found.append(_Break(token.end(), token.end(), _LAST_RESORT))
            case "closing":
                if open_brackets and open_brackets[-1] == _PAIRS[token[0]]:
                    open_brackets.pop()
            case "space" | "following":
                cost = len(open_brackets) + 1
                if token["following"] is not None and not open_brackets:
                    cost -= _PART.match(line, token.end()) is not None
                elif not token["comma"]:
                    cost += _LAST_RESORT
                found.append(_Break(token.start("space"), token.end("space"), cost))
            case _:
                pass
    return found

"""Printing what is too long for a line: a header in parts, broken between them and after commas."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import StringIO

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

    Operators of Relay keep to a line each, which shows the graph; the heads of its functions are broken as they are
    printed.
    """
    lines = text.split("\n")
    if max(map(len, lines)) <= WIDTH:
        return text
    return "\n".join(line if len(line) <= WIDTH or _OPERATOR.match(line) else _broken_line(line) for line in lines)


_OPERATOR = re.compile(r"\s*(?:%[^=]* = )?\"?relay\.")

_OPENING, _CLOSING = "([{<", {")": "(", "]": "[", "}": "{", ">": "<"}
_BEFORE = ("->", ": ", "attributes ", "to ", "loc(")
"""What a line may begin with outside of brackets, beside what comes after a comma."""


def _broken_line(line: str) -> str:
    indent = len(line) - len(line.lstrip())
    following = " " * (indent + (8 if line.endswith("{") else 4))
    breaks = _breaks(line)
    parts: list[str] = []
    start, room = 0, WIDTH
    while len(line) - start > room:
        near = [each for each in breaks if start + room // 3 < each[1] <= start + room]
        far = [each for each in breaks if each[1] > start + room]
        if near:
            _, place = min(near, key=lambda each: (each[0], -each[1]))
        elif far:
            place = far[0][1]
        else:
            break
        parts.append(line[start:place])
        start, room = place + 1, WIDTH - len(following)
    return f"\n{following}".join([*parts, line[start:]])


def _breaks(line: str) -> list[tuple[int, int]]:
    """The spaces of `line` that a break may take the place of, and in how many brackets each stands."""
    found: list[tuple[int, int]] = []
    open_brackets: list[str] = []
    quoted = False
    place = 0
    while place < len(line):
        character = line[place]
        if quoted:
            if character == "\\":
                place += 1
            quoted = character != '"'
        elif character == '"':
            quoted = True
        elif character in _OPENING:
            open_brackets.append(character)
        elif character in _CLOSING:
            if open_brackets and open_brackets[-1] == _CLOSING[character]:
                open_brackets.pop()
        elif character == " " and line[:place].strip():
            if line[place - 1] == "," or (not open_brackets and line.startswith(_BEFORE, place + 1)):
                found.append((len(open_brackets), place))
        place += 1
    return found

"""Command lines: errors shown as Weft's, with a hint where a flag is misspelt. Imports no compiler."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Iterable
from importlib import import_module
from typing import NoReturn, TypeVar, cast

from ..dialects.support.diagnostics import Place, UsageError, did_you_mean

T = TypeVar("T")

EXIT_STATUS = "exit status: 0 all went well, 1 diagnostics, 2 wrong usage, 70 an internal error"


class ArgumentParser(argparse.ArgumentParser):
    """Raises its errors instead of printing them."""

    def __init__(self, prog: str, description: str, epilog: str, *, add_help: bool = True):
        super().__init__(
            prog,
            description=description,
            epilog=f"{epilog}\n\n{EXIT_STATUS}",
            formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, max_help_position=34, width=110),
            allow_abbrev=False,
            add_help=add_help,
        )

    def error(self, message: str) -> NoReturn:
        hint = f"`{self.prog} --help` lists the flags"
        if (flag := re.search(r"unrecognized arguments: (--?[\w-]+)", message)) is not None:
            hints = (did_you_mean(flag[1], self.flags()), self.hint_of(flag[1]), _elsewhere(flag[1]))
            hint = "; ".join(filter(None, hints)) or hint
        elif (number := re.fullmatch(r"argument (\S+): invalid (int|float) value: (.*)", message)) is not None:
            kind = "whole number" if number[2] == "int" else "number"
            raise UsageError(f"{number[3]} is no {kind}", Place(number[1]))
        raise UsageError(message, Place(self.prog), hint=hint)

    def flags(self) -> Collection[str]:
        """All that it takes."""
        return self._option_string_actions

    def hint_of(self, flag: str) -> str | None:
        """What else may be meant by a flag that it does not take."""
        return None


def _elsewhere(flag: str) -> str | None:
    """Which tools take a flag that another one does not."""
    from .command import TOOLS

    parsers = (import_module(f".weft_{tool}", __package__).argument_parser() for tool in TOOLS)
    takers = [parser.prog for parser in cast("Iterable[ArgumentParser]", parsers) if flag in parser.flags()]
    return f"{flag} is for {', '.join(takers)}" if takers else None


def seed(text: str) -> int:
    """`7`: what `--seed` takes.

    Raises:
        UsageError: it is no number from 0 on.
    """
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f"'{text}' is no seed", Place("--seed"), hint="it is a whole number from 0 on")
    return int(text)


def tolerance(text: str) -> float:
    """`1e-3`: what `--rtol` and `--atol` take.

    Raises:
        UsageError: it is no number, or one that no difference could be compared with.
    """
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise UsageError(f"'{text}' is no tolerance", hint="it is a number from 0 on, such as 1e-3")
    return number


def by_name(given: Iterable[tuple[str, T]], flag: str) -> dict[str, T]:
    """What the occurrences of a flag say, by the names in them.

    Raises:
        UsageError: two are of one name.
    """
    found: dict[str, T] = {}
    for name, value in given:
        if name in found:
            raise UsageError(f"'{name}' is given twice", Place(flag))
        found[name] = value
    return found


def parse_shapes(texts: Iterable[str]) -> dict[str, list[int]]:
    """What `--shape` says each time, by the names of inputs and dimensions.

    Raises:
        UsageError: one reads otherwise, or two are of one name.
    """
    return by_name(map(parse_shape, texts), "--shape")


def parse_shape(text: str) -> tuple[str, list[int]]:
    """`x=1x3x?` -> `("x", [1, 3, -1])`; `x=` is a scalar.

    Raises:
        UsageError: it reads otherwise.
    """
    name, equals, dimensions = text.rpartition("=")
    try:
        shape = [-1 if d == "?" else int(d) for d in dimensions.split("x")] if dimensions else []
    except ValueError:
        shape = None
    if not equals or not name or shape is None or any(n < -1 for n in shape):
        raise UsageError(f"'{text}' is not a shape", hint="write it like `--shape x=1x3x224x224`")
    return name, shape

"""The names of a function's arguments, as its text has them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from .unique_names import UniqueNames


def argument_names(arguments: Sequence[SSAValue]) -> list[str]:
    """A name for each argument, no two alike: its hint, or `in2`; with a number behind it where one before has that.

    The parser takes `a` as the hint of `%a_1`, so that arguments whose names differ in the text may have one hint.
    """
    names = UniqueNames()
    return [names.new(argument.name_hint or f"in{number}") for number, argument in enumerate(arguments)]

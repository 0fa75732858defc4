"""The names of a function's arguments, as its text has them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue


def argument_names(arguments: Sequence[SSAValue]) -> list[str]:
    """A name for each argument, no two alike: its hint, or `in2`; with a number behind it where one before has that.

    The parser takes `a` as the hint of `%a_1`, so that arguments whose names differ in the text may have one hint.
    """
    names: dict[str, None] = {}
    for number, argument in enumerate(arguments):
        name = wanted = argument.name_hint or f"in{number}"
        again = 0
        while name in names:
            name = f"{wanted}_{(again := again + 1)}"
        names[name] = None
    return list(names)

"""Names that nothing else has: `name`, `name_1`, `name_2`, ... the first that is free."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.traits import SymbolOpInterface


def free_name(wanted: str, taken: Container[str], separator: str = "_") -> str:
    """`wanted`, or that with the first number behind it that makes it none of those that are `taken`."""
    name, number = wanted, 0
    while name in taken:
        number += 1
        name = f"{wanted}{separator}{number}"
    return name


class UniqueNames:
    """Names that are given once each, however many are asked for.

    Args:
        taken: those that are not to be given.
    """

    def __init__(self, taken: Iterable[str] = ()):
        self._taken = set(taken)
        self._last: dict[str, int] = {}

    def new(self, wanted: str) -> str:
        """`free_name`, which is taken from now on; where many are alike, it is not looked for from 1 on again."""
        name, number = wanted, self._last.get(wanted, 0)
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._last[wanted] = number
        self._taken.add(name)
        return name


def argument_names(arguments: Sequence[SSAValue]) -> list[str]:
    """A name for each argument, no two alike: its hint, or `in2`; with a number behind it where one before has that.

    The parser takes `a` as the hint of `%a_1`, so that arguments whose names differ in the text may have one hint.
    """
    names = UniqueNames()
    return [names.new(argument.name_hint or f"in{number}") for number, argument in enumerate(arguments)]


def unique_symbols(module: ModuleOp) -> UniqueNames:
    """Names that nothing in a module has."""
    return UniqueNames(
        name.data
        for op in module.ops
        if (symbol := op.get_trait(SymbolOpInterface)) and (name := symbol.get_sym_attr_name(op)) is not None
    )

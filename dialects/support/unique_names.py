"""Names that nothing else has: `name`, `name_1`, `name_2`, ... the first that is free."""

from __future__ import annotations

from collections.abc import Container, Iterable


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

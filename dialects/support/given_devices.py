"""Devices that a caller gives where TVM takes one, though what a program runs on is known anyway."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from .diagnostics import UsageError


@runtime_checkable
class Device(Protocol):
    """A device by its type and its number: `weft.cpu()`."""

    @property
    def type(self) -> str | None: ...
    @property
    def id(self) -> int | None: ...


def check_given(given: Sequence[Device] | Device | None, *types: str) -> None:
    """Refuse a device that is not the first of one of the types that a program runs on.

    Raises:
        UsageError: it is of another type, or another of that type.
    """
    for each in () if given is None else [given] if isinstance(given, Device) else given:
        if each.type not in (None, *types):
            raise UsageError(
                f"the program is for {' and '.join(dict.fromkeys(types))}, as its target says, and not for <{each}>",
                hint=f"compile it for a target of {each.type}",
            )
        if each.id not in (None, 0):
            raise UsageError(f"a program runs on the first device of its type, and not on <{each}>")

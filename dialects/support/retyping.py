"""Values that get another type where they stand, which xDSL has for attributes of operations alone."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue


def retype(value: SSAValue, type: Attribute) -> None:
    """Let a value have another type. What uses it is as it was: who calls sees to it that it can use it."""
    value._type = type  # pyright: ignore[reportPrivateUsage]

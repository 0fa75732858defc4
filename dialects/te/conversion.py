"""`weft.convert`: Python's numbers as expressions, in whatever holds them."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import cast

from ..support.hints import is_mapping
from .forms import const


def convert(value: object) -> object:
    """What `value` stands for where expressions are wanted: a number is a literal of `te.const`'s dtype for it, a list
    or tuple a list of what its elements stand for, a dictionary one of such values. Whatever else there is stands for
    itself, functions among it. Counterpart of `tvm.convert`, whose arrays and maps are Python's here.

    Raises:
        ArgumentError: a number is beyond all numbers of its dtype.
    """
    match value:
        case Real():
            return const(cast("float", value))
        case str() | bytes():
            return value
        case _ if is_mapping(value):
            return {key: convert(each) for key, each in value.items()}
        case Sequence():
            return [convert(each) for each in cast("Sequence[object]", value)]
        case _:
            return value

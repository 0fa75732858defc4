"""Which types have values that hold references or functions: what is called with one may read or change something.

What a data type holds is known by its name: of several of one name, in different modules, each counts.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import FunctionType, TupleType
from xdsl.ir import Attribute

from ...dialects.relay.types import AdtType, IncompleteType, RefType

_fields: dict[str, set[Attribute]] = {}
"""The types of the fields of the data types of a name."""


def note_fields(name: str, types: Iterable[Attribute]) -> None:
    """Keep what values of a data type hold."""
    _fields.setdefault(name, set()).update(types)


def may_hold_state(type: Attribute) -> bool:
    """Whether a value of a type, which may not be known yet, holds references or functions."""
    seen: set[str] = set()
    pending = [type]
    while pending:
        match pending.pop():
            case RefType() | FunctionType() | IncompleteType():
                return True
            case TupleType(types=types):
                pending += types
            case AdtType() as data:
                pending += data.arguments
                if data.symbol not in seen:
                    seen.add(data.symbol)
                    pending += _fields.get(data.symbol, ())
            case _:
                pass
    return False

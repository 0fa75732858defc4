"""What holds several things, by TVM's names (`tvm.runtime.container`): values of data types, Python's texts and tuples.

`tuple_object` makes a tuple, which a program takes for an input that is one, and gives where it has several results.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self, TypeVar, cast

from ..dialects.support.algebraic import ADT as ADT
from ..dialects.support.arguments import checked

String = str
_Field = TypeVar("_Field")


@checked
def tuple_object(fields: Iterable[_Field] = ()) -> tuple[_Field, ...]:
    """A tuple of fields, as a program takes and gives it.

    Raises:
        ArgumentError: the fields are no sequence.
    """
    return tuple(fields)


class ShapeTuple(tuple[int, ...]):
    """The extents of a tensor, which are equal to a list of the same numbers, too.

    Raises:
        ArgumentError: they are no integers.
    """

    __slots__ = ()

    @checked
    def __new__(cls, shape: Sequence[int] = ()) -> Self:
        return super().__new__(cls, shape)

    def __eq__(self, other: object) -> bool:
        return super().__eq__(tuple(cast("list[object]", other)) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()

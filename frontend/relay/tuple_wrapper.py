"""TVM's `TupleWrapper`: `first, second = relay.TupleWrapper(call, 2)`."""

from __future__ import annotations

from xdsl.dialects.builtin import TupleType

from ...dialects.relay.types import IncompleteType
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from .expr import Expr, TupleGetItem


class TupleWrapper(Expr):
    """A tuple whose number of fields is known before its type is.

    Args:
        tuple_value: the tuple.
        size: how many fields it has.

    Raises:
        UsageError: it is no tuple, or one of another size.
    """

    size: int

    @checked
    def __init__(self, tuple_value: Expr, size: int):
        super().__init__(tuple_value.value)
        type = self.value.type
        if type != IncompleteType() and not (isinstance(type, TupleType) and len(type.types) == size):
            raise UsageError(f"a value of type {type} is no tuple of {size} fields")
        object.__setattr__(self, "size", size)

    def __len__(self) -> int:
        return self.size

    def astuple(self) -> Expr:
        """The tuple."""
        return Expr(self.value)

    def __getitem__(self, index: int) -> Expr:
        if not 0 <= index < self.size:
            raise IndexError(f"field {index} of a tuple of {self.size}")
        return TupleGetItem(self, index)

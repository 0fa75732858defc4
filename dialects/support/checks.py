"""What running code that checks an index, and whoever is told of it, agree on. Nothing here needs the compiler.

A kernel call that makes checks has a record in memory that is zero when the call begins. The first check of it that
fails, on whatever thread, writes there: the number of the check and 1, the index, and the extent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from .diagnostics import Diagnostic, Place

if TYPE_CHECKING:
    from xdsl.ir import Operation

RECORD_BYTES = 64
"""Bytes of a record, a cache line: three integers of 8 bytes, and room."""

CHECK_FIELD, INDEX_FIELD, EXTENT_FIELD = 0, 8, 16
"""Where in a record they stand."""


EXCEPTION = "{exception}"
"""In the text of a check of a Python function's call: what the exception says."""


class CheckError(Diagnostic):
    """An index that is data, or that nothing was proved of, lay outside while a graph ran. There are no outputs then.

    Args:
        text: what is said of it, in which `{index}` and `{extent}` stand for the numbers.
        index: the index.
        extent: how many there are: the index should have been from 0 to below it.
        place: where in the model, or in the module, the check comes from.
    """

    def __init__(self, text: str, index: int, extent: int, place: Place | None = None):
        super().__init__(str(text).replace("{index}", str(index)).replace("{extent}", str(extent)), place)
        self.text = text
        self.index = index
        self.extent = extent

    @classmethod
    def of(cls, op: Operation, text: str, index: int, extent: int) -> Self:
        """The failure of a check that `op` makes."""
        return cls(text, index, extent, Place.of_operation(op))

    def within(self, op: Operation) -> Self:
        """The same, at the place of `op` unless it has one."""
        return self if self.place is not None else self.of(op, self.text, self.index, self.extent)

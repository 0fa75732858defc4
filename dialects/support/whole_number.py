"""Integers that people are given where TVM gives them expressions."""

from __future__ import annotations


class WholeNumber(int):
    """An integer, which is asked for its number as TVM's `IntImm` is, too: `A.shape[0].value`."""

    dtype = "int64"
    """That of an index."""

    @property
    def value(self) -> int:
        """The number."""
        return int(self)

"""Integers that people are given where TVM gives them expressions."""

from __future__ import annotations


class WholeNumber(int):
    """An integer, which is asked for its number as TVM's `IntImm` is, too: `A.shape[0].value`. Sums, differences and
    products with integers are such ones."""

    dtype = "int64"
    """That of an index."""

    @property
    def value(self) -> int:
        """The number."""
        return int(self)

    def __add__(self, other: int) -> int:
        return _whole(int.__add__(self, other))

    def __sub__(self, other: int) -> int:
        return _whole(int.__sub__(self, other))

    def __mul__(self, other: int) -> int:
        return _whole(int.__mul__(self, other))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: int) -> int:
        return _whole(int.__rsub__(self, other))


def _whole(number: int) -> int:
    """`NotImplemented` as it is: the other side may know what to do."""
    return WholeNumber(number) if isinstance(number, int) else number  # pyright: ignore[reportUnnecessaryIsInstance]

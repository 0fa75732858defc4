"""Parts of axes, from one index to another in steps; also of axes whose extents are known only when it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from .. import te
from ..te.assume import at_most
from ..te.dim_order import extreme as always_extreme
from ..te.dim_order import sign_of, surely_at_most
from ..te.dims import ceil_divided


@dataclass(frozen=True)
class Slice:
    """`count` indices from `start` on, `step` apart."""

    start: int
    step: int
    count: int

    @staticmethod
    def between(begin: int, end: int, step: int, extent: int) -> Slice:
        """Python's `begin:end:step` of an axis."""
        if any(isinstance(n, te.Expr) for n in (begin, end, extent)):
            return _between_symbols(begin, end, step, extent)
        indices = range(*slice(begin, end, step).indices(extent))
        return Slice(indices.start, step, len(indices))

    def index(self, i: te.Expr) -> te.Expr:
        """The index into the data for an index into the slice."""
        return i * self.step + self.start

    def numpy(self) -> slice:
        """The same for NumPy, whose negative bounds count from the end."""
        if not self.count:
            return slice(0, 0)
        stop = self.start + self.step * self.count
        return slice(self.start, None if stop < 0 else stop, self.step)


ENDLESS = 1 << 31
"""What lies as far as this is the end of any axis."""


def _between_symbols(begin: te.Dim, end: te.Dim, step: int, extent: te.Dim) -> Slice:
    """A slice where bounds or the extent are made of symbols. What it asks of them is noted: that bounds which are
    computed lie inside of the axis, and stand in their order.

    Raises:
        TypeError: where a bound lies is not known, or a step goes backwards over a part of the axis.
    """
    if isinstance(begin, int) and isinstance(end, int):
        return _between_numbers(begin, end, step, extent)
    if step < 0:
        raise TypeError("te: a slice goes backwards from, or to, a bound that is computed")
    first, last = _inside(begin, extent), extent if _is_far(end) else _inside(end, extent)
    if isinstance(end, int) and 0 <= end < ENDLESS:
        last = te.extreme(te.BinaryKind.MIN, end, extent)
    if not at_most(first, last):
        raise TypeError("te: a slice may end before it begins")
    return _slice(first, step, ceil_divided(last - first, step))


def _inside(bound: te.Dim, extent: te.Dim) -> te.Dim:
    """A bound counted from the front. One that is computed is asked not to lie behind the axis; but where the axis
    decides by itself whether it does, as with every second half of `n` rows, it is cut off.

    Raises:
        TypeError: that cannot be asked.
    """
    place = _from_front(bound, extent)
    if isinstance(bound, int):
        return place
    if set(te.variables([place])) <= set(te.variables([extent])):
        return te.extreme(te.BinaryKind.MIN, place, extent)
    if not at_most(place, extent):
        raise TypeError("te: a slice may end beyond its axis")
    return place


def _between_numbers(begin: int, end: int, step: int, extent: te.Dim) -> Slice:
    """A slice of an open axis between bounds that are known: what lies outside is cut off. What holds of every axis
    that has an element, as that `x[1:]` has one less, is asked of it; an end of its own is there on one of none."""
    lowest, highest = (0, extent) if step > 0 else (-1, extent - 1)

    def bound(given: int) -> te.Dim:
        if given >= 0:
            return highest if _is_far(given) else te.extreme(te.BinaryKind.MIN, given, highest)
        if given <= -ENDLESS:
            return lowest
        if surely_at_most(lowest - given, extent) and at_most(lowest - given, extent):
            return extent + given
        return always_extreme(te.BinaryKind.MAX, extent + given, lowest)

    from_front = step > 0 and 0 <= begin < ENDLESS  # cut off at the end, not at the axis
    first, last = begin if from_front else bound(begin), bound(end)
    if step < 0:
        return _slice(first, step, always_extreme(te.BinaryKind.MAX, ceil_divided(first - last, -step), 0))
    if begin == 0:
        return _slice(0, step, ceil_divided(last, step))
    least = always_extreme if begin > 0 and not _is_far(end) else te.extreme
    first = least(te.BinaryKind.MIN, first, last)
    return _slice(first, step, ceil_divided(last - first, step))


def _slice(start: te.Dim, step: int, count: te.Dim) -> Slice:
    return Slice(cast("int", start), step, cast("int", count))


def _is_far(bound: te.Dim) -> bool:
    return isinstance(bound, int) and bound >= ENDLESS - 1


def _from_front(bound: te.Dim, extent: te.Dim) -> te.Dim:
    """A bound counted from the front; a negative one counts from the end, and is asked not to lie before the axis, nor
    to be 0, which counts from the front. One of which it is not known is asked not to be negative, if it may be
    positive.

    Raises:
        TypeError: that cannot be asked.
    """
    if (sign := sign_of(bound)) != -1:
        if (sign is None and surely_at_most(bound, 0)) or not at_most(0, bound):
            raise TypeError("te: whether a slice counts from the end is known only when it runs")
        return bound
    if not at_most(bound, -1) or not at_most(-bound, extent):
        raise TypeError("te: a slice may begin before its axis")
    return extent + bound


def sliced(x: te.Tensor, slices: Sequence[Slice], name: str) -> te.Tensor:
    """The part of `x` that `slices` (one for each dimension) cut out."""
    return te.compute(
        [s.count for s in slices],
        lambda *i: x[tuple(s.index(v) for s, v in zip(slices, i, strict=True))],
        name,
    )

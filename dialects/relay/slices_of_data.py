"""Slices of which data decides where they lie, while it is known how many elements they have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import i64

from .. import te
from .indexing import as_index, from_the_end, gathered

LONGEST = 1 << 31
"""A step as long as this is beyond any axis."""


def sliced_by_data(
    x: te.Tensor, begin: te.Tensor, end: te.Tensor, strides: te.Tensor, shape: Sequence[int], by_size: bool
) -> te.Tensor:
    """`x[begin:end:strides]` along the first axes, as a tensor of `shape`. Bounds are Python's; if `by_size`, `end`
    holds how many elements are taken, -1 for all that follow, and strides are one. The run fails if a slice has another
    number of elements.

    Raises:
        TypeError: the tensor has no elements, so that nothing would be checked.
    """
    if 0 in shape:
        raise TypeError("te: whether a slice is empty is known only when it runs")
    places: list[te.Tensor] = []
    for axis in range(cast("int", begin.dims[0])):
        bounds = begin[axis], end[axis], as_index(strides[axis])
        places.append(_places(*bounds, cast("int", x.dims[axis]), shape[axis], by_size))

    def body(*i: te.IterVar) -> te.Expr:
        at = [te.cast(each[place], te.index) for each, place in zip(places, i, strict=False)]
        return x[(*at, *i[len(at) :])]

    empty = next((each for each, n in zip(places, x.dims, strict=False) if n == 0), None)
    return gathered(x, shape, body, "strided_slice", empty)


def _places(begin: te.Expr, end: te.Expr, step: te.Expr, extent: int, count: int, by_size: bool) -> te.Tensor:
    """Where the `count` elements of a slice of an axis stand, after the check that it has so many."""
    if by_size:
        begin, step = from_the_end(begin, extent), te.const(1, te.index)
        end = te.select(as_index(end) < 0, te.as_expr(extent, te.index), begin + as_index(end))
    back = step < 0
    step = te.maximum(te.minimum(step, LONGEST), -LONGEST)
    low, high = te.select(back, te.const(-1, te.index), 0), te.select(back, te.as_expr(extent - 1, te.index), extent)
    first, last = (te.maximum(te.minimum(from_the_end(bound, extent), high), low) for bound in (begin, end))
    covered, length = te.select(back, first - last, last - first), te.select(back, 0 - step, step)
    taken = te.select(length > 0, te.maximum((covered + (length - 1)) // te.maximum(length, 1), 0), -1)
    text = f"'relay.dyn.strided_slice': {{index}} elements of an axis of {{extent}} are taken, not {count}"

    def place(i: te.IterVar) -> te.Expr:
        at = te.select(taken.equal(count), first + i * step, -1)
        return te.cast(te.check(at, extent, text, taken), i64)

    return te.compute([count], place, "places")

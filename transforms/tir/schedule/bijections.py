"""Maps from iterators to the elements of a buffer that take every element once, and their inverses."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ....dialects.tir.affine import linear, simplify
from ....dialects.tir.symbols import Extent


def inverse(place: Sequence[AffineExpr], extents: Sequence[Extent], shape: Sequence[Extent]) -> list[AffineExpr] | None:
    """What each iterator is, given the indices of the element that is at `place`; `None` unless there is one value of
    the iterators for each element.

    Either the indices are iterators, each once, or the row-major number of the element is a number of mixed radix whose
    digits are the iterators (Knuth, The Art of Computer Programming, 4.1): each counts how many of the elements that
    the smaller ones make up.

    Args:
        place: the indices, over the iterators as dimensions.
        extents: how many values each iterator takes, from 0.
        shape: the extents of the buffer.

    Returns:
        An expression for each iterator, over the indices as dimensions.
    """
    return _by_iterators(place, extents, shape) or _by_digits(place, extents, shape)


def _by_iterators(
    place: Sequence[AffineExpr], extents: Sequence[Extent], shape: Sequence[Extent]
) -> list[AffineExpr] | None:
    found: dict[int, AffineExpr] = {}
    for number, (expr, extent) in enumerate(zip(place, shape, strict=True)):
        match expr:
            case AffineDimExpr(position) if position not in found and extents[position] == extent:
                found[position] = AffineExpr.dimension(number)
            case AffineConstantExpr(0) if extent == 1:
                pass
            case _:
                return None
    if any(extent != 1 and number not in found for number, extent in enumerate(extents)):
        return None
    return [found.get(number, AffineConstantExpr(0)) for number in range(len(extents))]


def _by_digits(
    place: Sequence[AffineExpr], extents: Sequence[Extent], shape: Sequence[Extent]
) -> list[AffineExpr] | None:
    counts = [extent for extent in extents if isinstance(extent, int)]
    sides = [extent for extent in shape if isinstance(extent, int)]
    if len(counts) < len(extents) or len(sides) < len(shape) or 0 in counts:
        return None
    ranges = {AffineExpr.dimension(number): (0, count - 1) for number, count in enumerate(counts)}
    at, element = AffineConstantExpr(0), AffineConstantExpr(0)
    for number, (expr, side) in enumerate(zip(place, sides, strict=True)):
        at = at * side + expr
        element = element * side + AffineExpr.dimension(number)
    digits = linear(at, ranges)
    found: list[AffineExpr] = [AffineConstantExpr(0)] * len(counts)
    weight = 1
    for atom, factor in sorted(digits.terms.items(), key=lambda term: term[1]):
        if isinstance(atom, AffineDimExpr) and counts[atom.position] == 1:
            continue
        if not isinstance(atom, AffineDimExpr) or factor != weight:
            return None
        found[atom.position] = element // weight % counts[atom.position]
        weight *= counts[atom.position]
    if digits.constant or weight != prod(sides) or weight != prod(counts):
        return None
    indices = {AffineExpr.dimension(number): (0, side - 1) for number, side in enumerate(sides)}
    return [simplify(expr, indices) for expr in found]

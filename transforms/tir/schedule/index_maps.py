"""Index maps that can be turned round: which indices become which, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from ....dialects.tir.affine import Linear, linear, simplify, substitute
from ....dialects.tir.analyzer import Const, IntExpr, dim, from_affine
from ....dialects.tir.analyzer.answers import Range
from ....dialects.tir.analyzer.iter_map import detect_iter_map
from ....dialects.tir.analyzer.iter_nodes import IterMark
from ....dialects.tir.analyzer.padding import Gap, why_no_parts, widened
from ....dialects.tir.digits import unit_and_count
from ....dialects.tir.symbols import Extent, as_affine, as_extent, replaced


@dataclass(frozen=True)
class Bijection:
    """A map between boxes that reaches every index once."""

    forward: AffineMap
    extents: tuple[int, ...]
    """The box that it leads to."""
    backward: tuple[AffineExpr, ...]
    """Each old index over the new ones as dimensions."""


@dataclass(frozen=True)
class Padded:
    """A map that leaves gaps, as one between larger boxes that leaves none."""

    map: Bijection
    """Of indices that are `left` more than the old ones."""
    left: tuple[int, ...]
    gaps: tuple[Gap, ...]


def padded(map: AffineMap, extents: Sequence[int]) -> Padded | str:
    """`map` over the box `extents`, as far as that has to become larger for the map to leave no gaps; or why there is
    no such box."""
    if map.num_dims != len(extents) or map.num_symbols:
        return f"takes {map.num_dims} indices, not {len(extents)}"
    iters: dict[IntExpr, int] = {dim(number): extent for number, extent in enumerate(extents)}
    found = widened([from_affine(expr) for expr in map.results], iters)
    if isinstance(found, str):
        return f"does not give each index a place of its own: {found}"
    shifted: list[AffineExpr] = [
        AffineDimExpr(number) + AffineConstantExpr(-shift) for number, shift in enumerate(found.left)
    ]
    whole = AffineMap(map.num_dims, 0, tuple(simplify(substitute(expr, shifted)) for expr in map.results))
    larger = bijection(whole, found.extents)
    return larger if isinstance(larger, str) else Padded(larger, found.left, found.gaps)


def bijection(map: AffineMap, extents: Sequence[int]) -> Bijection | str:
    """`map` over the box `extents` as a bijection, or why it is none.

    Each new index is to run from 0 without gaps, and every index of the old box is to have one place.
    """
    if map.num_dims != len(extents) or map.num_symbols:
        return f"takes {map.num_dims} indices, not {len(extents)}"
    iters: dict[IntExpr, int] = {dim(number): extent for number, extent in enumerate(extents)}
    if all(extents) and (reason := why_no_parts([from_affine(expr) for expr in map.results], iters)) is not None:
        return f"does not give each index a place of its own: {reason}"
    domains: dict[IntExpr, int | IntExpr | range | Range] = {v: n for v, n in iters.items() if n != 1}
    units: list[AffineExpr] = [
        AffineConstantExpr(0) if extent == 1 else AffineDimExpr(number) for number, extent in enumerate(extents)
    ]
    found = detect_iter_map([from_affine(replaced(expr, units)) for expr in map.results], domains, bijective=True)
    if not found:
        return f"does not give each index a place of its own: {found.reason}"
    shape: list[int] = []
    parts: dict[IterMark, list[tuple[int, AffineExpr]]] = {}
    for number, index in enumerate(found.indices):
        base, scale, extent = _int(index.base), _int(index.scale), _int(index.extent)
        if base != 0 or scale != 1 or extent is None:
            return f"leaves places of index {number} empty"
        shape.append(extent)
        if index.digit is not None:
            lower = _int(index.digit.lower_factor)
            assert lower is not None
            parts.setdefault(index.digit.source, []).append((lower, AffineDimExpr(number)))
    _take_apart(parts)
    sources = {iterator.source: _sum(terms) for iterator, terms in parts.items()}
    backward = tuple(
        AffineConstantExpr(0) if extent == 1 else sources[dim(number)] for number, extent in enumerate(extents)
    )
    return Bijection(map, tuple(shape), backward)


def open_layout(map: AffineMap, shape: Sequence[Extent]) -> tuple[Extent, ...] | str:
    """The box that `map` leads to over one whose extents are symbols or numbers, where it gives each index a place of
    its own and leaves no gaps, whatever the symbols are; or why it does not.

    Each new index is an old one, or a quotient or remainder of one by numbers that divide its extent.
    """
    if map.num_dims != len(shape) or map.num_symbols:
        return f"takes {map.num_dims} indices, not {len(shape)}"
    parts: dict[int, list[tuple[int, int, int]]] = {number: [] for number in range(len(shape))}
    """For each old index the `unit` and `count` of what stands at each place: `d floordiv unit mod count`."""
    extents: list[Extent] = [1] * len(map.results)
    for place, expr in enumerate(map.results):
        if expr == AffineConstantExpr(0):
            continue
        of, found = expr.used_dims(), (1, 0) if isinstance(expr, AffineDimExpr) else unit_and_count(simplify(expr))
        if len(of) != 1 or found is None:
            return f"has the index {expr}, which is no index, nor a quotient or remainder of one by a number"
        parts[next(iter(of))].append((*found, place))
    for number, digits in parts.items():
        unit, left = 1, linear(as_affine(shape[number]))
        for position, (own, count, place) in enumerate(sorted(digits)):
            is_last = position == len(digits) - 1
            if own != unit or (count == 0) is not is_last:
                return f"does not give each index a place of its own: index {number} is not told by its parts"
            if not is_last:
                extents[place], unit = count, unit * count
            elif any(each % unit for each in (left.constant, *left.terms.values())):
                return f"leaves gaps where {unit} does not divide extent {number}"
            else:
                whole = Linear({atom: factor // unit for atom, factor in left.terms.items()}, left.constant // unit)
                extents[place] = as_extent(whole.to_expr())
        if not digits and shape[number] != 1:
            return f"does not give each index a place of its own: it does without index {number}"
    return tuple(extents)


def _take_apart(parts: dict[IterMark, list[tuple[int, AffineExpr]]]) -> None:
    """Turn what is known of fused iterators into what is known of those that they are fused of."""
    pending = [iterator for iterator in parts if iterator.digits]
    while pending:
        inner = {digit.source for iterator in pending for digit in iterator.digits}
        whole = next(iterator for iterator in pending if iterator not in inner)
        pending.remove(whole)
        value = _sum(parts.pop(whole))
        highest = max(_int(digit.scale) or 1 for digit in whole.digits)
        for digit in whole.digits:
            scale, extent, lower = _int(digit.scale), _int(digit.extent), _int(digit.lower_factor)
            assert scale is not None and extent is not None and lower is not None
            part = value if scale == 1 else _binary(AffineBinaryOpKind.FloorDiv, value, scale)
            if scale != highest:
                part = _binary(AffineBinaryOpKind.Mod, part, extent)
            parts.setdefault(digit.source, []).append((lower, part))
            if digit.source.digits and digit.source not in pending:
                pending.append(digit.source)


def _binary(kind: AffineBinaryOpKind, expr: AffineExpr, constant: int) -> AffineExpr:
    return AffineBinaryOpExpr(kind, expr, AffineConstantExpr(constant))


def _sum(terms: list[tuple[int, AffineExpr]]) -> AffineExpr:
    total: AffineExpr | None = None
    for factor, value in sorted(terms, key=lambda term: -term[0]):
        term = value if factor == 1 else value * factor
        total = term if total is None else total + term
    assert total is not None
    return total


def _int(expr: IntExpr) -> int | None:
    return int(expr.value) if isinstance(expr, Const) else None

"""The layout in which a nest of loops touches a buffer's elements one after the other: `tir.suggest_index_map`.

    for i, j in T.grid(32, 64):
        A[i // 16 * 4 + j // 16, i % 16 * 16 + j % 16]      # becomes B[i // 16, i % 16, j // 16, j % 16]

The place of an element in memory is a number whose digits are parts of the loops' variables; the new layout has the
same digits, in the order of the loops. Counterpart of TVM's `tir.schedule.analysis.suggest_index_map`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from ....dialects.support.arguments import checked
from ....dialects.te.expr import Const, ExprLike, as_expr
from ....dialects.te.integers import integer_of, variable_of
from ....dialects.te.kinds import index
from ....dialects.tir.analyzer import Analyzer, IntExpr, var
from ....dialects.tir.analyzer import Const as Integer
from ....dialects.tir.analyzer import const as integer
from ....dialects.tir.analyzer.answers import Range
from ....dialects.tir.analyzer.build import floordiv, floormod
from ....dialects.tir.analyzer.index_map import IndexMap
from ....dialects.tir.analyzer.iter_forms import detect_iter_map
from ....dialects.tir.analyzer.iter_nodes import IterSplitExpr
from ....dialects.tir.nodes.buffers import Buffer
from ....dialects.tir.nodes.statements import For


@checked
def suggest_index_map(
    buffer: Buffer, indices: Sequence[ExprLike], loops: Sequence[For], predicate: ExprLike = True
) -> IndexMap | None:
    """The map to a layout in which `loops`, outermost first, touch the elements of `buffer` at `indices` in order.

    `None` where there is none: extents are symbols, an index is no sum of parts of the loops' variables, each used
    once, or not all elements are touched. Which iterations `predicate` leaves out plays no role in the order of the
    others.
    """
    shape = [_number(dim) for dim in buffer.shape]
    extents = [_number(loop.extent) for loop in loops]
    places = [integer_of(as_expr(each, index)) for each in indices]
    known = [extent for extent in shape if extent is not None]
    if len(known) != len(shape) or len(places) != len(shape):
        return None
    ranges: dict[IntExpr, Range] = {}
    for loop, extent in zip(loops, extents, strict=True):
        if extent is None or _number(loop.min) != 0:
            return None
        ranges[variable_of(loop.loop_var)] = Range(0, extent)
    flat = integer(0)
    for place, extent in zip(places, known, strict=True):
        if place is None:
            return None
        flat = flat * extent + place
    found = detect_iter_map([flat], ranges)
    digits = list(_digits(found.indices[0].args)) if found.indices else []
    sizes = [digit.extent.value for digit in digits if isinstance(digit.extent, Integer)]
    if len(sizes) != len(digits) or prod(sizes) != prod(known) or any(each.source.overlaps for each in digits):
        return None
    return _map(known, sizes, _order(digits, list(ranges)))


def _number(dim: ExprLike) -> int | None:
    value = dim.value if isinstance(dim, Const) else dim
    return value if isinstance(value, int) else None


def _digits(parts: Sequence[IterSplitExpr]) -> Iterator[IterSplitExpr]:
    """The parts of variables, most significant first."""
    for part in sorted(
        parts, key=lambda each: each.scale.value if isinstance(each.scale, Integer) else 0, reverse=True
    ):
        if part.source.digits and part.extent == part.source.extent and not part.source.overlaps:
            yield from _digits(part.source.digits)
        else:
            yield part


def _order(digits: Sequence[IterSplitExpr], variables: Sequence[IntExpr]) -> list[int]:
    """The digits by the loops that they are of, those that change last first."""

    def place(number: int) -> tuple[int, int]:
        digit = digits[number]
        loop = variables.index(digit.source.source) if digit.source.source in variables else len(variables)
        factor = digit.lower_factor
        return loop, -(factor.value if isinstance(factor, Integer) else 0)

    return sorted(range(len(digits)), key=place)


def _map(shape: Sequence[int], sizes: Sequence[int], order: Sequence[int]) -> IndexMap:
    """The map that takes the place of an element apart into digits of these sizes, and gives them in an order."""
    initial = [var(f"i{number}") for number in range(len(shape))]
    analyzer = Analyzer()
    flat = integer(0)
    for each, extent in zip(initial, shape, strict=True):
        analyzer.bind(each, Range(0, extent))
        flat = flat * extent + each
    taken: list[IntExpr] = []
    stride = 1
    for size in reversed(sizes):
        taken.insert(0, floormod(floordiv(flat, integer(stride)), integer(size)))
        stride *= size
    return IndexMap(tuple(initial), tuple(analyzer.simplify(taken[number]) for number in order))

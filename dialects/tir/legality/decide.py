"""Is an index always in its range? Proved by the ranges of loops, refuted by an example, or neither.

A proof looks at the least and greatest value of an affine expression, and at conditions that bound it. A refutation is
a point: values of the loop variables at which the conditions hold and the index lies outside. So neither is ever
mistaken; where the ranges are not tight and the space too large to be searched, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import product
from math import prod

from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ..affine import Range, dims_in, expr_range, linear, linear_range
from ..exact_ranges import exact_range
from ..symbols import dimension

MAX_POINTS = 4096
"""The most points of an iteration space that are looked at for an example."""


class Verdict(Enum):
    """Whether something holds."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Space:
    """The values that dimensions take together: each in its range, where all `conditions` are >= 0."""

    ranges: tuple[Range, ...]
    conditions: tuple[AffineExpr, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether a dimension has no value."""
        return any(high < low for low, high in self.ranges)

    def tightened(self) -> Space:
        """The same space, of which conditions on a single dimension have become that dimension's range."""
        ranges = list(self.ranges)
        for condition in self.conditions:
            form = linear(condition, self.by_dimension)
            if len(form.terms) != 1 or not isinstance(atom := next(iter(form.terms)), AffineDimExpr):
                continue
            (low, high), factor = ranges[atom.position], form.terms[atom]
            if factor > 0:
                low = max(low, -(form.constant // factor))
            else:
                high = min(high, form.constant // -factor)
            ranges[atom.position] = low, high
        return Space(tuple(ranges), self.conditions)

    @cached_property
    def by_dimension(self) -> Mapping[AffineExpr, Range]:
        """The range of each dimension."""
        return {dimension(d): range for d, range in enumerate(self.ranges)}

    def range_of(self, expr: AffineExpr) -> Range | None:
        """Bounds of an expression's value, whatever the conditions say; `None` where they are not known."""
        return exact_range(expr, self.ranges) or expr_range(expr, self.by_dimension)

    def points(self, used: frozenset[int]) -> Iterator[list[int]]:
        """Points of the space, the dimensions that are not `used` nor in a condition at their least value: all if they
        are at most `MAX_POINTS`, else the corners."""
        moving = sorted(used | {d for condition in self.conditions for d in dims_in(condition)})
        if prod(self.ranges[d][1] - self.ranges[d][0] + 1 for d in moving) <= MAX_POINTS:
            values = [range(self.ranges[d][0], self.ranges[d][1] + 1) for d in moving]
        elif 2 ** len(moving) <= MAX_POINTS:
            values = [self.ranges[d] for d in moving]
        else:
            return
        point = [low for low, _ in self.ranges]
        for chosen in product(*values):
            for d, value in zip(moving, chosen, strict=True):
                point[d] = value
            if all(condition.eval(point, []) >= 0 for condition in self.conditions):
                yield point

    def is_complete(self, used: frozenset[int]) -> bool:
        """Whether `points(used)` leaves none out."""
        moving = used | {d for condition in self.conditions for d in dims_in(condition)}
        return prod(self.ranges[d][1] - self.ranges[d][0] + 1 for d in moving) <= MAX_POINTS


@dataclass(frozen=True)
class Answer:
    """The verdict, and where it is a refutation, the point and the value there."""

    verdict: Verdict
    point: tuple[int, ...] = ()
    value: int = 0


_PROVED = Answer(Verdict.PROVED)
_UNKNOWN = Answer(Verdict.UNKNOWN)


def within(expr: AffineExpr, extent: int, space: Space, *, search: bool = True) -> Answer:
    """Whether `0 <= expr < extent` everywhere in `space`; without `search`, no example is looked for."""
    if type(expr) is AffineDimExpr:  # most are
        low, high = space.ranges[expr.position]
        if low >= 0 and high < extent:
            return _PROVED
    if space.is_empty:
        return _PROVED
    if is_within(expr, extent, space):
        return _PROVED
    ranges = space.by_dimension
    below_end = AffineConstantExpr(extent - 1) + expr * -1
    if _holds(expr, space, ranges) and _holds(below_end, space, ranges):
        return _PROVED
    if not search:
        return _UNKNOWN
    used = frozenset(dims_in(expr))
    for point in space.points(used):
        value = expr.eval(point, [])
        if not 0 <= value < extent:
            return Answer(Verdict.REFUTED, tuple(point), value)
    return _PROVED if space.is_complete(used) else _UNKNOWN


def never_within(expr: AffineExpr, extent: int, space: Space) -> Answer | None:
    """A point of `space` where `expr` is, if it is outside of `0 <= expr < extent` at all of them; `None` where it is
    not, there is none, or the space is too large to be searched."""
    bounds = space.range_of(expr)
    is_outside = bounds is not None and (bounds[1] < 0 or bounds[0] >= extent)
    used = frozenset(dims_in(expr))
    if space.is_empty or not (is_outside or space.is_complete(used)):
        return None
    first: Answer | None = None
    for point in space.points(used):
        value = expr.eval(point, [])
        if 0 <= value < extent:
            return None
        first = first or Answer(Verdict.REFUTED, tuple(point), value)
        if is_outside:
            break
    return first


def is_within(expr: AffineExpr, extent: int, space: Space) -> bool:
    """Whether the ranges alone show that `0 <= expr < extent`."""
    bounds = space.range_of(expr)
    return bounds is not None and bounds[0] >= 0 and bounds[1] < extent


def _holds(expr: AffineExpr, space: Space, ranges: Mapping[AffineExpr, Range]) -> bool:
    """Whether `expr >= 0` follows from the ranges, or from one of the conditions: it is that and more."""
    bounds = expr_range(expr, ranges)
    if bounds is not None and bounds[0] >= 0:
        return True
    for condition in space.conditions:
        more = linear_range(linear(expr + condition * -1, ranges), ranges)
        if more is not None and more[0] >= 0:
            return True
    return False

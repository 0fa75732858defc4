"""Index maps that leave gaps: how far their domains are to be widened so that they leave none, and where the gaps are.

    (i) -> (i // 4, i % 4)          for 14 values of i is onto for 16: gaps at (3, 2) and (3, 3)
    (i) -> ((i + 1) // 4, (i + 1) % 4)  for 15 values of i: i + 1 has 16, from 0 on; a gap at (0, 0)

The widened map is one that `detect_iter_map` proves to be a bijection, so that what is found here is never mistaken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import lcm, prod

from .analyzer import Analyzer
from .build import const, linear, parts
from .convert import substitute
from .iter_map import detect_iter_map
from .iter_nodes import IterSumExpr
from .nodes import Const, FloorDiv, FloorMod, IntExpr, as_expr, children


@dataclass(frozen=True)
class Gap:
    """A part of what a map leads to that it leads no index to: where the highest digit of an iterator, an index by
    number, has a value, and what the others (indices, each with what it counts) sum to is in `inner`."""

    highest: tuple[int, int] | None
    """None where it does not matter."""
    lower: tuple[tuple[int, int], ...]
    inner: range

    @property
    def is_first(self) -> bool:
        """Whether it comes before what there is, and not after."""
        return self.inner.start == 0


@dataclass(frozen=True)
class Widened:
    """A map made onto: an iterator of `extent` values stands for one that is `left` less."""

    indices: tuple[IterSumExpr, ...]
    left: tuple[int, ...]
    extents: tuple[int, ...]
    """Of the widened iterators."""
    gaps: tuple[Gap, ...]


def why_no_parts(indices: Sequence[IntExpr], iters: Mapping[IntExpr, int]) -> str | None:
    """Why a divisor in `indices` over `iters` (variables with their extents) parts what it divides into unequal parts,
    if one does. It does where there are less values than it says, as of `i % 4` for 3 values of `i`: the box that such
    an index leads to has 4 all the same, one of them a gap."""
    analyzer = Analyzer()
    over: dict[IntExpr, tuple[IntExpr, IntExpr]] = {v: (const(0), const(n - 1)) for v, n in iters.items()}
    for divided, divisor in _divisions(indices):
        low, high = analyzer.interval(divided, over)
        if not isinstance(low, Const) or not isinstance(high, Const):
            continue
        if low.value % divisor:
            return f"{divisor} does not divide {low.value}, where what it divides starts"
        if (high.value + 1) % divisor:
            return f"{divisor} does not divide the extent {high.value + 1 - low.value}"
    return None


def widened(indices: Sequence[IntExpr], iters: Mapping[IntExpr, int]) -> Widened | str:
    """`indices` over `iters` (variables with their extents) as a map that is onto, or why it is none."""
    left, extents = wider_box(indices, iters)
    shifted = {v: linear(-shift, {v: 1}) for (v, _), shift in zip(iters.items(), left, strict=True)}
    moved = [substitute(index, shifted) for index in indices]
    domains: dict[IntExpr, int | IntExpr | range] = dict(zip(iters, extents, strict=True))
    found = detect_iter_map(moved, {v: n for v, n in domains.items() if n != 1}, bijective=True)
    if not found:
        return found.reason
    gaps: list[Gap] = []
    for (v, extent), shift, whole in zip(iters.items(), left, extents, strict=True):
        before, after = shift, whole - extent - shift
        if before or after:
            gap = _gaps(found.indices, v, before, after)
            if isinstance(gap, str):
                return gap
            gaps += gap
    return Widened(found.indices, tuple(left), tuple(extents), tuple(gaps))


def wider_box(indices: Sequence[IntExpr], iters: Mapping[IntExpr, int]) -> tuple[list[int], list[int]]:
    """How far the variables `iters` (with their extents) are to begin before 0, and their extents then, for divisors of
    one of them in `indices` to part it into equal parts."""
    left: list[int] = []
    extents: list[int] = []
    for variable, extent in iters.items():
        shift, divisor = _shift_and_divisor(indices, variable)
        left.append(shift)
        extents.append(-(-(extent + shift) // divisor) * divisor)
    return left, extents


def _divisions(indices: Sequence[IntExpr]) -> Iterator[tuple[IntExpr, int]]:
    """What is divided by a number, anywhere in `indices`, and the number."""
    pending = list(indices)
    while pending:
        node = pending.pop()
        pending += children(node)
        if isinstance(node, FloorDiv | FloorMod) and isinstance(node.args[1], Const):
            yield node.args[0], node.args[1].value


def _shift_and_divisor(indices: Sequence[IntExpr], variable: IntExpr) -> tuple[int, int]:
    """The greatest number that is added to `variable` before it is divided, and what all divisors divide."""
    shift, common = 0, 1
    for divided, divisor in _divisions(indices):
        constant, terms = parts(divided)
        if dict(terms) == {variable: 1}:
            shift, common = max(shift, constant), lcm(common, divisor)
    return shift, common


def _gaps(indices: Sequence[IterSumExpr], variable: IntExpr, before: int, after: int) -> list[Gap] | str:
    digits: list[tuple[int, int, int]] = []
    for number, index in enumerate(indices):
        digit = index.digit
        if digit is not None and digit.source.source is as_expr(variable) and not digit.source.digits:
            if not isinstance(digit.lower_factor, Const) or not isinstance(digit.extent, Const):
                return f"divides {variable} by what is not known"
            digits.append((digit.lower_factor.value, number, digit.extent.value))
    digits.sort(reverse=True)
    if not digits or prod(extent for *_, extent in digits) != digits[0][0] * digits[0][2]:
        return f"{variable} is no index of its own: it is fused with others, and then divided"
    (scale, top, extent), lower = digits[0], tuple((number, each) for each, number, _ in digits[1:])
    found: list[Gap] = []
    for size, outer in ((before, 0), (after, extent - 1)):
        if 0 < size < scale:
            found.append(Gap((top, outer), lower, range(size) if outer == 0 else range(scale - size, scale)))
        elif size:
            whole = scale * extent
            found.append(Gap(None, ((top, scale), *lower), range(size) if outer == 0 else range(whole - size, whole)))
    return found

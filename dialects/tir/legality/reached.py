"""Is an element written, and before something else is done? Which iterations lead to it is solved for.

An access has an index in each dimension over the loops around it, and conditions over them. Of an element, equation by
equation, a loop that is alone left is found by division, and loops that are the digits of a number are its digits:

    %t[%i * 16 + %u, %i]   at (37, 2)      so %i = 2, %u = 5

A quotient of a loop leaves a stretch of its values, a remainder every so many. What is left over is tried, where that
is little. So it is never said of an element that is written that it is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineDimExpr, AffineExpr

from ..affine import Access, Linear, Range, dims_in, linear, substitute
from ..blocks import BlockOp, IterKind
from ..conditions import EVERYWHERE
from ..digits import Digit, are_independent, digit_of, positive_constant
from ..exact_ranges import whole_range
from ..loops import ForKind, ForOp, enclosing_loops, loop_range
from ..symbols import depends_on_symbols, dimension
from .branches import branches_of

MAX_TRIED = 256
"""The most iterations that are tried where equations leave loops open, and the most elements that are asked about."""


@dataclass(frozen=True)
class Instances:
    """The iterations in which an access is made: the loops around it as dimensions, outermost first, the index over
    them, and what is at least 0 where it is made."""

    loops: Sequence[ForOp]
    ranges: Sequence[Range]
    index: Sequence[AffineExpr]
    conditions: Sequence[AffineExpr]
    is_whole: bool
    """Whether nothing else decides where it is made."""

    @staticmethod
    def of(block: BlockOp, access: Access) -> Instances | None:
        """Those of an access with a map, of a block whose loops have known extents."""
        loops = enclosing_loops(block)
        if access.map is None or block.is_symbolic or any(loop.is_symbolic for loop in loops):
            return None
        position: dict[SSAValue, int] = {loop.var: number for number, loop in enumerate(loops)}
        dims = [dimension(position[var]) for var in block.loop_vars]
        bindings = [substitute(expr, dims) for expr in block.bindings.data.results]
        guard = EVERYWHERE if access.op.parent_op() is block else branches_of(block).around(access.op)
        conditions = [substitute(expr, dims) for expr in block.conditions]
        conditions += [substitute(expr, bindings) for expr in guard.conditions]
        if block.init is not None and block.init.is_ancestor(access.op):
            conditions += [b * -1 for b, kind in zip(bindings, block.kinds, strict=True) if kind == IterKind.REDUCE]
        index = [substitute(expr, bindings) for expr in access.map.results]
        if depends_on_symbols(*conditions, *index):
            return None
        return Instances(loops, [loop_range(loop.var) for loop in loops], index, conditions, guard.whole)

    @cached_property
    def by_dimension(self) -> Mapping[AffineExpr, Range]:
        return {dimension(number): span for number, span in enumerate(self.ranges)}

    @cached_property
    def forms(self) -> Sequence[Linear]:
        """The indices in normal form."""
        return [linear(expr, self.by_dimension) for expr in self.index]

    @cached_property
    def deciding(self) -> frozenset[int]:
        """The loops that have a say in which element is touched, or whether one is."""
        return frozenset(d for expr in (*self.index, *self.conditions) for d in dims_in(expr))

    def samples(self, besides: frozenset[int]) -> Iterator[Sequence[int]]:
        """Iterations in which the access is made, those first that come first: all that differ in a loop that decides,
        or one of `besides`, if they are few, else those at the ends of loops."""
        moving = sorted(self.deciding | besides)
        point = [low for low, _ in self.ranges]
        for chosen in _chosen([self.ranges[d] for d in moving]):
            for d, value in zip(moving, chosen, strict=True):
                point[d] = value
            if all(condition.eval(point, []) >= 0 for condition in self.conditions):
                yield tuple(point)

    def element(self, point: Sequence[int]) -> tuple[int, ...]:
        """What is touched in an iteration."""
        return tuple(expr.eval(point, []) for expr in self.index)

    def touching(self, element: Sequence[int]) -> list[Sequence[int]] | None:
        """The iterations that touch an element, loops that have no say in it being at their start; `None` where these
        are too many to be tried."""
        found: dict[int, int] = {}
        while (known := self._solve(element, found)) > 0:
            pass
        if known < 0:
            return []
        left = sorted(self.deciding - found.keys())
        spans = [self._left_of(d, element) for d in left]
        if prod(map(len, spans)) > MAX_TRIED:
            return None
        point = [low for low, _ in self.ranges]
        for d, value in found.items():
            point[d] = value
        points: list[Sequence[int]] = []
        for values in product(*spans):
            for d, value in zip(left, values, strict=True):
                point[d] = value
            if self.element(point) == tuple(element) and all(c.eval(point, []) >= 0 for c in self.conditions):
                points.append(tuple(point))
        return points

    def _solve(self, element: Sequence[int], found: dict[int, int]) -> int:
        """Find loops from one equation after the other: how many more are known, -1 where there is no solution."""
        before = len(found)
        for form, wanted in zip(self.forms, element, strict=True):
            rest = wanted - form.constant
            open_terms: list[tuple[int, int]] = []
            for atom, factor in form.terms.items():
                inner = dims_in(atom)
                if inner <= found.keys():
                    values = [found.get(d, 0) for d in range(len(self.ranges))]
                    rest -= factor * atom.eval(values, [])
                elif isinstance(atom, AffineDimExpr):
                    open_terms.append((factor, atom.position))
                else:
                    break  # a quotient or a remainder
            else:
                if not open_terms and rest:
                    return -1
                digits = self._digits(open_terms, rest)
                if digits is None:
                    continue
                if not digits and open_terms:
                    return -1
                found.update(digits)
        return len(found) - before

    def _left_of(self, loop: int, element: Sequence[int]) -> range:
        """The values of a loop that equations leave in which it stands alone, as a quotient and as a remainder."""
        low, high = self.ranges[loop]
        period, phase = 1, 0
        for form, wanted in zip(self.forms, element, strict=True):
            if len(form.terms) != 1:
                continue
            ((atom, factor),) = form.terms.items()
            if not isinstance(atom, AffineBinaryOpExpr) or not _is_loop(atom.lhs, loop):
                continue
            if (divisor := positive_constant(atom.rhs)) is None:
                continue
            value, rest = divmod(wanted - form.constant, factor)
            if rest:
                return range(0)
            if atom.kind is AffineBinaryOpKind.FloorDiv:
                low, high = max(low, value * divisor), min(high, value * divisor + divisor - 1)
            elif atom.kind is AffineBinaryOpKind.Mod:
                if not 0 <= value < divisor:
                    return range(0)
                if divisor > period:
                    period, phase = divisor, value
        return range(low + (phase - low) % period, high + 1, period)

    def _digits(self, terms: Sequence[tuple[int, int]], value: int) -> Mapping[int, int] | None:
        """The only values of loops with which multiples of them are `value` together, none if there are no such values;
        `None` where there may be several."""
        for factor, d in terms:
            value -= factor * self.ranges[d][0 if factor > 0 else 1]
        reach = 0
        ascending = sorted([(abs(factor), factor, d) for factor, d in terms])
        for size, _, d in ascending:
            if self.ranges[d][1] > self.ranges[d][0] and size <= reach:
                return None
            reach += size * (self.ranges[d][1] - self.ranges[d][0])
        found: dict[int, int] = {}
        for size, factor, d in reversed(ascending):
            low, high = self.ranges[d]
            step = min(value // size, high - low)
            if step < 0:
                return {}
            value -= step * size
            found[d] = low + step if factor > 0 else high - step
        return found if value == 0 else {}

    def comes_before(self, point: Sequence[int], other: Instances, at: Sequence[int], *, stands_before: bool) -> bool:
        """Whether the iteration at `point` is before the `other`'s `at`, or may be: threads run at the same time. Where
        both are one iteration of the loops in common, what `stands_before` decides."""
        for loop, one, two, mine, theirs in zip(self.loops, point, at, self.loops, other.loops, strict=False):
            if mine is not theirs:
                break
            if loop.for_kind == ForKind.THREAD_BINDING:
                return True
            if one != two:
                return one < two
        return stands_before

    def in_common(self, other: Instances) -> int:
        """How many loops are around both."""
        count = 0
        for mine, theirs in zip(self.loops, other.loops, strict=False):
            if mine is not theirs:
                break
            count += 1
        return count


def _is_loop(expr: AffineExpr, loop: int) -> bool:
    return isinstance(expr, AffineDimExpr) and expr.position == loop


def _chosen(ranges: Sequence[Range]) -> Iterator[Sequence[int]]:
    """All combinations of values, or those at and beside the ends of ranges, or at the ends, if these are few."""
    if any(high < low for low, high in ranges):
        return
    everything = [range(low, high + 1) for low, high in ranges]
    beside = [sorted({low, min(low + 1, high), high}) for low, high in ranges]
    ends = [sorted({low, high}) for low, high in ranges]
    for values in (everything, beside, ends):
        if prod(map(len, values)) <= MAX_TRIED:
            yield from product(*values)
            return
    for number, span in enumerate(ends):
        for value in span:
            yield [value if d == number else low for d, (low, _) in enumerate(ranges)]


def elements(shape: Sequence[int]) -> Iterator[Sequence[int]]:
    """Elements of a buffer: all, if they are few, else those at its ends."""
    yield from _chosen([(0, extent - 1) for extent in shape])


def fills(instances: Instances, shape: Sequence[int]) -> bool:
    """Whether it is seen at once that an access touches all elements of a buffer: loops, or the digits of loops, are
    the digits of its indices, each of one."""
    if instances.conditions or not instances.is_whole:
        return False
    return _takes_all(instances, shape) or _has_digits(instances, shape)


def _takes_all(instances: Instances, shape: Sequence[int]) -> bool:
    """Whether each index takes all values of its dimension, and each loop is of one index."""
    used = 0
    for index, extent in zip(instances.index, shape, strict=True):
        found = whole_range(index, instances.ranges)
        if found is None or used & found[1] or found[0][0] > 0 or found[0][1] < extent - 1:
            return False
        used |= found[1]
    return True


def _has_digits(instances: Instances, shape: Sequence[int]) -> bool:
    used: list[Digit] = []
    for form, extent in zip(instances.forms, shape, strict=True):
        reach = 1
        first = form.constant
        for factor, atom in sorted([(factor, atom) for atom, factor in form.terms.items()], key=lambda term: term[0]):
            digit = digit_of(atom, instances.ranges)
            if digit is None or not 0 < factor <= reach:
                return False
            used.append(digit)
            first += factor * digit.first
            reach += factor * (digit.count - 1)
        if first > 0 or first + reach < extent:
            return False
    return are_independent(used, instances.ranges)

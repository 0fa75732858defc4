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
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ..affine import Access, Linear, Range, dims_in, linear, substitute
from ..blocks import BlockOp, IterKind
from ..conditions import EVERYWHERE
from ..digits import Digit, are_independent, digit_of, unit_and_count
from ..exact_ranges import exact_range, whole_range
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

    @cached_property
    def atoms(self) -> Sequence[_Atom]:
        """What the indices are sums of multiples of, each once."""
        return [
            _Atom.of(each, self.ranges) for each in dict.fromkeys(atom for form in self.forms for atom in form.terms)
        ]

    @cached_property
    def sums(self) -> Sequence[tuple[int, Sequence[tuple[int, int]]]]:
        """Each index as a constant, and the factors of atoms by their numbers."""
        number = {atom.expr: n for n, atom in enumerate(self.atoms)}
        return [(form.constant, [(f, number[atom]) for atom, f in form.terms.items()]) for form in self.forms]

    def touching(self, element: Sequence[int]) -> list[Sequence[int]] | None:
        """The iterations that touch an element, loops that have no say in it being at their start; `None` where these
        are too many to be tried."""
        found: dict[int, int] = {}
        loops: dict[int, int] = {}
        while (known := self._solve(element, found, loops)) > 0:
            pass
        if known < 0:
            return []
        left = sorted(self.deciding - loops.keys())
        spans = [self._left_of(d, found) for d in left]
        if prod(map(len, spans)) > MAX_TRIED:
            return None
        point = [low for low, _ in self.ranges]
        for d, value in loops.items():
            point[d] = value
        points: list[Sequence[int]] = []
        for values in product(*spans):
            for d, value in zip(left, values, strict=True):
                point[d] = value
            touches = all(expr.eval(point, []) == wanted for expr, wanted in zip(self.index, element, strict=True))
            if touches and all(condition.eval(point, []) >= 0 for condition in self.conditions):
                points.append(tuple(point))
        return points

    def _solve(self, element: Sequence[int], found: dict[int, int], loops: dict[int, int]) -> int:
        """Find atoms, by number, from one equation after the other, and `loops` that are atoms: how many more are
        known, -1 where there is no solution."""
        before = len(found)
        for (constant, terms), wanted in zip(self.sums, element, strict=True):
            rest = wanted - constant
            unknown: list[tuple[int, int]] = []
            for factor, number in terms:
                atom = self.atoms[number]
                if number in found:
                    rest -= factor * found[number]
                elif atom.dims <= loops.keys():
                    rest -= factor * atom.expr.eval([loops.get(d, 0) for d in range(len(self.ranges))], [])
                else:
                    unknown.append((factor, number))
            if not unknown and rest:
                return -1
            if not unknown or (digits := self._digits(unknown, rest)) is None:
                continue
            if not digits:
                return -1
            found.update(digits)
            loops.update({loop: value for n, value in digits.items() if (loop := self.atoms[n].loop) is not None})
        return len(found) - before

    def _left_of(self, loop: int, found: Mapping[int, int]) -> range:
        """The values of a loop that are left by those of its quotients and remainders that are `found`."""
        low, high = self.ranges[loop]
        period, phase = 1, 0
        digits = [(self.atoms[n].digit, value) for n, value in found.items() if self.atoms[n].dims == frozenset([loop])]
        for (unit, count), value in sorted((digit, value) for digit, value in digits if digit is not None):
            if not count:
                low, high = max(low, value * unit), min(high, value * unit + unit - 1)
            elif unit == period:  # the digit above those that are known
                period, phase = unit * count, phase + value * unit
            elif unit == 1:  # a remainder by more than the one before
                period, phase = count, value
        return range(low + (phase - low) % period, high + 1, period)

    def _digits(self, terms: Sequence[tuple[int, int]], value: int) -> Mapping[int, int] | None:
        """The only values of atoms, by number, with which multiples of them are `value` together, none if there are no
        such values; `None` where there may be several."""
        spans: dict[int, Range] = {}
        for factor, number in terms:
            if (span := self.atoms[number].span) is None:
                return None
            spans[number] = span
            value -= factor * span[0 if factor > 0 else 1]
        reach = 0
        ascending = sorted([(abs(factor), factor, number) for factor, number in terms])
        for size, _, number in ascending:
            low, high = spans[number]
            if high > low and size <= reach:
                return None
            reach += size * (high - low)
        found: dict[int, int] = {}
        for size, factor, number in reversed(ascending):
            low, high = spans[number]
            step = min(value // size, high - low)
            if step < 0:
                return {}
            value -= step * size
            found[number] = low + step if factor > 0 else high - step
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


@dataclass(frozen=True)
class _Atom:
    """What indices are multiples of: a loop, or a quotient or remainder of loops."""

    expr: AffineExpr
    dims: frozenset[int]
    loop: int | None
    """The loop that it is."""
    span: Range | None
    """Between which values it lies, where that is known."""
    digit: tuple[int, int] | None
    """The unit and the count of `loop floordiv unit mod count`, if it is one: a count of 0 where it is no remainder."""

    @staticmethod
    def of(expr: AffineExpr, ranges: Sequence[Range]) -> _Atom:
        loop = expr.position if isinstance(expr, AffineDimExpr) else None
        return _Atom(expr, frozenset(dims_in(expr)), loop, exact_range(expr, ranges), unit_and_count(expr))


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

"""Does what blocks write cover what a later block reads, in the same iteration of the loops around both?

The element that is read is looked for among those that are written: in each dimension, what the loops around both add
is taken off its index, and the loops of the writer alone are the digits of what is left,

    write  %b[%i * 16 + %u * 4 + %v]      with 0 <= %u < 4, 0 <= %v < 4
    read   %b[%i * 16 + %j]               so %u = %j floordiv 4, %v = %j mod 4

if what is left lies between 0 and below 16, and the writer's predicate holds there. All of that is asked of the
analyzer, which knows the reader's loops and its predicate, so that extents may be symbols. Loops that are the digits of
one number, of which an index takes other digits, are that number (`joined_loops`).

Where a condition does not always hold, as where a loop was cut in two, others have to write what is read where it does
not: that is asked once for each such condition, with its opposite known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineExpr

from ..affine import Range, by_quotients, dims_in, linear, substitute
from ..analyzer import Analyzer, IntExpr, const, dim, from_affine
from ..analyzer import substitute as replaced
from ..blocks import BlockOp, IterKind
from ..buffers import shape_of
from ..digits import unit_and_count
from ..loops import ForOp, enclosing_loops, loop_range
from ..symbols import Extent, as_affine, assumed_around, dimension
from .joined_loops import JoinedLoops, join_loops, of_numbers
from .known import Facts

Counter: TypeAlias = "ForOp | JoinedLoops"
"""What takes the values that an index is made of."""


@dataclass(frozen=True)
class Place:
    """Where a block touches a buffer: the index over the variables that the block is bound to; `None` for anywhere.
    It is touched where all `guards`, over these variables too, are at least 0."""

    block: BlockOp
    buffer: SSAValue
    index: tuple[AffineExpr, ...] | None
    guards: tuple[AffineExpr, ...] = ()
    spread: tuple[int, ...] | None = None
    """How far above the index, in each dimension, what is touched may lie; `None` for nowhere but there."""


MOST = 6
"""Writers that are asked about together: with each, the rest is asked again."""


def covers(writes: Sequence[Place], read: Place) -> bool:
    """Whether it is shown that `writes`, made wherever their blocks run and their guards hold, have together reached
    every element that `read` touches.

    Their blocks stand before that of `read`.
    """
    around = enclosing_loops(read.block)
    numbers: dict[SSAValue, int] = {loop.var: number for number, loop in enumerate(around)}
    reader = [dimension(numbers[v]) for v in read.block.loop_vars]
    holding = [substitute(c, reader) for c in read.block.conditions]
    guards = [from_affine(substitute(guard, reader)) for guard in read.guards]
    facts = Facts(tuple([(loop.start, loop.size) for loop in around]), (*assumed_around(read.block), *holding))
    partly: list[list[IntExpr]] = []
    inside: list[IntExpr] = [guard >= 0 for guard in guards]
    shape = shape_of(read.buffer)
    unknown = [dim(len(around) + d) for d in range(len(shape))]
    if read.index is None:  # anywhere in the buffer
        wanted = unknown
        facts = facts.about(shape)
        for each, extent in zip(unknown, shape, strict=True):
            inside += [each >= 0, each < from_affine(as_affine(extent))]
    else:
        wanted = [by_quotients(substitute(e, reader)) for e in read.index]
        for d, far in enumerate(read.spread or ()):
            if far:
                wanted[d] = wanted[d] + unknown[d]
                inside += [unknown[d] >= 0, unknown[d] <= far]
    for write in [write for write in writes if write.index is not None][-MOST:]:
        own = [loop for loop in enclosing_loops(write.block) if loop not in around]
        facts = facts.about(loop.size for loop in own)
        unproved = _unproved(write, wanted, around, own, facts, tuple(inside), list(map(from_affine, holding)))
        if unproved is not None and not unproved:
            return True
        if unproved is not None:
            partly.append(unproved)
    if _cover(partly, facts, tuple(inside)):
        return True
    analyzer = facts.shared()
    return any(analyzer.can_prove(guard < 0) for guard in guards)  # nothing is read


def _cover(partly: Sequence[Sequence[IntExpr]], facts: Facts, known: tuple[IntExpr, ...]) -> bool:
    """Whether in each case, where `known` conditions hold, one writer is left with nothing to show: each of `partly` is
    what one has to, not to be negative."""
    if len(partly) < 2:
        return False
    first, *rest = partly
    return all(_covers_where(rest, facts, (*known, condition < 0)) for condition in first)


def _covers_where(partly: Sequence[Sequence[IntExpr]], facts: Facts, known: tuple[IntExpr, ...]) -> bool:
    analyzer = facts.shared(*known)
    left = [[each for each in conditions if not analyzer.can_prove(each >= 0)] for conditions in partly]
    return not all(left) or _cover(left, facts, known)


def _unproved(
    write: Place,
    wanted: Sequence[IntExpr],
    around: Sequence[ForOp],
    own: Sequence[ForOp],
    facts: Facts,
    inside: tuple[IntExpr, ...],
    holding: Sequence[IntExpr],
) -> list[IntExpr] | None:
    """What is not shown to be at least 0 of all that has to be, so that `write` reaches the element `wanted`, over the
    loops `around`, for which `inside` holds; `None` where that cannot be said."""
    assert write.index is not None
    rank = len(write.index)
    numbers: dict[SSAValue, int] = {loop.var: number for number, loop in enumerate(around)}
    numbers |= {loop.var: len(around) + rank + number for number, loop in enumerate(own)}
    writer = [dimension(numbers[v]) for v in write.block.loop_vars]
    plain, analyzer = facts.shared(), facts.shared(*inside)
    ranges = {dimension(numbers[loop.var]): loop_range(loop.var) for loop in (*around, *own)}
    written = [substitute(e, writer) for e in write.index]
    alone: dict[int, Counter] = {numbers[loop.var]: loop for loop in own}
    bounded = {number: ranges[dimension(number)] for number, loop in alone.items() if not loop.is_symbolic}
    written, joined = join_loops(written, bounded, ranges, len(around) + rank + len(own))
    for number in joined:
        ranges[dimension(number.number)] = 0, number.size - 1
        alone = {each: loop for each, loop in alone.items() if each not in number.of_loops} | {number.number: number}
    digits = _Digits(analyzer, alone, holding)
    if not all(digits.solve(e, each, ranges) for e, each in zip(written, wanted, strict=True)):
        return None
    if (values := digits.values(frozenset(numbers[v] for v in _steps_alone(write.block)))) is None:
        return None
    for condition in (*write.block.conditions, *write.guards):
        # what is known `inside` would hide which digits are of one number
        over = substitute(condition, writer)
        over = of_numbers(over, joined, bounded, ranges) if joined else over
        needed = plain.simplify(replaced(from_affine(over), values))
        if not any(analyzer.can_prove(needed >= least) for least in holding):
            digits.need(needed)
    return digits.unproved


def _steps_alone(block: BlockOp) -> set[SSAValue]:
    """The variables of loops over steps of a reduction and nothing else: of no steps it gives what its init does."""
    if block.init is None:
        return set()
    bindings = list(zip(block.bindings.data.results, block.kinds, strict=True))
    steps = {d for binding, kind in bindings if kind == IterKind.REDUCE for d in dims_in(binding)}
    others = [*(binding for binding, kind in bindings if kind != IterKind.REDUCE), *block.conditions]
    return {block.loop_vars[d] for d in steps - {d for expr in others for d in dims_in(expr)}}


class _Digits:
    """The values of the loops of the writer alone: each loop, or each quotient and remainder of one, may be a digit of
    one index."""

    def __init__(self, analyzer: Analyzer, loops: Mapping[int, Counter], holding: Sequence[IntExpr]):
        self.analyzer = analyzer
        self.loops = loops
        self.holding = holding
        self.known: dict[int, dict[tuple[int, int], IntExpr]] = {}
        """By loop, the values of `(loop - start) floordiv unit mod count`; a count of 0 is that of a quotient."""
        self.unproved: list[IntExpr] = []

    def need(self, value: IntExpr) -> None:
        """Note `value` if it is not shown to be at least 0, or what is known not to be negative."""
        if not any(self.analyzer.can_prove(value >= least) for least in (const(0), *self.holding)):
            self.unproved.append(self.analyzer.simplify(value))

    def solve(self, written: AffineExpr, wanted: IntExpr, ranges: Mapping[AffineExpr, Range]) -> bool:
        """Find the digits for which `written` is `wanted`, and note what has to be at least 0 for that; whether there
        are digits to speak of."""
        form = linear(written, ranges)
        left = wanted - form.constant
        digits: list[tuple[int, bool, int, tuple[int, int], Extent]] = []
        for atom, factor in form.terms.items():
            used = dims_in(atom) & self.loops.keys()
            if not used:
                left = left - by_quotients(atom) * factor
                continue
            (number, *more) = used
            if more or factor < 0 or (part := unit_and_count(atom)) is None or not self._is_new(number, part):
                return False  # no digit
            loop = self.loops[number]
            left = left - factor * loop.start if part == WHOLE else left
            self.known.setdefault(number, {})[part] = const(0)
            if (size := _size(loop, part)) != 1:
                digits.append((factor, not isinstance(size, int), number, part, size))
        is_positive = self.analyzer.can_prove(left >= 0)
        left = self.analyzer.simplify(left)
        if not digits:
            self.need(left)
            self.need(-left)
            return True
        digits.sort(key=lambda digit: digit[:2])
        stride = digits[0][0]
        if stride != 1 and not self.analyzer.can_prove((left % stride).equal(0)):
            return False
        for place, (factor, is_open, number, part, size) in enumerate(digits):
            is_last = place == len(digits) - 1
            if factor != stride or (is_open and not is_last):
                return False
            value = left // factor
            if is_last:
                if not is_positive:
                    self.need(left)
                self.need(by_quotients(size) * factor - 1 - left)
            else:
                assert isinstance(size, int)
                value = value % size
                stride *= size
            self.known[number][part] = value
        return True

    def _is_new(self, number: int, part: tuple[int, int]) -> bool:
        """Whether nothing is known yet of a digit of a loop: quotients and remainders are of those that begin at 0."""
        known = self.known.get(number, {})
        return not known if part == WHOLE else part not in known and WHOLE not in known and not self.loops[number].start

    def values(self, begun: frozenset[int]) -> dict[IntExpr, IntExpr] | None:
        """What the variables of the loops are; those that no index depends on have their first value, if there is one,
        or are `begun` anyway. `None` where digits of one are not known."""
        values: dict[IntExpr, IntExpr] = {}
        for number, loop in self.loops.items():
            step: IntExpr = const(0)
            reached = 1
            known = self.known.get(number, {})
            for (unit, count), digit in sorted(known.items(), key=lambda part: part[0]):
                if unit != reached:
                    return None
                step = step + digit * unit
                reached = unit * count
            if WHOLE not in known and (known or (loop.is_symbolic and number not in begun)):
                self.need(_left_above(loop.size, step))
            values[dim(number)] = step + loop.start
            if isinstance(loop, JoinedLoops):
                values |= {dim(each): value for each, value in loop.values(step)}
        return values


WHOLE = (1, 0)
"""A loop as a digit of itself."""


def _left_above(size: Extent, value: IntExpr) -> IntExpr:
    """What is not negative just where `value` is less than `size`; of a quotient, without its division."""
    match size:
        case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, dividend, AffineConstantExpr(divisor)) if divisor > 0:
            return by_quotients(dividend) - (value + 1) * divisor
        case _:
            return by_quotients(size) - 1 - value


def _size(loop: Counter, part: tuple[int, int]) -> Extent:
    """From 0 to below what a digit of a loop is."""
    unit, count = part
    if count:
        return count
    if isinstance(loop.size, int):
        return -(-loop.size // unit)
    return (loop.size + (unit - 1)) // unit if unit > 1 else loop.size

"""Loops that are together the digits of one number, of which an index takes quotients and remainders.

    write  %b[(%t * 3 + %v) floordiv 4, (%t * 3 + %v) mod 4]      with 0 <= %t < 256, 0 <= %v < 3

is written by the number `n = %t * 3 + %v`, of which the index has the digits `n floordiv 4` and `n mod 4`, as one loop
of 768 iterations would. So copies are written whose fused loop is handed to threads and lanes that rows are no multiple
of. A remainder need not show its number as it is: `(%t * 218 + %v) mod 3` is seen as `(%t * 2 + %v) mod 3`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ..affine import Range, dims_in, linear
from ..analyzer import IntExpr
from ..digits import divided
from ..symbols import dimension


@dataclass(frozen=True)
class JoinedLoops:
    """One number of several loops, the last of which counts fastest."""

    number: int
    """The dimension that it is."""
    loops: tuple[tuple[int, int, int], ...]
    """Each loop, as a dimension, how much one iteration of it adds, and how many it has: those that add least first."""
    size: int
    """How many values the number has, from 0 on."""
    start: int = 0
    is_symbolic: bool = False

    @property
    def of_loops(self) -> set[int]:
        """The loops, as dimensions."""
        return {loop for loop, _, _ in self.loops}

    def quotient(self, unit: int) -> dict[tuple[int, int], int] | None:
        """The number divided by `unit` as a sum: the factor of each loop, and of a quotient of one; `None` where it is
        no such sum."""
        found: dict[tuple[int, int], int] = {}
        for loop, stride, size in self.loops:
            if stride % unit == 0:
                found[loop, 1] = stride // unit
            elif stride * size > unit:
                if unit % stride or size % (unit // stride):
                    return None
                found[loop, unit // stride] = 1
        return found

    def values(self, number: IntExpr) -> Iterator[tuple[int, IntExpr]]:
        """The value of each loop where the number is `number`."""
        for loop, stride, size in self.loops:
            value = number // stride
            yield loop, value if stride * size == self.size else value % size


@dataclass(frozen=True)
class _Digit:
    """`sum floordiv unit mod count`, the count 0 where it is no remainder, of a sum of multiples of loops and of
    quotients of loops."""

    factors: Mapping[tuple[int, int], int]
    """By loop and what it is divided by."""
    unit: int
    count: int

    @property
    def loops(self) -> dict[int, int] | None:
        """The factors of loops; `None` where there are quotients."""
        return None if any(unit > 1 for _, unit in self.factors) else {loop: n for (loop, _), n in self.factors.items()}


def join_loops(
    written: Sequence[AffineExpr], own: Mapping[int, Range], ranges: Mapping[AffineExpr, Range], free: int
) -> tuple[list[AffineExpr], list[JoinedLoops]]:
    """An index with a number in place of each group of loops whose number it takes digits of; and these numbers, which
    are dimensions from `free` on.

    `own` are the loops that may be joined, from which value on they run to which; an index that takes anything else of
    joined loops than digits of their number is left as it is.
    """
    terms = [atom for each in written for atom in linear(each, ranges).terms]
    atoms = [atom for atom in dict.fromkeys(terms) if dims_in(atom) & own.keys()]
    digits = {atom: _digit_of(atom, own, ranges) for atom in atoms}
    numbers: list[JoinedLoops] = []
    for digit in sorted(filter(None, digits.values()), key=lambda each: -len(each.factors)):
        if (factors := digit.loops) is not None and len(factors) > 1:
            made = _joined(factors, own, free + len(numbers))
            if made is not None and all(made.of_loops.isdisjoint(each.of_loops) for each in numbers):
                numbers.append(made)
    if not numbers:
        return list(written), []
    places: dict[AffineExpr, AffineExpr] = {}
    for atom, digit in digits.items():
        for number in numbers:
            if not dims_in(atom).isdisjoint(number.of_loops):
                place = None if digit is None else _place_in(digit, number)
                if place is None:
                    return list(written), []
                places[atom] = place
    return [_replaced(each, places, ranges) for each in written], numbers


def of_numbers(
    expr: AffineExpr, numbers: Sequence[JoinedLoops], own: Mapping[int, Range], ranges: Mapping[AffineExpr, Range]
) -> AffineExpr:
    """A condition of a writer with numbers in place of their loops, where it speaks of all of a number or of digits."""
    form = linear(expr, ranges)
    terms = dict(form.terms)
    made: AffineExpr = AffineConstantExpr(form.constant)
    for number in numbers:
        factor = terms.get(dimension(number.loops[0][0]), 0)
        if factor and all(terms.get(dimension(loop), 0) == factor * stride for loop, stride in _strides(number)):
            for loop in number.of_loops:
                del terms[dimension(loop)]
            made = made + dimension(number.number) * factor
        for atom in [each for each in terms if not dims_in(each).isdisjoint(number.of_loops)]:
            digit = None if isinstance(atom, AffineDimExpr) else _digit_of(atom, own, ranges)
            if digit is not None and (place := _place_in(digit, number)) is not None:
                made = made + place * terms.pop(atom)
    for atom, factor in terms.items():
        made = made + atom * factor
    return made


def _strides(number: JoinedLoops) -> list[tuple[int, int]]:
    return [(loop, stride) for loop, stride, _ in number.loops]


def _replaced(
    expr: AffineExpr, places: Mapping[AffineExpr, AffineExpr], ranges: Mapping[AffineExpr, Range]
) -> AffineExpr:
    form = linear(expr, ranges)
    made: AffineExpr = AffineConstantExpr(form.constant)
    for atom, factor in form.terms.items():
        made = made + places.get(atom, atom) * factor
    return made


def _digit_of(atom: AffineExpr, own: Mapping[int, Range], ranges: Mapping[AffineExpr, Range]) -> _Digit | None:
    """A digit of a sum of multiples of loops that begin at 0; `None` where `atom` is none."""
    if (parts := divided(atom)) is None:
        return None
    whole, unit, count = parts
    form = linear(whole, ranges)
    factors: dict[tuple[int, int], int] = {}
    for term, factor in form.terms.items():
        if (inner := divided(term)) is None or inner[2]:
            return None
        loop, divisor, _ = inner
        first, last = own.get(loop.position, (1, 0)) if isinstance(loop, AffineDimExpr) else (1, 0)
        if not isinstance(loop, AffineDimExpr) or first:
            return None
        if last:  # one of a single iteration adds nothing
            factors[loop.position, divisor] = factor
    return None if form.constant else _Digit(factors, unit, count)


def _joined(factors: Mapping[int, int], own: Mapping[int, Range], number: int) -> JoinedLoops | None:
    """The number that is the sum of multiples of loops; `None` where it does not take each of its values once."""
    stride = 1
    loops: list[tuple[int, int, int]] = []
    for loop, factor in sorted(factors.items(), key=lambda each: each[1]):
        size = own[loop][1] + 1
        if factor != stride or size < 1:
            return None
        loops.append((loop, stride, size))
        stride *= size
    return JoinedLoops(number, tuple(loops), stride)


def _place_in(digit: _Digit, number: JoinedLoops) -> AffineExpr | None:
    """A digit of loops of a number as one of the number."""
    if not {loop for loop, _ in digit.factors} <= number.of_loops:
        return None
    strides = dict(_strides(number))
    modulus = digit.unit * digit.count
    for unit in dict.fromkeys([*strides.values(), *(strides[loop] * each for loop, each in digit.factors)]):
        if (whole := number.quotient(unit)) is None:
            continue
        differences = [digit.factors.get(each, 0) - whole.get(each, 0) for each in {**whole, **digit.factors}]
        if all(each == 0 or (modulus and each % modulus == 0) for each in differences):
            return _digit(number.number, unit * digit.unit, digit.count)
    if len(digit.factors) > 1:
        return None
    (((loop, divisor), factor),) = digit.factors.items()
    ((stride, size),) = [each[1:] for each in number.loops if each[0] == loop]
    unit = divisor * digit.unit
    count = digit.count or -(-size // unit)
    if factor != 1 or size % (unit * count):
        return None  # its values are not those of a digit of the number
    return _digit(number.number, stride * unit, 0 if stride * size == number.size and not digit.count else count)


def _digit(number: int, unit: int, count: int) -> AffineExpr:
    made: AffineExpr = dimension(number)
    if unit > 1:
        made = made // unit
    return made % count if count else made

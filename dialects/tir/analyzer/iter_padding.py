"""Iterators that are made longer so that divisors divide them: digits of indices that have gaps.

    (i) -> (i // 4, i % 4)      for 14 values of i: digits of an iterator of 16, of which two values are padding
    (i) -> (i + 5) // 8         for 16 values of i: a digit of i + 5, of 24 values, padding before it and after it

What is divided is `(iterator + offset) // lower`, and the divisors of an iterator, with the offsets that they were met
with, are collected first (`divide`). They say what iterator is divided in its place (`settled`): `iterator + left`,
where `left` and each offset differ by a multiple of what divides there, of as many values as all divisors divide.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import lcm

from .analyzer import Analyzer
from .build import add, all_of, any_of, floordiv, floormod, multiply
from .iter_nodes import IterMark, IterSplitExpr, NoMap
from .nodes import FALSE, TRUE, Const, IntExpr, const


@dataclass(frozen=True)
class _Divided:
    """That the values of an iterator and `offset` are divided into parts of `size`."""

    offset: IntExpr
    size: IntExpr


@dataclass(eq=False)
class Padding:
    """The divisions of one index map's iterators, and the longer iterators that they ask for."""

    analyzer: Analyzer
    divided: dict[IterMark, list[_Divided]] = field(default_factory=dict["IterMark", "list[_Divided]"])
    shifted: dict[IterMark, tuple[IterMark, IntExpr]] = field(
        default_factory=dict["IterMark", "tuple[IterMark, IntExpr]"]
    )
    """Stands for `iterator + offset` while divisions are collected."""
    longer: dict[IterMark, tuple[IterMark, IntExpr]] = field(
        default_factory=dict["IterMark", "tuple[IterMark, IntExpr]"]
    )
    """Of each iterator that is settled: what is divided in its place, and how much its values are greater."""
    predicate: IntExpr = FALSE

    def settled(self, digit: IterSplitExpr, base: IntExpr) -> tuple[IterSplitExpr, IntExpr] | None:
        """`digit + base` of the iterator that is divided in place of the digit's; nothing while that is not known."""
        iterator = digit.source
        if any(iterator is longer for longer, _ in self.longer.values()):
            return digit, base
        if (known := self.longer.get(iterator)) is None:
            return None
        longer, left = known
        if longer is iterator:
            return digit, base
        return IterSplitExpr(longer, TRUE, longer.extent, TRUE), self.analyzer.simplify(add(base, left, -1))

    def divide(self, digit: IterSplitExpr, base: IntExpr, divisor: IntExpr) -> tuple[IterSplitExpr, IterSplitExpr]:
        """Quotient and remainder of `digit + base`, of an iterator whose divisions are still collected."""
        iterator, before = self.shifted.get(digit.source, (digit.source, FALSE))
        offset = self.analyzer.simplify(add(before, multiply(base, digit.lower_factor)))
        size = self.analyzer.simplify(multiply(digit.lower_factor, divisor))
        self.divided.setdefault(iterator, []).append(_Divided(offset, size))
        whole = IterMark(add(iterator.source, offset), self._rounded(iterator.extent, floormod(offset, size), size))
        self.shifted[whole] = iterator, offset
        many = self.analyzer.simplify(floordiv(whole.extent, size))
        return IterSplitExpr(whole, size, many, TRUE), IterSplitExpr(whole, digit.lower_factor, divisor, TRUE)

    def _rounded(self, extent: IntExpr, left: IntExpr, size: IntExpr) -> IntExpr:
        """`left + extent`, rounded up to a multiple of `size`."""
        sum_ = add(left, extent)
        if self._divides(size, sum_):
            return self.analyzer.simplify(sum_)
        return self.analyzer.simplify(multiply(floordiv(add(add(sum_, size), const(-1)), size), size))

    def settle(self) -> bool:
        """Decide what is divided in place of the iterators whose divisions were collected; whether there were any."""
        pending = [iterator for iterator in self.divided if iterator not in self.longer]
        for iterator in pending:
            self.longer[iterator] = self._longer(iterator)
        return bool(pending)

    def _longer(self, iterator: IterMark) -> tuple[IterMark, IntExpr]:
        """An iterator that all divisors divide, and how much its values are greater."""
        divided = self.divided[iterator]
        size: IntExpr = TRUE
        greatest = divided[0]
        for each in divided:
            size = self._common_multiple(size, each.size)
            if self._divides(greatest.size, each.size):
                greatest = each
        left = self.analyzer.simplify(floormod(greatest.offset, greatest.size))
        for each in divided:
            if not self._divides(each.size, add(each.offset, left, -1)):
                raise NoMap(f"{iterator.source} is divided from different values on")
        if left is FALSE and self._divides(size, iterator.extent):
            return iterator, FALSE
        whole = IterSplitExpr(iterator, TRUE, iterator.extent, TRUE)
        longer = IterMark(add(iterator.source, left), self._rounded(iterator.extent, left, size), (whole,))
        self._note(longer, iterator.extent, left, size)
        return longer, left

    def _common_multiple(self, a: IntExpr, b: IntExpr) -> IntExpr:
        if isinstance(a, Const) and isinstance(b, Const):
            return const(lcm(a.value, b.value))
        if self._divides(a, b):
            return b
        return a if self._divides(b, a) else multiply(a, b)

    def _note(self, longer: IterMark, extent: IntExpr, left: IntExpr, size: IntExpr) -> None:
        """Where an iterator is padding, said by its digits, which the indices are."""
        quotient, rest = floordiv(longer.source, size), floormod(longer.source, size)
        end = add(left, extent)
        before = all_of(left.differs(0), quotient.equal(0), rest < left)
        after = all_of(longer.extent.differs(end), quotient.equal(floordiv(end, size)), rest >= floormod(end, size))
        self.predicate = Analyzer().simplify(
            any_of(self.predicate, before, after)
        )  # where iterators are not in their range

    def _divides(self, divisor: IntExpr, expr: IntExpr) -> bool:
        """Whether `expr` is a multiple of a divisor, which is not 0 where something is divided by it."""
        return self.analyzer.simplify(floormod(expr, divisor)) is FALSE or self.analyzer.divides(divisor, expr)

    def check(self, used: dict[IterMark, list[IterSplitExpr]]) -> None:
        """That the digits which are used of padded iterators take all their values without the padding.

        Raises:
            NoMap: some do not.
        """
        for iterator, (longer, _) in self.longer.items():
            digits = [] if longer is iterator else used.get(longer, [])
            if not digits:
                continue
            last = digits[0]
            for each in digits:
                if self._divides(last.lower_factor, each.lower_factor):
                    last = each
            end = self.analyzer.simplify(multiply(last.lower_factor, last.extent))
            fills = self.analyzer.can_prove(iterator.extent >= end)
            if self.analyzer.can_prove_equal(end, longer.extent):
                fills = len(digits) == 1 and (last.lower_factor is not TRUE or fills)
            elif not self._divides(end, longer.extent):
                fills = False
            if not fills:
                raise NoMap(f"the padding of {iterator.source} leaves gaps")

"""Index maps as splits and fusions of iterators: whether loops' variables reach each index exactly once.

An index is a sum `base + sum(scale * digit)`, where a digit is a part of an iterator, `(source floordiv lower) mod
extent`: as a number written in mixed radix has digits. The map is

* *surjective* if each index takes every value of its range, for any values of the others: the digits of an index follow
  each other without gaps (each scale is the scale times the extent of the next), and no digit is used twice;
* *bijective* if besides no digit of any iterator is left out, so that no index is reached twice.

A condition on a fused iterator (`4 * i + j < 10`) shortens it; parts of it can no longer be taken apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd

from .analyzer import Analyzer
from .answers import Range
from .build import add, floordiv, linear, maximum, minimum, multiply, negate, parts, scale
from .iter_nodes import IterMap, IterMark, IterSplitExpr, IterSumExpr, NoMap
from .iter_padding import Padding
from .nodes import (
    FALSE,
    TRUE,
    All,
    Const,
    FloorDiv,
    FloorMod,
    IntExpr,
    NonNegative,
    Product,
    Zero,
    children,
    const,
    op,
)


@dataclass
class _Bound:
    """A condition `low <= expr <= high` on a sum of variables, its ends free of them."""

    expr: IntExpr
    low: IntExpr | None = None
    high: IntExpr | None = None
    used: bool = False
    digits: tuple[list[IterSplitExpr], IntExpr] | None = None
    """What `expr` is under the conditions that are smaller, once it was asked for."""

    @cached_property
    def size(self) -> int:
        """How many operations `expr` is made of: what stands in it is smaller."""
        return _size(self.expr)


def _size(expr: IntExpr) -> int:
    return 1 + sum(map(_size, children(expr)))


@dataclass
class _Detection:
    analyzer: Analyzer
    domains: Mapping[IntExpr, tuple[IntExpr, IntExpr]]
    bounds: list[_Bound]
    counting_down: bool = False
    keep_trivial: bool = False
    padding: Padding | None = None
    """What is done about divisors that do not divide: nothing, they are refused."""
    smaller_than: int | None = None
    """Where the expression of a condition is parsed: only conditions smaller than it hold for what stands in it."""
    iterators: dict[IntExpr, tuple[IterMark, IntExpr]] = field(
        default_factory=dict["IntExpr", "tuple[IterMark, IntExpr]"]
    )
    marks: dict[tuple[IntExpr, IntExpr, tuple[IterMark, ...]], IterMark] = field(
        default_factory=dict["tuple[IntExpr, IntExpr, tuple[IterMark, ...]]", "IterMark"]
    )
    used: dict[IterMark, list[IterSplitExpr]] = field(default_factory=dict["IterMark", "list[IterSplitExpr]"])

    def equal(self, a: IntExpr, b: IntExpr) -> bool:
        return a is b or self.analyzer.can_prove_equal(a, b)

    def parse(self, expr: IntExpr) -> tuple[list[IterSplitExpr], IntExpr]:
        """The digits of `expr` and what is left."""
        constant, terms = parts(expr)
        digits: list[IterSplitExpr] = []
        base: IntExpr = const(constant)
        for atom, factor in terms.items():
            if atom.variables.isdisjoint(self.domains):
                base = add(base, atom, factor)
                continue
            inner, rest = self._atom(atom)
            digits += [d.times(const(factor)) for d in inner]
            base = add(base, rest, factor)
        return digits, base

    def indices(self, exprs: Sequence[IntExpr]) -> list[IterSumExpr]:
        """Each of `exprs` as one digit."""
        for bound in self.bounds:
            bound.digits = None
        return [self.fuse(*self.parse(expr), expr) for expr in exprs]

    def _atom(self, atom: IntExpr) -> tuple[list[IterSplitExpr], IntExpr]:
        if atom in self.domains:
            iterator, low = self._variable(atom)
            return (
                []
                if iterator.extent is TRUE and not self.keep_trivial
                else [IterSplitExpr(iterator, TRUE, iterator.extent, TRUE)]
            ), low
        if isinstance(atom, Product):
            inside = [f for f in atom.args if not f.variables.isdisjoint(self.domains)]
            factor: IntExpr = TRUE
            for other in atom.args:
                if other not in inside:
                    factor = multiply(factor, other)
            if len(inside) != 1:
                raise NoMap(f"{atom} is a product of iterators")
            digits, base = self._atom(inside[0])
            return [d.times(factor) for d in digits], multiply(base, factor)
        if not isinstance(atom, FloorDiv | FloorMod):
            raise NoMap(f"{atom} is neither a split nor a fusion")
        number, divisor = atom.args
        if not divisor.variables.isdisjoint(self.domains) or not self.analyzer.can_prove(divisor >= 0):
            raise NoMap(f"{divisor} does not divide iterators into equal parts")
        digits, base = self.parse(number)
        whole = self.fuse(digits, base, number)
        if whole.digit is None:
            return [], self.analyzer.simplify(op(type(atom), whole.base, divisor))
        return self._divided(isinstance(atom, FloorDiv), whole.digit, whole.base, divisor)

    def _divided(
        self, is_quotient: bool, digit: IterSplitExpr, base: IntExpr, divisor: IntExpr
    ) -> tuple[list[IterSplitExpr], IntExpr]:
        """Quotient or remainder of `digit + base`; `(s * d + s * b) floordiv (s * c)` is `(d + b) floordiv c`."""
        unit = digit.scale
        if unit is not TRUE:
            if not self.analyzer.divides(unit, divisor) or (
                base is not FALSE and not self.analyzer.divides(unit, base)
            ):
                raise NoMap(f"{divisor} and {base} are not both multiples of {unit}")
            digit = IterSplitExpr(digit.source, digit.lower_factor, digit.extent, TRUE)
            base, divisor = (self.analyzer.simplify(floordiv(each, unit)) for each in (base, divisor))
        found, rest = self._split(is_quotient, digit, base, divisor)
        return (found, rest) if is_quotient else ([d.times(unit) for d in found], multiply(rest, unit))

    def _split(
        self, is_quotient: bool, digit: IterSplitExpr, base: IntExpr, divisor: IntExpr
    ) -> tuple[list[IterSplitExpr], IntExpr]:
        """Quotient or remainder of a digit and a base."""
        if divisor is TRUE:
            return ([digit], base) if is_quotient else ([], FALSE)
        if base is FALSE and self.analyzer.can_prove(digit.extent <= divisor):
            return [] if is_quotient else [digit], FALSE
        if self.padding is not None:
            settled = self.padding.settled(digit, base)
            if settled is None:
                quotient, rest = self.padding.divide(digit, base, divisor)
                return [quotient if is_quotient else rest], FALSE
            digit, base = settled
        if base is not FALSE and not self.analyzer.divides(divisor, base):
            raise NoMap(f"{divisor} does not divide {base}, where what it divides starts")
        if self.analyzer.simplify(op(FloorMod, digit.extent, divisor)) is not FALSE:
            raise NoMap(f"{divisor} does not divide the extent {digit.extent}")
        if not is_quotient:
            return [IterSplitExpr(digit.source, digit.lower_factor, divisor, TRUE)], FALSE
        lower = self.analyzer.simplify(multiply(digit.lower_factor, divisor))
        extent = self.analyzer.simplify(floordiv(digit.extent, divisor))
        return [IterSplitExpr(digit.source, lower, extent, TRUE)], self.analyzer.simplify(floordiv(base, divisor))

    def _variable(self, variable: IntExpr) -> tuple[IterMark, IntExpr]:
        if (known := self.iterators.get(variable)) is None:
            low, extent = self.domains[variable]
            for bound in self.bounds:
                if bound.expr is variable:
                    low, last = self._narrow(low, add(add(low, extent), const(-1)), bound)
                    extent = self.analyzer.simplify(add(add(last, const(1)), low, -1))
            source = add(variable, low, -1)
            known = self.iterators[variable] = (IterMark(source, extent), low)
        return known

    def fuse(self, digits: list[IterSplitExpr], base: IntExpr, expr: IntExpr) -> IterSumExpr:
        """One digit that is the fusion of `digits`."""
        merged: dict[tuple[int, IntExpr, IntExpr], IterSplitExpr] = {}
        for digit in digits:
            key = (id(digit.source), digit.lower_factor, digit.extent)
            old = merged.get(key)
            factor = digit.scale if old is None else add(old.scale, digit.scale)
            merged[key] = IterSplitExpr(digit.source, digit.lower_factor, digit.extent, factor)
        digits = [d for d in merged.values() if d.scale is not FALSE and (d.extent is not TRUE or self.keep_trivial)]
        turned = digits
        if any(self.analyzer.can_prove(digit.scale < 0) for digit in digits):
            if len(digits) > 1 or not self.counting_down:
                raise NoMap(f"{expr} counts down")
            return IterSumExpr((digits[0],), self.analyzer.simplify(base))
        for bound in self._ordered():
            turned, base = self._constrain(turned, base, bound)
        if not turned:
            return IterSumExpr((), self.analyzer.simplify(base))
        if len(turned) == 1:
            return IterSumExpr((turned[0],), self.analyzer.simplify(base))
        return IterSumExpr((self._chain(turned, expr),), self.analyzer.simplify(base))

    def _ordered(self) -> list[_Bound]:
        """The conditions that hold, smaller ones first."""
        held = [b for b in self.bounds if self.smaller_than is None or b.size < self.smaller_than]
        return sorted(held, key=lambda b: (len(parts(b.expr)[1]), b.size))

    def _chain(self, digits: list[IterSplitExpr], expr: IntExpr) -> IterSplitExpr:
        """Digits whose scales follow each other, as one."""
        remaining = list(digits)
        first = next((d for d in remaining if self._is_smallest(d, remaining)), None)
        if first is None:
            raise NoMap(f"the scales in {expr} cannot be ordered")
        ordered = [first]
        remaining.remove(first)
        expected = multiply(first.scale, first.extent)
        while remaining:
            following = next((d for d in remaining if self.equal(d.scale, expected)), None)
            if following is None:
                return self._overlapping(digits, expr, expected)
            remaining.remove(following)
            ordered.append(following)
            expected = multiply(expected, following.extent)
        unit = first.scale
        source: IntExpr = FALSE
        extent: IntExpr = TRUE
        inside: list[IterSplitExpr] = []
        for digit in ordered:
            inside.append(IterSplitExpr(digit.source, digit.lower_factor, digit.extent, extent))
            source = add(source, inside[-1].to_expr())
            extent = multiply(extent, digit.extent)
        return IterSplitExpr(self._mark(source, extent, tuple(inside), False), TRUE, extent, unit)

    def _mark(self, source: IntExpr, extent: IntExpr, inside: tuple[IterSplitExpr, ...], overlaps: bool) -> IterMark:
        """The iterator that is the fusion of digits: one for each fusion of the same iterators, and extent."""
        key = (source, extent, tuple(digit.source for digit in inside))
        return self.marks.setdefault(key, IterMark(source, extent, inside, overlaps))

    def _overlapping(self, digits: list[IterSplitExpr], expr: IntExpr, expected: IntExpr) -> IterSplitExpr:
        """Digits that reach all values, some of them in more than one way: each goes on before those below it end."""
        reached = 1
        source: IntExpr = FALSE
        for digit in sorted(digits, key=lambda d: d.scale.value if isinstance(d.scale, Const) else 0):
            step, extent = digit.scale, digit.extent
            if not (isinstance(step, Const) and isinstance(extent, Const)) or step.value > reached:
                raise NoMap(f"no part of {expr} goes on with a scale of {self.analyzer.simplify(expected)}")
            reached += step.value * (extent.value - 1)
            source = add(source, digit.to_expr())
        extent = const(reached)
        return IterSplitExpr(self._mark(source, extent, tuple(digits), True), TRUE, extent, TRUE)

    def _is_smallest(self, digit: IterSplitExpr, others: Sequence[IterSplitExpr]) -> bool:
        if isinstance(digit.scale, Const):
            sizes = [d.scale.value for d in others if isinstance(d.scale, Const)]
            if len(sizes) == len(others):
                return digit.scale.value == min(sizes)
        return all(self.analyzer.divides(digit.scale, d.scale) for d in others)

    def _of_bound(self, bound: _Bound) -> tuple[list[IterSplitExpr], IntExpr]:
        """The digits of the expression of a condition, and what is left of it."""
        if bound.digits is None:
            around, self.smaller_than = self.smaller_than, bound.size
            try:
                inner, rest = self.parse(bound.expr)
                for smaller in self._ordered():
                    inner, rest = self._constrain(inner, rest, smaller)
            finally:
                self.smaller_than = around
            bound.digits = inner, rest
        return bound.digits

    def _constrain(
        self, digits: list[IterSplitExpr], base: IntExpr, bound: _Bound
    ) -> tuple[list[IterSplitExpr], IntExpr]:
        """Digits that `bound` is on as one shorter digit."""
        if bound.expr in self.domains:
            return digits, base
        inner, rest = self._of_bound(bound)
        if not inner:
            return digits, base
        by_part = {(id(d.source), d.lower_factor, d.extent): d for d in digits}
        matched = [by_part.get((id(d.source), d.lower_factor, d.extent)) for d in inner]
        if any(m is None for m in matched):
            return digits, base
        unit = min(inner, key=lambda d: d.scale.value if isinstance(d.scale, Const) else 0)
        found = [m for m in matched if m is not None]
        anchor = found[inner.index(unit)]
        if not self.analyzer.divides(unit.scale, anchor.scale) or not isinstance(unit.scale, Const):
            return digits, base
        factor = self.analyzer.simplify(floordiv(anchor.scale, unit.scale))
        if any(not self.equal(multiply(d.scale, factor), m.scale) for d, m in zip(inner, found, strict=True)):
            return digits, base
        whole = inner[0] if len(inner) == 1 else self._chain(inner, bound.expr)
        if unit.scale is not TRUE:
            raise NoMap(f"the condition on {bound.expr} is one on every {unit.scale}th value")
        low, high = self._narrow(rest, add(add(rest, whole.extent), const(-1)), bound)
        low, high = (self.analyzer.simplify(add(end, rest, -1)) for end in (low, high))
        extent = self.analyzer.simplify(add(add(high, const(1)), low, -1))
        inside = whole.source.digits if len(inner) > 1 else (whole,)
        source = whole.source.source if len(inner) > 1 else whole.to_expr()
        shorter = self._mark(add(source, low, -1), extent, inside, whole.source.overlaps)
        digit = IterSplitExpr(shorter, TRUE, extent, factor)
        left = [d for d in digits if d not in found]
        return [*left, digit], add(base, multiply(factor, low))

    def _narrow(self, low: IntExpr, high: IntExpr, bound: _Bound) -> tuple[IntExpr, IntExpr]:
        """Least and greatest value where `bound` holds."""
        bound.used = True
        low = low if bound.low is None else self.analyzer.simplify(maximum(low, bound.low))
        high = high if bound.high is None else self.analyzer.simplify(minimum(high, bound.high))
        if self.analyzer.can_prove(low > high):
            raise NoMap(f"the condition on {bound.expr} is never fulfilled")
        return low, high

    def claim(self, digit: IterSplitExpr) -> None:
        """Note that `digit` is used; a part may be used once."""
        iterator = digit.source
        taken = self.used.setdefault(iterator, [])
        end = multiply(digit.lower_factor, digit.extent)
        for other in taken:
            other_end = multiply(other.lower_factor, other.extent)
            if not (
                self.analyzer.can_prove(end <= other.lower_factor)
                or self.analyzer.can_prove(other_end <= digit.lower_factor)
            ):
                raise NoMap(f"{iterator.source} is used twice")
        taken.append(digit)
        if len(taken) == 1:
            for inner in iterator.digits:
                self.claim(inner)

    def is_covered(self, iterator: IterMark) -> bool:
        """Whether the digits that are used make up the whole iterator."""
        expected: IntExpr = TRUE
        remaining = list(self.used.get(iterator, ()))
        while remaining:
            following = next((d for d in remaining if self.equal(d.lower_factor, expected)), None)
            if following is None:
                return False
            remaining.remove(following)
            expected = multiply(following.lower_factor, following.extent)
        return self.equal(expected, iterator.extent)


def _bounds_of(condition: IntExpr, analyzer: Analyzer, variables: set[IntExpr]) -> list[_Bound]:
    """The conditions on sums of variables, those on one sum together."""
    found: dict[IntExpr, _Bound] = {}
    if analyzer.can_prove(negate(condition)):
        raise NoMap(f"{condition} is never fulfilled")
    for part in condition.args if isinstance(condition, All) else (condition,):
        if analyzer.can_prove(part) or part.variables.isdisjoint(variables):
            continue
        if not isinstance(part, NonNegative | Zero):
            raise NoMap(f"{part} is no bound of an iterator")
        constant, terms = parts(part.args[0])
        inside = {a: c for a, c in terms.items() if not a.variables.isdisjoint(variables)}
        free = linear(constant, {a: c for a, c in terms.items() if a not in inside})
        sign = -1 if next(iter(sorted(inside.items(), key=lambda t: t[0].order)))[1] < 0 else 1
        if isinstance(part, Zero) or any(c * sign < 0 for c in inside.values()):
            raise NoMap(f"{part} is no range of an iterator")
        common = gcd(*inside.values())
        atom = linear(0, {a: c * sign // common for a, c in inside.items()})
        bound = found.setdefault(atom, _Bound(atom))
        if sign > 0:
            low = scale(floordiv(free, const(common)), -1)
            bound.low = low if bound.low is None else maximum(bound.low, low)
        else:
            high = floordiv(free, const(common))
            bound.high = high if bound.high is None else minimum(bound.high, high)
    return list(found.values())


def detect_iter_map(
    indices: Sequence[IntExpr],
    domains: Mapping[IntExpr, int | IntExpr | range | Range],
    predicate: IntExpr = TRUE,
    *,
    bijective: bool = False,
    analyzer: Analyzer | None = None,
    counting_down: bool = False,
    keep_trivial: bool = False,
    padded: bool = False,
) -> IterMap:
    """`indices` as sums of independent digits of the variables of `domains` (each an extent, or a `range`), where
    `predicate` holds; an `IterMap` that is false and says why where they are none. With `counting_down`, an index of
    one digit may have a negative scale; with `keep_trivial`, an index of one iterator of one value is that iterator;
    with `padded`, iterators that divisors do not divide are made longer: the indices take values, too, of no iteration,
    `IterMap.padding` says where."""
    analyzer = analyzer or Analyzer()
    ranges: dict[IntExpr, tuple[IntExpr, IntExpr]] = {}
    for variable, domain in domains.items():
        if isinstance(domain, range):
            ranges[variable] = (const(domain.start), const(len(domain)))
        elif isinstance(domain, Range):
            ranges[variable] = (domain.min, domain.extent)
        else:
            ranges[variable] = (FALSE, const(domain) if isinstance(domain, int) else domain)
    known = [
        c
        for v, (low, extent) in ranges.items()
        if not keep_trivial or extent is not TRUE
        for c in (v >= low, v < add(low, extent))
    ]
    reason = ""
    with analyzer.assuming(*known):
        simple = [analyzer.simplify(index) for index in indices]
        for form in (simple, list(indices)):  # simplification may bring a map out, or hide that it is one
            try:
                bounds = _bounds_of(predicate, analyzer, set(ranges))
                padding = Padding(analyzer) if padded else None
                detection = _Detection(analyzer, ranges, bounds, counting_down, keep_trivial, padding)
                return _detect(form, ranges, bijective, detection)
            except NoMap as failed:
                reason = str(failed)
    return IterMap(reason=reason)


def _detect(
    indices: Sequence[IntExpr],
    ranges: Mapping[IntExpr, tuple[IntExpr, IntExpr]],
    bijective: bool,
    detection: _Detection,
) -> IterMap:
    padding = detection.padding
    found = detection.indices(indices)
    while padding is not None and padding.settle():  # longer iterators may be divided once more
        found = detection.indices(indices)
    for whole in found:
        if whole.digit is not None:
            detection.claim(whole.digit)
    if padding is not None:
        padding.check(detection.used)
    for bound in detection.bounds:
        if not bound.used:
            raise NoMap(f"the condition on {bound.expr} cuts indices apart")
    if bijective:
        for variable, (_, extent) in ranges.items():
            if extent is not TRUE and variable not in detection.iterators:
                raise NoMap(f"{variable} is not used")
        for iterator in detection.used:
            if iterator.overlaps:
                raise NoMap(f"{iterator.source} reaches values in more than one way")
        for iterator in [*detection.used, *(i for i, _ in detection.iterators.values())]:
            if iterator.extent is not TRUE and not detection.is_covered(iterator):
                raise NoMap(f"{iterator.source} is used in part")
    return IterMap(tuple(found), padding=FALSE if padding is None else padding.predicate)


def normalize_iter_map_to_expr(index: IterSumExpr) -> IntExpr:
    """The index as an expression of its iterators."""
    return index.to_expr()

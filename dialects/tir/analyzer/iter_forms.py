"""Index maps under TVM's names: detected, turned round, divided into those of an inner and an outer loop nest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...support.arguments import checked
from . import iter_map
from .analyzer import Analyzer
from .answers import Range
from .build import add, all_of, floordiv, floormod, multiply, parts, truth
from .iter_nodes import IterMark, IterSplitExpr, IterSumExpr
from .nodes import FALSE, TRUE, All, Const, ExprLike, IntExpr, as_expr

CHECK_LEVELS = ("surjective", "bijective", "nocheck")


@dataclass(frozen=True)
class IterMapResult:
    """The indices as sums of digits of iterators; none where the map is none, for which `errors` gives the reason."""

    indices: tuple[IterSumExpr, ...] = ()
    errors: tuple[str, ...] = ()
    padding_predicate: IntExpr = FALSE
    """Where indices are of no iteration: those that iterators were made longer by, so that divisors divide them."""


def _domains(input_iters: Mapping[IntExpr, Range]) -> dict[IntExpr, int | IntExpr | range | Range]:
    return {as_expr(v): domain for v, domain in input_iters.items()}


@checked
def detect_iter_map(
    indices: Sequence[ExprLike],
    input_iters: Mapping[IntExpr, Range],
    predicate: ExprLike = 1,
    check_level: str = "surjective",
    simplify_trivial_iterators: bool = True,
) -> IterMapResult:
    """`indices` as sums of independent digits of `input_iters`, where `predicate` holds. An iterator of one value is
    that value, unless `simplify_trivial_iterators` is false. One that divisors do not divide is made longer, unless the
    map is to be bijective: `padding_predicate` says where.

    Raises:
        ValueError: there is no such check level.
    """
    if check_level not in CHECK_LEVELS:
        raise ValueError(f"'{check_level}' is no check level: {', '.join(CHECK_LEVELS)}")
    found = iter_map.detect_iter_map(
        list(map(as_expr, indices)),
        _domains(input_iters),
        truth(as_expr(predicate)),
        bijective=check_level == "bijective",
        keep_trivial=not simplify_trivial_iterators,
        padded=check_level != "bijective",
    )
    return (
        IterMapResult(found.indices, padding_predicate=found.padding)
        if found
        else IterMapResult(errors=(found.reason,))
    )


@checked
def normalize_iter_map_to_expr(expr: IterSumExpr | IterSplitExpr | IntExpr) -> IntExpr:
    """A sum of digits, or a digit, as an expression of the iterators."""
    return expr if isinstance(expr, IntExpr) else expr.to_expr()


@checked
def iter_map_simplify(
    indices: Sequence[ExprLike],
    input_iters: Mapping[IntExpr, Range],
    predicate: ExprLike = 1,
    check_level: str = "surjective",
    simplify_trivial_iterators: bool = True,
) -> list[IntExpr]:
    """`indices` in the form of their digits; simplified only, where they are no map."""
    found = detect_iter_map(indices, input_iters, predicate, check_level, simplify_trivial_iterators)
    if found.indices:
        return [index.to_expr() for index in found.indices]
    analyzer = Analyzer()
    for variable, domain in input_iters.items():
        analyzer.bind(variable, domain)
    return [analyzer.simplify(index) for index in indices]


@checked
def inverse_affine_iter_map(iter_map: Sequence[IterSumExpr], outputs: Sequence[ExprLike]) -> dict[IntExpr, IntExpr]:
    """Each iterator's variable as an expression of `outputs`, the indices of a bijective map.

    Raises:
        ValueError: an index is no digit, or has no constant scale.
    """
    values: dict[IterMark, IntExpr] = {}
    for index, output in zip(iter_map, outputs, strict=True):
        if index.digit is None:
            continue
        value = add(as_expr(output), index.base, -1)
        digit = index.digit
        if digit.scale is not TRUE:
            if not isinstance(digit.scale, Const):
                raise ValueError(f"the scale {digit.scale} is no constant")
            value = floordiv(value, digit.scale)
        _give(values, digit, value)
    analyzer = Analyzer()
    pending = [mark for mark in values if mark.digits]
    while pending:
        inside = {digit.source for mark in pending for digit in mark.digits}
        mark = next(mark for mark in pending if mark not in inside)
        pending.remove(mark)
        value = add(values.pop(mark), _first(mark))
        for digit in mark.digits:  # lowest first
            part = floordiv(value, digit.scale)
            if digit is not mark.digits[-1]:
                part = floormod(part, digit.extent)
            _give(values, digit, part)
            if digit.source.digits and digit.source not in pending:
                pending.append(digit.source)
    found: dict[IntExpr, IntExpr] = {}
    for mark, value in values.items():
        constant, terms = parts(mark.source)
        (variable,) = terms
        found[variable] = analyzer.simplify(add(value, as_expr(-constant)))
    return found


def _first(mark: IterMark) -> IntExpr:
    """What the digits of a fusion are together where it is 0: not nothing, if a condition cuts off its first values."""
    whole: IntExpr = FALSE
    for digit in mark.digits:
        whole = add(whole, digit.to_expr())
    return Analyzer().simplify(add(whole, mark.source, -1))


def _give(values: dict[IterMark, IntExpr], digit: IterSplitExpr, value: IntExpr) -> None:
    """Note what one digit of an iterator is."""
    values[digit.source] = add(values.get(digit.source, FALSE), multiply(value, digit.lower_factor))


@dataclass(frozen=True)
class _Half:
    """The part of an index that one loop nest makes: its digits, lowest first, and how many values it has."""

    digits: tuple[IterSplitExpr, ...] = ()
    base: IntExpr = FALSE
    extent: IntExpr = TRUE

    def to_mark(self) -> IterMark:
        source: IntExpr = self.base
        for digit in self.digits:
            source = add(source, digit.to_expr())
        return IterMark(source, self.extent, self.digits)


@dataclass(frozen=True)
class _Division:
    """The division of a map by the variables of the inner nest."""

    inner: frozenset[IntExpr]
    known: frozenset[IntExpr]

    def side(self, digit: IterSplitExpr) -> bool | None:
        """Whether a digit is one of the inner nest (else of the outer); `None` where it is of both."""
        variables = digit.source.source.variables & self.known
        if variables <= self.inner:
            return True
        return False if variables.isdisjoint(self.inner) else None

    def divide(self, digit: IterSplitExpr) -> tuple[_Half, _Half] | None:
        """A digit of scale 1 as `outer * inner.extent + inner`."""
        side = self.side(digit)
        if side is not None:
            half = _Half((digit,), extent=digit.extent)
            return (_Half(), half) if side else (half, _Half())
        mark = digit.source
        if not mark.digits or mark.overlaps or digit.lower_factor is not TRUE or digit.extent is not mark.extent:
            return None
        inner: list[IterSplitExpr] = []
        outer: list[IterSplitExpr] = []
        inner_extent: IntExpr = TRUE
        outer_extent: IntExpr = TRUE
        for part in mark.digits:
            one = IterSplitExpr(part.source, part.lower_factor, part.extent, TRUE)
            halves = self.divide(one)
            if halves is None:
                return None
            above, below = halves
            if below.digits:
                if outer:
                    return None  # an outer digit lies below an inner one
                inner += [d.times(inner_extent) for d in below.digits]
                inner_extent = multiply(inner_extent, below.extent)
            if above.digits:
                outer += [d.times(outer_extent) for d in above.digits]
                outer_extent = multiply(outer_extent, above.extent)
        return _Half(tuple(outer), extent=outer_extent), _Half(tuple(inner), extent=inner_extent)


@checked
def subspace_divide(
    bindings: Sequence[ExprLike],
    input_iters: Mapping[IntExpr, Range],
    sub_iters: Sequence[ExprLike],
    predicate: ExprLike = 1,
    check_level: str = "surjective",
    simplify_trivial_iterators: bool = True,
) -> list[tuple[IterMark, IterMark]]:
    """Each of `bindings` as `outer * extent + inner`, where `inner`, of `extent` values, is made of `sub_iters` and
    `outer` of the others: a pair of iterators for each, and last a pair whose extents are the conditions that are left
    for the outer and the inner nest. Empty where they cannot be taken apart."""
    condition = truth(as_expr(predicate))
    inner = frozenset(map(as_expr, sub_iters))
    known = frozenset(map(as_expr, input_iters))
    sides: dict[bool, list[IntExpr]] = {False: [], True: []}
    for part in condition.args if isinstance(condition, All) else (condition,):
        if part is TRUE:
            continue
        used = part.variables & known
        if used <= inner:
            sides[True].append(part)
        elif used.isdisjoint(inner):
            sides[False].append(part)
        else:
            return []
    found = detect_iter_map(bindings, input_iters, 1, check_level, simplify_trivial_iterators)
    if not found.indices:
        return []
    division = _Division(inner, known)
    result: list[tuple[IterMark, IterMark]] = []
    for index in found.indices:
        if index.digit is None:
            result.append((_Half().to_mark(), _Half(base=index.base).to_mark()))
            continue
        scale = index.digit.scale
        one = IterSplitExpr(index.digit.source, index.digit.lower_factor, index.digit.extent, TRUE)
        halves = division.divide(one)
        if halves is None:
            return []
        above, below = halves
        below = _Half(tuple(d.times(scale) for d in below.digits), index.base, below.extent)
        if not below.digits and above.digits:  # nothing inner: the base and the scale stay outside
            above = _Half(tuple(d.times(scale) for d in above.digits), index.base, above.extent)
            below = _Half()
        result.append((above.to_mark(), below.to_mark()))
    result.append((IterMark(FALSE, all_of(*sides[False])), IterMark(FALSE, all_of(*sides[True]))))
    return result

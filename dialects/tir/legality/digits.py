"""Indices that are quotients and remainders of one number, put together: `f // 61` and `f % 61` are `f`.

Of indices it is often asked only whether they are the same at two points. A copy that a fused loop makes has the digits
of the loop's variable for indices, which need not fill what they count to: 56 iterations after one another go through
rows of 61. The digits are the same exactly where the variable is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from ..affine import Linear, linear, simplify

_Digit = tuple[AffineExpr, int, int | None]
"""`number // low % (high // low)`; without `high`, `number // low`."""


def joined(
    indices: Sequence[AffineExpr],
    moved: Callable[[AffineExpr], AffineExpr],
    range_of: Callable[[AffineExpr], tuple[int, int] | None],
) -> list[AffineExpr]:
    """Indices that are the same at two points exactly where `indices` are: without what is added to each and multiplies
    it, taken apart where a term goes in greater steps than all others together, and with digits of one number put
    together. `moved` gives an index without terms that are the same at all points, `range_of` its least and greatest
    value."""
    found = [_bare(part) for index in indices for part in _parts(moved(index), range_of)]
    while True:
        if (pair := _neighbours(found, range_of)) is not None:
            first, second, number = pair
            found[first] = _bare(moved(number))
            del found[second]
            continue
        unwound = [_bare(_unwound(index, moved, range_of)) for index in found]
        if unwound == found:
            return _not_told_by_others(found, moved)
        found = unwound


def _not_told_by_others(indices: Sequence[AffineExpr], moved: Callable[[AffineExpr], AffineExpr]) -> list[AffineExpr]:
    """Indices without those that follow from variables that are indices themselves."""
    known = {index for index in indices if isinstance(index, AffineDimExpr)}

    def is_told(index: AffineExpr) -> bool:
        dims = [AffineDimExpr(number) for number in index.used_dims()]
        return all(each in known or not linear(moved(each)).terms for each in dims)

    return [*known, *(index for index in indices if index not in known and not is_told(index))]


def _bare(index: AffineExpr) -> AffineExpr:
    terms = linear(index).terms
    return next(iter(terms)) if len(terms) == 1 else index


def _unwound(
    index: AffineExpr,
    moved: Callable[[AffineExpr], AffineExpr],
    range_of: Callable[[AffineExpr], tuple[int, int] | None],
) -> AffineExpr:
    """A number in the place of its remainder, where it does not move as far as what it is divided by."""
    match _bare(index):
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod, number, AffineConstantExpr(by)):
            known = range_of(moved(number))
            return index if known is None or known[1] - known[0] >= by else moved(number)
        case _:
            return index


def _parts(index: AffineExpr, range_of: Callable[[AffineExpr], tuple[int, int] | None]) -> list[AffineExpr]:
    """`x * 4 + y` as `x` and `y`, where `y` takes less than 4 values."""
    terms = sorted(linear(index).terms.items(), key=lambda term: abs(term[1]))
    for number in range(1, len(terms)):
        low, high = Linear(dict(terms[:number]), 0).to_expr(), terms[number:]
        step = abs(high[0][1])
        known = range_of(low)
        if known is not None and known[1] - known[0] < step and all(factor % step == 0 for _, factor in high):
            great = Linear({atom: factor // step for atom, factor in high}, 0).to_expr()
            return [low, *_parts(great, range_of)]
    return [index]


def _neighbours(
    indices: Sequence[AffineExpr], range_of: Callable[[AffineExpr], tuple[int, int] | None]
) -> tuple[int, int, AffineExpr] | None:
    """Two indices, by number, that are digits next to one another, and what they are together."""
    digits = [_digits(index) for index in indices]
    for first, second in permutations(range(len(indices)), 2):
        for number, low, middle in digits[first]:
            for other, start, high in digits[second]:
                if middle is None:
                    continue
                if start == middle and _leave_the_same(number, other, middle):
                    return first, second, _written(other, low, high)
                if low == 1 and start % middle == 0 and high is None:
                    quotient = simplify(other // (start // middle))
                    if _leave_the_same(number, quotient, middle):
                        return first, second, quotient
                if low == 1 and middle % start == 0 and high is None:  # what is left over does not reach the quotient
                    whole = _with_rest(other, number, middle // start, range_of)
                    if whole is not None and _leave_the_same(number, whole, middle):
                        return first, second, whole
    return None


def _with_rest(
    quotient: AffineExpr,
    number: AffineExpr,
    times: int,
    range_of: Callable[[AffineExpr], tuple[int, int] | None],
) -> AffineExpr | None:
    """`quotient * times`, and what of `number` is no multiple of that, where it is from 0 to below `times`."""
    rest = Linear({atom: factor for atom, factor in linear(number).terms.items() if factor % times}, 0).to_expr()
    known = range_of(rest)
    return None if known is None or known[0] < 0 or known[1] >= times else simplify(quotient * times + rest)


def _leave_the_same(number: AffineExpr, other: AffineExpr, by: int) -> bool:
    """Whether two numbers have one remainder."""
    rest = linear(number + other * -1)
    return rest.constant % by == 0 and all(factor % by == 0 for factor in rest.terms.values())


def _digits(expr: AffineExpr) -> list[_Digit]:
    """What an expression is a digit of: of what is divided, and of what that is a digit of."""
    match expr:
        case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, number, AffineConstantExpr(by)) if by > 0:
            outer = [
                (root, low * by, high) for root, low, high in _digits(number) if high is None or high % (low * by) == 0
            ]
            return [(number, by, None), *outer]
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod, number, AffineConstantExpr(by)) if by > 0:
            outer = [
                (root, low, low * by) for root, low, high in _digits(number) if high is None or high % (low * by) == 0
            ]
            return [(number, 1, by), *outer]
        case _:
            return []


def _written(number: AffineExpr, low: int, high: int | None) -> AffineExpr:
    quotient = number if low == 1 else number // low
    return simplify(quotient if high is None else quotient % (high // low))

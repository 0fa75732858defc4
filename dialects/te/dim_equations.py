"""Equations between extents: what symbols are where extents have values, or equal each other."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from ..tir.analyzer import Var as Variable
from ..tir.analyzer.build import parts
from .dim_order import sign_always
from .dims import form_of, is_told, least_of, linear, quotient, same, simplified, terms_of, variables, written
from .expr import Dim, Var
from .factors import common_factors


def sizes_of(shapes: Sequence[tuple[Sequence[Dim], Sequence[int]]]) -> dict[Var, int]:
    """What the symbols are where extents have values: from those that are one, or a multiple plus a number."""
    sizes: dict[Var, int] = {}
    pairs = [pair for dims, values in shapes for pair in zip(dims, values, strict=False)]
    found = True
    while found:
        found = False
        for dim, value in pairs:
            form = linear(dim)
            if form is None:
                continue
            unknown = [symbol for symbol in form[0] if symbol not in sizes]
            if len(unknown) != 1:
                continue
            rest = value - form[1] - sum(f * sizes[s] for s, f in form[0].items() if s in sizes)
            quotient, remainder = divmod(rest, form[0][unknown[0]])
            if remainder == 0 and quotient >= 0:
                sizes[unknown[0]] = quotient
                found = True
    return sizes


def solved(a: Dim, b: Dim) -> tuple[Var, Dim] | None:
    """A symbol, and what it is if `a` equals `b`; `None` where no symbol follows from the rest, or one that is no told
    number would be below 0. What is a factor of both, and is no count that data decides, is taken for positive."""
    if same(a, b):
        return None
    a, b = without_common_factors(a, b)
    found = [(one, other) for one, other in ((b, a), (a, b)) if isinstance(one, Var) and one not in variables([other])]
    if (difference := linear(simplified(_difference(a, b)))) is not None:
        for symbol, factor in difference[0].items():
            if abs(factor) == 1:
                rest: Dim = -difference[1] * factor
                for other, times in difference[0].items():
                    if other is not symbol:
                        rest = rest - other * (times * factor)
                found.append((symbol, rest))
    found = [each for each in found if is_told(each[0]) or sign_always(each[1]) != -1]
    # A sum rather than a difference: `total` is `past + rows`, not `rows` is `total - past`.
    return next((each for each in found if _is_sum(each[1])), found[0] if found else None)


def never_equal(a: Dim, b: Dim) -> bool:
    """Whether two extents surely differ whatever the symbols are: as `n` and `n + 1`, `2 * n` and 3, `n + 3` and 2."""
    between = simplified(_difference(a, b))
    if (difference := linear(between)) is not None:
        factors, number = difference
        if number % gcd(*factors.values()) if factors else number:
            return True
    return bool(sign_always(between))


def _is_sum(dim: Dim) -> bool:
    """Whether nothing is subtracted in an extent."""
    terms, constant = terms_of(dim)
    return constant >= 0 and all(factor > 0 for _, factor in terms)


def without_common_factors(a: Dim, b: Dim) -> tuple[Dim, Dim]:
    """`a` and `b`, both divided by the symbols and the number that all their terms have as factors: `n * m * 4` and
    `m * 8` are `n` and `2`."""
    forms = form_of(a), form_of(b)
    for factor in [] if same(a, 0) or same(b, 0) else common_factors(forms):
        if isinstance(factor, Variable) and (least_of(factor.key) or 0) > 0:
            a, b = quotient(a, written(factor)), quotient(b, written(factor))
    number = gcd(*(number for form in forms for number in (parts(form)[0], *parts(form)[1].values())))
    return (quotient(a, number), quotient(b, number)) if number > 1 else (a, b)


def _difference(a: Dim, b: Dim) -> Dim:
    return a - b

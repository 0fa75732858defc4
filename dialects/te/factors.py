"""Extents as polynomials: what divides them, and what several have as factors.

A form (`..tir.analyzer`) is a sum of products of atoms, each a symbol or what arithmetic on symbols does not take
apart, as `n // 4`; so it is a polynomial in its atoms, and is divided as one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

from ..tir.analyzer import IntExpr
from ..tir.analyzer import const as integer
from ..tir.analyzer.build import parts
from ..tir.analyzer.nodes import Product

_MOST_STEPS = 64
"""Of a division: the quotients of extents have few terms."""


def factors_of(atom: IntExpr) -> tuple[IntExpr, ...]:
    """What a term without its number is the product of."""
    return atom.args if isinstance(atom, Product) else (atom,)


def common_factors(forms: Iterable[IntExpr]) -> list[IntExpr]:
    """The atoms that are a factor of all terms of all forms, each as often as it is."""
    found: Counter[IntExpr] | None = None
    for form in forms:
        constant, terms = parts(form)
        if constant:
            return []
        for atom in terms:
            each = Counter(factors_of(atom))
            found = each if found is None else found & each
    return list(found.elements()) if found else []


def exact_quotient(a: IntExpr, b: IntExpr) -> IntExpr | None:
    """`a / b` where that is a polynomial: `n * m - m` by `n - 1` is `m`. Long division by the leading terms, in the
    order of exponents."""
    order = list(dict.fromkeys(each for form in (a, b) for atom in parts(form)[1] for each in factors_of(atom)))
    rest, divisor = _terms(a, order), _terms(b, order)
    if not divisor:
        return None
    lead = max(divisor)
    quotient: list[IntExpr] = []
    for _ in range(_MOST_STEPS):
        if not rest:
            return reduce(lambda x, y: x + y, quotient, integer(0))
        top = max(rest)
        powers = tuple(x - y for x, y in zip(top, lead, strict=True))
        number, remainder = divmod(rest[top], divisor[lead])
        if remainder or min(powers, default=0) < 0:
            return None
        atoms = (atom for atom, power in zip(order, powers, strict=True) for _ in range(power))
        quotient.append(reduce(lambda x, y: x * y, atoms, integer(number)))
        for exponents, factor in divisor.items():
            place = tuple(map(sum, zip(exponents, powers, strict=True)))
            rest[place] = rest.get(place, 0) - factor * number
            if not rest[place]:
                del rest[place]
    return None


def _terms(form: IntExpr, order: Sequence[IntExpr]) -> dict[tuple[int, ...], int]:
    """The numbers of a form's terms, by the exponents of the atoms."""
    constant, terms = parts(form)
    found = {tuple(0 for _ in order): constant} if constant else {}
    for atom, number in terms.items():
        counted = Counter(factors_of(atom))
        found[tuple(counted[each] for each in order)] = number
    return found


def equal_parts(extent: int) -> Iterator[int]:
    """Into how many equal parts an extent can be divided, fewest first: at least two, and not many."""
    return (count for count in range(2, 9) if extent % count == 0)

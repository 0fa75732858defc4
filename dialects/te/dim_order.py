"""The order of extents: what is surely above what, whatever the symbols are.

Symbols are at least 1, or the least that they say: data may decide that one is 0, and what has to hold then, too, is
asked of `always_at_most` and `sign_always`. Numbers that somebody tells are any integers.
"""

from __future__ import annotations

from ..tir.analyzer import Analyzer
from .dims import Compound, bounds, dim_expr, form_of, is_told, simplified, terms_of
from .expr import Dim
from .kinds import BinaryKind, index


def sign_of(dim: Dim) -> int | None:
    """-1, 0 or 1 where it is surely below, at or above zero wherever the symbols are at least 1."""
    if isinstance(dim, int):
        return (dim > 0) - (dim < 0)
    low, high = bounds(form_of(dim))
    if low is not None and low > 0:
        return 1
    return -1 if high is not None and high < 0 else None


def surely_at_most(a: Dim, b: Dim) -> bool:
    """Whether `a` is surely not above `b` wherever the symbols are at least 1."""
    if isinstance(a, int) and isinstance(b, int):
        return a <= b
    low, _ = bounds(form_of(b) - form_of(a))
    return low is not None and low >= 0


def always_at_most(a: Dim, b: Dim) -> bool:
    """Whether `a` is surely not above `b` whatever the symbols are, also where one is 0."""
    form = form_of(b) - form_of(a)
    least = {symbol: None if is_told(symbol.key) else 0 for symbol in form.variables}
    low, _ = Analyzer.of({symbol: (each, None) for symbol, each in least.items()}).const_int_bound(form)
    return low is not None and low >= 0


def sign_always(dim: Dim) -> int | None:
    """`sign_of`, whatever the symbols are, also where one is 0."""
    if isinstance(dim, int):
        return (dim > 0) - (dim < 0)
    return 1 if always_at_most(1, dim) else -1 if always_at_most(dim, -1) else None


def extreme(kind: BinaryKind, a: Dim, b: Dim) -> Dim:
    """The least or greatest of two extents; one of them where that is known whatever the symbols are."""
    if always_at_most(a, b):
        return a if kind == BinaryKind.MIN else b
    if always_at_most(b, a):
        return b if kind == BinaryKind.MIN else a
    return simplified(Compound(kind, dim_expr(a), dim_expr(b), index))


def upper_ends(a: Dim, b: Dim) -> list[Dim]:
    """Sums that neither of two extents is above, whatever the symbols are: of `n - 4` and 0 that is `n`."""
    found: list[Dim] = []
    for one, other in ((a, b), (b, a)):
        (terms, constant), (others, number) = terms_of(one), terms_of(other)
        if terms and not others and always_at_most(number, end := one + max(number - constant, 0)):
            found.append(end)
    return found

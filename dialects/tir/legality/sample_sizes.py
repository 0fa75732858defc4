"""Sizes that a function with symbols is looked at with, of those that its callers may give.

Of `%n` at least 64, which the function says in its attribute `assumed`, 6 is none; nor are 6 and 59 of
two that are equal. What does not hold is made to, one size after another, each moved as far as it has to be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from xdsl.ir.affine import AffineExpr

from ..affine import linear
from ..symbols import symbols_in, with_sizes

MOVES = 64
"""After so many, no sizes are found."""

REACH = 256
"""How far a size may be moved where it is divided."""


def sizes_that_hold(wanted: Mapping[int, int], assumed: Sequence[AffineExpr]) -> dict[int, int] | None:
    """Sizes by symbol, near those `wanted`, for which nothing of what is `assumed` is negative; `None` where none are
    found. Those that are no least or greatest ones come first: where tiles end tells more there."""
    if _holds(wanted, assumed):
        return dict(wanted)
    random = Random(0)
    sizes = dict(wanted)
    for _ in range(MOVES):
        missing = [expr for expr in assumed if _value(expr, sizes) < 0]
        if not missing:
            return sizes if {*sizes.values()} <= {*wanted.values()} else _further(sizes, wanted, assumed)
        if moves := list(_moves(random.choice(missing), sizes)):
            symbol, size = random.choice(moves)
            sizes[symbol] = size
    return None


def _further(sizes: dict[int, int], wanted: Mapping[int, int], assumed: Sequence[AffineExpr]) -> dict[int, int]:
    """`sizes` and as much more as is `wanted`, of each or the same of all, where that holds."""
    first = next(iter(wanted.values()))
    for more in (wanted, dict.fromkeys(wanted, first)):
        further = {symbol: size + more[symbol] for symbol, size in sizes.items()}
        if _holds(further, assumed):
            return further
    return sizes


def _holds(sizes: Mapping[int, int], assumed: Sequence[AffineExpr]) -> bool:
    return all(_value(expr, sizes) >= 0 for expr in assumed)


def _value(expr: AffineExpr, sizes: Mapping[int, int]) -> int:
    return with_sizes(expr, sizes).eval([], [])


def _moves(expr: AffineExpr, sizes: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """A symbol and the size above 0, next to its own, with which `expr` is not negative, of each that has one."""
    for symbol in sorted({*symbols_in(expr)}):
        form = linear(with_sizes(expr, {other: size for other, size in sizes.items() if other != symbol}))
        factor = form.terms.get(AffineExpr.symbol(symbol), 0)
        if factor and len(form.terms) == 1:
            size = max(1, -(form.constant // factor)) if factor > 0 else form.constant // -factor
            if size > 0:
                yield symbol, size
            continue
        for size in (sizes[symbol] + way * far for far in range(1, REACH) for way in (1, -1)):
            if size > 0 and _value(expr, {**sizes, symbol: size}) >= 0:
                yield symbol, size
                break

"""What is positive where an expression is: of a loop that runs over `n * m`, `n` and `m` are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import reduce

from .analyzer import Analyzer
from .build import factors, multiply, parts
from .nodes import FloorDiv, FloorMod, IntExpr, const


def assume_positive(analyzer: Analyzer, expr: IntExpr) -> None:
    """Let `analyzer` know that `expr` is at least 1, and which of the factors and dividends in it are, then."""
    analyzer.assume(expr >= 1)
    for part in _positive_parts(analyzer, expr):
        assume_positive(analyzer, part)


def _positive_parts(analyzer: Analyzer, expr: IntExpr) -> Iterator[IntExpr]:
    """Smaller expressions that are at least 1 where `expr` is."""
    constant, terms = parts(expr)
    if len(terms) == 1:
        ((atom, factor),) = terms.items()
        least = -((constant - 1) // factor) if factor > 0 else -1  # what the atom is at least
        if least >= 0 and isinstance(atom, FloorDiv | FloorMod) and analyzer.can_prove(atom.args[1] >= 1):
            dividend, divisor = atom.args
            if isinstance(atom, FloorDiv):
                yield dividend - multiply(divisor, const(least)) + 1
            elif least and analyzer.can_prove(dividend >= 0):
                yield dividend
    if constant > 0 or not terms:
        return
    common = reduce(_in_both, [Counter(factors(atom)) for atom in terms])
    shared = list(common.elements())
    if shared and shared != [expr] and all(analyzer.can_prove(each >= 0) for each in shared):
        yield from shared
        rest: IntExpr = const(0)
        for atom, factor in terms.items():
            left = (Counter(factors(atom)) - common).elements()
            rest = rest + reduce(multiply, left, const(factor))
        yield rest


def _in_both(a: Counter[IntExpr], b: Counter[IntExpr]) -> Counter[IntExpr]:
    return a & b

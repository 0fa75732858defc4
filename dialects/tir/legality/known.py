"""What is known where a block runs, as an analyzer knows it: one for equal facts, so that it remembers its answers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from xdsl.ir import Operation
from xdsl.ir.affine import AffineExpr

from ..affine import MAX_REMEMBERED, by_quotients
from ..analyzer import Analyzer, IntExpr, assume_positive, dim, from_affine
from ..symbols import Extent, as_affine, assume_symbols, assumed_around, symbols_in


class Facts(NamedTuple):
    """The first value and the size of each loop, by the number of its dimension; what is not negative; the symbols of
    all else that is asked about; and the sizes, of whatever loops, that are positive."""

    loops: tuple[tuple[int, Extent], ...]
    conditions: tuple[AffineExpr, ...] = ()
    symbols: frozenset[int] = frozenset()
    positive: tuple[Extent, ...] = ()

    def about(self, exprs: Iterable[Extent]) -> Facts:
        """The same, with the symbols of `exprs`."""
        return self._replace(symbols=self.symbols.union(*(symbols_in(as_affine(expr)) for expr in exprs)))

    def analyzer(self) -> Analyzer:
        """What knows all of that, and may be told more."""
        analyzer = Analyzer()
        sizes = [as_affine(size) for _, size in self.loops]
        assume_symbols(analyzer, [*sizes, *self.conditions, *map(AffineExpr.symbol, self.symbols)])
        for number, ((start, _), size) in enumerate(zip(self.loops, sizes, strict=True)):
            analyzer.assume(dim(number) >= start, dim(number) < by_quotients(size) + start)
        analyzer.assume(*(from_affine(expr) >= 0 for expr in self.conditions))
        assume_symbols(analyzer, map(as_affine, self.positive))
        for size in self.positive:
            assume_positive(analyzer, from_affine(as_affine(size)))
        return analyzer

    def shared(self, *more: IntExpr) -> Analyzer:
        """The one that knows all of that and what `more` says, and is told nothing else."""
        known = _made(self, more)
        if known.remembered > MAX_REMEMBERED:
            known.forget()
        return known


def is_assumed(func: Operation, expr: AffineExpr) -> bool:
    """Whether what callers of a function see to says that `expr` over its symbols is not negative."""
    return Facts((), tuple(assumed_around(func))).about([expr]).shared().can_prove(from_affine(expr) >= 0)


@lru_cache(maxsize=1 << 8)
def _made(facts: Facts, more: tuple[IntExpr, ...]) -> Analyzer:
    analyzer = facts.analyzer()
    analyzer.assume(*more)
    return analyzer

"""Conditions of which one is enough, as one condition of quasi-affine expressions.

A predicate is a list of expressions that are all at least 0. That `a` or `b` is at least 0 is such an expression too,
where the least and greatest value of both are known: `(a + m) floordiv m` is 1 where `a` is at least 0 and 0 where it
is not, if `-m <= a < m`, and so `(a + m) floordiv m + (b + n) floordiv n - 1` is at least 0 where one of them is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from .affine import Range, expr_range, simplify


def any_of(conditions: Sequence[AffineExpr], ranges: Mapping[AffineExpr, Range]) -> AffineExpr | None:
    """An expression that is at least 0 where one of `conditions` is; `None` where one of them has no bounds."""
    total: AffineExpr = AffineConstantExpr(-1)
    for condition in conditions:
        bounds = expr_range(condition, ranges)
        if bounds is None:
            return None
        unit = max(-bounds[0], bounds[1] + 1, 1)
        total = total + (condition + unit) // unit
    return simplify(total, ranges)

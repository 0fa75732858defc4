"""Linear equations, clip bounds and deduced bounds in the forms of TVM's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...support.arguments import checked
from . import deduce
from .answers import IntervalSet
from .build import truth
from .nodes import Const, ExprLike, IntExpr, as_expr, is_condition


@checked
def detect_linear_equation(expr: ExprLike, variables: Sequence[ExprLike]) -> list[IntExpr]:
    """The coefficient of each of `variables` in `expr`, and what is left; empty where `expr` is not linear in them."""
    return deduce.detect_linear_equation(as_expr(expr), list(map(as_expr, variables))) or []


@checked
def detect_clip_bound(condition: ExprLike, variables: Sequence[ExprLike]) -> list[IntExpr | None]:
    """Least and greatest value of each of `variables` by turns, `None` where there is no bound; empty where a part of
    the conjunction is no bound of exactly one of them."""
    found = deduce.detect_clip_bound(truth(as_expr(condition)), list(map(as_expr, variables)))
    return [] if found is None else [end for bounds in found for end in bounds]


@checked
def deduce_bound(
    variable: ExprLike,
    condition: ExprLike,
    hint_map: Mapping[IntExpr, IntervalSet],
    relax_map: Mapping[IntExpr, IntervalSet],
) -> IntervalSet:
    """The values of `variable` for which `condition`, one comparison, holds whatever the variables of `relax_map` are.
    `hint_map` decides signs. No value, where nothing can be said."""
    hints, relax = ({v: _numbers(s) for v, s in each.items()} for each in (hint_map, relax_map))
    form = as_expr(condition)
    found = deduce.deduce_bound(as_expr(variable), form, hints, relax) if is_condition(form) else None
    return IntervalSet.nothing() if found is None else IntervalSet(*found)


def _numbers(values: IntervalSet) -> tuple[int | None, int | None]:
    low, high = values.ends
    return low.value if isinstance(low, Const) else None, high.value if isinstance(high, Const) else None

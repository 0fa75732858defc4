"""A condition that others follow from, whatever some of their variables are."""

from __future__ import annotations

from collections.abc import Mapping

from ...support.arguments import checked
from .analyzer import Analyzer
from .answers import IntervalSet, Range
from .build import all_of, any_of
from .intset import Interval, interval
from .nodes import FALSE, All, Any_, IntExpr, NonNegative, Not, Zero


@checked
def narrow_predicate_expression(expr: IntExpr, free_parameters: Mapping[IntExpr, Range | IntervalSet]) -> IntExpr:
    """A condition without the `free_parameters`, from which `expr` follows for all values that those may have.

    It need not be the weakest: what is not seen to hold for all of them is false. Counterpart of TVM's
    NarrowPredicateExpression.
    """
    over = {variable: ends_of(values) for variable, values in free_parameters.items()}
    return _narrowed(Analyzer(), expr, over)


def ends_of(values: Range | IntervalSet) -> Interval:
    """The least and the greatest of values; `None` for infinite ones."""
    if isinstance(values, Range):
        return values.min, values.min + values.extent - 1
    low, high = values.min_value, values.max_value
    return low if isinstance(low, IntExpr) else None, high if isinstance(high, IntExpr) else None


def _narrowed(analyzer: Analyzer, expr: IntExpr, over: Mapping[IntExpr, Interval]) -> IntExpr:
    if expr.variables.isdisjoint(over):
        return expr
    match expr:
        case All(args=args):
            return all_of(*(_narrowed(analyzer, each, over) for each in args))
        case Any_(args=args):
            return any_of(*(_narrowed(analyzer, each, over) for each in args))
        case NonNegative(args=(value,)):
            low, _ = interval(analyzer, value, over)
            return FALSE if low is None else low >= 0
        case Zero(args=(value,)):
            low, high = interval(analyzer, value, over)
            return FALSE if low is None or high is None else all_of(low >= 0, high <= 0)
        case Not(args=(Zero(args=(value,)),)):
            low, high = interval(analyzer, value, over)
            sides = [*([] if low is None else [low > 0]), *([] if high is None else [high < 0])]
            return any_of(*sides) if sides else FALSE
        case _:
            return FALSE

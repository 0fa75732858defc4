"""Linear inequalities between integers, solved by eliminating one variable after the other (Fourier and Motzkin).

    x + y <= 20, x - y >= 10, 0 <= y < 10     is     0 <= y < 6, y + 10 <= x < y + 21, x + y <= 20

What two bounds of a variable say of the others holds for integers too, if not all of it: the ranges that are found may
be too wide, and what they do not show stays as a relation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...support.arguments import checked
from .analyzer import Analyzer
from .answers import Range
from .build import add, ceildiv, floordiv, linear, non_negative, parts
from .constraints import IntConstraints, IntConstraintsTransform, each_of, refuse_dependent
from .convert import substitute
from .deduce import detect_linear_equation
from .nodes import FALSE, TRUE, Const, ExprLike, IntExpr, NonNegative, Zero, as_expr
from .variables import var


@dataclass(frozen=True)
class _Bound:
    """`factor * v` is at least (or most) `value`, where `condition` holds."""

    factor: int
    value: IntExpr
    condition: IntExpr


@checked
def solve_linear_inequalities(
    equations: Sequence[ExprLike],
    variables: Sequence[ExprLike] = (),
    ranges: Mapping[IntExpr, Range] | None = None,
    deskew_range: bool = False,
) -> IntConstraints | IntConstraintsTransform:
    """The ranges of `variables`, each over those after it, and what else has to hold for all `equations` (inequalities)
    to. With `deskew_range`, that with new variables that begin at 0, and how one comes from the other. Variables that
    are not listed are parameters."""
    unknown = tuple(map(as_expr, variables))
    known = dict(ranges or {})
    given = tuple(each_of(list(map(as_expr, equations))))
    refuse_dependent(given, unknown)
    source = IntConstraints(unknown, {v: each for v, each in known.items() if v in unknown}, given)
    solved = _solve(source, {v: each for v, each in known.items() if v not in unknown})
    return _deskewed(source, solved) if deskew_range else solved


def _solve(source: IntConstraints, parameters: Mapping[IntExpr, Range]) -> IntConstraints:
    pending: list[IntExpr] = []
    others: list[IntExpr] = []
    spans = [c for v, each in source.ranges.items() for c in (v >= each.min, v <= each.last)]
    for relation in (*source.relations, *each_of(spans)):
        match relation:
            case NonNegative() if _is_linear(relation.args[0], source.variables):
                pending.append(relation.args[0])
            case Zero() if _is_linear(relation.args[0], source.variables):
                pending += [relation.args[0], relation.args[0] * -1]
            case Const(value=0):
                return IntConstraints.nothing()
            case _:
                others += [] if isinstance(relation, Const) else [relation]
    lowers: dict[IntExpr, list[_Bound]] = {}
    uppers: dict[IntExpr, list[_Bound]] = {}
    for v in source.variables:
        above, below, rest = _bounds(v, pending)
        lowers[v], uppers[v] = above, below
        for low in above:
            for high in below:
                rest.append(add(high.value * low.factor, low.value, -high.factor))
        pending = _least(rest)
        if any(isinstance(expr, Const) and expr.value < 0 for expr in pending):
            return IntConstraints.nothing()
    analyzer = Analyzer()
    for v, each in parameters.items():
        analyzer.bind(v, each)
    fixed: dict[IntExpr, IntExpr] = {}
    found: dict[IntExpr, Range] = {}
    for v in reversed(source.variables):
        best = _best(analyzer, fixed, lowers[v], uppers[v])
        if best is None:
            continue
        low, extent = best
        if extent <= 0:
            return IntConstraints.nothing()
        found[v] = Range.from_min_extent(low, extent)
        if extent == 1:
            fixed[v] = low
        analyzer.bind(v, found[v])
    conditions = [each.condition for v in source.variables for each in (*lowers[v], *uppers[v])]
    conditions += [non_negative(expr) for expr in pending] + others
    left = [analyzer.simplify(substitute(each, fixed)) for each in conditions]
    if FALSE in left:
        return IntConstraints.nothing()
    relations = dict.fromkeys(each for each in left if each is not TRUE)
    return IntConstraints(source.variables, {v: found[v] for v in source.variables if v in found}, tuple(relations))


def _is_linear(expr: IntExpr, variables: Sequence[IntExpr]) -> bool:
    """Whether `expr` is a sum of multiples of `variables`, by numbers, and of what depends on none of them: any other
    one would be in the bounds of all of them."""
    split = detect_linear_equation(expr, variables)
    return split is not None and all(isinstance(factor, Const) for factor in split[:-1])


def _bounds(v: IntExpr, exprs: Sequence[IntExpr]) -> tuple[list[_Bound], list[_Bound], list[IntExpr]]:
    """What `exprs`, which are not negative, say of `v`: its bounds from below, from above, and those without it."""
    above: list[_Bound] = []
    below: list[_Bound] = []
    rest: list[IntExpr] = []
    for expr in exprs:
        split = detect_linear_equation(expr, [v])
        factor = None if split is None or not isinstance(split[0], Const) else split[0].value
        if split is None or not factor:
            rest.append(expr)
        elif factor > 0:
            above.append(_Bound(factor, split[1] * -1, non_negative(expr)))
        else:
            below.append(_Bound(-factor, split[1], non_negative(expr)))
    return above, below, rest


def _least(exprs: Sequence[IntExpr]) -> list[IntExpr]:
    """`exprs`, which are not negative, without those that another one implies by being the same and less."""
    found: dict[tuple[tuple[IntExpr, int], ...], int] = {}
    for expr in exprs:
        condition = non_negative(expr)
        expr = condition.args[0] if isinstance(condition, NonNegative) else expr
        constant, terms = parts(expr)
        key = tuple(sorted(terms.items(), key=lambda term: term[0].order))
        found[key] = min(constant, found.get(key, constant))
    return [linear(constant, dict(key)) for key, constant in found.items() if key or constant < 0]


def _best(
    analyzer: Analyzer, fixed: Mapping[IntExpr, IntExpr], lowers: Sequence[_Bound], uppers: Sequence[_Bound]
) -> tuple[IntExpr, int] | None:
    """The bound from below with which there are the fewest values to one from above, and their number at most."""
    best: tuple[IntExpr, int] | None = None
    for low in lowers:
        first = analyzer.simplify(ceildiv(substitute(low.value, fixed), low.factor))
        for high in uppers:
            last = floordiv(substitute(high.value, fixed), as_expr(high.factor))
            most = analyzer.const_int_bound(analyzer.simplify(last - first + 1)).max_value
            if most is not None and (best is None or most < best[1]):
                best = first, most
    return best


def _deskewed(source: IntConstraints, solved: IntConstraints) -> IntConstraintsTransform:
    if solved.is_nothing:
        return IntConstraintsTransform(source, solved)
    there: dict[IntExpr, IntExpr] = {}
    here: dict[IntExpr, IntExpr] = {}
    ranges: dict[IntExpr, Range] = {}
    analyzer = Analyzer()
    for v in reversed(solved.variables):
        span = solved.ranges.get(v)
        if span is None:
            there[v], here[v] = v, v
            continue
        start = analyzer.simplify(substitute(span.min, there))
        if span.extent is TRUE:
            there[v] = start
            continue
        fresh = var(f"{v}_0", "int64")
        there[v] = analyzer.simplify(start + fresh)
        here[fresh] = analyzer.simplify(v - span.min)
        ranges[fresh] = Range(span.extent)
        analyzer.bind(fresh, ranges[fresh])
    relations = dict.fromkeys(analyzer.simplify(substitute(each, there)) for each in solved.relations)
    if FALSE in relations:
        return IntConstraintsTransform(source, IntConstraints.nothing())
    kept = tuple(each for each in relations if each is not TRUE)
    order = tuple(reversed(here))
    return IntConstraintsTransform(source, IntConstraints(order, ranges, kept), there, here)

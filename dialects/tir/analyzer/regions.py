"""Sets of integers under TVM's names: what an expression takes over a domain, unions, and boxes that regions fill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...support.arguments import checked
from .analyzer import Analyzer
from .answers import NEG_INF, POS_INF, End, Infinity, IntervalSet, Range
from .build import maximum, minimum, multiply
from .iter_map import detect_iter_map
from .iter_nodes import IterSumExpr
from .nodes import Const, ExprLike, IntExpr, as_expr

Domains = Mapping[IntExpr, Range]


def _extreme(values: Sequence[End], which: Infinity, *, least: bool) -> End:
    """The least or greatest of ends, of which `which` is the one beyond all others."""
    finite = [v for v in values if isinstance(v, IntExpr)]
    if which in values:
        return which
    if not finite:
        return POS_INF if which is NEG_INF else NEG_INF
    return minimum(*finite) if least else maximum(*finite)


@checked
def union_lower_bound(sets: Sequence[IntervalSet]) -> IntervalSet:
    """The least interval that holds all of `sets`, if they follow each other without a gap; else a part of them, the
    first run."""
    sets = [s for s in sets if not s.is_nothing()]
    if not sets:
        return IntervalSet.nothing()
    analyzer = Analyzer()
    found, rest = sets[0], list(sets[1:])
    while True:
        following = next((s for s in rest if _touches(analyzer, found, s) and _touches(analyzer, s, found)), None)
        if following is None:
            return found
        rest.remove(following)
        found = union([found, following])


def _touches(analyzer: Analyzer, a: IntervalSet, b: IntervalSet) -> bool:
    """Whether `b` starts no later than right after the end of `a`."""
    low, high = b.min_value, a.max_value
    return (
        low is NEG_INF
        or high is POS_INF
        or (isinstance(low, IntExpr) and isinstance(high, IntExpr) and analyzer.can_prove(low <= high + 1))
    )


@checked
def union(sets: Sequence[IntervalSet]) -> IntervalSet:
    """The least interval that holds all of `sets`."""
    sets = [s for s in sets if not s.is_nothing()]
    if not sets:
        return IntervalSet.nothing()
    analyzer = Analyzer()
    low = _extreme([s.min_value for s in sets], NEG_INF, least=True)
    high = _extreme([s.max_value for s in sets], POS_INF, least=False)
    return IntervalSet(*(e if isinstance(e, Infinity) else analyzer.simplify(e) for e in (low, high)))


@checked
def intersect(sets: Sequence[IntervalSet]) -> IntervalSet:
    """What is in all of `sets`; everything where there are none."""
    if any(s.is_nothing() for s in sets):
        return IntervalSet.nothing()
    analyzer = Analyzer()
    low = _extreme([s.min_value for s in sets], POS_INF, least=False)
    high = _extreme([s.max_value for s in sets], NEG_INF, least=True)
    low, high = (e if isinstance(e, Infinity) else analyzer.simplify(e) for e in (low, high))
    if isinstance(low, IntExpr) and isinstance(high, IntExpr) and analyzer.can_prove(low > high):
        return IntervalSet.nothing()
    return IntervalSet(low, high)


@checked
def eval_set(expr: ExprLike, domains: Mapping[IntExpr, IntervalSet]) -> IntervalSet:
    """The values of `expr` while its variables take those of their sets."""
    return Analyzer().int_set(expr, domains)


@checked
def estimate_region_strict_bound(
    region: Sequence[Range], var_dom: Domains, predicate: ExprLike = 1
) -> list[IntervalSet] | None:
    """The box that `region` fills while the variables of `var_dom` take all their values for which `predicate` holds:
    each of its elements is reached. `None` where that is not known."""
    analyzer = Analyzer()
    mapped = detect_iter_map(
        [each.min for each in region],
        var_dom,
        as_expr(predicate),
        analyzer=analyzer,
        counting_down=True,
    )
    if not mapped:
        return None
    found = [_filled(analyzer, index, each.extent) for index, each in zip(mapped.indices, region, strict=True)]
    return None if any(each is None for each in found) else [each for each in found if each is not None]


def _filled(analyzer: Analyzer, index: IterSumExpr, extent: IntExpr) -> IntervalSet | None:
    """What `extent` elements from each value of `index` on fill, if they leave no gap."""
    last = extent - 1
    if index.digit is None:
        return IntervalSet(index.base, analyzer.simplify(index.base + last))
    step = index.digit.scale
    reach = multiply(index.digit.extent - 1, step)
    if isinstance(step, Const) and step.value < 0:
        if not analyzer.can_prove(extent >= -step):
            return None
        return IntervalSet(analyzer.simplify(index.base + reach), analyzer.simplify(index.base + last))
    if not analyzer.can_prove(extent >= step):
        return None
    return IntervalSet(index.base, analyzer.simplify(index.base + reach + last))


@checked
def estimate_region_lower_bound(
    region: Sequence[Range], var_dom: Domains, predicate: ExprLike = 1
) -> list[IntervalSet] | None:
    """A box within what `region` fills; `None` where none is known."""
    return estimate_region_strict_bound(region, var_dom, predicate)


@checked
def estimate_region_upper_bound(
    region: Sequence[Range], var_dom: Domains, predicate: ExprLike = 1
) -> list[IntervalSet]:
    """A box around what `region` touches."""
    strict = estimate_region_strict_bound(region, var_dom, predicate)
    if strict is not None:
        return strict
    return [_around(each, var_dom, as_expr(predicate)) for each in region]


def _around(each: Range, var_dom: Domains, predicate: IntExpr) -> IntervalSet:
    alone = estimate_region_strict_bound([each], var_dom, predicate)
    if alone is not None:
        return alone[0]
    analyzer = Analyzer()
    domains = {v: (d.min, d.last) for v, d in var_dom.items()}
    low, _ = analyzer.interval(each.min, domains)
    _, high = analyzer.interval(each.min + each.extent - 1, domains)
    return IntervalSet(low, high)

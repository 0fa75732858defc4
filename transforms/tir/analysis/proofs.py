"""What follows from the loops around a block, whose extents may be symbols."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects.tir.affine import expr_range
from ....dialects.tir.analyzer import Analyzer, dim, from_affine, sym
from ....dialects.tir.core import dimension_ranges, loop_of
from ....dialects.tir.symbols import as_affine, depends_on_symbols, symbols_in


def always_holds(condition: AffineExpr, values: Sequence[SSAValue]) -> bool:
    """Whether `condition >= 0` wherever the loops of the variables `values` run."""
    bounds = expr_range(condition, dimension_ranges(values))
    if bounds is not None and bounds[0] >= 0:
        return True
    return depends_on_symbols(condition) and analyzer_of(values, condition).can_prove(from_affine(condition) >= 0)


def analyzer_of(values: Sequence[SSAValue], *exprs: AffineExpr) -> Analyzer:
    """An analyzer to which dimension `i` is the loop variable `values[i]`, and the symbols in `exprs` are extents."""
    analyzer = Analyzer()
    ends = [as_affine(loop_of(value).size) for value in values]
    for number in {symbol for expr in (*exprs, *ends) for symbol in symbols_in(expr)}:
        analyzer.assume(sym(number) >= 0)
    for number, (value, end) in enumerate(zip(values, ends, strict=True)):
        start = loop_of(value).start
        analyzer.assume(dim(number) >= start, dim(number) < from_affine(end) + start)
    return analyzer

"""Iterations of a loop that the lengths of rows tell apart, which depend on symbols."""

from __future__ import annotations

from ..analyzer import dim, from_affine, substitute
from ..loops import ForOp, enclosing_loops
from ..symbols import dimension, product
from .known import Facts
from .loop_forms import loop_forms
from .touch import Touch


def separated_by_sizes(loop: ForOp, first: Touch, second: Touch) -> bool:
    """Whether in some dimension an iteration moves both accesses by a number that depends on sizes, and all else moves
    them apart by less: `i * n + j` for `j` below `n`."""
    assert first.access.map is not None and second.access.map is not None
    depth = len(enclosing_loops(loop))
    variable = dimension(depth)
    forms, others = loop_forms(first.block), loop_forms(second.block)
    loops = tuple([(each.start, each.size) for each in (*forms.loops, *others.loops)])
    for index, other in zip(
        forms.normal(first.access.map.results), others.normal(second.access.map.results), strict=True
    ):
        stride = index.stride(variable)
        if stride is None or not stride.terms or other.stride(variable) != stride:
            continue
        moved = product(stride.to_expr(), variable)
        one, two = (from_affine(each.to_expr()) - from_affine(moved) for each in (index, other))
        own = {dim(number): dim(number + len(forms.loops)) for number in range(depth + 1, len(others.loops))}
        two = substitute(two, own)  # the loops inside are at iterations of their own
        analyzer = Facts(loops).shared()
        step = from_affine(stride.to_expr())
        if analyzer.can_prove(one - two < step) and analyzer.can_prove(two - one < step):
            return True
    return False

"""Which elements an iteration of a loop has to do with: in each dimension some that follow each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ....dialects.tir.affine import Linear, expr_range, linear, substitute
from ....dialects.tir.core import BlockOp, dimension_ranges, loop_of
from ....dialects.tir.digits import Digit, are_independent, digit_of
from ....dialects.tir.loops import loop_range
from ....dialects.tir.symbols import Extent


@dataclass(frozen=True)
class Part:
    """Which values an iterator takes in one iteration: from `offset`, over the loops outside as dimensions, `size`."""

    offset: AffineExpr
    size: Extent


def box_of(producer: BlockOp, indices: Sequence[AffineExpr], outer: list[SSAValue]) -> list[Part] | None:
    """The values that indices take together in one iteration of `outer`; `None` where they are not known to be a box
    without holes."""
    digits: list[Digit] = []
    box = [_span_of(producer, index, outer, digits) for index in indices]
    if not are_independent(digits, [loop_range(v) for v in producer.loop_vars]):
        return None
    parts = [part for part in box if part is not None]
    return parts if len(parts) == len(box) else None


def _span_of(producer: BlockOp, index: AffineExpr, outer: list[SSAValue], digits: list[Digit]) -> Part | None:
    """The values of an index; `digits` gets those of loops inside that it is made of."""
    loop_vars = list(producer.loop_vars)
    ranges = dimension_ranges(loop_vars)
    values = [ranges[AffineExpr.dimension(n)] for n in range(len(loop_vars))]
    form = linear(substitute(index, producer.bindings.data.results), ranges)
    renumber: list[AffineExpr] = [
        AffineDimExpr(outer.index(v)) if v in outer else AffineConstantExpr(0) for v in loop_vars
    ]
    fixed: dict[AffineExpr, int] = {}
    steps: list[tuple[int, int]] = []
    whole: Extent | None = None
    low = 0
    for atom, factor in form.terms.items():
        used = [loop_vars[d] for d in atom.used_dims()]
        if all(v in outer for v in used):
            fixed[substitute(atom, renumber)] = factor
            continue
        if (digit := digit_of(atom, values)) is None or factor <= 0:
            return None
        loop = loop_of(loop_vars[digit.loop])
        if loop.is_symbolic:
            if not isinstance(atom, AffineDimExpr) or factor != 1 or whole is not None:
                return None
            whole = loop.size
            low += loop.start
            continue
        digits.append(digit)
        low += factor * digit.first
        steps.append((factor, digit.count))
    size = _run(steps)
    if size is None or (whole is not None and size != 1):
        return None
    size = size if whole is None else whole
    return Part(Linear(fixed, form.constant + low).to_expr(), size)


def part_of_sum(value: Linear, box: Sequence[Part], shape: Sequence[Extent], outer: Sequence[SSAValue]) -> Part | None:
    """The values of a sum of indices, each of which takes those of `box`; `None` where they do not follow each other,
    or might lie outside of `shape`, in a dimension where that would be elsewhere within it."""
    offset: AffineExpr = AffineConstantExpr(value.constant)
    ranges = dimension_ranges(list(outer))
    steps: list[tuple[int, int]] = []
    most = max(value.terms.values(), default=0)
    for atom, factor in value.terms.items():
        if not isinstance(atom, AffineDimExpr) or factor < 1:
            return None
        part, extent = box[atom.position], shape[atom.position]
        last = expr_range(part.offset, ranges)
        if not isinstance(part.size, int) or not isinstance(extent, int) or last is None:
            return None
        size = min(part.size, extent) if part.offset == AffineConstantExpr(0) else part.size
        if factor != most and last[1] + size > extent:
            return None
        offset = offset + part.offset * factor
        steps.append((factor, size))
    size = _run(steps)
    return None if size is None else Part(linear(offset).to_expr(), size)


def _run(steps: list[tuple[int, int]]) -> int | None:
    """How many numbers sums of multiples of factors are, so many of each; `None` where they leave some out."""
    size = 1
    for factor, count in sorted(steps):
        if factor > size and count != 1:
            return None
        size += factor * (count - 1)
    return size

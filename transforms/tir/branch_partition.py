"""Cutting loops where branches beneath them are decided: what `loop-partition` does with loops that are hinted, or are
to be cut into `parts`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import gcd

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DictionaryAttr, IndexType, IntegerAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineExpr
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.tir.affine import (
    Range,
    affine_of,
    expr_range,
    linear,
    linear_range,
    over_dimensions,
    simplify,
    substitute,
)
from ...dialects.tir.core import BlockOp, ForKind, ForOp, blocks_under, dimension_ranges
from ...dialects.tir.loop_iterators import speaks_of_loops
from ...dialects.tir.loops import PARTS
from ...dialects.tir.symbols import depends_on_symbols
from ..infra.remarks import missed
from .analysis.producers import function_of
from .analysis.strides import iterator_ranges
from .convert_blocks_to_opaque import with_loop_iterators
from .remove_no_op import clean_body
from .schedule.copies import index_ops
from .schedule.loops import bind_constant
from .schedule.rebind import ValueExpr, rebind
from .simplify import outcome, take_side
from .symbolic_partition import clone_with_buffers, erase_with_buffers, handed_on

HINT = "pragma_loop_partition_hint"
MAX_PARTS = 16
"""A loop is cut in no more parts."""

MAX_COPIES = 64
"""Of a loop that schedule rules have cut: parts of a concatenation, say."""

DIVISIONS = (arith.DivUIOp, arith.RemUIOp, arith.FloorDivSIOp)

_EQUALS, _DIFFERS = 0, 1
_SIGNED = {2: (-1, -1), 3: (-1, 0), 4: (1, -1), 5: (1, 0)}
"""Of slt, sle, sgt and sge between `a` and `b`: the factor and the addend with which `a - b` is at least 0."""
_UNSIGNED = {6: 2, 7: 3, 8: 4, 9: 5}


@dataclass(frozen=True)
class _Comparison:
    """`factor * i + rest` is at least 0 (or is 0, or is not), for the variable `i` of a loop and any rest."""

    factor: int
    low: int
    high: int
    equality: bool

    def cuts(self) -> list[int]:
        """The values of the variable at which something begins to be certain, or ceases to be."""
        if self.factor > 0:
            possible, certain = -(self.high // self.factor), -(self.low // self.factor)
            return [possible, -self.low // self.factor + 1] if self.equality else [possible, certain]
        end, certain_end = self.high // -self.factor + 1, self.low // -self.factor + 1
        return [-(-self.low // -self.factor), end] if self.equality else [certain_end, end]

    def is_decided(self, begin: int, end: int) -> bool:
        """Whether it has one answer for all values from `begin` up to `end`, and any rest."""
        ends = sorted((self.factor * begin, self.factor * (end - 1)))
        least, most = ends[0] + self.low, ends[1] + self.high
        if self.equality:
            return least > 0 or most < 0 or least == most == 0
        return least >= 0 or most < 0


def is_hinted(loop: ForOp) -> bool:
    """Whether a loop asks to be cut where branches are decided."""
    value = None if loop.annotations is None else loop.annotations.data.get(HINT)
    return isinstance(value, IntegerAttr) and value.value.data != 0


def cut_at_branches(loop: ForOp, *, unroll_rest: bool, keep_single: bool) -> None:
    """Cut a hinted loop of a known extent into loops from 0 on, in each of which the comparisons of its variable that
    can be decided are.

    `unroll_rest` makes a part unrolled in which some are not; `keep_single` leaves parts of one iteration loops.
    """
    _drop(loop, HINT)
    blocks = blocks_under(loop)
    if not all(speaks_of_loops(block) for block in blocks):
        missed("loop-partition", loop, "blocks beneath have iterators of their own", "convert-blocks-to-opaque first")
        return
    begin, end = loop.start, loop.start + loop.trip_count
    asked = [each for block in blocks for each in _comparisons(block, loop.var)]
    cuts = sorted({cut for each in asked for cut in each.cuts() if begin < cut < end})
    if len(cuts) >= MAX_PARTS:
        missed("loop-partition", loop, f"it would be cut into {len(cuts) + 1} parts", "")
        return
    if not cuts:
        if unroll_rest and asked and not all(each.is_decided(begin, end) for each in asked):
            loop.for_kind = ForKind.UNROLLED
        return
    assert loop.parent is not None
    shared = handed_on(loop)
    for first, last in pairwise((begin, *cuts, end)):
        part = clone_with_buffers(loop, shared)
        loop.parent.insert_op_before(part, loop)
        _begin_at_zero(part, first, last)
        arguments = function_of(part).region.block.args
        for block in blocks_under(part):
            if not speaks_of_loops(block):
                with_loop_iterators(block, arguments)
        if unroll_rest and not all(each.is_decided(first, last) for each in asked):
            part.for_kind = ForKind.UNROLLED
        elif part.trip_count == 1 and not keep_single:
            bind_constant(part)
    erase_with_buffers(loop)


def cut_into_parts(loop: ForOp) -> None:
    """Cut a loop of a known extent that is annotated with `parts` into loops in each of which comparisons of its
    variable are decided, and quotients that step once along it stand still; take the sides of branches that are
    decided, and sums for quotients that are such. Blocks keep their iterators. Parts that are vectors begin at 0."""
    _drop(loop, PARTS)
    asked = [each for block in blocks_under(loop) for each in _comparisons(block, loop.var)]
    begin, end = loop.start, loop.start + loop.trip_count
    cuts = {cut for each in asked for cut in each.cuts() if begin < cut < end}
    for block in blocks_under(loop):
        cuts |= quotient_steps(block, loop)
    cuts = sorted(cuts)
    if len(cuts) >= MAX_COPIES:
        missed("loop-partition", loop, f"it would be cut into {len(cuts) + 1} parts", "")
        return
    assert loop.parent is not None
    shared = handed_on(loop)
    for first, last in pairwise((begin, *cuts, end)) if cuts else ():
        part = clone_with_buffers(loop, shared)
        loop.parent.insert_op_before(part, loop)
        part.properties["min"] = type(part.min)(first, IndexType())
        part.trip_count = last - first
        for block in blocks_under(part):
            _take_known_quotients(block)
            _take_decided_sides(block)
        if part.trip_count == 1:
            bind_constant(part)
        elif part.for_kind == ForKind.VECTORIZED:
            _begin_at_zero(part, first, last)
    if cuts:
        erase_with_buffers(loop)


def quotient_steps(block: BlockOp, loop: ForOp) -> set[int]:
    """The values of a loop's variable, a term of sums that are divided in `block`, at which their quotients step,
    wherever the other loops stand: where channels in blocks are taken from others in blocks, say, that begin between
    them. Of quotients that step at most once along the loop, and always there."""
    if loop.var not in block.loop_vars or loop.is_symbolic:
        return set()
    found: set[int] = set()
    ranges = dimension_ranges(list(block.loop_vars))
    here = AffineExpr.dimension(list(block.loop_vars).index(loop.var))
    dims, bound = over_dimensions(block.iters), block.bindings.data.results
    for op in block.body.walk():
        if not isinstance(op, DIVISIONS) or affine_of(op.result, dims) is None:
            continue
        divided, by = affine_of(op.lhs, dims), affine_of(op.rhs, dims)
        if divided is None or not isinstance(by, AffineConstantExpr):
            continue
        form = linear(substitute(divided, bound), ranges)
        others = form.without(here)
        period = gcd(by.value, *others.terms.values())
        if form.coefficient(here) != 1 or loop.trip_count > period:
            continue
        step = loop.start + (-others.constant - loop.start) % period
        if loop.start < step < loop.start + loop.trip_count:
            found.add(step)
    return found


def _take_known_quotients(block: BlockOp) -> None:
    """Put in the place of quotients and remainders what they are where the loops around are: a sum, or the quotient of
    what is left when that is taken away, whatever branches stand around it."""
    around = dimension_ranges(list(block.loop_vars))
    dims, ranges = over_dimensions(block.iters), dict[AffineExpr, Range]()
    for number, binding in enumerate(block.bindings.data.results):
        if (values := expr_range(binding, around)) is not None:
            ranges[AffineExpr.dimension(number)] = values
    for op in list(block.body.walk()):
        if not isinstance(op, DIVISIONS) or (expr := affine_of(op.result, dims)) is None:
            continue
        known = simplify(expr, ranges)
        if known == expr or depends_on_symbols(known) or not _divides_naturals(known, iterator_ranges(block)):
            continue
        added, value = index_ops(known, block.iters)
        Rewriter.insert_op(added, InsertPoint.before(op)) if added else None
        op.result.replace_all_uses_with(value)
        Rewriter.erase_op(op)


def _divides_naturals(expr: AffineExpr, ranges: Mapping[AffineExpr, Range]) -> bool:
    """Whether nothing that is divided in an expression can be negative."""
    if not isinstance(expr, AffineBinaryOpExpr):
        return True
    if expr.kind in (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod):
        values = expr_range(expr.lhs, ranges)
        if values is None or values[0] < 0:
            return False
    return all(_divides_naturals(side, ranges) for side in (expr.lhs, expr.rhs))


def _take_decided_sides(block: BlockOp) -> None:
    """Put sides of branches in their place where the loops around say which are taken."""
    ranges = dimension_ranges(list(block.loop_vars))
    dims, bound = over_dimensions(block.iters), block.bindings.data.results
    for op in list(block.body.walk()):
        if op.parent is None or not isinstance(op, scf.IfOp) or not isinstance(test := op.cond.owner, arith.CmpiOp):
            continue
        sides = [affine_of(side, dims) if isinstance(side.type, IndexType) else None for side in test.operands]
        if sides[0] is None or sides[1] is None:
            continue
        form = linear(substitute(sides[0], bound) - substitute(sides[1], bound), ranges)
        known = outcome(test.predicate.value.data, linear_range(form, ranges))
        if known is not None:
            take_side(op, op.true_region if known else op.false_region)
    clean_body(block.body)
    block.update_accesses()


def _drop(loop: ForOp, word: str) -> None:
    """Take an annotation away."""
    assert loop.annotations is not None
    kept = {key: value for key, value in loop.annotations.data.items() if key != word}
    if kept:
        loop.properties["annotations"] = DictionaryAttr(kept)
    else:
        del loop.properties["annotations"]


def _begin_at_zero(part: ForOp, first: int, last: int) -> None:
    """Let a loop be the iterations from `first` up to `last`, counted from 0."""
    part.properties["min"] = type(part.min)(0, IndexType())
    part.trip_count = last - first
    moved = ValueExpr(AffineExpr.dimension(0) + first, (part.var,))
    for block in blocks_under(part):
        rebind(block, {part.var: moved})


def _comparisons(block: BlockOp, var: SSAValue) -> list[_Comparison]:
    """The comparisons of indices in a block that depend on the variable of a loop, in a sum."""
    if var not in block.loop_vars:
        return []
    found: list[_Comparison] = []
    ranges = dimension_ranges(list(block.loop_vars))
    here = AffineExpr.dimension(list(block.loop_vars).index(var))
    dims = over_dimensions(block.iters)
    for op in block.body.walk():
        if not isinstance(op, arith.CmpiOp) or not isinstance(op.lhs.type, IndexType):
            continue
        left, right = affine_of(op.lhs, dims), affine_of(op.rhs, dims)
        if left is None or right is None:
            continue
        bound = block.bindings.data.results
        left, right = substitute(left, bound), substitute(right, bound)
        predicate = op.predicate.value.data
        if predicate in _UNSIGNED:
            low = [linear_range(linear(side, ranges), ranges) for side in (left, right)]
            if any(each is None or each[0] < 0 for each in low):
                continue
            predicate = _UNSIGNED[predicate]
        sign, addend = _SIGNED.get(predicate, (1, 0))
        form = linear((left - right) * sign + addend, ranges)
        rest = form.without(here)
        bounds = linear_range(rest, ranges)
        if not form.is_linear_in(here) or not form.coefficient(here) or bounds is None:
            continue
        found.append(_Comparison(form.coefficient(here), *bounds, predicate in (_EQUALS, _DIFFERS)))
    return found

"""Primitives on loops: split, fuse, reorder, and the loop kinds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.support.facts import while_unchanged
from ....dialects.support.interned import index_attribute
from ....dialects.support.walking import all_within
from ....dialects.tir.affine import linear, substitute
from ....dialects.tir.core import BlockOp, ForKind, ForOp, blocks_under, enclosing_loops
from ....dialects.tir.legality.loops import check_kind
from ....dialects.tir.symbols import Extent, as_affine, as_extent, product
from ..analysis.proofs import always_holds
from .checks import (
    check_first_steps,
    check_free,
    check_kinds,
    check_known_trips,
    check_live,
    check_needs_no_threads,
    check_private,
    check_reorderable,
)
from .errors import ScheduleError
from .rebind import ValueExpr, assign, rebind


@while_unchanged
def check_split(loop: ForOp, factors: Sequence[Extent], outer: int | None = None) -> None:
    """Whether `loop` can be split by `factors`, of which one that is a symbol's has what the others leave.

    Raises:
        ScheduleError: a factor is not positive, the loop does not start at 0, or has a thread or annotations, or the
            loops would have fewer iterations than it has, or might, as that is a symbol; or iterations that run at the
            same time would be more than it has.
    """
    check_live(loop)
    check_free(loop)
    known = [factor for factor in factors if isinstance(factor, int)]
    is_left = len(known) < len(factors)
    if outer is not None and not is_left and prod((outer, *known)) < check_known_trips(loop):
        raise ScheduleError.at(
            loop,
            f"cannot split into {[outer, *factors]}: that is fewer than its {loop.size} iterations",
            hint="leave one factor out, for the loop to say",
        )
    if any(f < 1 for f in known) or (outer is not None and outer < 1):
        raise ScheduleError.at(loop, f"cannot split into {known}: factors must be positive")
    if is_left and loop.for_kind.is_concurrent:
        what = f"cannot split a {loop.for_kind.value} loop so that an inner one has what is left of a symbol"
        raise ScheduleError.at(loop, what, hint="choose the kinds of loops last")
    if outer is not None and loop.for_kind.is_concurrent and outer > -(-check_known_trips(loop) // prod(known)):
        raise ScheduleError.at(
            loop,
            f"cannot split a {loop.for_kind.value} loop into {[outer, *factors]}: what it repeats would run at the "
            "same time",
            hint="leave one factor out, for the loop to say, or choose the kinds of loops last",
        )
    if loop.start != 0:
        raise ScheduleError.at(loop, f"cannot split a loop that starts at {loop.start}")


def split(loop: ForOp, factors: Sequence[Extent], outer: int | None = None) -> list[ForOp]:
    """Split `loop` into a nest: an outer loop and one inner loop for each of `factors`, outermost first.

    The outer loop has as many iterations as it takes, or `outer`, which may be more.

    Where the product of the factors does not divide the extent, blocks get a predicate that keeps them inside.

    Raises:
        ScheduleError: as `check_split` says.
    """
    check_split(loop, factors, outer)
    extent = loop.size
    inner: AffineExpr = AffineConstantExpr(1)
    for factor in factors:
        inner = product(inner, as_affine(factor))
    if outer is None:
        outer_extent = quotient_up(extent, prod(factor for factor in factors if isinstance(factor, int)))
    else:
        outer_extent = outer
    divides = linear(as_affine(outer_extent) * inner) == linear(as_affine(extent))
    name = loop.var.name_hint or "i"
    loops = [loop, *(ForOp(f, name_hint=f"{name}_{n}") for n, f in enumerate(factors, 1))]
    loop.size = outer_extent
    loop.var.name_hint = f"{name}_0"
    contents = list(loop.body.block.ops)
    blocks = blocks_under(loop)
    for op in contents:
        op.detach()
    for around, nested in pairwise(loops):
        around.body.block.add_op(nested)
    loops[-1].body.block.add_ops(contents)
    expr: AffineExpr = AffineConstantExpr(0)
    for position, size in enumerate((1, *factors)):
        expr = product(expr, as_affine(size)) + AffineExpr.dimension(position)
    whole = ValueExpr(expr, tuple(each.var for each in loops))
    for block in blocks:
        uses = loop.var in block.loop_vars
        if uses:
            rebind(block, {loop.var: whole})
        if not divides and (uses or _counts_runs(block, blocks)):
            _add_condition(block, ValueExpr(as_affine(extent) + (expr * -1 - 1), whole.values))
    return loops


def _counts_runs(block: BlockOp, blocks: Sequence[BlockOp]) -> bool:
    """Whether it matters how often an instance of `block` runs: it goes on from what it wrote before, or undoes what
    another of the `blocks` writes."""
    written = set(block.writes)
    return block.is_reduction or any(
        not written.isdisjoint(other.reads if other is block else other.writes) for other in blocks
    )


def quotient_up(extent: Extent, divisor: int) -> Extent:
    """The least number of times that `divisor` fills `extent`."""
    if isinstance(extent, int):
        return -(-extent // divisor)
    return as_extent(linear(extent.ceil_div(divisor)).to_expr())


def _add_condition(block: BlockOp, condition: ValueExpr) -> None:
    """Let `block` run only where `condition >= 0`."""
    values = list(block.loop_vars)
    for value in condition.values:
        if value not in values:
            values.append(value)
    dims = [AffineExpr.dimension(values.index(v)) for v in condition.values]
    added = substitute(condition.expr, dims)
    assign(block, block.bindings.data.results, [*block.conditions, added], values)


@while_unchanged
def check_fuse(*loops: ForOp) -> None:
    """Whether `loops` can be fused.

    Raises:
        ScheduleError: a loop's body is more than the next loop, they are of several kinds, one has no iterations, or
            has a thread or annotations.
    """
    check_live(*loops)
    if len(loops) > 1:
        for loop in loops:
            check_free(loop)
            if loop.size == 0:
                raise ScheduleError.at(loop, "cannot fuse: the loop has no iterations")
        check_kinds(loops, loops[0].for_kind)
        for loop in loops[1:]:
            if loop.is_symbolic:
                why = "cannot fuse: how the loop outside moves on depends on an extent that is a symbol"
                raise ScheduleError.at(loop, why, hint="only the outermost of the fused loops may have such")
    for first, second in pairwise(loops):
        if list(first.body.block.ops) != [second]:
            raise ScheduleError.at(second, "cannot fuse: the loops are not directly nested")


def fuse(*loops: ForOp) -> ForOp:
    """Fuse directly nested loops (outermost first) into one.

    Raises:
        ScheduleError: as `check_fuse` says.
    """
    check_fuse(*loops)
    outer, *rest = loops
    if not rest:
        return outer
    extents = [1, *(loop.trip_count for loop in rest)]
    starts = [loop.start for loop in loops]
    fused = outer
    variable = AffineExpr.dimension(0)
    replacement: dict[ForOp, AffineExpr] = {}
    stride = 1
    for position in range(len(loops) - 1, -1, -1):
        part = variable // stride if stride > 1 else variable
        replacement[loops[position]] = (part % extents[position] if position else part) + starts[position]
        stride *= extents[position]
    innermost = loops[-1]
    contents = list(innermost.body.block.ops)
    blocks = blocks_under(innermost)
    for op in contents:
        op.detach()
    rest[0].detach()
    fused.size = as_extent(linear(as_affine(loops[0].size) * stride).to_expr())
    fused.properties["min"] = index_attribute(0)
    fused.body.block.add_ops(contents)
    names = [loop.var.name_hint or "i" for loop in loops]
    for block in blocks:
        rebind(block, {loop.var: ValueExpr(expr, (fused.var,)) for loop, expr in replacement.items()})
    fused.var.name_hint = "_".join(names)
    return fused


@while_unchanged
def check_reorder(*order: ForOp) -> list[ForOp]:
    """Whether the loops can be nested in that order; gives the chain of loops that they are taken from.

    Raises:
        ScheduleError: the loops do not lie on one chain, one of them stands twice, or a loop that would move is bound
            to an opaque iterator, or carries what one block writes to what another touches, or a reduction would not
            begin with its first step.
    """
    check_live(*order)
    if len(set(order)) != len(order):
        raise ScheduleError.at(order[0], "cannot reorder: a loop is named twice")
    wanted = set(order)
    outermost = next(loop for loop in (*enclosing_loops(order[0]), order[0]) if loop in wanted)
    chain = [outermost]
    while not wanted <= set(chain):
        contents = list(chain[-1].body.block.ops)
        nested = [op for op in contents if isinstance(op, ForOp) and (op in wanted or _contains(op, wanted))]
        if len(nested) != 1:
            raise ScheduleError.at(order[0], "cannot reorder: the loops do not lie on one chain")
        if len(contents) != 1:
            raise ScheduleError.at(chain[-1], "cannot reorder: the loops are not directly nested")
        chain.append(nested[0])
    new_chain = _reordered(chain, order)
    moved = [position for position, (old, new) in enumerate(zip(chain, new_chain, strict=True)) if old is not new]
    if moved:
        check_reorderable(chain[moved[0] : moved[-1] + 1])
        check_first_steps(chain, new_chain)
    for position, loop in enumerate(new_chain):
        if position and loop.for_kind == ForKind.PARALLEL and loop is not chain[position]:
            raise ScheduleError.at(loop, "cannot reorder: a parallel loop stays outside", hint="choose kinds last")
    return chain


def _reordered(chain: Sequence[ForOp], order: Sequence[ForOp]) -> list[ForOp]:
    """`chain` with the loops of `order` in that order, in the places that they have together."""
    replacement = iter(order)
    return [next(replacement) if loop in order else loop for loop in chain]


def reorder(*order: ForOp) -> None:
    """Nest `order`'s loops in that order. They must lie on one chain of directly nested loops; others stay in place.

    Raises:
        ScheduleError: as `check_reorder` says.
    """
    chain = check_reorder(*order)
    new_chain = _reordered(chain, order)
    contents = list(chain[-1].body.block.ops)
    for op in contents:
        op.detach()
    for loop in chain[1:]:
        loop.detach()
    block, anchor = chain[0].parent, chain[0].next_op
    assert block is not None
    chain[0].detach()
    if anchor is None:
        block.add_op(new_chain[0])
    else:
        block.insert_op_before(new_chain[0], anchor)
    for outer, inner in pairwise(new_chain):
        outer.body.block.add_op(inner)
    new_chain[-1].body.block.add_ops(contents)


def _contains(loop: ForOp, wanted: set[ForOp]) -> bool:
    return loop in wanted or not wanted.isdisjoint(all_within(loop, ForOp))


@while_unchanged
def check_set_kind(loop: ForOp, kind: ForKind) -> None:
    """Whether `loop` may be run as `kind`.

    Raises:
        ScheduleError: a reduction's or opaque iterator is bound to a loop whose iterations would run at the same time,
            they write what others of them touch, a buffer of a thread's own is used in it and outside, a parallel loop
            would stand in another, or a thread is needed; or threads run it now, which wait for one another.
    """
    check_live(loop)
    check_needs_no_threads(loop)
    if kind == ForKind.THREAD_BINDING:
        raise ScheduleError.at(
            loop, "a loop of kind thread_binding names its thread", hint="this target has no threads"
        )
    if kind == ForKind.PARALLEL:
        for other in (*enclosing_loops(loop), *all_within(loop, ForOp)):
            if other.for_kind == ForKind.PARALLEL:
                raise ScheduleError.at(loop, "a parallel loop cannot stand in another one")
        check_private(loop)
    for finding in check_kind(loop, kind):
        if finding.certain:
            raise ScheduleError.at(finding.op, finding.message, hint=finding.hint)


def set_kind(loop: ForOp, kind: ForKind) -> None:
    """Mark `loop` parallel, vectorized, unrolled or serial.

    Raises:
        ScheduleError: as `check_set_kind` says.
    """
    check_set_kind(loop, kind)
    loop.properties.pop("thread", None)
    loop.for_kind = kind


@while_unchanged
def check_bind_constant(loop: ForOp) -> None:
    """Whether `loop` can give way to its body.

    Raises:
        ScheduleError: it has not just one iteration.
    """
    check_live(loop)
    if loop.size != 1:
        count = "a number of" if loop.is_symbolic else str(loop.trip_count)
        raise ScheduleError.at(loop, f"has {count} iterations: only a loop of one gives way to its body")


def bind_constant(loop: ForOp) -> None:
    """Replace a loop of extent one by its body.

    Raises:
        ScheduleError: as `check_bind_constant` says.
    """
    check_bind_constant(loop)
    for block in blocks_under(loop):
        rebind(block, {loop.var: ValueExpr.constant(loop.start)})
    for op in list(loop.body.block.ops):
        op.detach()
        assert loop.parent is not None
        loop.parent.insert_op_before(op, loop)
    loop.detach()
    loop.erase()


def drop_proved_conditions(block: BlockOp) -> None:
    """Remove from the predicate what the loops' ranges already prove."""
    values = list(block.loop_vars)
    kept = [condition for condition in block.conditions if not always_holds(condition, values)]
    if len(kept) != len(block.conditions):
        assign(block, block.bindings.data.results, kept, list(block.loop_vars))

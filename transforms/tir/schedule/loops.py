"""Primitives on loops: split, fuse, reorder, and the loop kinds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.tir.affine import expr_range
from ....dialects.tir.core import BlockOp, ForKind, ForOp
from .errors import ScheduleError
from .rebind import ValueExpr, assign, blocks_under, dimension_ranges, rebind


def split(loop: ForOp, factors: Sequence[int]) -> list[ForOp]:
    """Split `loop` into a nest: an outer loop and one inner loop for each of `factors`, outermost first.

    Where the product of the factors does not divide the extent, blocks get a predicate that keeps them inside.

    Raises:
        ScheduleError: a factor is not positive, or the loop does not start at 0.
    """
    if any(f < 1 for f in factors):
        raise ScheduleError(f"cannot split into {list(factors)}: factors must be positive", loop)
    if loop.start != 0:
        raise ScheduleError(f"cannot split a loop that starts at {loop.start}", loop)
    extent, inner = loop.trip_count, 1
    for factor in factors:
        inner *= factor
    outer_extent = -(-extent // inner)
    name = loop.var.name_hint or "i"
    loops = [loop, *(ForOp(f, name_hint=f"{name}_{n}") for n, f in enumerate(factors, 1))]
    loop.trip_count = outer_extent
    loop.var.name_hint = f"{name}_0"
    contents = list(loop.body.block.ops)
    blocks = blocks_under(loop)
    for op in contents:
        op.detach()
    for outer, nested in pairwise(loops):
        outer.body.block.add_op(nested)
    loops[-1].body.block.add_ops(contents)
    expr: AffineExpr = AffineConstantExpr(0)
    for position, (_, size) in enumerate(zip(loops, (outer_extent, *factors), strict=True)):
        expr = expr * size + AffineExpr.dimension(position)
    whole = ValueExpr(expr, tuple(each.var for each in loops))
    for block in blocks:
        uses = loop.var in block.loop_vars
        if not uses:
            continue
        rebind(block, {loop.var: whole})
        if outer_extent * inner != extent:
            _add_condition(block, ValueExpr(AffineConstantExpr(extent - 1) - expr, whole.values))
    return loops


def _add_condition(block: BlockOp, condition: ValueExpr) -> None:
    """Let `block` run only where `condition >= 0`."""
    values = list(block.loop_vars)
    for value in condition.values:
        if value not in values:
            values.append(value)
    dims = [AffineExpr.dimension(values.index(v)) for v in condition.values]
    added = condition.expr.replace_dims_and_symbols(dims, [])
    assign(block, block.bindings.data.results, [*block.conditions, added], values)


def fuse(*loops: ForOp) -> ForOp:
    """Fuse directly nested loops (outermost first) into one.

    Raises:
        ScheduleError: a loop's body is more than the next loop.
    """
    outer, *rest = loops
    for first, second in zip(loops, rest, strict=False):
        if list(first.body.block.ops) != [second]:
            raise ScheduleError("cannot fuse: the loops are not directly nested", second)
    if not rest:
        return outer
    extents = [loop.trip_count for loop in loops]
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
    fused.trip_count = stride
    fused.properties["min"] = type(fused.min)(0, fused.min.type)
    fused.body.block.add_ops(contents)
    names = [loop.var.name_hint or "i" for loop in loops]
    for block in blocks:
        rebind(block, {loop.var: ValueExpr(expr, (fused.var,)) for loop, expr in replacement.items()})
    fused.var.name_hint = "_".join(names)
    return fused


def reorder(*order: ForOp) -> None:
    """Nest `order`'s loops in that order. They must lie on one chain of directly nested loops; others stay in place.

    Raises:
        ScheduleError: the loops do not lie on one chain, or one of them stands twice.
    """
    if len(set(order)) != len(order):
        raise ScheduleError("cannot reorder: a loop is named twice", order[0])
    wanted = set(order)
    top = order[0]
    while isinstance(parent := top.parent_op(), ForOp):
        top = parent
    chain: list[ForOp] = []
    current: ForOp | None = top
    first_seen = False
    while current is not None:
        first_seen = first_seen or current in wanted
        if first_seen:
            chain.append(current)
        if wanted <= set(chain):
            break
        contents = list(current.body.block.ops)
        nested = [op for op in contents if isinstance(op, ForOp) and (op in wanted or _contains(op, wanted))]
        if first_seen and len(contents) != 1:
            raise ScheduleError("cannot reorder: the loops are not directly nested", current)
        current = nested[0] if len(nested) == 1 else None
    if not wanted <= set(chain):
        raise ScheduleError("cannot reorder: the loops do not lie on one chain", order[0])
    replacement = iter(order)
    new_chain = [next(replacement) if loop in wanted else loop for loop in chain]
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
    return any(op in wanted for op in loop.walk() if isinstance(op, ForOp))


def set_kind(loop: ForOp, kind: ForKind) -> None:
    """Mark `loop` parallel, vectorized, unrolled or serial."""
    loop.for_kind = kind


def bind_constant(loop: ForOp) -> None:
    """Replace a loop of extent one by its body."""
    assert loop.trip_count == 1
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
    ranges = dimension_ranges(block.loop_vars)
    kept = [
        condition for condition in block.conditions if (found := expr_range(condition, ranges)) is None or found[0] < 0
    ]
    if len(kept) != len(block.conditions):
        assign(block, block.bindings.data.results, kept, list(block.loop_vars))

"""Copies of what one iteration of loops holds of a buffer, made in those loops: for `cache_read` and `cache_write`.

A nest that fills a buffer and reads it again has no place outside of its loops where a copy could be made. It is made
beside the statement of the loops that reads, or writes, what an iteration holds:

    for i: for j: a[i, j] = ...                     for i: for j: a[i, j] = ...
           for j: ... = a[i, j]                            for j: a_local[i, j] = a[i, j]
                                                           for j: ... = a_local[i, j]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects.tir.affine import dims_in, linear, linear_range
from ....dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForOp,
    IterKind,
    OuterBlockOp,
    PrimFuncOp,
    dimension_ranges,
    enclosing_loops,
)
from ....dialects.tir.legality.bounds import buffer_name, restricted_iterators
from ....dialects.tir.symbols import Extent, as_affine
from ....dialects.tir.thread_axes import has_own_memory
from ..analysis.block_scopes import fills
from ..analysis.producers import allocation_of, is_before, nest_of, writers, written_buffer
from ..analysis.regions import required_region
from .compute_at import Region, place_over
from .copies import copy_nest
from .errors import ScheduleError
from .rebind import assign


@dataclass(frozen=True)
class Spot:
    """A statement among the loops `around` it, beside which a copy of `region` is made: for each dimension of the
    buffer, where it begins, over the loops' variables, and how many elements it has there."""

    statement: Operation
    around: Sequence[ForOp]
    region: Region


def spot_of(
    buffer: SSAValue, blocks: Sequence[BlockOp], others: Sequence[BlockOp], within: Operation | None = None
) -> Spot:
    """The outermost statement around the first of `blocks`, in `within` where that is given, in which none of the
    `others` stands, and what `blocks` in it touch of `buffer` in one iteration of the loops around."""
    first = next(each for each in blocks if all(each is other or is_before(each, other) for other in blocks))
    statement: Operation = first
    while isinstance(parent := statement.parent_op(), ForOp | OuterBlockOp):
        if parent is within or any(parent.is_ancestor(other) for other in others):
            break
        statement = parent
    around = enclosing_loops(statement)
    inside = [each for each in blocks if statement.is_ancestor(each)]
    return Spot(statement, around, required_region(buffer, inside, [loop.var for loop in around]))


def check_spot_of_reads(buffer: SSAValue, readers: Sequence[BlockOp], spot: Spot, scope: str) -> None:
    """Whether `readers` may read a copy of a scope that is made at `spot`.

    Raises:
        ScheduleError: one of them stands in other statements of the loops, or reads what the loops do not copy; or
            something is written to the buffer that a copy would not have.
    """
    check_order(readers, spot, scope)
    name = buffer_name(buffer)
    outside = [reader for reader in readers if not spot.statement.is_ancestor(reader)]
    top = nest_of(spot.statement)
    for reader in outside:
        if not is_before(top, reader) or nest_of(reader) is top:
            raise ScheduleError.at(
                reader,
                f"block @{reader.block_name} reads {name} elsewhere in the loops in which it would be copied",
                hint="name the blocks that are to read the copy: consumer_blocks",
            )
    for writer in writers(buffer):
        if nest_of(writer) is not top:
            if outside and not is_before(writer, top):
                raise ScheduleError.at(writer, f"block @{writer.block_name} writes {name} after it would be copied")
            continue
        if not outside and is_before(spot.statement, writer) and allocation_of(buffer) is None:
            continue  # what callers gave, or an iteration before wrote: the copy is of what stands there
        there = required_region(buffer, [writer], [loop.var for loop in spot.around])
        pairs = list(zip(spot.region, there, strict=True))
        same = all(part == known if outside else _is_within(part, known, spot.around) for part, known in pairs)
        is_filled = fills(writer, buffer, spot.around, there)
        if not (same and is_filled and is_before(writer, spot.statement)):
            raise ScheduleError.at(
                writer,
                f"block @{writer.block_name} writes {name}, but not just what would be copied in the loop "
                f"%{spot.around[-1].var.name_hint or 'i'}",
                hint="compute it in a nest of its own, or name the blocks that are to read the copy: consumer_blocks",
            )


def _is_within(part: tuple[AffineExpr, Extent], whole: tuple[AffineExpr, Extent], around: Sequence[ForOp]) -> bool:
    """Whether a part of a dimension surely lies in another, over the variables of the loops `around`."""
    if part == whole:
        return True
    ranges = dimension_ranges([loop.var for loop in around])
    before = part[0] + whole[0] * -1
    after = as_affine(whole[1]) + as_affine(part[1]) * -1 + before * -1
    bounds = [linear_range(linear(room, ranges), ranges) for room in (before, after)]
    return all(each is not None and each[0] >= 0 for each in bounds)


def check_spot_of_writes(block: BlockOp, consumers: Sequence[BlockOp], spot: Spot, scope: str) -> None:
    """Whether what `block` writes to memory of a scope, which `consumers` read, can be copied at `spot`.

    Raises:
        ScheduleError: it has a predicate there, does not write all of a part of its buffer in one iteration of the
            loops, or the loops' iterations run at the same time.
    """
    check_order([block, *consumers], spot, scope)
    if spot.around and not fills(block, written_buffer(block), spot.around, spot.region):
        name = f"block @{block.block_name}"
        raise ScheduleError.at(block, f"{name} does not write all of a part of its buffer in an iteration of the loops")


def check_order(blocks: Sequence[BlockOp], spot: Spot, scope: str | None = None) -> None:
    """Whether a copy that `blocks` use may be made at `spot`, of one buffer for all iterations of the loops around:
    one after the other, or each with memory of `scope` on its own.

    Raises:
        ScheduleError: they run at the same time, in the same memory.
    """
    for loop in spot.around:
        if not loop.for_kind.is_concurrent or loop.size in (0, 1):
            continue
        if scope is None or not (has_own_memory(loop, scope) and all(loop.is_ancestor(block) for block in blocks)):
            raise ScheduleError.at(
                blocks[0],
                f"a copy would be made in the loop %{loop.var.name_hint or 'i'}, whose iterations run at the same time",
                hint="choose the kinds of loops last",
            )


def place_allocation(alloc: AllocBufferOp, spot: Spot, users: Sequence[BlockOp], writer: BlockOp | None = None) -> None:
    """Put the allocation of a copy that `users` use into the innermost block of blocks around it and all of them, else
    before the nest; not where each step of the reduction that `writer` is would have memory of its own."""
    stepping = _step_variables(writer) if writer is not None else set[SSAValue]()
    outer = spot.statement.parent_op()
    while outer is not None and not isinstance(outer, PrimFuncOp):
        whole = stepping.isdisjoint(loop.var for loop in enclosing_loops(outer))
        if isinstance(outer, OuterBlockOp) and whole and all(outer.is_ancestor(user) for user in users):
            first = outer.body.block.first_op
            assert first is not None
            outer.body.block.insert_op_before(alloc, first)
            return
        outer = outer.parent_op()
    top = nest_of(spot.statement)
    assert top.parent is not None
    top.parent.insert_op_before(alloc, top)


def _step_variables(block: BlockOp) -> set[SSAValue]:
    """The variables of the loops that the steps of a reduction are bound to."""
    return {
        block.loop_vars[d]
        for kind, binding in zip(block.kinds, block.bindings.data.results, strict=True)
        if kind == IterKind.REDUCE
        for d in dims_in(binding)
    }


def copy_at(
    name: str, source: SSAValue, target: SSAValue, spot: Spot, *, after: bool, preserve_unit_loops: bool = True
) -> BlockOp:
    """A block that copies `spot.region` of `source` to `target`, in loops of its own beside the statement."""
    nest, block = copy_nest(name, source, target)
    loops = [op for op in nest.walk() if isinstance(op, ForOp)]
    if loops:
        block.detach()
    place = place_over(block, spot.around, spot.region, preserve_unit_loops)
    for loop in place.loops:
        loop.var.name_hint = f"i{(loop.var.name_hint or 'v').removeprefix('v')}"
    chain: list[Operation] = [*place.loops, block]
    assert spot.statement.parent is not None
    if after:
        spot.statement.parent.insert_op_after(chain[0], spot.statement)
    else:
        spot.statement.parent.insert_op_before(chain[0], spot.statement)
    for outer, inner in pairwise(chain):
        assert isinstance(outer, ForOp)
        outer.body.block.add_op(inner)
    assign(block, place.bindings, place.conditions, place.values)
    block.partial_iters = block.partial_iters | place.partial | restricted_iterators(block)
    for loop in loops[:1]:
        loop.erase(safe_erase=False)
    return block

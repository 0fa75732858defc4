"""Let a buffer hold no more than what is alive of it at one time.

Before -> after:

```mlir
tir.for %i = 0 to 16 {
  %b = tir.alloc_buffer "global" : memref<16x16xf32>
  tir.for %j ... writes %b[%i, %j]
  tir.for %j ... reads %b[%i, %j]
}

tir.for %i = 0 to 16 {
  %b = tir.alloc_buffer "global" : memref<1x16xf32>
  tir.for %j ... writes %b[0, %j]
  tir.for %j ... reads %b[0, %j]
}
```

While the loops around an allocation stand still, what is in them touches a box of the buffer; the buffer becomes that
box, and where the box begins is taken off the indices. A loop around stands still if each of its iterations is shown to
write what it reads, and no others run at the same time on the same memory: threads have one of scope `shared` together,
and those along `threadIdx.x` one of scope `warp`. A dimension of which it is not known what part an access takes stays
whole, as do those of a buffer that a call is handed, and where a block has iterators of its own in which the loops
around cannot be told apart: `convert-blocks-to-opaque` comes before. So does
`plan-and-update-buffer-allocation-location`, which moves allocations into loops. What predicates and the branches
around an access keep it from is no part of the box, where comparisons of indices say that. Counterpart of TVM's
CompactBufferAllocation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ...dialects.tir.affine import simplify, substitute
from ...dialects.tir.blocks import iterator_ranges
from ...dialects.tir.buffers import shape_of
from ...dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForKind,
    ForOp,
    PrimFuncOp,
    accessing_blocks,
    enclosing_loops,
)
from ...dialects.tir.legality.carried import is_fresh
from ...dialects.tir.symbols import Extent
from ...dialects.tir.thread_axes import share_memory
from ..infra import PrimFuncPass, report_changed
from .analysis.regions import required_region
from .schedule.copies import drop_unused_indices, index_ops


@dataclass(frozen=True)
class CompactBufferAllocationPass(PrimFuncPass):
    """Let a buffer hold no more than what is alive of it at one time."""

    name = "compact-buffer-allocation"
    tvm_name = "CompactBufferAllocation"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        allocs = [op for op in func.walk() if isinstance(op, AllocBufferOp) and not op.is_constant]
        report_changed(any([_compact(alloc, func) for alloc in allocs if not _is_settled(alloc)]))


def _is_settled(alloc: AllocBufferOp) -> bool:
    """Whether something beside its extents is said of a buffer's memory."""
    return bool(alloc.attributes) or not alloc.buffer.uses


def _compact(alloc: AllocBufferOp, func: PrimFuncOp) -> bool:
    """Make a buffer smaller; whether it could be."""
    buffer = alloc.buffer
    blocks = accessing_blocks(buffer)
    still = [loop.var for loop in enclosing_loops(alloc) if _moves(loop) and _stands_still(loop, alloc)]
    box = required_region(buffer, blocks, still, where_run=True, under_branches=True)
    shape = shape_of(buffer)
    known: list[dict[SSAValue, AffineExpr]] = [_iterators_of_loops(block) for block in blocks]
    for dim, (offset, _) in enumerate(box):
        needed = {still[number] for number in offset.used_dims()}
        if not all(needed <= own.keys() for own in known):
            box[dim] = AffineConstantExpr(0), shape[dim]
    if all(str(size) == str(extent) for (_, size), extent in zip(box, shape, strict=True)):
        return False
    arguments = list(func.region.block.args)
    for block, own in zip(blocks, known, strict=True):
        offsets = [substitute(offset, [own.get(v, AffineConstantExpr(0)) for v in still]) for offset, _ in box]
        _shift(block, buffer, offsets, arguments)
    alloc.set_shape([size for _, size in box])
    for block in blocks:
        block.update_accesses()
    return True


def room_needed(alloc: AllocBufferOp) -> tuple[list[ForOp], list[tuple[AffineExpr, Extent]]]:
    """What is alive of a buffer at one time, were it allocated in the innermost loop around its uses: the loops that
    stand still meanwhile, and where it begins along each dimension, over these as dimensions, with its extents."""
    blocks = accessing_blocks(alloc.buffer)
    loops = [loop for loop in enclosing_loops(blocks[0]) if all(loop.is_ancestor(block) for block in blocks)]
    still = [loop for loop in loops if _moves(loop) and _stands_still(loop, alloc)]
    variables = [loop.var for loop in still]
    region = required_region(alloc.buffer, blocks, variables, where_run=True, under_branches=True)
    for dim, ((_, size), extent) in enumerate(zip(region, shape_of(alloc.buffer), strict=True)):
        if isinstance(extent, int) and not (isinstance(size, int) and size <= extent):
            region[dim] = AffineConstantExpr(0), extent
    return still, region


def extents_needed(alloc: AllocBufferOp) -> list[Extent]:
    """The extents of what is alive of a buffer at one time, were it allocated in the innermost loop around its uses."""
    return [size for _, size in room_needed(alloc)[1]]


def is_used_again(alloc: AllocBufferOp) -> bool:
    """Whether iterations of a loop, one after the other, would have the same memory for other elements of a buffer."""
    still, region = room_needed(alloc)
    moving = {number for offset, _ in region for number in offset.used_dims()}
    return any(still[number].for_kind != ForKind.THREAD_BINDING for number in moving)


def _moves(loop: ForOp) -> bool:
    """Whether a loop has several iterations: in one of a single iteration, accesses that speak of it and others that do
    not are at places of one kind."""
    return loop.is_symbolic or loop.trip_count > 1


def _stands_still(loop: ForOp, alloc: AllocBufferOp) -> bool:
    """Whether each iteration of a loop around an allocation may have the same memory: none is done at the same time by
    what has that memory too, and none reads what another one wrote."""
    if loop.for_kind == ForKind.THREAD_BINDING:
        alone = not share_memory(loop, alloc.scope.data) and alloc.scope.data != "global"
    else:
        alone = alloc.is_private or not loop.for_kind.is_concurrent
    return alone and is_fresh(loop, alloc.buffer)


def _iterators_of_loops(block: BlockOp) -> dict[SSAValue, AffineExpr]:
    """The iterators of a block, as dimensions, by the variables of loops that they are."""
    found: dict[SSAValue, AffineExpr] = {}
    dims = [AffineExpr.dimension(number) for number in range(len(block.loop_vars))]
    for number, expr in enumerate(block.bindings.data.results):
        if expr in dims:
            found.setdefault(block.loop_vars[dims.index(expr)], AffineExpr.dimension(number))
    return found


def _shift(block: BlockOp, buffer: SSAValue, offsets: Sequence[AffineExpr], arguments: Sequence[SSAValue]) -> None:
    """Take `offsets` over a block's iterators off the indices at which it touches `buffer`."""
    ranges = iterator_ranges(block)
    own = _iterators_of_loops(block)
    bound = [expr.position if isinstance(expr, AffineDimExpr) else None for expr in block.bindings.data.results]
    dims = [
        AffineDimExpr(n) if position is None else own[block.loop_vars[position]] for n, position in enumerate(bound)
    ]
    for access in block.accesses():
        if access.buffer is not buffer:
            continue
        lead = 1 if not access.is_write else 2
        for dim, offset in enumerate(offsets):
            if offset == AffineConstantExpr(0):
                continue
            assert access.map is not None
            place = simplify(substitute(access.map.results[dim], dims) - offset, ranges)
            ops, value = index_ops(place, block.iters, arguments)
            _insert(ops, access.op)
            access.op.operands[lead + dim] = value
    drop_unused_indices(block)


def _insert(ops: Sequence[Operation], before: Operation) -> None:
    if ops:
        assert before.parent is not None
        before.parent.insert_ops_before(ops, before)

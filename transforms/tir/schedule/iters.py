"""`fuse_iters`: see two neighbouring dimensions of a computation as one.

A convolution's output pixels are a rectangle, but where rows follow each other in memory and the window is one pixel,
they may as well be a line: tiles of any length then fit. Counterpart of a `transform_block_layout` and
`transform_layout` with the index map `(i, j) -> i * n + j`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerAttr, MemRefType, i64
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects.tir.core import AllocBufferOp, BlockOp, memref_of
from .errors import ScheduleError
from .loops import fuse
from .rebind import enclosing_loops


def fuse_iters(block: BlockOp, first: int) -> None:
    """Fuse iterators `first` and `first + 1` of `block`, and the loops that they are bound to.

    Raises:
        ScheduleError: the iterators are not of one kind, or not each bound to one loop, the second directly in the
            first.
    """
    second = first + 1
    if block.kinds[first] != block.kinds[second]:
        raise ScheduleError("iterators of different kinds cannot be fused", block)
    loops = enclosing_loops(block)
    bound = [loop for loop in loops if loop.var in _bound_to(block, first) or loop.var in _bound_to(block, second)]
    if len(bound) != 2 or bound[1].parent_op() is not bound[0]:
        raise ScheduleError("iterators can be fused where each has one loop, directly nested", block)
    if [loop.trip_count for loop in bound] != [block.extents[first], block.extents[second]]:
        raise ScheduleError("iterators can be fused where each runs over its whole loop", block)
    inner_extent = block.extents[second]
    fused = fuse(*bound)
    for region in block.regions:
        _fuse_arguments(region, first, inner_extent)
    extents = list(block.extents)
    extents[first : second + 1] = [extents[first] * inner_extent]
    kinds = list(block.iter_kinds)
    del kinds[second]
    block.properties["iter_kinds"] = type(block.iter_kinds)(kinds)
    block.properties["iter_extents"] = DenseArrayBase.from_list(i64, extents)
    loop_vars = list(block.loop_vars)
    if fused.var not in loop_vars:
        raise ScheduleError("the fused loop does not bind the block", block)
    bindings = list(block.bindings.data.results)
    bindings[first : second + 1] = [AffineExpr.dimension(loop_vars.index(fused.var))]
    block.set_bindings(bindings, loop_vars)
    block.update_accesses()


def _bound_to(block: BlockOp, iterator: int) -> set[SSAValue]:
    return {block.loop_vars[d] for d in block.bindings.data.results[iterator].used_dims()}


def _fuse_arguments(region: Region, first: int, inner_extent: int) -> None:
    """Replace two arguments by one, of which they are quotient and remainder."""
    block = region.block
    outer, inner = block.args[first], block.args[first + 1]
    whole = block.insert_arg(IndexType(), first)
    whole.name_hint = f"{outer.name_hint or 'v'}_{inner.name_hint or 'v'}"
    size = arith.ConstantOp(IntegerAttr(inner_extent, IndexType()))
    quotient = arith.DivUIOp(whole, size.result)
    remainder = arith.RemUIOp(whole, size.result)
    start = block.first_op
    assert start is not None
    block.insert_ops_before([size, quotient, remainder], start)
    outer.replace_all_uses_with(quotient.result)
    inner.replace_all_uses_with(remainder.result)
    block.erase_arg(inner)
    block.erase_arg(outer)


def fuse_buffer_dims(alloc: AllocBufferOp, first: int, blocks: Sequence[BlockOp]) -> None:
    """See dimensions `first` and `first + 1` of an allocated buffer as one.

    `blocks` are those that access it, all at a quotient and remainder that `fuse_iters` made; the fused iterator takes
    their place.
    """
    type = memref_of(alloc.buffer)
    shape = list(type.get_shape())
    shape[first : first + 2] = [shape[first] * shape[first + 1]]
    alloc.buffer._type = MemRefType[Attribute](type.element_type, shape)  # pyright: ignore[reportPrivateUsage]
    for block in blocks:
        for access in block.accesses():
            if access.buffer is not alloc.buffer:
                continue
            lead = 1 if isinstance(access.op, memref.LoadOp) else 2
            quotient = access.op.indices[first].owner
            assert isinstance(quotient, arith.DivUIOp)
            operands = list(access.op.operands)
            operands[lead + first : lead + first + 2] = [quotient.lhs]
            access.op.operands = operands
        block.update_accesses()

"""`fuse_iters`: see two neighbouring dimensions of a computation as one.

A convolution's output pixels are a rectangle, but where rows follow each other in memory and the window is one pixel,
they may as well be a line: tiles of any length then fit. Counterpart of a `transform_block_layout` and
`transform_layout` with the index map `(i, j) -> i * n + j`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Region, SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects.support.facts import while_unchanged
from ....dialects.support.index_ops import index_binary, index_constant
from ....dialects.support.interned import index
from ....dialects.tir.affine import dims_in, uses
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import AllocBufferOp, BlockOp, ForOp, IterKind, enclosing_loops, memref_of
from ....dialects.tir.symbols import as_affine, as_extent
from .checks import all_accessing, check_live, check_not_passed, check_plain_memory
from .errors import ScheduleError
from .fuse import check_fuse, fuse


@while_unchanged
def check_fuse_iters(block: BlockOp, first: int) -> list[ForOp]:
    """Whether iterators `first` and `first + 1` of `block` can be fused; gives the loops that they are bound to.

    Raises:
        ScheduleError: there are no such iterators, or they are not of one kind, or not each bound to one loop, which it
            runs over, the second directly in the first.
    """
    check_live(block)
    second = first + 1
    if not 0 <= first < second < len(block.iters):
        raise ScheduleError.at(block, f"block @{block.block_name} has no iterators {first} and {second}")
    if block.kinds[first] != block.kinds[second]:
        raise ScheduleError.at(block, "iterators of different kinds cannot be fused")
    loops = enclosing_loops(block)
    bound = [loop for loop in loops if loop.var in _bound_to(block, first) or loop.var in _bound_to(block, second)]
    if len(bound) != 2 or bound[1].parent_op() is not bound[0]:
        raise ScheduleError.at(block, "iterators can be fused where each has one loop, directly nested")
    extents = list(block.sizes[first : second + 1])
    if not isinstance(extents[1], int):
        raise ScheduleError.at(block, "iterators can be fused where the extent of the second is no symbol")
    if [loop.size for loop in bound] != extents or any(loop.start for loop in bound):
        raise ScheduleError.at(block, "iterators can be fused where each runs over its whole loop")
    dims: list[AffineExpr] = [AffineExpr.dimension(list(block.loop_vars).index(loop.var)) for loop in bound]
    if list(block.bindings.data.results[first : second + 1]) != dims:
        raise ScheduleError.at(block, "iterators can be fused where each is its loop's variable, in their order")
    others = (*block.bindings.data.results[:first], *block.bindings.data.results[second + 1 :], *block.conditions)
    if any(uses(expr, dim) for expr in others for dim in dims):
        raise ScheduleError.at(block, "iterators can be fused where nothing else depends on their loops")
    check_fuse(*bound)
    return bound


def fuse_iters(block: BlockOp, first: int) -> None:
    """Fuse iterators `first` and `first + 1` of `block`, and the loops that they are bound to.

    Raises:
        ScheduleError: as `check_fuse_iters` says.
    """
    bound = check_fuse_iters(block, first)
    second = first + 1
    inner_extent = block.sizes[second]
    assert isinstance(inner_extent, int), "as check_fuse_iters says"
    fused = fuse(*bound)
    for region in block.regions:
        _fuse_arguments(region, first, inner_extent, region is block.init and block.kinds[first] == IterKind.REDUCE)
    extents = list(block.sizes)
    extents[first : second + 1] = [as_extent(as_affine(extents[first]) * inner_extent)]
    kinds = list(block.iter_kinds)
    del kinds[second]
    block.properties["iter_kinds"] = type(block.iter_kinds)(kinds)
    block.sizes = extents
    loop_vars = list(block.loop_vars)
    bindings = list(block.bindings.data.results)
    bindings[first : second + 1] = [AffineExpr.dimension(loop_vars.index(fused.var))]
    block.set_bindings(bindings, loop_vars)
    block.update_accesses()


def _bound_to(block: BlockOp, iterator: int) -> set[SSAValue]:
    return {block.loop_vars[d] for d in dims_in(block.bindings.data.results[iterator])}


def _fuse_arguments(region: Region, first: int, inner_extent: int, unused: bool) -> None:
    """Replace two arguments by one, of which they are quotient and remainder; or which is `unused`, as they are."""
    block = region.block
    outer, inner = block.args[first], block.args[first + 1]
    whole = block.insert_arg(index, first)
    whole.name_hint = f"{outer.name_hint or 'v'}_{inner.name_hint or 'v'}"
    if unused:
        block.erase_arg(inner)
        block.erase_arg(outer)
        return
    size = index_constant(inner_extent)
    quotient = index_binary(arith.DivUIOp, whole, size.result)
    remainder = index_binary(arith.RemUIOp, whole, size.result)
    start = block.first_op
    assert start is not None
    block.insert_ops_before([size, quotient, remainder], start)
    outer.replace_all_uses_with(quotient.results[0])
    inner.replace_all_uses_with(remainder.results[0])
    block.erase_arg(inner)
    block.erase_arg(outer)


@while_unchanged
def check_fuse_buffer_dims(alloc: AllocBufferOp, first: int, blocks: Sequence[BlockOp]) -> None:
    """Whether dimensions `first` and `first + 1` of a buffer can be seen as one.

    Raises:
        ScheduleError: there are no such dimensions, something was said of the buffer's memory, a call is handed it, a
            block that is not in `blocks` accesses it, or an access is not at quotient and remainder of one value by the
            extent of the second.
    """
    check_live(alloc, *blocks)
    check_plain_memory(alloc.buffer)
    check_not_passed(alloc.buffer)
    shape = memref_of(alloc.buffer).get_shape()
    if not 0 <= first < len(shape) - 1:
        raise ScheduleError.at(alloc, f"the buffer has no dimensions {first} and {first + 1}")
    if not all_accessing(alloc.buffer, blocks):
        raise ScheduleError.at(alloc, "dimensions can be fused by all blocks that access the buffer, together")
    for block in blocks:
        for access in block.accesses():
            if access.buffer is alloc.buffer and not _is_pair(
                access.op.indices[first], access.op.indices[first + 1], shape[first + 1]
            ):
                raise ScheduleError.at(
                    access.op, "dimensions can be fused where they are quotient and remainder of one fused iterator"
                )


def _is_pair(quotient: SSAValue, remainder: SSAValue, extent: int) -> bool:
    """Whether two indices are quotient and remainder of one value by `extent`."""
    a, b = quotient.owner, remainder.owner
    return (
        isinstance(a, arith.DivUIOp)
        and isinstance(b, arith.RemUIOp)
        and a.lhs is b.lhs
        and all(isinstance(op.rhs.owner, arith.ConstantOp) and _constant(op.rhs.owner) == extent for op in (a, b))
    )


def _constant(op: arith.ConstantOp) -> int | None:
    return op.value.value.data if isinstance(op.value, IntegerAttr) else None


def fuse_buffer_dims(alloc: AllocBufferOp, first: int, blocks: Sequence[BlockOp]) -> None:
    """See dimensions `first` and `first + 1` of an allocated buffer as one.

    `blocks` are those that access it, all at a quotient and remainder that `fuse_iters` made; the fused iterator takes
    their place.

    Raises:
        ScheduleError: as `check_fuse_buffer_dims` says.
    """
    check_fuse_buffer_dims(alloc, first, blocks)
    shape = list(shape_of(alloc.buffer))
    inner = shape[first + 1]
    assert isinstance(inner, int), "as check_fuse_buffer_dims says"
    shape[first : first + 2] = [as_extent(as_affine(shape[first]) * inner)]
    alloc.set_shape(shape)
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

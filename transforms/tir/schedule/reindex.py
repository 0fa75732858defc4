"""`reindex`: copy a buffer into the layout that a block's iterators run through it in.

Before -> after `reindex(block, x)`:

```mlir
tir.prim_func @f(%x: memref<32xf32>, %y: memref<8x4xf32>) {
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 4 {
      tir.block @copy(%a: spatial 8, %b: spatial 4) = [%i, %j]
          reads(%x[%b * 8 + %a] : memref<32xf32>) writes(%y[%a, %b] : memref<8x4xf32>) {
        %c8 = arith.constant 8 : index
        %0 = arith.muli %b, %c8 : index
        %1 = arith.addi %0, %a : index
        %2 = memref.load %x[%1] : memref<32xf32>
        memref.store %2, %y[%a, %b] : memref<8x4xf32>
      }
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<32xf32>, %y: memref<8x4xf32>) {
  %x_reindex = tir.alloc_buffer "global" : memref<8x4xf32>
  tir.for %i0 = 0 to 8 {
    tir.for %i1 = 0 to 4 {
      tir.block @x_reindex(%v0: spatial 8, %v1: spatial 4) = [%i0, %i1] reads(%x[%v1 * 8 + %v0] : memref<32xf32>)
          writes(%x_reindex[%v0, %v1] : memref<8x4xf32>) {
        %0 = arith.constant 8 : index
        %1 = arith.muli %v1, %0 : index
        %2 = arith.addi %1, %v0 : index
        %3 = memref.load %x[%2] : memref<32xf32>
        memref.store %3, %x_reindex[%v0, %v1] : memref<8x4xf32>
      }
    }
  }
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 4 {
      tir.block @copy(%a: spatial 8, %b: spatial 4) = [%i, %j]
          reads(%x_reindex[%a, %b] : memref<8x4xf32>) writes(%y[%a, %b] : memref<8x4xf32>) {
        %4 = memref.load %x_reindex[%a, %b] : memref<8x4xf32>
        memref.store %4, %y[%a, %b] : memref<8x4xf32>
      }
    }
  }
}
```

An iterator of one value has a dimension only where it is an index by itself: in a sum it is nothing. What is written is
computed into such a buffer, and copied from there after the block's nest.
"""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from ....dialects.tir.affine import simplify, substitute
from ....dialects.tir.blocks import iterator_ranges
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import AllocBufferOp, BlockOp, IterKind, accessing_blocks, memref_of
from ....dialects.tir.legality.bounds import buffer_name
from ....dialects.tir.legality.symbolic import is_within_domain
from ....dialects.tir.symbols import arguments_around
from ..analysis.producers import nest_of, writers
from .cache_read import check_cache_read
from .caching_in_loops import Spot
from .checks import check_live, check_not_passed, check_one_element, check_plain_memory, check_sole_writer
from .copies import drop_unused_indices, free_block_name, index_ops, new_block, new_body
from .errors import ScheduleError


def check_reindex(block: BlockOp, buffer: SSAValue) -> AffineMap:
    """Whether what `block` reads of `buffer` can be copied along its iterators; gives where it reads.

    Raises:
        ScheduleError: as `check_cache_read` says; or it reads at several places, where data says, under a branch, or,
            for some values of its iterators, outside of the buffer.
    """
    if isinstance(check_cache_read(buffer, [block], "global"), Spot):
        writer = next(each for each in writers(buffer) if nest_of(each) is nest_of(block))
        raise ScheduleError.at(
            writer,
            f"block @{writer.block_name} writes {buffer_name(buffer)} where it would have been copied already",
            hint="reindex before the block that writes it is moved into the reader's loops",
        )
    name = f"block @{block.block_name}"
    reads = [access for access in block.accesses() if access.buffer is buffer]
    maps = {access.map for access in reads}
    map = reads[0].map
    if len(maps) != 1 or map is None:
        raise ScheduleError.at(block, f"{name} does not read {buffer_name(buffer)} at one place that its iterators say")
    for access in reads:
        if access.op.parent_op() is not block or access.op.parent_region() is not block.body:
            raise ScheduleError.at(access.op, f"{name} reads {buffer_name(buffer)} under a condition, or in its init")
    for index, extent in zip(map.results, shape_of(buffer), strict=True):
        if not is_within_domain(block, index, extent):
            raise ScheduleError.at(
                block, f"{name} would read {buffer_name(buffer)} outside, for iterators that its predicate leaves out"
            )
    ranges = iterator_ranges(block)
    zeros = [expr if ranges.get(expr) != (0, 0) else AffineExpr.constant(0) for expr in _dims(map)]
    return AffineMap(
        map.num_dims,
        map.num_symbols,
        tuple(
            expr if isinstance(expr, AffineDimExpr) else simplify(substitute(expr, zeros), ranges)
            for expr in map.results
        ),
    )


def _dims(map: AffineMap) -> list[AffineExpr]:
    return [AffineExpr.dimension(number) for number in range(map.num_dims)]


def check_reindex_write(block: BlockOp, buffer: SSAValue) -> memref.StoreOp:
    """Whether `block` can compute what it writes to `buffer` into a buffer of its own; gives the store.

    Raises:
        ScheduleError: it does not write one element for each value of its spatial iterators, or writes other buffers
            too, or for some of the values only, or needs what stood there before; another block writes the buffer, or
            reads it in the same nest; or memory of several dimensions was asked for.
    """
    check_live(block)
    name = f"block @{block.block_name}"
    check_sole_writer(block, buffer)
    check_plain_memory(buffer)
    check_not_passed(buffer)
    store = check_one_element(block)
    if block.partial_iters or block.conditions:
        raise ScheduleError.at(block, f"{name} runs for a part of its iterators' values only")
    if block.init is None and any(access.buffer is buffer and not access.is_write for access in block.accesses()):
        raise ScheduleError.at(block, f"{name} reads what stood in its buffer before")
    for reader in accessing_blocks(buffer):
        if reader is not block and nest_of(reader) is nest_of(block):
            message = f"block @{reader.block_name} reads the buffer in the same nest, before it would be copied"
            raise ScheduleError.at(reader, message)
    return store


def reindex_write(block: BlockOp, buffer: SSAValue) -> BlockOp:
    """Let `block` write a buffer with a dimension for each iterator that says where it writes, which is copied after.
    Returns the block that copies. Counterpart of TVM's `reindex`.

    Raises:
        ScheduleError: as `check_reindex_write` says.
    """
    store = check_reindex_write(block, buffer)
    number = {value: position for position, value in enumerate(block.iters)}
    written = [number[value] for value in store.indices if isinstance(value, BlockArgument)]
    used = sorted(written)
    alloc = AllocBufferOp.of(memref_of(buffer).element_type, [block.sizes[d] for d in used])
    alloc.buffer.name_hint = f"{buffer.name_hint or 'buffer'}_reindex"
    body = new_body(len(used))
    load = memref.LoadOp.get(alloc.buffer, body.args)
    body.add_ops([load, memref.StoreOp.get(load.res, buffer, [body.args[used.index(d)] for d in written])])
    name = free_block_name(block, alloc.buffer.name_hint)
    nest, copy = new_block(name, [(IterKind.SPATIAL, block.sizes[d]) for d in used], body, unit=True)
    top = nest_of(block)
    assert top.parent is not None
    top.parent.insert_op_before(alloc, top)
    top.parent.insert_op_after(nest, top)
    for access in block.accesses():
        if access.buffer is buffer:
            lead = [access.op.operands[0], alloc.buffer] if access.is_write else [alloc.buffer]
            around = access.op.parent_region()
            iters = block.iters if around is None or around is block.body else around.block.args
            access.op.operands = [*lead, *(iters[d] for d in used)]
    block.update_accesses()
    return copy


def reindex(block: BlockOp, buffer: SSAValue) -> BlockOp:
    """Let `block` read a copy of `buffer` with a dimension for each iterator that says where it reads. Returns the
    block that copies. Counterpart of TVM's `reindex`.

    Raises:
        ScheduleError: as `check_reindex` says.
    """
    map = check_reindex(block, buffer)
    used = sorted({d for expr in map.results for d in expr.used_dims()})
    shape = [block.sizes[d] for d in used]
    alloc = AllocBufferOp.of(memref_of(buffer).element_type, shape)
    alloc.buffer.name_hint = f"{buffer.name_hint or 'buffer'}_reindex"
    body = new_body(len(used))
    dims: list[AffineExpr] = [AffineDimExpr(used.index(d) if d in used else 0) for d in range(len(block.iters))]
    indices: list[SSAValue] = []
    added: list[Operation] = []
    for expr in map.results:
        ops, value = index_ops(substitute(expr, dims), body.args, arguments_around(block))
        added += ops
        indices.append(value)
    load = memref.LoadOp.get(buffer, indices)
    body.add_ops([*added, load, memref.StoreOp.get(load.res, alloc.buffer, body.args)])
    name = free_block_name(block, alloc.buffer.name_hint)
    nest, copy = new_block(name, [(IterKind.SPATIAL, extent) for extent in shape], body, unit=True)
    top = nest_of(block)
    assert top.parent is not None
    top.parent.insert_ops_before([alloc, nest], top)
    for access in block.accesses():
        if access.buffer is buffer:
            access.op.operands = [alloc.buffer, *(block.iters[d] for d in used)]
    drop_unused_indices(block)
    block.update_accesses()
    return copy

"""`reverse_compute_inline`: make an elementwise reader part of the block that it reads.

Before -> after `reverse_compute_inline(add)`:

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = tir.alloc_buffer "global" : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block @twice(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%t[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %t[%v] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @square(%v: spatial 8) = [%i] reads(%t[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %t[%v] : memref<8xf32>
      %1 = arith.mulf %0, %0 : f32
      memref.store %1, %y[%v] : memref<8xf32>
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @twice(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      %2 = arith.mulf %1, %1 : f32
      memref.store %2, %y[%v] : memref<8xf32>
    }
  }
}
```
"""

from __future__ import annotations

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import BlockArgument, Operation, SSAValue

from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import BlockOp, accessing_blocks, enclosing_loops
from ....dialects.tir.legality.bounds import buffer_name
from ..analysis.producers import (
    allocation_of,
    blocks_between,
    is_before,
    nest_of,
    stores_of,
    writers,
    written_buffer,
)
from .checks import allocate_first, check_allocations_first, check_live, check_not_passed, check_one_element
from .errors import ScheduleError
from .inline import erase_with_loops


def check_reverse_compute_inline(block: BlockOp) -> BlockOp:
    """Whether `block` can become part of what it reads; gives the block that it becomes part of.

    Raises:
        ScheduleError: `block` reduces, has a predicate, does not write one element for each value of its iterators, or
            reads more than one buffer that is computed; its producer is not alone in writing that buffer, reduces, has
            a predicate, or is read by others too; the buffer is not read at the block's iterators, all of it; or
            something in between touches what the block writes, or writes what it reads.
    """
    check_live(block)
    name = f"block @{block.block_name}"
    if block.is_reduction or block.conditions:
        raise ScheduleError.at(block, f"{name} is a reduction or has a predicate")
    check_one_element(block)
    target = written_buffer(block)
    computed = [buffer for buffer in block.reads if allocation_of(buffer) is not None and buffer is not target]
    if len(computed) != 1:
        raise ScheduleError.at(block, f"{name} reads {len(computed)} buffers that are computed, not one")
    buffer = computed[0]
    check_not_passed(buffer)
    made = writers(buffer)
    if len(made) != 1 or set(accessing_blocks(buffer)) != {made[0], block}:
        raise ScheduleError.at(
            block, f"{name} is not the only reader of {buffer_name(buffer)}, or that has not one writer"
        )
    producer = made[0]
    if producer.is_reduction or producer.conditions or producer.partial_iters:
        raise ScheduleError.at(producer, f"block @{producer.block_name} is a reduction or has a predicate")
    check_one_element(producer)
    if written_buffer(producer) is not buffer or buffer in producer.reads or target in (*block.reads, *producer.reads):
        raise ScheduleError.at(block, f"{name} or its producer reads what it writes")
    if not is_before(producer, block):
        raise ScheduleError.at(block, f"{name} does not come after block @{producer.block_name}")
    _check_reads(block, buffer)
    check_allocations_first(block, nest_of(producer))
    inputs = set(block.reads) - {buffer}
    between = blocks_between(producer, block)
    shared = set(enclosing_loops(producer)) & set(enclosing_loops(block))
    if shared:
        raise ScheduleError.at(block, f"{name} stands in a loop with block @{producer.block_name}")
    for other in between:
        if target in (*other.reads, *other.writes) or inputs & set(other.writes):
            raise ScheduleError.at(other, f"block @{other.block_name} stands in between, and touches what {name} does")
    if inputs & set(producer.writes):
        raise ScheduleError.at(producer, f"block @{producer.block_name} writes what {name} reads")
    return producer


def _check_reads(block: BlockOp, buffer: SSAValue) -> None:
    """Each read of `buffer` is at the iterators of `block`, each once, and so is every element of it."""
    shape = shape_of(buffer)
    extents = dict(zip(block.iters, block.sizes, strict=True))
    for access in block.accesses():
        if access.buffer is not buffer:
            continue
        indices = list(access.op.indices)
        rest = [v for v in block.iters if v not in indices and extents[v] != 1]
        whole = [extents.get(v) if isinstance(v, BlockArgument) else None for v in indices] == list(shape)
        if rest or len(set(indices)) != len(indices) or not whole or access.op.parent_op() is not block:
            raise ScheduleError.at(
                access.op, f"block @{block.block_name} does not read {buffer_name(buffer)} at its iterators, all of it"
            )


def reverse_compute_inline(block: BlockOp) -> None:
    """Let the only producer of `block` compute what `block` does, and erase that.

    Counterpart of TVM's `reverse_compute_inline`.

    Raises:
        ScheduleError: as `check_reverse_compute_inline` says.
    """
    producer = check_reverse_compute_inline(block)
    allocate_first(check_allocations_first(block, nest_of(producer)), nest_of(producer))
    buffer = written_buffer(producer)
    store = stores_of(producer)[0]
    mapping: dict[SSAValue, SSAValue] = {}
    load = next(access.op for access in block.accesses() if access.buffer is buffer)
    for own, index in zip(load.indices, store.indices, strict=True):
        mapping[own] = index
    added: list[Operation] = []
    if any(v not in mapping for v in block.iters):
        zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
        added.append(zero)
        mapping.update({v: zero.result for v in block.iters if v not in mapping})
    for op in block.body.block.ops:
        if isinstance(op, memref.LoadOp) and op.memref is buffer:
            mapping[op.res] = store.value
        else:
            added.append(op.clone(mapping))
    assert store.parent is not None
    store.parent.insert_ops_before(added, store)
    store.detach()
    store.erase()
    producer.update_accesses()
    erase_with_loops(block)
    alloc = allocation_of(buffer)
    assert alloc is not None
    alloc.detach()
    alloc.erase()

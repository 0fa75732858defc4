"""`cache_write`: what a block writes goes to a buffer of its own first, and is copied.

Before -> after `cache_write(copy, 0, "global")`:

```mlir
tir.prim_func @f(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @copy(%vi: spatial 4, %vj: spatial 8) = [%i, %j] reads(%x[%vi, %vj] : memref<4x8xf32>)
          writes(%y[%vi, %vj] : memref<4x8xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
        memref.store %0, %y[%vi, %vj] : memref<4x8xf32>
      }
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  %y_global = tir.alloc_buffer "global" : memref<4x8xf32>
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @copy(%vi: spatial 4, %vj: spatial 8) = [%i, %j] reads(%x[%vi, %vj] : memref<4x8xf32>)
          writes(%y_global[%vi, %vj] : memref<4x8xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
        memref.store %0, %y_global[%vi, %vj] : memref<4x8xf32>
      }
    }
  }
  tir.for %i0 = 0 to 4 {
    tir.for %i1 = 0 to 8 {
      tir.block @y_global(%v0: spatial 4, %v1: spatial 8) = [%i0, %i1] reads(%y_global[%v0, %v1] : memref<4x8xf32>)
          writes(%y[%v0, %v1] : memref<4x8xf32>) {
        %1 = memref.load %y_global[%v0, %v1] : memref<4x8xf32>
        memref.store %1, %y[%v0, %v1] : memref<4x8xf32>
      }
    }
  }
}
```

Counterpart of TVM's `cache_write`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import BlockArgument, Operation

from ....dialects.support.facts import while_unchanged
from ....dialects.support.memory_scopes import named_in
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    memref_of,
)
from ....dialects.tir.legality.bounds import buffer_name
from ..analysis.block_scopes import scope_of
from ..analysis.producers import consumers as readers_of
from ..analysis.producers import is_before, nest_of, written_buffer
from .caching_in_loops import Spot, check_spot_of_writes, copy_at, place_allocation, spot_of
from .checks import check_live, check_not_passed, check_one_element, check_plain_memory, check_sole_writer
from .copies import free_block_name
from .errors import ScheduleError


@while_unchanged
def check_cache_write(
    block: BlockOp, scope: str, consumers: Sequence[BlockOp] = (), within: Operation | None = None
) -> Spot:
    """Whether `block` can write a buffer of its own in a scope, which `consumers` read; gives where in `within`, or the
    block of blocks around, it is copied.

    Raises:
        ScheduleError: another block writes the same buffer; `block` does not write each element of the buffer once,
            or needs what stood there before; where its nest reads the buffer, too, an iteration of the loops around
            both does not write all of a part; or a consumer does not only read it, after `block`.
    """
    check_live(block)
    target = written_buffer(block)
    name = f"block @{block.block_name}"
    check_sole_writer(block, target)
    check_plain_memory(target)
    store = check_one_element(block)
    shape = shape_of(target)
    extents = dict(zip(block.iters, block.sizes, strict=True))
    if any(extents[v] != n for v, n in zip(store.indices, shape, strict=True) if isinstance(v, BlockArgument)):
        raise ScheduleError.at(block, f"{name} does not write all elements of its buffer")
    if block.partial_iters:
        raise ScheduleError.at(block, f"{name} runs for a part of its iterators' values only")
    reads_target = any(access.buffer is target and not access.is_write for access in block.accesses())
    if reads_target and block.init is None:
        raise ScheduleError.at(block, f"{name} reads what stood in its buffer before")
    for consumer in consumers:
        if target not in consumer.reads or target in consumer.writes or not is_before(block, consumer):
            raise ScheduleError.at(
                consumer, f"block @{consumer.block_name} does not only read {buffer_name(target)}, after {name}"
            )
    check_not_passed(target, consumers)
    readers = [each for each in readers_of(block) if nest_of(each) is nest_of(block) and each not in consumers]
    spot = spot_of(target, [block], readers, within or scope_of(block))
    check_spot_of_writes(block, consumers, spot, scope)
    return spot


def cache_write(
    block: BlockOp, scope: str, consumers: Sequence[BlockOp] = (), within: Operation | None = None
) -> BlockOp:
    """Let `block` write a buffer of its own, which `consumers` read, and copy that to the buffer it wrote. Returns the
    copying block.

    The copy stands in a nest of its own in the block of blocks around, or in `within`, which is around that; where the
    block's nest reads the buffer, too, in the loops around both, just after what an iteration of them writes. A buffer
    of scope `LOCAL` does not reach it: the function verifies again after `compute_at` has moved `block` into that nest.
    Counterpart of TVM's `cache_write`.

    Raises:
        ScheduleError: as `check_cache_write` says.
    """
    spot = check_cache_write(block, scope, consumers, within)
    target = written_buffer(block)
    shape = shape_of(target)
    alloc = AllocBufferOp(memref_of(target), scope, shape)
    alloc.buffer.name_hint = named_in(target.name_hint or block.block_name, scope)
    place_allocation(alloc, spot, [block, *consumers], block)
    for access in block.accesses():
        if access.buffer is target:
            access.op.operands[1 if access.is_write else 0] = alloc.buffer
    block.update_accesses()
    for consumer in consumers:
        for access in consumer.accesses():
            if access.buffer is target:
                access.op.operands[0] = alloc.buffer
        consumer.update_accesses()
    name = free_block_name(block, alloc.buffer.name_hint)
    return copy_at(name, alloc.buffer, target, spot, after=True, preserve_unit_loops=False)

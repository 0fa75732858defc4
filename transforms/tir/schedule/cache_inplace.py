"""`cache_inplace`: let a block that reads and writes a buffer do so in a copy, which is filled before and copied back.

Before -> after `cache_inplace(twice, %y, "local")`:

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @begin(%a: spatial 8) = [%i] reads(%x[%a] : memref<8xf32>) writes(%y[%a] : memref<8xf32>) {
      %0 = memref.load %x[%a] : memref<8xf32>
      memref.store %0, %y[%a] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @twice(%a: spatial 8) = [%i] reads(%y[%a] : memref<8xf32>) writes(%y[%a] : memref<8xf32>) {
      %0 = memref.load %y[%a] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %y[%a] : memref<8xf32>
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @begin(%a: spatial 8) = [%i] reads(%x[%a] : memref<8xf32>) writes(%y[%a] : memref<8xf32>) {
      %0 = memref.load %x[%a] : memref<8xf32>
      memref.store %0, %y[%a] : memref<8xf32>
    }
  }
  %y_local = tir.alloc_buffer "local" : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.for %i0 = 0 to 1 {
      tir.block @y_local(%v0: spatial 8) = [%i + %i0]
          reads(%y[%v0] : memref<8xf32>) writes(%y_local[%v0] : memref<8xf32>) {
        %0 = memref.load %y[%v0] : memref<8xf32>
        memref.store %0, %y_local[%v0] : memref<8xf32>
      }
    }
    tir.block @twice(%a: spatial 8) = [%i] reads(%y_local[%a] : memref<8xf32>) writes(%y_local[%a] : memref<8xf32>) {
      %0 = memref.load %y_local[%a] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %y_local[%a] : memref<8xf32>
    }
    tir.for %i0 = 0 to 1 {
      tir.block @y_local_1(%v0: spatial 8) = [%i + %i0]
          reads(%y_local[%v0] : memref<8xf32>) writes(%y[%v0] : memref<8xf32>) {
        %0 = memref.load %y_local[%v0] : memref<8xf32>
        memref.store %0, %y[%v0] : memref<8xf32>
      }
    }
  }
}
```

Both copies stand beside the block, and take what one run of it may touch: all of the buffer, where a call is handed it.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from ....dialects.support.memory_scopes import named_in
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import AllocBufferOp, BlockOp, enclosing_loops, memref_of
from ....dialects.tir.legality.bounds import buffer_name
from ..analysis.regions import required_region
from .caching_in_loops import Spot, check_order, copy_at, place_allocation
from .checks import check_live
from .copies import free_block_name
from .errors import ScheduleError


def check_cache_inplace(block: BlockOp, buffer: SSAValue) -> Spot:
    """Whether `block` can work in a copy of `buffer`; gives the place of the block and what it touches there.

    Raises:
        ScheduleError: it does not both read and write the buffer, or begins what it reduces there itself, so that
            nothing stands there before; or iterations of loops around run at the same time.
    """
    check_live(block)
    name = f"block @{block.block_name}"
    done = {touch.is_write for touch in block.touches() if touch.buffer is buffer}
    if done != {True, False}:
        raise ScheduleError.at(
            block,
            f"{name} does not both read and write {buffer_name(buffer)}",
            hint="cache_read copies what is read, and cache_write what is written",
        )
    if block.init is not None:
        raise ScheduleError.at(
            block, f"{name} begins {buffer_name(buffer)} itself: it holds nothing to copy before", hint="cache_write it"
        )
    around = enclosing_loops(block)
    spot = Spot(block, around, required_region(buffer, [block], [loop.var for loop in around]))
    check_order([block], spot)
    return spot


def cache_inplace(block: BlockOp, buffer: SSAValue, scope: str) -> list[BlockOp]:
    """Let `block` read and write a copy of `buffer`, in `scope`. Returns the blocks that fill the copy, and that copy
    it back. Counterpart of TVM's `cache_inplace`.

    Raises:
        ScheduleError: as `check_cache_inplace` says.
    """
    spot = check_cache_inplace(block, buffer)
    alloc = AllocBufferOp(memref_of(buffer), scope, shape_of(buffer))
    alloc.buffer.name_hint = named_in(buffer.name_hint or "buffer", scope)
    place_allocation(alloc, spot, [block])
    for op in block.body.walk():
        op.operands = [alloc.buffer if value is buffer else value for value in op.operands]
    block.update_accesses()
    copies: list[BlockOp] = []
    for source, target, after in ((buffer, alloc.buffer, False), (alloc.buffer, buffer, True)):
        name = free_block_name(block, alloc.buffer.name_hint)
        copies.append(copy_at(name, source, target, spot, after=after))
    return copies

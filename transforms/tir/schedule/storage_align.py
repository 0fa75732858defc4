"""`storage_align`: let rows of a buffer begin at distances that suit the memory.

Before -> after `storage_align(block, 0, 0, 4, 1)`:

```mlir
tir.prim_func @f(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  %t = tir.alloc_buffer "global" : memref<4x8xf32>
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @first(%vi: spatial 4, %vj: spatial 8) = [%i, %j] reads(%x[%vi, %vj] : memref<4x8xf32>)
          writes(%t[%vi, %vj] : memref<4x8xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
        memref.store %0, %t[%vi, %vj] : memref<4x8xf32>
      }
    }
  }
  tir.for %i_1 = 0 to 4 {
    tir.for %j_1 = 0 to 8 {
      tir.block @second(%vi_1: spatial 4, %vj_1: spatial 8) = [%i_1, %j_1] reads(%t[%vi_1, %vj_1] : memref<4x8xf32>)
          writes(%y[%vi_1, %vj_1] : memref<4x8xf32>) {
        %1 = memref.load %t[%vi_1, %vj_1] : memref<4x8xf32>
        memref.store %1, %y[%vi_1, %vj_1] : memref<4x8xf32>
      }
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  %t = tir.alloc_buffer "global" : memref<4x8xf32>
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @first(%vi: spatial 4, %vj: spatial 8) = [%i, %j] reads(%x[%vi, %vj] : memref<4x8xf32>)
          writes(%t[%vi, %vj] : memref<4x8xf32>) attributes {buffer_dim_align = [[0, 0, 4, 1]]} {
        %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
        memref.store %0, %t[%vi, %vj] : memref<4x8xf32>
      }
    }
  }
  tir.for %i_1 = 0 to 4 {
    tir.for %j_1 = 0 to 8 {
      tir.block @second(%vi_1: spatial 4, %vj_1: spatial 8) = [%i_1, %j_1] reads(%t[%vi_1, %vj_1] : memref<4x8xf32>)
          writes(%y[%vi_1, %vj_1] : memref<4x8xf32>) {
        %1 = memref.load %t[%vi_1, %vj_1] : memref<4x8xf32>
        memref.store %1, %y[%vi_1, %vj_1] : memref<4x8xf32>
      }
    }
  }
}
```

A row of `%t` takes 9 elements then: the least number from 8 on that is 1 more than a multiple of 4.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64

from ....dialects.tir.alignment import BUFFER_DIM_ALIGN, Alignment, alignments
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import BlockOp
from ....dialects.tir.legality.bounds import buffer_name
from .checks import check_allocated, check_known, check_live
from .errors import ScheduleError


def check_storage_align(block: BlockOp, index: int, axis: int, factor: int) -> int:
    """Whether the rows of the buffer of number `index` that `block` writes can lie apart; gives the axis, counted from
    the first.

    Raises:
        ScheduleError: the block writes no such buffer, it is an argument of the function or of extents that are not
            known, it has no such axis, or the factor is not positive.
    """
    check_live(block)
    if not 0 <= index < len(block.writes):
        raise ScheduleError.at(
            block, f"block @{block.block_name} writes {len(block.writes)} buffers, none of number {index}"
        )
    buffer = block.writes[index]
    name = buffer_name(buffer)
    alloc = check_allocated(buffer, "layout", "cache_write it", at=block)
    shape = check_known(alloc, shape_of(buffer), name)
    if not -len(shape) <= axis < len(shape):
        raise ScheduleError.at(alloc, f"{name} has {len(shape)} dimensions, none of number {axis}")
    if factor < 1:
        raise ScheduleError.at(block, f"the factor {factor} is not positive")
    return axis % len(shape)


def storage_align(block: BlockOp, index: int, axis: int, factor: int, offset: int) -> None:
    """Let neighbours along `axis`, of which the last is -1, of a buffer that `block` writes lie a multiple of `factor`,
    and `offset`, elements apart. What was said of that axis before is forgotten. Counterpart of TVM's `storage_align`.

    Raises:
        ScheduleError: as `check_storage_align` says.
    """
    axis = check_storage_align(block, index, axis, factor)
    kept = [each for each in alignments(block.attributes.get(BUFFER_DIM_ALIGN), block.writes)]
    kept = [each for each in kept if (each.buffer, each.axis) != (index, axis)]
    entries = [
        ArrayAttr([IntegerAttr(number, i64) for number in (each.buffer, each.axis, each.factor, each.offset)])
        for each in (*kept, Alignment(index, axis, factor, offset))
    ]
    block.attributes[BUFFER_DIM_ALIGN] = ArrayAttr(entries)

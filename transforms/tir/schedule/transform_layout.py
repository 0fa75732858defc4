"""`transform_layout`: lay a buffer out anew.

Before -> after `transform_layout(t, (i) -> (i floordiv 4, i mod 4))`:

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = tir.alloc_buffer "global" : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block @first(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%t[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %t[%v] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @second(%v: spatial 8) = [%i] reads(%t[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %t[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = tir.alloc_buffer "global" : memref<2x4xf32>
  tir.for %i = 0 to 8 {
    tir.block @first(%v: spatial 8) = [%i]
        reads(%x[%v] : memref<8xf32>) writes(%t[%v floordiv 4, %v mod 4] : memref<2x4xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.constant 4 : index
      %2 = arith.divui %v, %1 : index
      %3 = arith.constant 4 : index
      %4 = arith.remui %v, %3 : index
      memref.store %0, %t[%2, %4] : memref<2x4xf32>
    }
  }
  tir.for %i_1 = 0 to 8 {
    tir.block @second(%v_1: spatial 8) = [%i_1]
        reads(%t[%v_1 floordiv 4, %v_1 mod 4] : memref<2x4xf32>) writes(%y[%v_1] : memref<8xf32>) {
      %5 = arith.constant 4 : index
      %6 = arith.divui %v_1, %5 : index
      %7 = arith.constant 4 : index
      %8 = arith.remui %v_1, %7 : index
      %9 = memref.load %t[%6, %8] : memref<2x4xf32>
      memref.store %9, %y[%v_1] : memref<8xf32>
    }
  }
}
```

The map must give each element a place of its own, without gaps. Does not: change the layout of a function's arguments,
which its callers know, nor pad.
"""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap

from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import accessing_blocks, memref_of
from ....dialects.tir.legality.bounds import buffer_name
from .checks import check_allocated, check_known, check_live, check_plain_memory
from .copies import drop_unused_indices, move_access
from .errors import ScheduleError
from .index_maps import Bijection, bijection


def check_transform_layout(buffer: SSAValue, map: AffineMap) -> Bijection:
    """Whether `buffer` can be laid out as `map` says; gives the map both ways.

    Raises:
        ScheduleError: it is an argument of the function, something was said of its memory, an extent is a symbol, or
            the map does not give each element a place of its own.
    """
    blocks = accessing_blocks(buffer)
    alloc = check_allocated(buffer, "layout", "cache_read or cache_write it, and lay out the copy")
    check_live(alloc, *blocks)
    check_plain_memory(buffer)
    shape = check_known(alloc, shape_of(buffer), buffer_name(buffer))
    found = bijection(map, shape)
    if isinstance(found, str):
        raise ScheduleError.at(alloc, f"the index map {map} {found}")
    return found


def transform_layout(buffer: SSAValue, map: AffineMap) -> None:
    """Let the element at some indices of `buffer` stand at those that `map` gives. Counterpart of TVM's
    `transform_layout`.

    Raises:
        ScheduleError: as `check_transform_layout` says.
    """
    found = check_transform_layout(buffer, map)
    type = MemRefType[Attribute](memref_of(buffer).element_type, list(found.extents))
    buffer._type = type  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
    for block in accessing_blocks(buffer):
        for access in block.accesses():
            if access.buffer is buffer:
                move_access(access.op, map.results, list(access.op.indices))
        drop_unused_indices(block)
        block.update_accesses()

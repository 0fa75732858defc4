"""`add_unit_loop`: a loop of one iteration, for others to be moved into.

Before -> after `add_unit_loop(block)`:

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @copy(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.for %once = 0 to 1 {
      tir.block @copy(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
        %0 = memref.load %x[%v] : memref<8xf32>
        memref.store %0, %y[%v] : memref<8xf32>
      }
    }
  }
}
```
"""

from __future__ import annotations

from ....dialects.tir.core import BlockOp, ForOp
from .checks import check_live


def add_unit_loop(inner: BlockOp | ForOp) -> ForOp:
    """Put a loop of one iteration around a block or loop. Always legal. Counterpart of TVM's `add_unit_loop`.

    Raises:
        ScheduleError: `inner` stands in no function any more.
    """
    check_live(inner)
    outer = ForOp(1, name_hint="once")
    assert inner.parent is not None
    inner.parent.insert_op_before(outer, inner)
    inner.detach()
    outer.body.block.add_op(inner)
    return outer

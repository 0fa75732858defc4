"""`set_scope`: where an allocated buffer lives.

Before -> after `set_scope(twice, 0, "shared")`:

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
  tir.for %j = 0 to 8 {
    tir.block @square(%v_1: spatial 8) = [%j] reads(%t[%v_1] : memref<8xf32>) writes(%y[%v_1] : memref<8xf32>) {
      %2 = memref.load %t[%v_1] : memref<8xf32>
      %3 = arith.mulf %2, %2 : f32
      memref.store %3, %y[%v_1] : memref<8xf32>
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = tir.alloc_buffer "shared" : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block @twice(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%t[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %t[%v] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block @square(%v_1: spatial 8) = [%j] reads(%t[%v_1] : memref<8xf32>) writes(%y[%v_1] : memref<8xf32>) {
      %2 = memref.load %t[%v_1] : memref<8xf32>
      %3 = arith.mulf %2, %2 : f32
      memref.store %3, %y[%v_1] : memref<8xf32>
    }
  }
}
```

Counterpart of TVM's `set_scope`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from ....dialects.support.facts import while_unchanged
from ....dialects.tir.core import (
    Scope,
    accessing_blocks,
)
from ....dialects.tir.legality.scopes import is_torn
from ..analysis.producers import allocation_of
from .checks import check_live
from .errors import ScheduleError


@while_unchanged
def check_set_scope(buffer: SSAValue, scope: str) -> None:
    """Whether `buffer` can live in `scope`.

    Raises:
        ScheduleError: it is an argument of the function, or would not reach all blocks that use it.
    """
    alloc = allocation_of(buffer)
    if alloc is None:
        users = accessing_blocks(buffer)
        message = "only an allocated buffer can change its scope"
        raise ScheduleError.at(users[0], message) if users else ScheduleError(message)
    check_live(alloc)
    if scope == Scope.LOCAL and is_torn(alloc):
        raise ScheduleError.at(
            alloc, 'a buffer that is used in and outside of a parallel loop cannot be "local", each thread\'s own'
        )


def set_scope(buffer: SSAValue, scope: str) -> None:
    """Let an allocated buffer live in `scope`.

    Raises:
        ScheduleError: as `check_set_scope` says.
    """
    check_set_scope(buffer, scope)
    alloc = allocation_of(buffer)
    assert alloc is not None
    alloc.properties["scope"] = StringAttr(str(scope))

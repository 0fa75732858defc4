"""`set_axis_separator`: dimensions of a buffer become dimensions of memory.

Before -> after `set_axis_separator(t, [1])`:

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
  %t = tir.alloc_buffer "global" {axis_separators = [1]} : memref<4x8xf32>
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

The buffer may be an argument of the function, which says so then (`tir.axis_separators`). Memory of a processor has one
dimension, so that lowering for one refuses such a buffer.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ....dialects.tir.axis_separators import separate_axes
from ....dialects.tir.core import AllocBufferOp, memref_of
from .checks import check_live, check_not_passed
from .errors import ScheduleError


def check_set_axis_separator(buffer: SSAValue, separators: Sequence[int]) -> None:
    """Whether the dimensions of `buffer` can be taken apart before those of numbers `separators`.

    Raises:
        ScheduleError: the buffer is handed to a call as it is, or the numbers do not ascend, or are no dimension's.
    """
    check_not_passed(buffer)
    op = buffer.owner if isinstance(buffer.owner, Operation) else buffer.owner.parent_op()
    assert op is not None
    if isinstance(op, AllocBufferOp):
        check_live(op)
    check_separators(op, separators, len(memref_of(buffer).get_shape()))


def check_separators(op: Operation, separators: Sequence[int], rank: int) -> None:
    """Whether `separators` stand between dimensions, of which there are `rank`; a message stands at `op`.

    Raises:
        ScheduleError: they do not ascend, or are no dimension's.
    """
    if sorted(set(separators)) != list(separators) or any(not 0 < each < rank for each in separators):
        raise ScheduleError.at(
            op, f"axis separators ascend, each from 1 to {rank - 1}, the dimension that it stands before"
        )


def set_axis_separator(buffer: SSAValue, separators: Sequence[int]) -> None:
    """Let the dimensions of `buffer` between `separators` be dimensions of memory. Counterpart of TVM's
    `set_axis_separator`.

    Raises:
        ScheduleError: as `check_set_axis_separator` says.
    """
    check_set_axis_separator(buffer, separators)
    separate_axes(buffer, separators)

"""`parallel`, `vectorize` and `unroll`: how the iterations of a loop run.

Before -> after `parallel(i)`:

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
  tir.for parallel %i = 0 to 4 {
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

Counterpart of TVM's `parallel`, `vectorize` and `unroll`.
"""

from __future__ import annotations

from ....dialects.support.facts import while_unchanged
from ....dialects.support.walking import all_within
from ....dialects.tir.core import ForKind, ForOp, enclosing_loops
from ....dialects.tir.legality.loops import check_kind
from .checks import (
    check_live,
    check_needs_no_threads,
    check_private,
)
from .errors import ScheduleError


@while_unchanged
def check_set_kind(loop: ForOp, kind: ForKind) -> None:
    """Whether `loop` may be run as `kind`.

    Raises:
        ScheduleError: a reduction's or opaque iterator is bound to a loop whose iterations would run at the same time,
            they write what others of them touch, a buffer of a thread's own is used in it and outside, a parallel loop
            would stand in another, or a thread is needed; or threads run it now, which wait for one another.
    """
    check_live(loop)
    check_needs_no_threads(loop)
    if kind == ForKind.THREAD_BINDING:
        raise ScheduleError.at(
            loop, "a loop of kind thread_binding names its thread", hint="this target has no threads"
        )
    if kind == ForKind.PARALLEL:
        for other in (*enclosing_loops(loop), *all_within(loop, ForOp)):
            if other.for_kind == ForKind.PARALLEL:
                raise ScheduleError.at(loop, "a parallel loop cannot stand in another one")
        check_private(loop)
    for finding in check_kind(loop, kind):
        if finding.certain:
            raise ScheduleError.at(finding.op, finding.message, hint=finding.hint)


def set_kind(loop: ForOp, kind: ForKind) -> None:
    """Mark `loop` parallel, vectorized, unrolled or serial.

    Raises:
        ScheduleError: as `check_set_kind` says.
    """
    check_set_kind(loop, kind)
    loop.properties.pop("thread", None)
    loop.for_kind = kind

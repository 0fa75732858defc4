"""`bind`: let a device's threads run the iterations of a loop.

Before -> after `bind(loop, "threadIdx.x")`:

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
  tir.for thread_binding "threadIdx.x" %i = 0 to 8 {
    tir.block @copy(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
```

Does not: ask whether the target has such threads; who lowers the function says so.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr

from ....dialects.support.diagnostics import did_you_mean
from ....dialects.tir.core import ForKind, ForOp, enclosing_loops
from ....dialects.tir.legality.loops import check_kind
from .checks import check_live, check_private
from .errors import ScheduleError

THREADS = (*(f"{axis}.{way}" for axis in ("blockIdx", "threadIdx", "vthread") for way in "xyz"), "vthread")
"""The axes that devices run threads along."""


def check_bind(loop: ForOp, thread: str) -> None:
    """Whether threads may run the iterations of `loop`.

    Raises:
        ScheduleError: there is no such axis, it is taken by a loop around or within, or iterations depend on each
            other.
    """
    check_live(loop)
    if thread not in THREADS:
        raise ScheduleError.at(
            loop, f"unknown thread axis '{thread}'", hint=did_you_mean(thread, THREADS) or f"known: {THREADS}"
        )
    nested = [op for op in loop.walk() if isinstance(op, ForOp) and op is not loop]
    if any(other.thread is not None and other.thread.data == thread for other in (*enclosing_loops(loop), *nested)):
        raise ScheduleError.at(loop, f"another loop of its nest is bound to {thread}")
    check_private(loop)
    for finding in check_kind(loop, ForKind.THREAD_BINDING):
        if finding.certain:
            raise ScheduleError.at(finding.op, finding.message, hint=finding.hint)


def bind(loop: ForOp, thread: str) -> None:
    """Bind `loop` to an axis of threads. Counterpart of TVM's `bind`.

    Raises:
        ScheduleError: as `check_bind` says.
    """
    check_bind(loop, thread)
    loop.for_kind = ForKind.THREAD_BINDING
    loop.properties["thread"] = StringAttr(thread)

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
from ....dialects.tir.core import ForKind, ForOp, blocks_under, enclosing_loops
from ....dialects.tir.legality.loops import check_kind
from ....dialects.tir.thread_axes import BLOCK_AXES, is_shared
from .checks import check_live, check_needs_no_threads, check_private
from .errors import ScheduleError

THREADS = (*(f"{axis}.{way}" for axis in ("blockIdx", "threadIdx", "vthread") for way in "xyz"), "vthread")
"""The axes that devices run threads along."""


def check_bind(loop: ForOp, thread: str) -> None:
    """Whether threads may run the iterations of `loop`.

    Raises:
        ScheduleError: there is no such axis, it is taken by a loop within, or by one around whose threads do not all do
            the same in `loop`, or iterations depend on each other.
    """
    check_live(loop)
    if thread not in THREADS:
        raise ScheduleError.at(
            loop, f"unknown thread axis '{thread}'", hint=did_you_mean(thread, THREADS) or f"known: {THREADS}"
        )
    nested = [op for op in loop.walk() if isinstance(op, ForOp) and op is not loop]
    if any(other.thread is not None and other.thread.data == thread for other in nested):
        raise ScheduleError.at(loop, f"another loop of its nest is bound to {thread}")
    for other in enclosing_loops(loop):
        if other.thread is not None and other.thread.data == thread:
            _check_same_threads(loop, other, thread)
    check_private(loop)
    if loop.thread is not None and loop.thread.data != thread:
        check_needs_no_threads(loop)
    for finding in check_kind(loop, ForKind.THREAD_BINDING, thread):
        if finding.certain:
            raise ScheduleError.at(finding.op, finding.message, hint=finding.hint)


def _check_same_threads(loop: ForOp, around: ForOp, thread: str) -> None:
    """Whether the threads that run `around` may run the iterations of `loop` one each, instead of all of them each:
    they all do the same there, for all of them."""
    message = f"another loop of its nest is bound to {thread}"
    if thread not in BLOCK_AXES or loop.size != around.size or loop.start != around.start:
        raise ScheduleError.at(loop, message)
    for block in blocks_under(loop):
        if around.var in block.loop_vars:
            raise ScheduleError.at(loop, f"{message}, and block @{block.block_name} does in it what is that thread's")
        if not all(map(is_shared, block.writes)):
            hint = "the threads of a block have memory of scope shared together"
            raise ScheduleError.at(loop, f"{message}, and block @{block.block_name} writes a thread's own", hint=hint)


def bind(loop: ForOp, thread: str) -> None:
    """Bind `loop` to an axis of threads. Counterpart of TVM's `bind`.

    Raises:
        ScheduleError: as `check_bind` says.
    """
    check_bind(loop, thread)
    loop.for_kind = ForKind.THREAD_BINDING
    loop.properties["thread"] = StringAttr(thread)

"""Run the iterations of virtual threads one after the other.

Before -> after:

```mlir
tir.for thread_binding "vthread.x" %t = 0 to 4 {

tir.for %t = 0 to 4 {
```

A virtual thread is a loop bound to a thread whose name begins with `vthread` or `cthread`: its iterations are
independent, and are run by one thread. A buffer of a thread's own that they use is no other for each, since what stands
in it is written where it is read in the same iteration. Other threads stay, and are for the target to have. Counterpart
of TVM's InjectVirtualThread, which interleaves the iterations; LLVM does that where it unrolls.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context

from ...dialects.tir.core import ForOp, PrimFuncOp
from ...dialects.tir.loop_iterators import make_serial
from ...dialects.tir.thread_axes import is_virtual
from ..infra import PrimFuncPass, report_changed


@dataclass(frozen=True)
class InjectVirtualThreadPass(PrimFuncPass):
    """Make loops of virtual threads serial."""

    name = "inject-virtual-thread"
    tvm_name = "InjectVirtualThread"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        loops = [op for op in func.walk() if isinstance(op, ForOp) and is_virtual(op)]
        for loop in loops:
            make_serial(loop)
        report_changed(bool(loops))

"""Let no loop be shared by threads.

Before -> after:

```mlir
tir.for parallel %i = 0 to 8 {

tir.for %i = 0 to 8 {
```

For a machine of one thread, and to look for a race: without threads there is none. Loops of other kinds stay.
Counterpart of TVM's ConvertForLoopsToSerial.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context

from ...dialects.tir.core import ForKind, ForOp, PrimFuncOp
from ...dialects.tir.loop_iterators import make_serial
from ..infra import PrimFuncPass, report_changed


@dataclass(frozen=True)
class ConvertForLoopsToSerialPass(PrimFuncPass):
    """Make parallel loops serial."""

    name = "convert-for-loops-to-serial"
    tvm_name = "ConvertForLoopsToSerial"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        parallel = [op for op in func.walk() if isinstance(op, ForOp) and op.for_kind == ForKind.PARALLEL]
        for loop in parallel:
            make_serial(loop)
        report_changed(bool(parallel))

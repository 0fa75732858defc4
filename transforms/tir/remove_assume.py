"""Forget what is assumed, and what then does nothing.

Before -> after:

```mlir
%0 = arith.cmpi eq, %x, %zero : i32
tir.assume %0
memref.store %x, %y[%v] : memref<8xi32>

memref.store %x, %y[%v] : memref<8xi32>
```

Lowering makes no code for an assumption either: this is for those who look at what is left. Counterpart of TVM's
RemoveAssume.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context

from ...dialects.tir.core import AssumeOp, PrimFuncOp
from ..infra import PrimFuncPass, report_changed
from .remove_no_op import RemoveNoOpPass


@dataclass(frozen=True)
class RemoveAssumePass(PrimFuncPass):
    """Forget what is assumed."""

    name = "remove-assume"
    tvm_name = "RemoveAssume"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        assumed = [op for op in func.walk() if isinstance(op, AssumeOp)]
        for op in assumed:
            op.detach()
            op.erase()
        if assumed:
            RemoveNoOpPass().apply_prim_func(ctx, func)
        report_changed(bool(assumed))

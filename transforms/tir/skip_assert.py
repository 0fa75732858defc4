"""Leave assertions out.

Before -> after:

```mlir
%0 = arith.cmpi sge, %x, %zero : i32
tir.assert %0 "x is negative"

%0 = arith.cmpi sge, %x, %zero : i32
```

Checks of indices (`tir.check`) stay: what they guard relies on them. Counterpart of TVM's SkipAssert.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context

from ...dialects.tir.core import AssertOp, PrimFuncOp
from ..infra import PrimFuncPass, report_changed


@dataclass(frozen=True)
class SkipAssertPass(PrimFuncPass):
    """Leave assertions out."""

    name = "skip-assert"
    tvm_name = "SkipAssert"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        asserts = [op for op in func.walk() if isinstance(op, AssertOp)]
        for op in asserts:
            op.detach()
            op.erase()
        report_changed(bool(asserts))

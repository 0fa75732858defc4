"""Leave out stores of what may be any value, and what then does nothing.

Before -> after:

```mlir
%0 = tir.undef : f32
memref.store %0, %x[%v] : memref<8xf32>

(nothing)
```

An element keeps what it held before, which is one of the values that it may have. Lowering makes no code for such a
store either. Counterpart of TVM's RemoveStoreUndef.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context

from ...dialects.tir.assumptions import undefined_stores
from ...dialects.tir.core import PrimFuncOp
from ..infra import PrimFuncPass, report_changed
from .remove_no_op import RemoveNoOpPass


@dataclass(frozen=True)
class RemoveStoreUndefPass(PrimFuncPass):
    """Leave out stores of what may be any value."""

    name = "remove-store-undef"
    tvm_name = "RemoveStoreUndef"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        stores = undefined_stores(func.region)
        for store in stores:
            store.detach()
            store.erase()
        if stores:
            RemoveNoOpPass().apply_prim_func(ctx, func)
        report_changed(bool(stores))

"""Leave out stores of what may be any value, and what then does nothing.

Before -> after:

```mlir
%0 = tir.undef : f32
memref.store %0, %x[%v] : memref<8xf32>

(nothing)
```

An element keeps what it held before, which is one of the values that it may have. Lowering makes no code for such a
store either. Such a value decides nothing: where it is an index or a condition, the function is refused. Counterpart of
TVM's RemoveStoreUndef.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.utils.exceptions import VerifyException

from ...dialects.support.diagnostics import Diagnostic
from ...dialects.tir.assumptions import UndefOp, undefined_stores
from ...dialects.tir.core import PrimFuncOp
from ..infra import PrimFuncPass, report_changed
from .remove_no_op import RemoveNoOpPass


@dataclass(frozen=True)
class RemoveStoreUndefPass(PrimFuncPass):
    """Leave out stores of what may be any value."""

    name = "remove-store-undef"
    tvm_name = "RemoveStoreUndef"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        for op in func.region.walk():
            if isinstance(op, UndefOp):
                _check(op)
        stores = undefined_stores(func.region)
        for store in stores:
            store.detach()
            store.erase()
        if stores:
            RemoveNoOpPass().apply_prim_func(ctx, func)
        report_changed(bool(stores))


def _check(undefined: UndefOp) -> None:
    """
    Raises:
        Diagnostic: the value is used otherwise than stored.
    """
    try:
        undefined.verify_()
    except VerifyException as error:
        raise Diagnostic.at(undefined, str(error)) from None

"""Let functions say which target they are for.

Before -> after `bind-target{target=cuda}`:

```mlir
tir.prim_func @f(%x: memref<8xf32>) {

tir.prim_func @f(%x: memref<8xf32>) attributes {target = "cuda"} {
```

`weft.build` makes code of a function for the target that it says, whatever others are for, and `verify-memory` looks at
those of GPUs. Does not: change what a function says already; know targets, which is asked when it is built. Counterpart
of TVM's BindTarget.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import StringAttr

from ...dialects.tir.core import PrimFuncOp
from ...dialects.tir.functions import BOUND_TARGET
from ..infra import PrimFuncPass, report_changed


@dataclass(frozen=True)
class BindTargetPass(PrimFuncPass):
    """Let functions say which target they are for.

    Options: the target as it is written, or a `weft.Target`.
    """

    name = "bind-target"
    tvm_name = "BindTarget"

    target: str = "llvm"

    def __post_init__(self) -> None:
        if isinstance(getattr(self.target, "kind", None), str):
            object.__setattr__(self, "target", str(self.target))
        super().__post_init__()

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        changed = BOUND_TARGET not in func.attributes
        if changed:
            func.attributes[BOUND_TARGET] = StringAttr(self.target)
        report_changed(changed)

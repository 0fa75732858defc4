"""Compute equal expressions in a block's body once.

Before -> after:

```mlir
%0 = memref.load %x[%v] : memref<8xf32>
%1 = math.exp %0 : f32
%2 = memref.load %x[%v] : memref<8xf32>
%3 = math.exp %2 : f32
%4 = arith.mulf %1, %3 : f32

%0 = memref.load %x[%v] : memref<8xf32>
%1 = math.exp %0 : f32
%4 = arith.mulf %1, %1 : f32
```

What is read twice is read once where nothing is written in between. Does not: look beyond a block, nor at expressions
that are equal by associativity. It is xDSL's elimination of common subexpressions, body by body. Counterpart of TVM's
CommonSubexprElimTIR.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.transforms.common_subexpression_elimination import cse

from ...dialects.tir.core import PrimFuncOp, blocks_under
from ..infra import PrimFuncPass, report_changed


@dataclass(frozen=True)
class CommonSubexprElimTIRPass(PrimFuncPass):
    """Compute equal expressions in a block's body once."""

    name = "common-subexpr-elim-tir"
    tvm_name = "CommonSubexprElimTIR"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        changed = False
        for block in blocks_under(func):
            before = sum(1 for _ in block.walk())
            for region in block.regions:
                cse(region.block)
            if sum(1 for _ in block.walk()) != before:
                block.update_accesses()
                changed = True
        report_changed(changed)

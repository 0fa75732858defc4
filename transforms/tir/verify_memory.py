"""See that the host leaves memory of a GPU alone: of a function for a GPU, threads of a launch run all blocks.

```mlir
tir.for %i = 0 to 8 {
  tir.block @double(%v: spatial 8) = [%i] reads(...) writes(...) {

f.mlir:2:3: error: 'tir.block': block @double is run by the host, which cannot touch the memory of a GPU
```

A function without a target, or for the processor, needs none. Changes nothing. Counterpart of TVM's VerifyMemory.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.ir import Operation

from ...dialects.support.diagnostics import Diagnostic
from ...dialects.tir.core import PrimFuncOp
from ...dialects.tir.functions import is_for_gpu
from ..infra import PrimFuncPass, report_changed
from .analysis.launches import Launch, launch_of, unbound


@dataclass(frozen=True)
class VerifyMemoryPass(PrimFuncPass):
    """Refuse functions for a GPU in which the host runs a block."""

    name = "verify-memory"
    tvm_name = "VerifyMemory"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        self.check(func)
        report_changed(False)

    def check(self, func: PrimFuncOp) -> None:
        """
        Raises:
            Diagnostic: it is for a GPU, and the host runs a block of it.
        """
        if is_for_gpu(func):
            for nest in func.region.block.ops:
                check_left_alone(nest, launch_of(nest))


def check_left_alone(nest: Operation, launch: Launch) -> None:
    """
    Raises:
        Diagnostic: the host runs a block of a nest of a function for a GPU.
    """
    if (block := unbound(nest, launch)) is not None:
        what = f"block @{block.block_name} is run by the host, which cannot touch the memory of a GPU"
        raise Diagnostic.at(block, what, hint="bind loops around it to threads, or run gpu-schedule-rules")

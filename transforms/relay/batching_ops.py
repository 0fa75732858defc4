"""Make one operator of several that read the same value: three passes in a row.

`combine-parallel-conv2d`, `combine-parallel-dense`, `combine-parallel-batch-matmul`, each where the context's level
allows it: all of them are of level 4.

Counterpart of TVM's `BatchingOps`, a sequence too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..infra import ModulePass, run
from .combine_parallel_batch_matmul import CombineParallelBatchMatmulPass
from .combine_parallel_conv2d import CombineParallelConv2DPass
from .combine_parallel_dense import CombineParallelDensePass


@dataclass(frozen=True)
class BatchingOpsPass(ModulePass):
    """No options."""

    name = "batching-ops"
    opt_level: ClassVar[int] = 0
    tvm_name: ClassVar[str | None] = "BatchingOps"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for part in (CombineParallelConv2DPass(), CombineParallelDensePass(), CombineParallelBatchMatmulPass()):
            run(part, op, ctx)

"""Make one batched matrix product of several with the same left side, by concatenating the right ones.

    %1 = relay.nn.batch_matmul %x, %y1        %y = relay.concatenate %y1, %y2, %y3
    %2 = relay.nn.batch_matmul %x, %y2  ->    %0 = relay.nn.batch_matmul %x, %y
    %3 = relay.nn.batch_matmul %x, %y3        %1 = relay.strided_slice %0 [first columns]; ...

Arithmetic that follows each of them in the same way is done once (`combining.py`).

Counterpart of TVM's `CombineParallelBatchMatmul`, which runs at level 4.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.ir import SSAValue

from ...dialects.relay.base import DYNAMIC, shape_of
from ...dialects.relay.core import FuncOp
from ...dialects.relay.ops.nn.dense import BatchMatmulOp
from ..infra import FunctionPass, report_changed
from .combining import Concatenating, combine_parallel, element
from .emitter import Emitter


@dataclass(frozen=True)
class CombineParallelBatchMatmulPass(FunctionPass):
    """Options: `min-num-branches` is how many there must be at least."""

    name = "combine-parallel-batch-matmul"
    opt_level: ClassVar[int] = 4
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "CombineParallelBatchMatmul"
    ranges: ClassVar[dict[str, tuple[int, int | None]]] = {"min_num_branches": (1, None)}

    min_num_branches: int = 3

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        report_changed(combine_parallel(func, BatchMatmulCombiner(), self.min_num_branches, self.name))


class BatchMatmulCombiner(Concatenating[BatchMatmulOp]):
    op_type = BatchMatmulOp

    def axis(self, op: BatchMatmulOp) -> int:
        return 2

    def columns(self, op: BatchMatmulOp) -> int:
        """The axis of the right side along which the columns of the result stand."""
        return 1 if op.transposed()[1] else 2

    def key(self, op: BatchMatmulOp) -> Hashable | None:
        batch, *matrix = shape_of(op.y)
        columns = self.columns(op)
        if DYNAMIC in matrix:
            return None
        return op.x, element(op.y), batch, matrix[2 - columns], frozenset(op.properties.items())

    def combined(self, emit: Emitter, ops: Sequence[BatchMatmulOp]) -> SSAValue:
        right = self.concatenate(emit, [op.y for op in ops], self.columns(ops[0]))
        return emit(BatchMatmulOp(ops[0].x, right, **ops[0].properties))

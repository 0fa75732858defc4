"""Make one product of several dense layers that read the same data.

    %1 = relay.nn.dense %x, %w1               %xs = relay.stack %x, %x, %x
    %2 = relay.nn.dense %x, %w2         ->    %ws = relay.stack %w1, %w2, %w3
    %3 = relay.nn.dense %x, %w3               %0 = relay.nn.batch_matmul %xs, %ws
                                              %s = relay.split %0 {3}; %1 = relay.squeeze %s[0]; ...

With `to-batch` off the weights are concatenated instead, so that they may differ in the number of outputs:

    %w = relay.concatenate %w1, %w2, %w3;  %0 = relay.nn.dense %x, %w;  %1 = relay.strided_slice %0 [first columns]; ...

Arithmetic that follows each of them in the same way is done once (`combining.py`).

Counterpart of TVM's `CombineParallelDense`, which runs at level 4.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.ir import SSAValue

from ...dialects.relay.base import DYNAMIC, shape_of
from ...dialects.relay.core import FuncOp, TupleOp
from ...dialects.relay.ops.nn.dense import BatchMatmulOp, DenseOp
from ...dialects.relay.ops.slicing import StackOp
from ..infra import FunctionPass, report_changed
from .combining import Concatenating, Stacking, combine_parallel, element, total
from .emitter import Emitter


@dataclass(frozen=True)
class CombineParallelDensePass(FunctionPass):
    """Options: `min-num-branches` is how many there must be at least; `to-batch` makes a `batch_matmul` of them."""

    name = "combine-parallel-dense"
    opt_level: ClassVar[int] = 4
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "CombineParallelDense"
    option_aliases: ClassVar[dict[str, str]] = {"to_batch_matmul": "to_batch"}
    ranges: ClassVar[dict[str, tuple[int, int | None]]] = {"min_num_branches": (1, None)}

    min_num_branches: int = 3
    to_batch: bool = True

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        combiner = BatchCombiner() if self.to_batch else FlatCombiner()
        report_changed(combine_parallel(func, combiner, self.min_num_branches, self.name))


class BatchCombiner(Stacking[DenseOp]):
    op_type = DenseOp

    def key(self, op: DenseOp) -> Hashable | None:
        if DYNAMIC in (*shape_of(op.data), *shape_of(op.weight)) or len(shape_of(op.data)) != 2:
            return None
        return op.data, op.weight.type, op.out_dtype

    def combined(self, emit: Emitter, ops: Sequence[DenseOp]) -> SSAValue:
        data, weights = ([op.operands[position] for op in ops] for position in (0, 1))
        stacks = [emit(StackOp(emit(TupleOp(*values)), axis=0)) for values in (data, weights)]
        return emit(BatchMatmulOp(*stacks, out_dtype=ops[0].out_dtype))


class FlatCombiner(Concatenating[DenseOp]):
    op_type = DenseOp
    REPEATS = True

    def axis(self, op: DenseOp) -> int:
        return len(shape_of(op.data)) - 1

    def key(self, op: DenseOp) -> Hashable | None:
        weight = shape_of(op.weight)
        if DYNAMIC in weight:
            return None
        return op.data, element(op.weight), weight[1], op.out_dtype, "units" in op.properties

    def combined(self, emit: Emitter, ops: Sequence[DenseOp]) -> SSAValue:
        weight = self.concatenate(emit, [op.weight for op in ops], 0)
        properties = total(ops, "units", shape_of(weight)[0])
        return emit(DenseOp(ops[0].data, weight, **properties))

"""What computes what, as schedules see it (`te.schedule.CreateReadGraph` and others of TVM's)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...dialects.support.arguments import checked
from ...dialects.te.tensor import Tensor, TensorOp, topological_order


@checked
def CreateReadGraph(ops: Sequence[TensorOp]) -> dict[TensorOp, list[Tensor]]:
    """What each operation reads, of all that `ops` are made of."""
    return {tensor.op: tensor.op.input_tensors for tensor in topological_order([op.tensor for op in ops])}


@checked
def PostDFSOrder(ops: Sequence[TensorOp], graph: Mapping[TensorOp, Sequence[Tensor]]) -> list[TensorOp]:
    """The operations of a graph that `ops` are made of, each behind all that it reads (depth first)."""
    order: dict[TensorOp, None] = {}
    stack = [(op, iter(graph.get(op, ()))) for op in reversed(ops)]
    while stack:
        op, inputs = stack[-1]
        pending = next((each.op for each in inputs if each.op not in order), None)
        if pending is None:
            order[op] = None
            stack.pop()
        else:
            stack.append((pending, iter(graph.get(pending, ()))))
    return list(order)

"""Tell why producers have not been fused with their users."""

from __future__ import annotations

from ....dialects.relay.base import Fusion
from ...infra import remarks
from .dataflow import Dataflow, is_operator
from .partition import Partition, Refusal

_SUGGESTIONS = {
    Refusal.TOO_LARGE: "raise max-depth",
    Refusal.NO_MEETING: "compute it once more for each user, if it is cheap",
}


def explain(flow: Dataflow, partition: Partition, pass_name: str = "fuse-ops") -> None:
    """Emit a remark for each operator that is the result of its group though operators use it, and for what is dead."""
    for op in flow.dead:
        remarks.passed(pass_name, op, "nothing needs it: dropped")
    graph = flow.graph
    for node, op in enumerate(flow.ops):
        if partition.root[node] != node or not is_operator(op) or graph.external[node]:
            continue
        refusal, at = partition.refusals.get(node, (None, node))
        if refusal is None:
            pattern = graph.patterns[node]
            if pattern not in (Fusion.COMM_REDUCE, Fusion.OPAQUE):
                continue
            remarks.missed(pass_name, op, f"an operator of pattern {pattern.name} is never fused into its users")
            continue
        where = "" if at == node else f" ('{flow.ops[at].name}')"
        remarks.missed(pass_name, op, f"not fused into its users: {refusal.value}{where}", _SUGGESTIONS.get(refusal))

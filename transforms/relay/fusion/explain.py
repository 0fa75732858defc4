"""Tell why producers have not been fused with their users."""

from __future__ import annotations

from ....dialects.relay.base import Fusion, NonComputational, RelayOp
from ....dialects.relay.ops.annotation import StopFusionOp
from ...infra import remarks
from .dataflow import Dataflow, is_operator
from .partition import Partition, Refusal

_SUGGESTIONS = {Refusal.TOO_LARGE: "raise max-depth"}


def explain(flow: Dataflow, partition: Partition, pass_name: str = "fuse-ops") -> None:
    """Emit a remark for each operator that is the result of its group though operators use it, and for what is dead."""
    for op in flow.dead:
        remarks.passed(pass_name, op, "nothing needs it: dropped")
    for node, op in enumerate(flow.ops):
        if isinstance(op, StopFusionOp):
            continue
        if is_operator(op):
            _explain_operator(flow, partition, node, pass_name)
        elif isinstance(op, RelayOp) and not type(op).has_trait(NonComputational):
            reason = "the operator has no fusion pattern, and stays outside of kernels"
            remarks.missed(pass_name, op, reason, "run simplify-inference before")


def _explain_operator(flow: Dataflow, partition: Partition, node: int, pass_name: str) -> None:
    op, pattern = flow.ops[node], flow.graph.patterns[node]
    if count := partition.remade.get(node):
        remarks.passed(pass_name, op, f"computed again in {count} kernel{'s' * (count > 1)} instead of read there")
    if node in partition.dropped:
        return
    if (written := partition.written.get(node)) is not None:
        reason, at = written
        message = f"not computed again where it is read: {reason.value} ('{flow.ops[at].name}')"
        remarks.missed(pass_name, op, message, _SUGGESTIONS.get(reason))
    if (apart := partition.apart.get(node)) is not None and partition.root[node] == node:
        remarks.missed(pass_name, op, f"not computed with '{flow.ops[apart[1]].name}': {apart[0].value}")
    root = partition.root[node]
    if flow.graph.external[node] or node in partition.results.get(root, ()):
        _explain_result(flow, partition, node, pass_name)
        return
    if root != node:
        return
    refusal, at = partition.refusals.get(node, (None, node))
    if refusal is not None:
        where = "" if at == node else f" ('{flow.ops[at].name}')"
        remarks.missed(pass_name, op, f"not fused into its users: {refusal.value}{where}", _SUGGESTIONS.get(refusal))
    elif pattern in (Fusion.COMM_REDUCE, Fusion.OPAQUE):
        remarks.missed(pass_name, op, f"an operator of pattern {pattern.name} is never fused into its users")


def _explain_result(flow: Dataflow, partition: Partition, node: int, pass_name: str) -> None:
    """Tell of a value that is written anyway which users are in other kernels."""
    root = partition.root[node]
    outside = [user for user in flow.graph.users[node] if partition.root[user] != root]
    # A tuple in a kernel is a part of what takes it.
    users = [flow.ops[user if is_operator(flow.ops[user]) else partition.root[user]] for user in outside]
    refusal, _ = partition.refusals.get(node, (Refusal.SEVERAL_KERNELS, node))
    if flow.graph.external[node]:
        refusal = Refusal.EXTERNAL
    suggestion = _SUGGESTIONS.get(refusal)
    for name in dict.fromkeys(user.name for user in users if is_operator(user)):
        remarks.missed(pass_name, flow.ops[node], f"not fused into '{name}': {refusal.value}", suggestion)

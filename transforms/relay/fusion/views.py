"""Take slices out of kernels that begin with them, and reshapes out of those that end with them, where they are memory
that is there already.

A slice whose elements stand one after the other in what another kernel has computed needs no kernel: it is a part of
that memory (`transforms/mem/elide_copies.py`). Kernels that differ in nothing but where such slices begin are one
kernel then, as those of the steps of a recurrent network.

So is what is brought into another layout, and then reshaped: the kernel that writes it under its own shape moves
vectors and squares; under another one it would find each element by division. Where extents are open, that holds of
whatever is computed before they are put together, `[n, m]` to `[n * m]`.
"""

from __future__ import annotations

from xdsl.ir import Operation

from ....dialects.relay.base import DYNAMIC, ReshapeLike, is_static, shape_of, tensors_in
from ....dialects.relay.copying import start_of_slice
from ....dialects.relay.core import TupleOp
from ....dialects.relay.layout import LayoutTransformOp
from ....dialects.relay.ops.slicing import StridedSliceOp
from .dataflow import Dataflow, is_operator
from .partition import Partition, Refusal


def separate_views(flow: Dataflow, partition: Partition) -> None:
    """Make a group of its own of each slice at the beginning of a group that is a part of another group's result, and
    of reshapes at the end of a group behind a change of layout.

    Where extents are open, calls do not say that a kernel copies, so that it would: only the reshapes are taken out
    that put open extents together at the end of a group.
    """
    if not all(is_static(tensor) for op in flow.ops for tensor in tensors_in(*op.result_types)):
        for node, op in enumerate(flow.ops):
            if _is_reshape(op) and partition.root[node] == node and node not in partition.results:
                _separate_joins(flow, partition, node)
        return
    for node, op in enumerate(flow.ops):
        if isinstance(op, StridedSliceOp) and start_of_slice(op) is not None:
            _separate(flow, partition, node)
        elif isinstance(op, LayoutTransformOp):
            _separate_behind(flow, partition, node)


def _separate(flow: Dataflow, partition: Partition, node: int) -> None:
    """Separate a slice, and the reshapes that stand between it and what it is a part of."""
    group = partition.root[node]
    taken: list[int] = []
    made: int | None = node
    while made is not None and partition.root[made] == group:
        if made in (group, *partition.results.get(group, ())) or (taken and not _is_reshape(flow.ops[made])):
            return
        taken.append(made)
        made = _producer(flow, made)
    if made is None or not _is_memory(flow, made):
        return
    for each in taken:
        partition.root[each] = each
        partition.refusals[each] = (Refusal.VIEW, made)
        partition.before[each] = group


def _separate_behind(flow: Dataflow, partition: Partition, node: int) -> None:
    """Separate the reshapes behind a node, if its group ends with them and they are not for the caller."""
    group = partition.root[node]
    if group == node or group in partition.results or flow.graph.external[node]:
        return
    behind: list[int] = []
    last = node
    while last != group:
        users = flow.graph.users[last]
        if len(users) != 1 or not _is_reshape(flow.ops[users[0]]):
            return
        last = users[0]
        behind.append(last)
    if flow.graph.external[group]:
        return
    for each, root in enumerate(partition.root):
        if root == group and each not in behind:
            partition.root[each] = node
    for each in behind:
        partition.root[each] = group
        partition.refusals[each] = (Refusal.VIEW, node)


def _separate_joins(flow: Dataflow, partition: Partition, group: int) -> None:
    """Separate the reshapes that a group ends with, from the first on that puts open extents together."""
    behind: list[int] = []
    found: tuple[int, int] | None = None
    """How many of them, and the node before."""
    node = group
    while _is_reshape(flow.ops[node]):
        behind.append(node)
        before = _producer(flow, node)
        if before is None or partition.root[before] != group:
            break
        if _joins(flow.ops[node]):
            found = len(behind), before
        node = before
        if len(flow.graph.users[node]) != 1:
            break
    if found is None:
        return
    count, last = found
    for each, root in enumerate(partition.root):
        if root == group and each not in behind[:count]:
            partition.root[each] = last
    partition.refusals[last] = (Refusal.SEEN_OTHERWISE, last)


def _joins(op: Operation) -> bool:
    """Whether a reshape gives fewer open extents than it takes: some of them are put together."""
    given, made = (shape_of(value).count(DYNAMIC) for value in (op.operands[0], op.results[0]))
    return made < given


def _is_memory(flow: Dataflow, node: int) -> bool:
    """Whether what a node gives is memory of the graph's own: computed, and not for the caller."""
    while _is_reshape(flow.ops[node]) or _is_view(flow.ops[node]):
        if flow.graph.external[node] or (made := _producer(flow, node)) is None:
            return False
        node = made
    returned = any(isinstance(flow.ops[user], TupleOp) and flow.graph.external[user] for user in flow.graph.users[node])
    return is_operator(flow.ops[node]) and not flow.graph.external[node] and not returned


def _is_reshape(op: Operation) -> bool:
    return op.has_trait(ReshapeLike) and len(op.operands) == 1


def _is_view(op: Operation) -> bool:
    return isinstance(op, StridedSliceOp) and start_of_slice(op) is not None


def _producer(flow: Dataflow, node: int) -> int | None:
    """The node that gives the only operand of one."""
    owner = flow.ops[node].operands[0].owner
    return flow.node.get(owner) if isinstance(owner, Operation) else None

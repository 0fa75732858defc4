"""The order in which the nodes of a graph are imported."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from .schemas import values_read

if TYPE_CHECKING:
    from onnx import NodeProto


def in_order(nodes: Sequence[NodeProto]) -> list[NodeProto]:
    """`nodes`, each behind those whose values it reads, also in graphs of its own, and else as they stand.

    ONNX asks for that; what some converters write is not so, and ONNX Runtime takes it. Nodes that wait for each other
    stand last.
    """
    makers = {output: number for number, node in enumerate(nodes) for output in node.output if output}
    before = [{makers[name] for name in values_read([node]) if name in makers} for node in nodes]
    if all(max(needed, default=-1) < number for number, needed in enumerate(before)):
        return list(nodes)
    behind: list[list[int]] = [[] for _ in nodes]
    for number, needed in enumerate(before):
        for other in needed:
            behind[other].append(number)
    missing = [len(needed) for needed in before]
    ready = [number for number, count in enumerate(missing) if not count]
    heapify(ready)
    found: list[int] = []
    while ready:
        found.append(number := heappop(ready))
        for other in behind[number]:
            missing[other] -= 1
            if not missing[other]:
                heappush(ready, other)
    stuck = sorted({*range(len(nodes))}.difference(found))
    return [nodes[number] for number in (*found, *stuck)]

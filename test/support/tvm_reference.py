"""What TVM makes of a recorded graph, by its documentation: which nodes it fuses, and which storages it plans.

Written from descriptions alone, and as plainly as can be: lists of post-dominators and sets of members where Weft has
trees and forests, a list of free storages that is searched. It gives what TVM has recorded for every graph there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from oracle_fusion import Fused, Kernel, Setting
from oracle_records import DType, Graph, Node, Shape

ELEMWISE, BROADCAST, INJECTIVE, COMM_REDUCE, OUT_ELEMWISE_FUSABLE, TUPLE, OPAQUE = 0, 1, 2, 3, 4, 7, 8
PATTERNS = {
    "elemwise": ELEMWISE,
    "broadcast": BROADCAST,
    "injective": INJECTIVE,
    "comm_reduce": COMM_REDUCE,
    "out_elemwise_fusable": OUT_ELEMWISE_FUSABLE,
    "opaque": OPAQUE,
}
INLINED = ("int32", "int64", "float32", "float64", "bool")
RESHAPES = ("reshape", "squeeze", "expand_dims", "nn.batch_flatten")
STOP = "annotation.stop_fusion"


def fields_of(node: Node) -> Sequence[DType]:
    """The element types of a tuple's fields, which may be tuples themselves."""
    return cast("Sequence[DType]", node.dtype)


class Fusion:
    """The fusion of one graph. `head` says which node's group each node is in."""

    def __init__(self, graph: Graph, max_depth: int):
        self.nodes, self.max_depth = graph.nodes, max_depth
        count = len(graph.nodes)
        self.kind = [self.pattern_of(node) for node in graph.nodes]
        self.uses: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        is_extern = [False] * count
        is_extern[graph.output] = True
        for node in graph.nodes:
            for read in node.inputs:
                edge = self.edge(node, graph.nodes[read])
                if edge is None:
                    is_extern[read] = True
                else:
                    self.uses[read].append((node.id, edge))
        self.above: list[list[int]] = [[] for _ in range(count)]
        """The post-dominators of each node, the nearest first."""
        self.way = [OPAQUE] * count
        """The greatest pattern on the ways to the nearest."""
        for i in reversed(range(count)):
            if not is_extern[i] and self.uses[i]:
                self._find_above(i)
        self.head = list(range(count))
        self.size = [1] * count

    def _find_above(self, i: int) -> None:
        chains = [[user, *self.above[user]] for user, _ in self.uses[i]]
        self.above[i] = common = [n for n in chains[0] if all(n in chain for chain in chains)]
        before = [chain[: chain.index(common[0])] if common else chain for chain in chains]
        self.way[i] = max([edge for _, edge in self.uses[i]] + [self.way[n] for chain in before for n in chain])

    def pattern_of(self, node: Node) -> int:
        match node.op:
            case "tuple":
                return TUPLE
            case "tuple_getitem":
                return INJECTIVE if self.holds_tensors(node.inputs[0]) else OPAQUE
            case "const":
                return ELEMWISE if node.shape == [] and node.dtype in INLINED else OPAQUE
            case _:
                return OPAQUE if node.pattern is None else PATTERNS[node.pattern]

    def holds_tensors(self, made: int) -> bool:
        return all(isinstance(field, str) for field in fields_of(self.nodes[made]))

    def edge(self, user: Node, read: Node) -> int | None:
        """The pattern of a use; nothing where fusion does not see through it."""
        is_tensor = isinstance(read.dtype, str)
        if user.op == "tuple":
            return INJECTIVE if is_tensor else None
        if user.op == "tuple_getitem":
            return INJECTIVE if self.holds_tensors(read.id) else None
        assert user.pattern is not None
        same = user.pattern == "broadcast" and is_tensor and read.shape == user.shape
        return ELEMWISE if same else PATTERNS[user.pattern]

    def between(self, source: int, sink: int) -> list[int]:
        """All nodes on the ways from a node to its post-dominator, without the two."""
        found: list[int] = []
        pending = [user for user, _ in self.uses[source]]
        while pending:
            if (node := pending.pop()) != sink and node not in found:
                found.append(node)
                pending += [user for user, _ in self.uses[node]]
        return found

    def run(self) -> None:
        for phase in range(3):
            for node, above in enumerate(self.above):
                if self.kind[node] != OPAQUE and above:
                    path = self.between(node, above[0])
                    if self.fuses(node, above[0], path, phase):
                        for member in (node, *path):
                            self.merge(member, above[0])

    def fuses(self, node: int, sink: int, path: Sequence[int], phase: int) -> bool:
        kind, way = self.kind[node], self.way[node]
        if self.size[self.head[sink]] + sum(self.size[n] for n in (node, *path)) > self.max_depth:
            return False
        between = max((self.kind[self.head[n]] for n in path), default=ELEMWISE)
        end = self.kind[self.head[sink]]
        light = max(between, end) <= INJECTIVE
        if phase == 2:
            return kind <= INJECTIVE and self.kind[sink] == TUPLE and light
        if self.head[node] == self.head[sink] or self.kind[sink] == TUPLE:
            return False
        if kind == OUT_ELEMWISE_FUSABLE:
            return phase == 0 and way == ELEMWISE and max(between, end) <= BROADCAST
        if kind <= BROADCAST:
            return way <= COMM_REDUCE and between <= INJECTIVE and end <= OUT_ELEMWISE_FUSABLE
        return kind in (INJECTIVE, TUPLE) and phase == 1 and light

    def merge(self, node: int, sink: int) -> None:
        child, target = self.head[node], self.head[sink]
        if child == target:
            return
        if self.kind[child] == OUT_ELEMWISE_FUSABLE:
            assert self.kind[target] <= BROADCAST, "two heavy operators meet in one group"
            self.kind[target] = OUT_ELEMWISE_FUSABLE
        self.size[target] += self.size[child]
        self.head = [target if head == child else head for head in self.head]


def fused(graph: Graph, setting: Setting) -> Fused:
    """TVM's FuseOps of a graph of operators and tuples; parameters are not linked."""
    fusion = Fusion(graph, setting.max_depth)
    if setting.level:
        fusion.run()
    nodes = graph.nodes
    kernels: list[Kernel] = []
    outer: list[int] = []
    for root in sorted(set(fusion.head)):
        members = [i for i, head in enumerate(fusion.head) if head == root]
        made, end = [nodes[i] for i in members], nodes[root]
        if end.op == STOP:
            continue
        if end.pattern is None and not (end.op == "tuple_getitem" and end.inputs[0] in members):
            outer += members
            continue
        arguments = dict.fromkeys(seen(graph, i) for node in made for i in node.inputs if i not in members)
        calls = [node.op for node in made if node.pattern is not None]
        tensors = all(isinstance(nodes[i].dtype, str) for i in arguments)
        reshape_only = bool(calls) and tensors and all(op in RESHAPES for op in calls)
        kernels.append(Kernel(tuple(members), root, tuple(arguments), bool(calls), reshape_only))
    removed = tuple(node.id for node in nodes if node.op == STOP)
    return Fused(tuple(kernels), tuple(sorted(outer)), removed, ())


def seen(graph: Graph, i: int) -> int:
    """The node that a use of `i` is a use of once nothing stops fusion."""
    return seen(graph, graph.nodes[i].inputs[0]) if graph.nodes[i].op == STOP else i


@dataclass
class _Storage:
    number: int
    size: int
    is_pinned: bool = False
    uses: int = 0


@dataclass
class _Value:
    """A tensor: how often it is used, and where it is."""

    uses: int = 0
    storage: _Storage | None = None

    @property
    def held(self) -> _Storage:
        assert self.storage is not None
        return self.storage


@dataclass(frozen=True)
class Storages:
    """The storages of the values of each node, and the bytes of each storage; `temporary` are those that no parameter
    and no constant has."""

    of: Mapping[int, tuple[int, ...]]
    sizes: tuple[int, ...]
    temporary: int


def tensor_bytes(shape: Shape, dtype: DType) -> list[int]:
    """The bytes of a tensor, or of each tensor in a tuple."""
    if isinstance(dtype, str):
        return [int(np.prod(cast("Sequence[int]", shape), dtype=int)) * np.dtype(dtype).itemsize]
    return [size for s, d in zip(cast("Sequence[Shape]", shape), dtype, strict=True) for size in tensor_bytes(s, d)]


class _Planning:
    """TVM's GraphPlanMemory; `lowered`, a kernel of reshapes is what it reshapes."""

    def __init__(self, graph: Graph, fusion: Fused, lowered: bool):
        self.graph, self.lowered = graph, lowered
        self.kernels = {kernel.root: kernel for kernel in fusion.kernels}
        self.values: dict[int, list[_Value]] = {}
        self.storages: list[_Storage] = []
        self.free: list[_Storage] = []

    def reads(self, i: int) -> Sequence[int]:
        if i in self.kernels:
            return self.kernels[i].arguments
        return [seen(self.graph, read) for read in self.graph.nodes[i].inputs]

    def order(self) -> list[int]:
        """Parameters first, then depth first from the result."""
        found = list(self.graph.params)

        def visit(i: int) -> None:
            for read in self.reads(i):
                if read not in found:
                    visit(read)
            found.append(i)

        if (output := seen(self.graph, self.graph.output)) not in found:
            visit(output)
        return found

    def values_of(self, i: int) -> list[_Value]:
        node = self.graph.nodes[i]
        assert node.shape is not None and node.dtype is not None
        if i not in self.kernels and node.op == "tuple":
            return [value for read in self.reads(i) for value in self.values[read]]
        if i not in self.kernels and node.op == "tuple_getitem":
            made = self.graph.nodes[node.inputs[0]]
            fields = zip(cast("Sequence[Shape]", made.shape), fields_of(made), strict=True)
            counts = [len(tensor_bytes(shape, dtype)) for shape, dtype in fields]
            start = sum(counts[: node.index])
            return self.values[seen(self.graph, made.id)][start : start + counts[node.index]]
        return [_Value() for _ in tensor_bytes(node.shape, node.dtype)]

    def run(self) -> Storages:
        order = self.order()
        for i in order:
            for read in self.kernels[i].arguments if i in self.kernels else ():
                for value in self.values[read]:
                    value.uses += 1
            self.values[i] = self.values_of(i)
        for value in self.values[seen(self.graph, self.graph.output)]:
            value.uses += 1
        placed = {i: self.place(i) for i in order if i in self.kernels or self.graph.nodes[i].op in ("var", "const")}
        sizes = tuple(storage.size for storage in self.storages)
        return Storages(placed, sizes, sum(s.size for s in self.storages if not s.is_pinned))

    def place(self, i: int) -> tuple[int, ...]:
        node = self.graph.nodes[i]
        assert node.shape is not None and node.dtype is not None
        made, sizes = self.values[i], tensor_bytes(node.shape, node.dtype)
        kernel = self.kernels.get(i)
        read = [value for argument in self.reads(i) for value in self.values[argument]]
        if kernel is None:
            for value, size in zip(made, sizes, strict=True):
                value.storage = self.new(size, is_pinned=True)
        elif self.lowered and kernel.reshape_only and read:  # of a scalar within it, TVM says nothing
            if len(kernel.arguments) != 1:
                raise Refused(f"node {i}: a kernel of reshapes takes one argument")
            made[0].storage = read[0].held
            read[0].held.uses += made[0].uses
        else:
            for value, size in zip(made, sizes, strict=True):
                value.storage = self.request(size)
                value.storage.uses = value.uses
            self.release([value.held for value in made])
        for value in read:
            value.held.uses -= 1
            self.release([value.held])
        return tuple(value.held.number for value in made)

    def new(self, size: int, is_pinned: bool = False) -> _Storage:
        self.storages.append(storage := _Storage(len(self.storages), size, is_pinned))
        return storage

    def request(self, size: int) -> _Storage:
        fits = [storage for storage in self.free if size <= storage.size <= 16 * size]
        grows = [storage for storage in self.free if size // 16 <= storage.size < size]
        if not fits and not grows:
            return self.new(size)
        # Of equals the first that was given back, or the last where it grows.
        found = min(fits, key=lambda s: s.size) if fits else max(reversed(grows), key=lambda s: s.size)
        self.free = [storage for storage in self.free if storage is not found]
        found.size = max(found.size, size)
        return found

    def release(self, storages: Sequence[_Storage]) -> None:
        self.free += [storage for storage in storages if storage.uses == 0 and not storage.is_pinned]


class Refused(Exception):
    """TVM ends on an internal check."""


def planned(graph: Graph, fusion: Fused, *, lowered: bool) -> Storages:
    """TVM's GraphPlanMemory of a fused graph on one device.

    Raises:
        Refused: TVM makes no plan of it.
    """
    return _Planning(graph, fusion, lowered).run()

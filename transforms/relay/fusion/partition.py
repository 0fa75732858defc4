"""Which nodes become one kernel: the rules of TVM's `GraphPartitioner`.

A node is tried for fusion with its immediate post-dominator, the *sink*, together with everything between the two.
Nodes are tried in order, in three phases: heavy operators take in what follows them, then injective operators, then
what feeds the tuples that have been fused themselves. Groups are kept as a union-find forest, whose roots are the nodes
that give the groups' results.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from ....dialects.relay.base import Fusion
from .dominators import PostDominators, post_dominators
from .graph import ForwardGraph

DEFAULT_MAX_DEPTH = 256
"""TVM's limit on the nodes of a group."""


@dataclass(frozen=True)
class Rule:
    """When a node of some pattern may be fused into its sink."""

    phases: tuple[int, ...]
    way: Fusion
    """The greatest pattern of the edges between node and sink, as collected in the post-dominator tree."""
    between: Fusion
    """The greatest pattern of the groups between node and sink."""
    sink: Fusion
    """The greatest pattern of the sink's group."""


_LIGHT = Rule(phases=(0, 1), way=Fusion.COMM_REDUCE, between=Fusion.INJECTIVE, sink=Fusion.OUT_ELEMWISE_FUSABLE)
_INJECTIVE = Rule(phases=(1,), way=Fusion.OPAQUE, between=Fusion.INJECTIVE, sink=Fusion.INJECTIVE)
_HEAVY = Rule(phases=(0,), way=Fusion.ELEMWISE, between=Fusion.BROADCAST, sink=Fusion.BROADCAST)
_INTO_TUPLE = Rule(phases=(2,), way=Fusion.OPAQUE, between=Fusion.INJECTIVE, sink=Fusion.INJECTIVE)

RULES: dict[Fusion, Rule] = {
    Fusion.ELEMWISE: _LIGHT,
    Fusion.BROADCAST: _LIGHT,
    Fusion.INJECTIVE: _INJECTIVE,
    Fusion.TUPLE: _INJECTIVE,
    Fusion.OUT_ELEMWISE_FUSABLE: _HEAVY,
}
"""The rule of phases 0 and 1 by the node's pattern. Reductions and opaque operators are never fused into users."""


class Refusal(Enum):
    """Why a node has not been fused into its sink."""

    NO_MEETING = "its users do not meet again before the function's results"
    TOO_LARGE = "the group would become larger than max-depth"
    INTO_TUPLE = "its users meet in a tuple, which stays outside of kernels"
    WAY = "a use on the way changes the shape or the order of its elements"
    BETWEEN = "an operator on the way cannot be fused"
    SINK = "the operator where its users meet cannot take it in"
    SEVERAL_KERNELS = "several kernels use it"
    EXTERNAL = "it is a result, or what is no kernel needs it"
    ROWS = "an operator needs more of a value than the row that it computes"
    TRANSPOSED = "a product reads a factor across its rows"
    FEW_ROWS = "there are too few rows to share out"
    LONG_ROWS = "a row of what the kernel keeps is too long to stay near"
    BEGINNINGS = "to wait for functions in each row would cost more than it saves"
    NOTHING_SAVED = "too little would be read once less"
    VIEW = "it is a part of what is in memory already"
    SEEN_OTHERWISE = "that sees its memory under another shape"
    ORDER = "a value that they read comes after a user of what they give"
    EXPENSIVE = "an operator that it is made by costs more than to read it"
    REORDERED = "an operator that it is made by reads its elements in another order"
    READER = "what reads it takes nothing in"
    MANY_TENSORS = "the kernel would read too many tensors"
    BEFORE_PRODUCT = "a product reads what is made of it"
    NOTHING_WON = "to make it again would cost more than it saves"


@dataclass
class Partition:
    """The result: each node's group, named by the node that gives the group's value."""

    root: list[int]
    refusals: dict[int, tuple[Refusal, int]] = field(default_factory=dict[int, "tuple[Refusal, int]"])
    """Of nodes that were tried and not fused: why, and the node at fault (the sink, where there is no other)."""
    results: dict[int, list[int]] = field(default_factory=dict[int, "list[int]"])
    """Of groups with several results: the nodes that give them."""
    places: dict[int, float] = field(default_factory=dict[int, float])
    """Where these groups stand, among the operations of the block by their numbers."""
    before: dict[int, int] = field(default_factory=dict[int, int])
    """Of groups that stand where another one does, right before it: which one."""
    apart: dict[int, tuple[Refusal, int]] = field(default_factory=dict[int, "tuple[Refusal, int]"])
    """Of groups that could have had several results: why not, and with which other group."""
    again: dict[int, list[int]] = field(default_factory=dict[int, "list[int]"])
    """Of groups: the nodes of others that they compute again, in order."""
    dropped: set[int] = field(default_factory=set[int])
    """The nodes that are computed nowhere else: all that read them compute them again."""
    remade: dict[int, int] = field(default_factory=dict[int, int])
    """Of values that other groups compute again: how many do."""
    written: dict[int, tuple[Refusal, int]] = field(default_factory=dict[int, "tuple[Refusal, int]"])
    """Of values with several readers: why one has to read it instead, and the node at fault, or the reader."""


def partition(graph: ForwardGraph, *, fuse: bool = True, max_depth: int = DEFAULT_MAX_DEPTH) -> Partition:
    """Partition `graph` into groups.

    Args:
        fuse: without it every node is a group of its own (TVM's opt level 0).
        max_depth: a fusion that puts together more nodes than this is not made. Nodes between a node and its sink count
            with what had been fused into them, as in TVM.
    """
    if not fuse:
        return Partition(list(range(len(graph))))
    partitioner = _Partitioner(graph, post_dominators(graph), max_depth)
    for phase in range(3):
        partitioner.run(phase)
    return Partition([partitioner.find(node) for node in range(len(graph))], partitioner.refusals)


class _Partitioner:
    def __init__(self, graph: ForwardGraph, dominators: PostDominators, max_depth: int):
        self.graph = graph
        self.dominators = dominators
        self.max_depth = max_depth
        self.parent = list(range(len(graph)))
        self.pattern = list(graph.patterns)  # of the group, at its root; of the node before it was merged, elsewhere
        self.size = [1] * len(graph)  # likewise
        self.refusals: dict[int, tuple[Refusal, int]] = {}

    def find(self, node: int) -> int:
        """The root of a node's group."""
        parent = self.parent
        root = node
        while parent[root] != root:
            root = parent[root]
        while parent[node] != root:
            parent[node], node = root, parent[node]
        return root

    def run(self, phase: int) -> None:
        for node, sink in enumerate(self.dominators.parent):
            pattern = self.pattern[node]
            if pattern == Fusion.OPAQUE:
                continue
            if sink is None:
                self.refusals[node] = (Refusal.NO_MEETING, node)
                continue
            rule = self.into_tuple(pattern, sink) if phase == 2 else self.into_sink(node, pattern, sink, phase)
            if rule is not None:
                self.try_fuse(node, sink, rule)

    def into_sink(self, node: int, pattern: Fusion, sink: int, phase: int) -> Rule | None:
        """The rule for phases 0 and 1, where its conditions on node and sink alone hold."""
        rule = RULES.get(pattern)
        if rule is None or phase not in rule.phases or self.find(node) == self.find(sink):
            return None
        if self.pattern[sink] == Fusion.TUPLE:
            self.refusals[node] = (Refusal.INTO_TUPLE, sink)
            return None
        if self.dominators.pattern[node] > rule.way:
            self.refusals[node] = (Refusal.WAY, sink)
            return None
        return rule

    def into_tuple(self, pattern: Fusion, sink: int) -> Rule | None:
        """The rule of phase 2: into a tuple that phase 1 has made part of an injective group."""
        if pattern > Fusion.INJECTIVE or self.pattern[sink] != Fusion.TUPLE:
            return None
        return _INTO_TUPLE if self.pattern[self.find(sink)] <= Fusion.INJECTIVE else None

    def try_fuse(self, node: int, sink: int, rule: Rule) -> None:
        """Put `node` and all nodes between it and `sink` into the sink's group, unless one of them forbids it."""
        users, pattern = self.graph.users, self.pattern
        target = self.find(sink)
        if pattern[target] > rule.sink:
            self.refusals[node] = (Refusal.SINK, sink)
            return
        total = self.size[target]
        seen, members, pending = {node, sink}, list[int](), [node]
        while pending:
            member = pending.pop()
            members.append(member)
            total += self.size[member]
            if total > self.max_depth:
                self.refusals[node] = (Refusal.TOO_LARGE, sink)
                return
            for user in users[member]:
                if user in seen:
                    continue
                if pattern[self.find(user)] > rule.between:
                    self.refusals[node] = (Refusal.BETWEEN, user)
                    return
                seen.add(user)
                pending.append(user)
        for member in members:
            self.merge(self.find(member), target)
        self.refusals.pop(node, None)

    def merge(self, child: int, target: int) -> None:
        """Make one group of two. A group has at most one heavy operator, which gives the group its pattern."""
        if child == target:
            return
        self.parent[child] = target
        self.size[target] += self.size[child]
        if self.pattern[child] == Fusion.OUT_ELEMWISE_FUSABLE:
            self.pattern[target] = Fusion.OUT_ELEMWISE_FUSABLE

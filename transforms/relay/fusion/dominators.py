"""Post-dominators: the node at which all that is made of a value meets again.

The graph has no cycles, so one pass in reverse order is enough: a node's parent is the least common ancestor of its
users, in the tree made so far. On the way from the users up to it the greatest pattern is collected.

Counterpart of TVM's `DominatorTree::PostDom`, which climbs one parent at a time. Here every node also has a link that
jumps further up (E. W. Myers, "An applicative random-access stack", 1983), so that a climb takes logarithmic time.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects.relay.base import Fusion
from .graph import ForwardGraph


@dataclass(frozen=True)
class PostDominators:
    """The immediate post-dominator of every node, and the pattern of the way there."""

    parent: list[int | None]
    """`None` where a node is used from outside, or where its users do not meet."""
    pattern: list[Fusion]
    """The greatest pattern on all paths to the parent; `OPAQUE` for a node that is used from outside."""


class _Tree:
    """A tree under construction below a virtual root, which stands for the world outside."""

    def __init__(self, size: int):
        self.root = size
        self.depth = [0] * (size + 1)
        self.parent = [size] * (size + 1)
        self.pattern = [Fusion.OPAQUE] * (size + 1)
        self.jump = [size] * (size + 1)
        self.jump_pattern = [Fusion.OPAQUE] * (size + 1)
        """The greatest pattern from a node up to, without, the node it jumps to."""

    def attach(self, node: int, parent: int, pattern: Fusion) -> None:
        self.parent[node], self.pattern[node] = parent, pattern
        self.depth[node] = self.depth[parent] + 1
        far = self.jump[parent]
        if self.depth[parent] - self.depth[far] == self.depth[far] - self.depth[self.jump[far]]:
            self.jump[node] = self.jump[far]
            self.jump_pattern[node] = max(pattern, self.jump_pattern[parent], self.jump_pattern[far])
        else:
            self.jump[node], self.jump_pattern[node] = parent, pattern

    def meet(self, a: int, b: int, pattern: Fusion) -> tuple[int, Fusion]:
        """The least common ancestor of two nodes, and the greatest of `pattern` and all patterns below it."""
        depth, parent, jump = self.depth, self.parent, self.jump
        if depth[a] < depth[b]:
            a, b = b, a
        while depth[a] > depth[b]:
            if depth[jump[a]] >= depth[b]:
                a, pattern = jump[a], max(pattern, self.jump_pattern[a])
            else:
                a, pattern = parent[a], max(pattern, self.pattern[a])
        while a != b:  # nodes of equal depth jump equally far
            if jump[a] != jump[b]:
                pattern = max(pattern, self.jump_pattern[a], self.jump_pattern[b])
                a, b = jump[a], jump[b]
            else:
                pattern = max(pattern, self.pattern[a], self.pattern[b])
                a, b = parent[a], parent[b]
        return a, pattern


def post_dominators(graph: ForwardGraph) -> PostDominators:
    """Compute the post-dominator tree of `graph` in O(edges * log nodes)."""
    tree = _Tree(len(graph))
    for node in reversed(range(len(graph))):
        users = graph.users[node]
        if graph.external[node] or not users:
            tree.attach(node, tree.root, Fusion.OPAQUE)
            continue
        parent, pattern = users[0], graph.edges[node]
        for user in users[1:]:
            if user != parent:
                parent, pattern = tree.meet(parent, user, pattern)
        tree.attach(node, parent, pattern)
    parents = [None if p == tree.root else p for p in tree.parent[:-1]]
    return PostDominators(parents, tree.pattern[:-1])

"""The graph that fusion looks at: what is used where, and how one element of a value is made from another.

Nodes are numbered so that a value comes before its users, and in the order in which they are to be tried: which groups
come out depends on it. Counterpart of TVM's `IndexedForwardGraph`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ....dialects.relay.base import Fusion


@dataclass
class ForwardGraph:
    """Fusion patterns, and edges from each value to its users."""

    patterns: list[Fusion] = field(default_factory=list[Fusion])
    """The pattern of each node."""
    external: list[bool] = field(default_factory=list[bool])
    """Whether something that fusion does not see uses the node: it stays a value that exists in memory."""
    users: list[list[int]] = field(default_factory=list[list[int]])
    """The users of each node, one entry for each use."""
    edges: list[Fusion] = field(default_factory=list[Fusion])
    """The greatest pattern among the uses of each node: a broadcast that changes no shape is `ELEMWISE`."""

    def __len__(self) -> int:
        return len(self.patterns)

    def add(self, pattern: Fusion) -> int:
        """Append a node and give its number."""
        self.patterns.append(pattern)
        self.external.append(False)
        self.users.append([])
        self.edges.append(Fusion.ELEMWISE)
        return len(self.patterns) - 1

    def connect(self, value: int, user: int, pattern: Fusion) -> None:
        """Say that `user` reads `value`, and how."""
        self.users[value].append(user)
        if pattern > self.edges[value]:
            self.edges[value] = pattern

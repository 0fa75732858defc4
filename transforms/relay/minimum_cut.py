"""A minimum cut: two labels for the nodes of a graph at the least sum of penalties.

    cut = MinimumCut()
    a, b = cut.add_node(), cut.add_node()
    cut.fix(a, True)
    cut.prefer(b, False, 3)          # 3, if b is labelled True
    cut.link(a, b, 5)                # 5, if a is labelled True and b False
    assert cut.solve() == [True, True]

Where several labellings cost the same, as many nodes as possible are labelled `True`. Algorithm: Dinic's maximum flow.
Source: E. A. Dinic, "Algorithm for solution of a problem of maximum flow in networks with power estimation", 1970.
"""

from __future__ import annotations

from collections.abc import Sequence

INFINITE = 1 << 60
_SOURCE, _SINK = 0, 1


class MinimumCut:
    """Nodes, penalties, and the labels that cost least. Everything is linear in memory, and never recursive."""

    def __init__(self) -> None:
        self._edges: list[list[int]] = [[], []]  # of each node
        self._to: list[int] = []  # of each edge; edge e ^ 1 is the same backwards
        self._capacity: list[int] = []

    def add_node(self) -> int:
        self._edges.append([])
        return len(self._edges) - 1

    def link(self, a: int, b: int, penalty: int) -> None:
        """`penalty`, where `a` is labelled `True` and `b` is not."""
        if penalty > 0:
            for start, end, capacity in ((a, b, penalty), (b, a, 0)):
                self._edges[start].append(len(self._to))
                self._to.append(end)
                self._capacity.append(capacity)

    def prefer(self, node: int, label: bool, penalty: int) -> None:
        """`penalty`, where `node` has another label."""
        if label:
            self.link(_SOURCE, node, penalty)
        else:
            self.link(node, _SINK, penalty)

    def fix(self, node: int, label: bool) -> None:
        """No other label for `node`."""
        self.prefer(node, label, INFINITE)

    def link_value(self, producer: int | None, users: Sequence[int | None], penalty: int) -> None:
        """`penalty` once for each of the two forms of a value in which it is needed and not made: some of the nodes
        `users` have another label than the node `producer`. `None` stands for what is always labelled `False`."""
        if producer is not None:
            some_false = self.add_node()
            self.link(producer, some_false, penalty)
            for user in users:
                if user is None:
                    self.fix(some_false, False)
                else:
                    self.link(some_false, user, INFINITE)
        some_true = self.add_node()
        for user in users:
            if user is not None:
                self.link(user, some_true, INFINITE)
        if producer is None:
            self.prefer(some_true, False, penalty)
        else:
            self.link(some_true, producer, penalty)

    def solve(self) -> list[bool]:
        """The labels of the nodes, in the order in which they were added."""
        while (levels := self._levels())[_SOURCE] >= 0:
            self._augment(levels)
        return [level < 0 for level in levels[2:]]

    def _levels(self) -> list[int]:
        """How far each node is from the sink by edges with room; -1 where there is no way."""
        levels = [-1] * len(self._edges)
        levels[_SINK] = 0
        queue = [_SINK]
        for node in queue:
            for edge in self._edges[node]:
                start = self._to[edge]
                if levels[start] < 0 and self._capacity[edge ^ 1]:
                    levels[start] = levels[node] + 1
                    queue.append(start)
        return levels

    def _augment(self, levels: list[int]) -> None:
        """Send as much as goes along ways on which each step brings the sink nearer."""
        edges, to, capacity = self._edges, self._to, self._capacity
        following = [0] * len(edges)
        path: list[int] = []
        while True:
            node = to[path[-1]] if path else _SOURCE
            if node == _SINK:
                flow = min(capacity[edge] for edge in path)
                for edge in path:
                    capacity[edge] -= flow
                    capacity[edge ^ 1] += flow
                full = next(i for i, edge in enumerate(path) if not capacity[edge])
                del path[full:]
                continue
            while following[node] < len(edges[node]):
                edge = edges[node][following[node]]
                if capacity[edge] and levels[to[edge]] == levels[node] - 1:
                    path.append(edge)
                    break
                following[node] += 1
            else:
                if not path:
                    return
                following[to[path[-1] ^ 1]] += 1
                path.pop()

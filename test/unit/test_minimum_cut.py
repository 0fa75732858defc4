"""The minimum cut against all labellings, one by one."""

from __future__ import annotations

from itertools import pairwise, product

from hypothesis import given, settings
from hypothesis import strategies as st

from weft.transforms.relay.minimum_cut import MinimumCut

NODES = 5
node = st.integers(0, NODES - 1)
penalty = st.integers(0, 5)


@settings(max_examples=50)
@given(st.lists(st.tuples(node, node, penalty), max_size=10), st.lists(st.tuples(node, st.booleans(), penalty)))
def test_no_labelling_costs_less_and_none_as_cheap_has_more_true_labels(
    links: list[tuple[int, int, int]], preferences: list[tuple[int, bool, int]]
):
    cut = MinimumCut()
    nodes = [cut.add_node() for _ in range(NODES)]
    for a, b, cost in links:
        cut.link(nodes[a], nodes[b], cost)
    for a, label, cost in preferences:
        cut.prefer(nodes[a], label, cost)

    def penalties(labels: tuple[bool, ...]) -> int:
        return sum(c for a, b, c in links if labels[a] and not labels[b]) + sum(
            c for a, label, c in preferences if labels[a] != label
        )

    found = tuple(cut.solve())
    least = min(map(penalties, product((False, True), repeat=NODES)))
    assert penalties(found) == least
    assert sum(found) == max(sum(x) for x in product((False, True), repeat=NODES) if penalties(x) == least)


def test_a_chain_of_ten_thousand_nodes_is_cut_once():
    cut = MinimumCut()
    nodes = [cut.add_node() for _ in range(10_000)]
    for i, (a, b) in enumerate(pairwise(nodes)):
        cut.link(a, b, 1 if i == 6_000 else 2)
    cut.fix(nodes[0], True)
    cut.fix(nodes[-1], False)
    assert sum(cut.solve()) == 6_001

"""Nodes of a graph whose values are read before they are made, as some converters write them."""

import pytest

onnx = pytest.importorskip("onnx")

from onnx import helper

from weft.frontend.onnx.ordering import in_order


def ordered(*nodes: str) -> str:
    """The order of nodes that are written as what they make and what they read: `ca` makes `c` of `a`."""
    made = [helper.make_node("Sum", list(reads), [makes], name=makes) for makes, *reads in nodes]
    return "".join(node.name for node in in_order(made))


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [
        (("ax", "ba", "cb"), "abc"),
        (("cb", "ba", "ax", "dx"), "abcd"),
        (("dbc", "ca", "ba", "ax"), "acbd"),
        (("eax", "dc", "cd", "ax"), "aedc"),
    ],
)
def test_nodes_stand_behind_what_they_read_and_those_that_wait_for_each_other_last(
    nodes: tuple[str, ...], wanted: str
) -> None:
    assert ordered(*nodes) == wanted

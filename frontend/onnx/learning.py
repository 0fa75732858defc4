"""Operators of the domain `ai.onnx.ml` that are arithmetic on tensors."""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ...dialects.relay.base import shape_of, tensor
from .node import Node, Versions, rank_of

DOMAIN = "ai.onnx.ml"


def binarizer(node: Node) -> SSAValue:
    """One above the threshold, else zero."""
    x = node.input(0)
    above = node.emit("greater", x, node.scalar(node.real("threshold", 0.0), x))
    return node.cast(above, tensor(x).element_type)


def array_feature_extractor(node: Node) -> SSAValue:
    """Some elements of the last dimension; of a vector, a row of them."""
    x, which = node.input(0, at_least=1), node.input(1)
    count = 1
    for extent in node.static_shape(which):
        count *= extent
    y = node.emit("take", x, node.cast(node.reshape(which, [count]), i64), axis=rank_of(x) - 1, mode="error")
    return node.reshape(y, [1, *shape_of(y)]) if rank_of(x) == 1 else y


CONVERTERS: dict[str, Versions] = {
    f"{DOMAIN}.ArrayFeatureExtractor": {1: array_feature_extractor},
    f"{DOMAIN}.Binarizer": {1: binarizer},
}

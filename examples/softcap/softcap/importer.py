"""ONNX operators of the domain `com.example` that are no operator of ours one to one."""

from __future__ import annotations

from xdsl.ir import SSAValue

from weft.dialects.relay.base import shape_of
from weft.frontend.onnx.node import Node, Versions

from .ops import RmsNormOp


def rms_norm(node: Node) -> SSAValue:
    """Normalise over all axes from `axis` on, then scale."""
    x, scale = node.input(0), node.input(1)
    rank = len(shape_of(x))
    first = node.axis(node.integer("axis", -1), rank)
    normal = node.emit(RmsNormOp, x, axes=list(range(first, rank)), epsilon=node.real("epsilon", 1e-5))
    return node.emit("multiply", normal, scale)


CONVERTERS: dict[str, Versions] = {"com.example.RmsNorm": {1: rms_norm}}

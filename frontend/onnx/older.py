"""What opset 6 and those before it have otherwise: operands broadcast only where an attribute asks for it."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import SSAValue

from ...dialects.relay.base import shape_of
from .elementwise import power, prelu
from .errors import Malformed, Unsupported
from .linear import gemm
from .node import Converter, Node, Versions, rank_of
from .normalization import batch_norm


def broadcasting(node: Node) -> Node:
    """The node with its second operand in a shape that broadcasts to the first as NumPy has it.

    Raises:
        Malformed: the operands do not fit.
    """
    a, b = node.input(0), node.input(1)
    given, wanted = shape_of(b), shape_of(a)
    if not node.integer("broadcast", 0):
        if given != wanted:
            raise Malformed(f"operands of shapes {list(wanted)} and {list(given)}, and no attribute 'broadcast'")
        return node
    if "axis" in node.attributes and (len(given) > 1 or given != (1,)):
        axis = node.axis(node.integer("axis"), len(wanted)) if wanted else 0
        if axis + len(given) > len(wanted):
            raise Malformed(f"an operand of shape {list(given)} does not fit {list(wanted)} from axis {axis} on")
        b = node.reshape(b, [*given, *[1] * (len(wanted) - axis - len(given))])
    elif len(given) > len(wanted):
        b = node.reshape(b, [])
    return replace(node, inputs=[a, b, *node.inputs[2:]])


def arithmetic(operator: str) -> Converter:
    """A one-to-one operator of two operands."""

    def convert(node: Node) -> SSAValue:
        node = broadcasting(node)
        return node.emit(operator, node.input(0), node.input(1))

    return convert


def old_power(node: Node) -> SSAValue:
    return power(broadcasting(node))


def old_prelu(node: Node) -> SSAValue:
    """A slope for each channel, or one for all."""
    x, slope = node.input(0), node.input(1)
    if shape_of(slope) != (1,) and rank_of(slope) == 1 and rank_of(x) > 1:
        slope = node.reshape(slope, [*shape_of(slope), *[1] * (rank_of(x) - 2)])
    return prelu(replace(node, inputs=[x, slope]))


def old_batch_norm(node: Node) -> list[SSAValue | None]:
    if not node.integer("is_test", 0) and any(node.output_used(i) for i in range(1, 5)):
        raise Unsupported("the outputs of training (running and saved statistics)", "export the model for inference")
    return batch_norm(node)


CONVERTERS: dict[str, Versions] = {
    **{
        name: {1: arithmetic(operator)}
        for name, operator in (("Add", "add"), ("Sub", "subtract"), ("Mul", "multiply"), ("Div", "divide"))
    },
    "BatchNormalization": {1: old_batch_norm},
    "Gemm": {1: gemm},
    "PRelu": {1: old_prelu},
    "Pow": {1: old_power},
}
"""The revisions before those that the other tables begin with."""

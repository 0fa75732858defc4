"""LSTM of weights in bytes, as ONNX Runtime's quantizer writes it for dynamic ranges."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ....dialects.relay.base import shape_of
from ..errors import Malformed
from ..node import Converter, Node, Outputs
from ..recurrent import LSTM


class _OfBytes(LSTM):
    """The products of both weights are of bytes: the input, all steps together, and the state before each step are
    rounded to one of 256 numbers from the least to the greatest of them, and zero."""

    def factor(self, x: SSAValue) -> SSAValue:
        """`x` as the numbers that bytes stand for."""
        node = self.node
        zero, most = node.scalar(0.0, x), node.scalar(255.0, x)
        low = node.emit("minimum", node.emit("min", x, axis=None), zero)
        high = node.emit("maximum", node.emit("max", x, axis=None), zero)
        scale = node.emit("divide", node.emit("subtract", high, low), most)
        scale = node.emit("where", node.emit("equal", high, low), node.scalar(1.0, x), scale)
        middle = node.emit("round", node.emit("negative", node.emit("divide", low, scale)))
        middle = node.emit("clip", middle, a_min=0.0, a_max=255.0)
        rounded = node.emit("add", node.emit("round", node.emit("divide", x, scale)), middle)
        kept = node.emit("clip", rounded, a_min=0.0, a_max=255.0)
        return node.emit("multiply", node.emit("subtract", kept, middle), scale)


def _weights(node: Node, at: int, scale_at: int) -> SSAValue:
    """Weights `[directions, inputs, gates]` of bytes as floats `[directions, gates, inputs]`.

    Each direction has a scale and a zero point, or each of its columns has.

    Raises:
        Malformed: scale or zero point are of other shapes.
    """
    given = node.input(at, rank=3)
    directions, _, columns = shape_of(given)

    def of_columns(value: SSAValue) -> SSAValue:
        if shape_of(value) not in ((directions,), (directions, columns)):
            raise Malformed(
                f"a scale or zero point of shape {list(shape_of(value))} for {directions} x {columns} columns"
            )
        return node.cast(node.reshape(value, [directions, 1, -1]), f32)

    apart = node.emit("subtract", node.cast(given, f32), of_columns(node.input(scale_at + 1)))
    floats = node.emit("multiply", apart, of_columns(node.input(scale_at)))
    return node.emit("transpose", floats, axes=[0, 2, 1])


def dynamic_quantize_lstm(node: Node) -> Outputs:
    """`LSTM`, in which each product is one of bytes; what it has added up is a float again."""
    weights = [_weights(node, 1, 8), _weights(node, 2, 10)]
    given = [node.input(0), *weights, *(node.optional(at) for at in range(3, 8))]
    return _OfBytes(replace(node, inputs=given)).convert()


OPERATORS: dict[str, tuple[Converter, str]] = {
    "DynamicQuantizeLSTM": (
        dynamic_quantize_lstm,
        "activations activation_alpha activation_beta clip direction hidden_size input_forget",
    ),
}
"""Operators by name: their converters, and the attributes that those read."""

"""LSTM of weights in bytes, as ONNX Runtime's quantizer writes it for dynamic ranges."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import IntegerType, Signedness, f32
from xdsl.ir import SSAValue

from ....dialects.relay.base import shape_of
from ..errors import Malformed
from ..linear import swap_last
from ..node import Converter, Node, Outputs
from ..quantization import centred_product
from ..recurrent import LSTM

SCALES = {1: 8, 2: 10}
"""The input that says the scale of the weights at an input; that behind it says their zero point."""
BYTE = IntegerType(8, Signedness.UNSIGNED)


class _OfBytes(LSTM):
    """The products of both weights are of bytes: the input, all steps together, and the state before each step are
    rounded to one of 256 numbers from the least to the greatest of them, and zero."""

    def dense(self, x: SSAValue, index: int, number: int) -> SSAValue:
        """The sums of bytes, by the scales of both sides."""
        node = self.node
        weight, at = swap_last(node, self.weight(index, number)), SCALES[index]
        codes, scale, middle = self._bytes_of(x)
        around_zero = node.is_known(at + 1) and not node.static(at + 1).any()
        zero = None if around_zero else self.weight(at + 1, number)
        total = centred_product(node, codes, middle, weight, zero)
        return self.multiply(node.cast(total, f32), self.multiply(scale, self.weight(at, number)))

    def _bytes_of(self, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
        """The bytes that stand for `x`, their scale, and which of them is 0."""
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
        return node.cast(kept, BYTE), scale, node.cast(middle, BYTE)


def _weights(node: Node, at: int, scale_at: int) -> SSAValue:
    """Weights `[directions, inputs, gates]` of bytes as `[directions, gates, inputs]`.

    Each direction has a scale and a zero point, or each of its columns has.

    Raises:
        Malformed: scale or zero point are of other shapes.
    """
    given = node.input(at, rank=3)
    directions, _, columns = shape_of(given)
    for value in (node.input(scale_at), node.input(scale_at + 1)):
        if shape_of(value) not in ((directions,), (directions, columns)):
            raise Malformed(
                f"a scale or zero point of shape {list(shape_of(value))} for {directions} x {columns} columns"
            )
    if node.is_known(at):  # then each step has them as a constant, in the order in which it reads them
        return node.constant(node.static(at).transpose(0, 2, 1).copy())
    return node.emit("transpose", given, axes=[0, 2, 1])


def dynamic_quantize_lstm(node: Node) -> Outputs:
    """`LSTM`, in which each product is one of bytes; what it has added up is a float again."""
    weights = [_weights(node, index, at) for index, at in SCALES.items()]
    given = [node.input(0), *weights, *(node.optional(at) for at in range(3, 12))]
    return _OfBytes(replace(node, inputs=given)).convert()


OPERATORS: dict[str, tuple[Converter, str]] = {
    "DynamicQuantizeLSTM": (
        dynamic_quantize_lstm,
        "activations activation_alpha activation_beta clip direction hidden_size input_forget",
    ),
}
"""Operators by name: their converters, and the attributes that those read."""

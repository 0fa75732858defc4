"""Operators on quantised tensors, as the arithmetic on numbers that they stand for, quantised again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue

from ....dialects.relay.base import shape_of
from ..errors import Malformed
from ..linear import product, swap_last
from ..node import Converter, Node, Outputs, rank_of
from ..quantization import (
    centred_product,
    dequantize,
    of_columns,
    of_rows,
    qlinear_conv,
    quantize,
    requantized,
    under,
)
from ..windows import average_pool, max_pool
from .attention import attended_product
from .fused import embed_layer_norm


def numbers(node: Node, x: SSAValue, scale: SSAValue, zero: SSAValue | None) -> SSAValue:
    """`(x - zero) * scale`, of one scale for all of `x`."""
    return dequantize(replace(node, inputs=[x, single(node, scale), zero], attributes={}))


def quantized(node: Node, y: SSAValue, scale: SSAValue, zero: SSAValue | None, like: SSAValue) -> SSAValue:
    """`saturate(round(y / scale) + zero)` in the type of `like`, which a zero point has as well."""
    if zero is None:
        zero = node.scalar(0, like)
    return quantize(replace(node, inputs=[y, single(node, scale), zero], attributes={}))


def single(node: Node, scale: SSAValue) -> SSAValue:
    """A scale that is one number.

    Raises:
        Malformed: it is more.
    """
    if shape_of(scale) not in ((), (1,)):
        raise Malformed(f"a scale of shape {list(shape_of(scale))}, where there is one for all elements")
    return scale


def of_two(operator: str) -> Converter:
    """An operator on two quantised tensors, each with its scale and zero point, and those of the result."""

    def convert(node: Node) -> SSAValue:
        a, b = (numbers(node, node.input(at), node.input(at + 1), node.optional(at + 2)) for at in (0, 3))
        return quantized(node, node.emit(operator, a, b), node.input(6), node.optional(7), node.input(0))

    return convert


def of_one(function: Callable[[Node], SSAValue]) -> Converter:
    """An operator on one quantised tensor: `x, x_scale, x_zero, y_scale, y_zero`."""

    def convert(node: Node) -> SSAValue:
        x = numbers(node, node.input(0), node.input(1), node.optional(2))
        return quantized(node, function(replace(node, inputs=[x])), node.input(3), node.optional(4), node.input(0))

    return convert


def sigmoid(node: Node) -> SSAValue:
    return node.emit("sigmoid", node.input(0))


def leaky_relu(node: Node) -> SSAValue:
    return node.emit("nn.leaky_relu", node.input(0), alpha=node.real("alpha", 0.01))


def softmax(node: Node) -> SSAValue:
    """Softmax as ONNX's opset of that number has it: before 13, all dimensions from `axis` on are one."""
    x = node.input(0)
    axis = node.axis(node.integer("axis", -1), rank_of(x))
    if node.integer("opset") >= 13 or axis == rank_of(x) - 1:
        return node.emit("nn.softmax", x, axis=axis)
    shape = node.static_shape(x)
    rows = node.reshape(x, [prod(shape[:axis]), prod(shape[axis:])])
    return node.reshape(node.emit("nn.softmax", rows, axis=1), shape)


def global_average_pool(node: Node) -> SSAValue:
    x = node.input(0, at_least=3)
    return node.emit("mean", x, axis=list(range(2, rank_of(x))), keepdims=True)


def concatenate(node: Node) -> SSAValue:
    """`y_scale, y_zero`, then a tensor, its scale and its zero point, again and again."""
    if len(node.inputs) < 5 or len(node.inputs) % 3 != 2:
        raise Malformed(f"{len(node.inputs)} inputs, and not two and three for each tensor")
    scale, zero = node.input(0), node.input(1)
    parts: list[SSAValue] = []
    for at in range(2, len(node.inputs), 3):
        x = numbers(node, node.input(at), node.input(at + 1), node.optional(at + 2))
        parts.append(quantized(node, x, scale, zero, zero))
    axis = node.axis(node.integer("axis"), rank_of(parts[0]))
    return node.emit("concatenate", node.emitter.tuple(parts), axis=axis)


def where(node: Node) -> SSAValue:
    """`condition`, two quantised tensors, and the scale and the zero point of the result."""
    x, y = (numbers(node, node.input(at), node.input(at + 1), node.optional(at + 2)) for at in (1, 4))
    return quantized(node, node.emit("where", node.input(0), x, y), node.input(7), node.optional(8), node.input(1))


def gemm(node: Node) -> SSAValue:
    """`alpha * a @ b + c`, where `c` has the scale of the product; numbers, where the result has no scale."""
    a, b = node.input(0, rank=2), node.input(3, rank=2)
    b_scale, b_zero = node.input(4), node.optional(5)
    if node.integer("transA", 0):
        a = swap_last(node, a)
    if node.integer("transB", 0):
        b = swap_last(node, b)
    total = centred_product(node, a, node.optional(2), b, b_zero)
    if (c := node.optional(6)) is not None:
        total = node.emit("add", total, node.cast(c, i32))
    factor = node.emit("multiply", under(node, single(node, node.input(1))), under(node, b_scale, of_columns(b_scale)))
    if (alpha := node.real("alpha", 1.0)) != 1.0:
        factor = node.emit("multiply", factor, node.scalar(alpha, factor))
    scale, zero = node.optional(7), node.optional(8)
    if (scale is None) != (zero is None):
        raise Malformed("of the result's scale and zero point (inputs 7 and 8), one is missing")
    if scale is None or zero is None:
        return node.emit("multiply", node.cast(total, f32), factor)
    return requantized(node, total, node.emit("divide", factor, under(node, single(node, scale))), zero)


def to_floats(node: Node, total: SSAValue, scales: Sequence[SSAValue], bias: SSAValue | None) -> SSAValue:
    """A product of integers by its scales, and a bias."""
    y = node.emit("multiply", node.cast(total, f32), node.emit("multiply", *scales))
    return y if bias is None else node.emit("add", y, bias)


def matmul_integer_to_float(node: Node) -> SSAValue:
    """`a, b, a_scale, b_scale, a_zero, b_zero, bias`: the product in floats."""
    a, b, a_scale, b_scale = (node.input(at, at_least=1 if at < 2 else 0) for at in range(4))
    total = centred_product(node, a, node.optional(4), b, node.optional(5))
    scales = [under(node, a_scale, of_rows(a_scale)), under(node, b_scale, of_columns(b_scale))]
    return to_floats(node, total, scales, node.optional(6))


def dynamic_quantize_matmul(node: Node) -> SSAValue:
    """`a, b, b_scale, b_zero, bias`: `a` is quantised to bytes from 0 to 255 by its least and its greatest element."""
    a, b, b_scale = node.input(0, at_least=1), node.input(1, at_least=1), node.input(2)
    axes = list(range(rank_of(a)))
    zero = node.scalar(0.0, a)
    least = node.emit("minimum", node.emit("min", a, axis=axes, keepdims=False), zero)
    greatest = node.emit("maximum", node.emit("max", a, axis=axes, keepdims=False), zero)
    scale = node.emit("divide", node.emit("subtract", greatest, least), node.scalar(255.0, a))
    scale = node.emit("where", node.emit("equal", scale, zero), node.scalar(1.0, a), scale)
    a_zero = node.emit("round", node.emit("divide", node.emit("subtract", zero, least), scale))
    a_zero = node.emit("cast", node.emit("clip", a_zero, a_min=0.0, a_max=255.0), dtype="uint8")
    number = quantize(replace(node, inputs=[a, scale, a_zero], attributes={}))
    total = centred_product(node, number, a_zero, b, node.optional(3))
    return to_floats(node, total, [scale, under(node, b_scale, of_columns(b_scale))], node.optional(4))


def channels_first(function: Converter) -> Converter:
    """A converter of an operator on images whose channels may stand last: `channels_last`. It sees them in ONNX's
    order, and its image is given back as it came."""

    def convert(node: Node) -> Outputs:
        if not node.integer("channels_last", 0):
            return function(node)
        x = node.input(0, at_least=3)
        last = rank_of(x) - 1
        first = node.emit("transpose", x, axes=[0, last, *range(1, last)])
        made = function(replace(node, inputs=[first, *node.inputs[1:]]))
        y = made if isinstance(made, SSAValue) else made[0]
        assert y is not None
        return node.emit("transpose", y, axes=[0, *range(2, last + 1), 1])

    return convert


def max_pool_of_last(node: Node) -> Outputs:
    """`NhwcMaxPool`: channels stand last."""
    import onnx

    is_last = onnx.helper.make_attribute("channels_last", 1)
    return channels_first(max_pool)(replace(node, attributes={**node.attributes, "channels_last": is_last}))


def attention(node: Node) -> list[SSAValue | None]:
    """`input, weights, bias, input_scale, weight_scale, mask, input_zero, weight_zero, past`: `Attention` of a product
    of integers."""
    x, weights, bias, x_scale, w_scale = (node.input(at) for at in range(5))
    total = centred_product(node, x, node.optional(6), weights, node.optional(7))
    scales = [under(node, single(node, x_scale)), under(node, w_scale, of_columns(w_scale))]
    return attended_product(node, to_floats(node, total, scales, bias), node.optional(5), node.optional(8), None)


def matmul_of_16_bits(node: Node) -> SSAValue:
    """A product of integers of 16 bits, in 32."""
    a, b = (node.cast(node.input(at, at_least=1), i32) for at in (0, 1))
    return product(node, a, b)


def embed_layer_norm_of_codes(node: Node) -> list[SSAValue | None]:
    """`EmbedLayerNormalization` of tables, factors and terms that are quantised: those are the inputs 2 to 6, their
    scales the inputs from 8 on, their zero points those from 13 on."""
    tables = [
        None if node.optional(2 + at) is None else numbers(node, node.input(2 + at), node.input(8 + at), zero)
        for at in range(5)
        for zero in [node.optional(13 + at)]
    ]
    given = [node.input(0), node.optional(1), *tables, node.optional(7)]
    return embed_layer_norm(replace(node, inputs=given))[:2]


_WINDOW = "auto_pad ceil_mode kernel_shape pads strides dilations"

OPERATORS: dict[str, tuple[Converter, str]] = {
    "DequantizeLinear": (dequantize, "axis block_size"),
    "DynamicQuantizeMatMul": (dynamic_quantize_matmul, ""),
    "MatMulIntegerToFloat": (matmul_integer_to_float, ""),
    "MatMulInteger16": (matmul_of_16_bits, ""),
    "NhwcMaxPool": (max_pool_of_last, _WINDOW),
    "QAttention": (
        attention,
        "num_heads mask_filter_value scale unidirectional do_rotary=0 past_present_share_buffer=0",
    ),
    "QEmbedLayerNormalization": (embed_layer_norm_of_codes, "epsilon"),
    "QGemm": (gemm, "alpha transA transB"),
    "QLinearAdd": (of_two("add"), ""),
    "QLinearAveragePool": (
        channels_first(of_one(average_pool)),
        f"{_WINDOW} count_include_pad channels_last",
    ),
    "QLinearConv": (
        channels_first(qlinear_conv),
        "auto_pad dilations group kernel_shape pads strides channels_last",
    ),
    "QLinearConcat": (concatenate, "axis"),
    "QLinearGlobalAveragePool": (channels_first(of_one(global_average_pool)), "channels_last"),
    "QLinearLeakyRelu": (of_one(leaky_relu), "alpha"),
    "QLinearMul": (of_two("multiply"), ""),
    "QLinearSigmoid": (of_one(sigmoid), ""),
    "QLinearSoftmax": (of_one(softmax), "axis opset"),
    "QLinearWhere": (where, ""),
    "QuantizeLinear": (quantize, "axis block_size saturate output_dtype precision"),
}
"""Operators by name: their converters, and the attributes that those read."""

"""Operators on quantised tensors, as the arithmetic on numbers that they stand for, quantised again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue

from ....dialects.relay.base import shape_of, tensor
from ....dialects.support.dtypes import numpy_dtype
from ..errors import Malformed, Unsupported
from ..indexing import take_along
from ..linear import product, swap_last
from ..node import Converter, Node, rank_of
from ..quantization import centred_product, dequantize, of_columns, of_rows, quantize, requantized, under
from ..windows import average_pool

if TYPE_CHECKING:
    from ..node import NDArray


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


def matmul_of_few_bits(node: Node) -> SSAValue:
    """`a @ b.T`, where rows of `b` are blocks of numbers of 4 or 8 bits, each block with a scale and a zero point.

    The weights become floats where the model is imported.
    """
    import numpy as np

    a, bits, block = node.input(0, at_least=1), node.integer("bits", 4), node.integer("block_size")
    rows, columns = node.integer("N"), node.integer("K")
    if bits not in (4, 8):
        raise Unsupported(f"numbers of {bits} bits")
    if node.optional(4) is not None:
        raise Unsupported("the order of groups (input 4, 'g_idx')")
    if block < 1:
        raise Malformed(f"attribute 'block_size' is {block}")
    blocks = -(-columns // block)
    codes = _unpacked(_sized(node.static(1), rows * blocks * (block * bits // 8), "weights"), rows, bits)
    scales = _sized(node.static(2), rows * blocks, "scales").astype(np.float32)
    zeros: NDArray = np.full(rows * blocks, 2.0 ** (bits - 1), np.float32)
    if node.optional(3) is not None:
        given = node.static(3)
        if given.dtype == np.uint8:
            given = _unpacked(_sized(given, rows * -(-blocks * bits // 8), "zero points"), rows, bits)[:, :blocks]
        zeros = _sized(given, rows * blocks, "zero points").astype(np.float32)
    numbers = codes.reshape(rows, blocks, block).astype(np.float32) - zeros.reshape(rows, blocks, 1)
    weights = (numbers * scales.reshape(rows, blocks, 1)).reshape(rows, -1)[:, :columns]
    dtype = numpy_dtype(tensor(a).element_type)
    y = product(node, a, node.constant(np.ascontiguousarray(weights.T, dtype)))
    return y if (bias := node.optional(5)) is None else node.emit("add", y, bias)


def rows_of_few_bits(node: Node) -> SSAValue:
    """`Gather` of a table of numbers of 4 or 8 bits, of which each block along an axis has a scale and a zero point;
    in bytes, numbers of 4 bits stand two by two. The table becomes floats where the model is imported.

    Raises:
        Malformed: the scales or zero points do not fit the table.
    """
    import numpy as np

    table, scales = node.static(0), node.static(2)
    bits, block = node.integer("bits", 4), node.integer("block_size", 128)
    is_packed = table.dtype == np.uint8
    if is_packed and bits not in (4, 8):
        raise Unsupported(f"numbers of {bits} bits")
    axis = node.axis(node.integer("quantize_axis", 1), table.ndim)
    zeros: NDArray = np.asarray(2 ** (bits - 1) if is_packed else 0)
    if node.optional(3) is not None:
        zeros = _unpacked_last(node.static(3), bits)[..., : scales.shape[-1]] if is_packed else node.static(3)
    if is_packed:
        table = _unpacked_last(table, bits)
    wanted = tuple(-(-n // max(block, 1)) if a == axis else n for a, n in enumerate(table.shape))
    if block < 1 or scales.shape != wanted or zeros.shape not in (wanted, ()):
        raise Malformed(f"blocks of {block} of {list(table.shape)} with scales {scales.shape} and zeros {zeros.shape}")
    places = np.array([at // block for at in range(table.shape[axis])], np.int64)
    factors, middle = (
        np.broadcast_to(of_blocks, wanted).astype(np.float32).take(places, axis) for of_blocks in (scales, zeros)
    )
    floats = ((table.astype(np.float32) - middle) * factors).astype(scales.dtype)
    gathered = replace(node, inputs=[node.constant(floats), node.input(1)], attributes={})
    return take_along(gathered, node.axis(node.integer("gather_axis", 0), table.ndim))


def _unpacked_last(packed: NDArray, bits: int) -> NDArray:
    """Bytes of numbers of `bits` bits, the lower half first, as numbers along the last dimension."""
    *outer, count = packed.shape
    return _unpacked(packed, prod(outer), bits).reshape(*outer, count * (8 // bits))


def _sized(given: NDArray, count: int, what: str) -> NDArray:
    """
    Raises:
        Malformed: there are not so many.
    """
    if given.size != count:
        raise Malformed(f"{given.size} {what}, where the attributes ask for {count}")
    return given


def _unpacked(packed: NDArray, rows: int, bits: int) -> NDArray:
    """Rows of numbers of `bits` bits, the lower half of a byte first.

    Raises:
        Malformed: they are not packed in bytes.
    """
    import numpy as np

    if packed.dtype != np.uint8:
        raise Malformed(f"numbers of {bits} bits packed in {packed.dtype}, and not in uint8")
    found = packed.view(np.uint8).reshape(rows, -1)
    return found if bits == 8 else np.stack([found & 15, found >> 4], axis=-1).reshape(rows, -1)


_POOL = "auto_pad ceil_mode count_include_pad kernel_shape pads strides dilations"

OPERATORS: dict[str, tuple[Converter, str]] = {
    "DequantizeLinear": (dequantize, "axis block_size"),
    "DynamicQuantizeMatMul": (dynamic_quantize_matmul, ""),
    "GatherBlockQuantized": (rows_of_few_bits, "bits block_size gather_axis quantize_axis"),
    "MatMulIntegerToFloat": (matmul_integer_to_float, ""),
    "MatMulNBits": (matmul_of_few_bits, "K N bits block_size accuracy_level"),
    "QGemm": (gemm, "alpha transA transB"),
    "QLinearAdd": (of_two("add"), ""),
    "QLinearAveragePool": (of_one(average_pool), f"{_POOL} channels_last=0"),
    "QLinearConcat": (concatenate, "axis"),
    "QLinearGlobalAveragePool": (of_one(global_average_pool), "channels_last=0"),
    "QLinearLeakyRelu": (of_one(leaky_relu), "alpha"),
    "QLinearMul": (of_two("multiply"), ""),
    "QLinearSigmoid": (of_one(sigmoid), ""),
    "QLinearSoftmax": (of_one(softmax), "axis opset"),
    "QLinearWhere": (where, ""),
    "QuantizeLinear": (quantize, "axis block_size saturate output_dtype precision"),
}
"""Operators by name: their converters, and the attributes that those read."""

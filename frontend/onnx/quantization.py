"""Quantization by scale and zero point, as the arithmetic that it stands for."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import f32, i32
from xdsl.ir import Attribute, SSAValue

from ...dialects.relay.base import shape_of, tensor
from ...dialects.relay.core import ConstantOp
from ...dialects.relay.ops.qnn.quantization import INTEGERS
from ...dialects.support.dtypes import dtype_name, is_small_float, numpy_dtype
from .elementwise import saturated
from .errors import Unsupported
from .linear import product
from .node import Node, Versions, rank_of
from .tensors import element_type
from .windows import add_bias, convolution


def along_axis(node: Node, parameter: SSAValue, x: SSAValue) -> SSAValue:
    """A scale or zero point in a shape that broadcasts: one for all of `x`, for each slice along `axis`, or for each
    `block_size` slices."""
    block = node.integer("block_size", 0)
    if block:
        axis = node.axis(node.integer("axis", 1), rank_of(x))
        extent = shape_of(x)[axis]
        parameter = node.emit("repeat", parameter, repeats=block, axis=axis)
        if shape_of(parameter)[axis] != extent:
            parameter = node.emit("strided_slice", parameter, begin=[0], end=[extent], strides=[1], axes=[axis])
        return parameter
    if shape_of(parameter) in ((), (1,)):
        return node.reshape(parameter, [])
    if rank_of(parameter) != 1:
        raise Unsupported(f"a scale of rank {rank_of(parameter)}")
    axis = node.axis(node.integer("axis", 1), rank_of(x))
    return node.reshape(parameter, [*shape_of(parameter), *[1] * (rank_of(x) - axis - 1)])


def is_plain(node: Node, scale: SSAValue, zero: SSAValue | None) -> bool:
    """Whether Relay's operators on quantised tensors take a scale and a zero point: not in blocks, and of f32."""
    ranks = [rank_of(each) for each in (scale, zero) if each is not None]
    return not node.integer("block_size", 0) and tensor(scale).element_type == f32 and max(ranks) <= 1


def slices(node: Node, x: SSAValue, scale: SSAValue) -> int:
    """The axis along which each slice of `x` has a scale of its own; -1 where there is one for all."""
    return -1 if shape_of(scale) in ((), (1,)) else node.axis(node.integer("axis", 1), rank_of(x))


def whole(node: Node, zero: SSAValue | None) -> SSAValue:
    """A zero point in 32 bits, 0 where there is none; of a constant a constant, which passes read."""
    import numpy as np

    if zero is None:
        return node.constant(np.zeros((), np.int32))
    known = zero.owner.numpy() if isinstance(zero.owner, ConstantOp) else None
    return node.cast(zero, i32) if known is None else node.constant(known.astype(np.int32))


def quantize(node: Node) -> SSAValue:
    """`saturate(round(x / scale) + zero_point)`, halves rounded to even; to floats, which round themselves, without
    `round`."""
    x, scale, zero = node.input(0), node.input(1), node.optional(2)
    code = node.integer("output_dtype", 0)
    target = tensor(zero).element_type if zero is not None else element_type(code or 2)
    if dtype_name(target) in INTEGERS and is_plain(node, scale, zero):
        axis, zero = slices(node, x, scale), whole(node, zero)
        return node.emit("qnn.quantize", node.cast(x, f32), scale, zero, out_dtype=dtype_name(target), axis=axis)
    if not is_small_float(target) and "int" not in dtype_name(target):
        raise Unsupported(f"quantization to {target}")
    y = node.emit("divide", node.cast(x, f32), node.cast(along_axis(node, scale, x), f32))
    if is_small_float(target):
        if zero is not None:
            y = node.emit("add", y, along_axis(node, node.cast(zero, f32), x))
        return saturated(node, y, target)
    y = node.emit("round", y)
    if zero is not None:
        y = node.emit("add", y, along_axis(node, node.cast(zero, f32), x))
    least, greatest = limits(target)
    return node.cast(node.emit("clip", y, a_min=float(least), a_max=float(greatest)), target)


def limits(target: Attribute) -> tuple[int, int]:
    """The least and the greatest number of an integer type."""
    import ml_dtypes

    of = ml_dtypes.iinfo(numpy_dtype(target))
    return int(of.min), int(of.max)


def dequantize(node: Node) -> SSAValue:
    """`(x - zero_point) * scale`; of integers in 32 bits, of floats in f32."""
    x, scale, zero = node.input(0), node.input(1), node.optional(2)
    if dtype_name(tensor(x).element_type) in INTEGERS and is_plain(node, scale, zero):
        return node.emit("qnn.dequantize", x, scale, whole(node, zero), axis=slices(node, x, scale))
    scale = along_axis(node, scale, x)
    wide = f32 if is_small_float(tensor(x).element_type) else i32
    y = node.cast(x, wide)
    if zero is not None:
        y = node.emit("subtract", y, along_axis(node, node.cast(zero, wide), x))
    return node.emit("multiply", node.cast(y, tensor(scale).element_type), scale)


# Products of integers: in 32 bits, of numbers less their zero points


def centred(node: Node, x: SSAValue, zero: SSAValue | None, shape: Sequence[int] = ()) -> SSAValue:
    """`x - zero` in 32 bits; a zero point that is no scalar is read under `shape`."""
    wide = node.cast(x, i32)
    if zero is None:
        return wide
    single = shape_of(zero) in ((), (1,))
    return node.emit("subtract", wide, node.cast(node.reshape(zero, [] if single else shape), i32))


def of_rows(parameter: SSAValue | None) -> list[int]:
    """The shape under which a parameter of the left matrix has an entry for each row."""
    shape = () if parameter is None else shape_of(parameter)
    return [*shape, 1] if len(shape) == 1 else list(shape)


def of_columns(parameter: SSAValue | None) -> list[int]:
    """The shape under which a parameter of the right matrix has an entry for each column."""
    return [] if parameter is None else list(shape_of(parameter))


def of_channels(parameter: SSAValue | None, rank: int, axis: int) -> list[int]:
    """The shape under which a parameter has an entry for each slice along `axis`."""
    count = () if parameter is None else shape_of(parameter)
    return [*[1] * axis, *count, *[1] * (rank - axis - 1)]


def matmul_integer(node: Node) -> SSAValue:
    """`(a - a_zero_point) @ (b - b_zero_point)`."""
    a, b = node.input(0, at_least=1), node.input(1, at_least=1)
    return centred_product(node, a, node.optional(2), b, node.optional(3))


def centred_product(node: Node, a: SSAValue, a_zero: SSAValue | None, b: SSAValue, b_zero: SSAValue | None) -> SSAValue:
    """`(a - a_zero) @ (b - b_zero)` in 32 bits.

    Matrices of bytes are multiplied as they are, which processors are fast at, and what the zero points add is taken
    away from the product: `a @ b - a_zero * sum_k (b - b_zero) - b_zero * sum_k a`.
    """
    if any(not is_byte(x) for x in (a, b)) or min(rank_of(a), rank_of(b)) < 2:
        return product(node, centred(node, a, a_zero, of_rows(a_zero)), centred(node, b, b_zero, of_columns(b_zero)))
    total = product(node, a, b, "int32")
    zeros: list[SSAValue | None] = []
    for zero, shape in ((a_zero, of_rows(a_zero)), (b_zero, of_columns(b_zero))):
        if zero is None or is_zero(zero):
            zeros.append(None)
            continue
        single = shape_of(zero) in ((), (1,))
        zeros.append(node.cast(node.reshape(zero, [] if single else shape), i32))
    a_zeros, b_zeros = zeros
    for zero, other, less, axis in ((a_zeros, b, b_zeros, rank_of(b) - 2), (b_zeros, a, None, rank_of(a) - 1)):
        if zero is not None:
            wide = node.cast(other, i32)
            sums = wide if less is None else node.emit("subtract", wide, less)
            sums = node.emit("sum", sums, axis=[axis], keepdims=True)
            total = node.emit("subtract", total, node.emit("multiply", sums, zero))
    return total


def is_zero(x: SSAValue) -> bool:
    """Whether a tensor is known to be of zeros."""
    known = x.owner.numpy() if isinstance(x.owner, ConstantOp) else None
    return known is not None and not known.any()


def is_byte(x: SSAValue) -> bool:
    """Whether a tensor is of bytes."""
    return dtype_name(tensor(x).element_type) in ("int8", "uint8")


def centred_convolution(
    node: Node, x: SSAValue, x_zero: SSAValue | None, w: SSAValue, w_zero: SSAValue | None
) -> SSAValue:
    """`conv(x - x_zero, w - w_zero)` in 32 bits.

    Images of bytes and weights around zero are multiplied as they are, padded with the zero point, and what that adds
    is taken away from the result: `conv(x, w) - x_zero * sum(w)`.
    """
    rank = rank_of(w)
    of_bytes = is_byte(x) and is_byte(w) and rank == 4 and (w_zero is None or is_zero(w_zero))
    if not of_bytes or (x_zero is not None and shape_of(x_zero) not in ((), (1,))):
        wide = centred(node, w, w_zero, of_channels(w_zero, rank, 0))
        return convolution(node, centred(node, x, x_zero), wide)
    if x_zero is None or is_zero(x_zero):
        return convolution(node, x, w, out_dtype="int32")
    zero = node.reshape(x_zero, [])
    total = convolution(node, x, w, out_dtype="int32", padded_with=zero)
    sums = node.emit("sum", node.cast(w, i32), axis=[1, 2, 3])
    added = node.emit("multiply", sums, node.cast(zero, i32))
    return node.emit("subtract", total, node.reshape(added, [1, shape_of(w)[0], 1, 1]))


def conv_integer(node: Node) -> SSAValue:
    """`conv(x - x_zero_point, w - w_zero_point)`."""
    return centred_convolution(node, node.input(0), node.optional(2), node.input(1), node.optional(3))


def requantized(node: Node, total: SSAValue, factor: SSAValue, zero: SSAValue) -> SSAValue:
    """`saturate(round(total * factor) + zero)` in the type of `zero`; halves are rounded to even."""
    y = node.emit("round", node.emit("multiply", node.cast(total, f32), factor))
    y = node.emit("add", y, node.cast(node.reshape(zero, []), f32))
    target = tensor(zero).element_type
    least, greatest = limits(target)
    return node.cast(node.emit("clip", y, a_min=float(least), a_max=float(greatest)), target)


def qlinear_matmul(node: Node) -> SSAValue:
    """A product of quantised matrices, quantised again."""
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = (
        node.input(n, at_least=1 if n in (0, 3) else 0) for n in range(8)
    )
    total = centred_product(node, a, a_zero, b, b_zero)
    factor = node.emit("multiply", under(node, a_scale, of_rows(a_scale)), under(node, b_scale, of_columns(b_scale)))
    return requantized(node, total, node.emit("divide", factor, under(node, y_scale)), y_zero)


def qlinear_conv(node: Node) -> SSAValue:
    """A convolution of quantised tensors and of a bias in their product's scale, quantised again."""
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = (node.input(n) for n in range(8))
    rank = rank_of(w)
    total = centred_convolution(node, x, x_zero, w, w_zero)
    total = add_bias(node, total, node.optional(8))
    factor = node.emit("multiply", under(node, x_scale), under(node, w_scale, of_channels(w_scale, rank, 1)))
    return requantized(node, total, node.emit("divide", factor, under(node, y_scale)), y_zero)


def under(node: Node, scale: SSAValue, shape: Sequence[int] = ()) -> SSAValue:
    """A scale in f32, under `shape` where it is no scalar."""
    single = shape_of(scale) in ((), (1,))
    return node.cast(node.reshape(scale, [] if single else shape), f32)


CONVERTERS: dict[str, Versions] = {
    "ConvInteger": {10: conv_integer},
    "DequantizeLinear": {10: dequantize},
    "MatMulInteger": {10: matmul_integer},
    "QLinearConv": {10: qlinear_conv},
    "QLinearMatMul": {10: qlinear_matmul},
    "QuantizeLinear": {10: quantize},
}

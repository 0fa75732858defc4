"""Quantization by scale and zero point, as the arithmetic that it stands for."""

from __future__ import annotations

from xdsl.dialects.builtin import f32, i32
from xdsl.ir import Attribute, SSAValue

from ...dialects.relay.base import shape_of, tensor
from ...dialects.support.dtypes import dtype_name, is_small_float, numpy_dtype
from .elementwise import saturated
from .errors import Unsupported
from .node import Node, Versions, rank_of
from .tensors import element_type


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
    if shape_of(parameter) in ((), (1,)) and shape_of(parameter) != shape_of(x):
        return node.reshape(parameter, [])
    if rank_of(parameter) != 1:
        raise Unsupported(f"a scale of rank {rank_of(parameter)}")
    axis = node.axis(node.integer("axis", 1), rank_of(x))
    return node.reshape(parameter, [*shape_of(parameter), *[1] * (rank_of(x) - axis - 1)])


def quantize(node: Node) -> SSAValue:
    """`saturate(round(x / scale) + zero_point)`, halves rounded to even; to floats, which round themselves, without
    `round`."""
    x, scale, zero = node.input(0), node.input(1), node.optional(2)
    code = node.integer("output_dtype", 0)
    target = tensor(zero).element_type if zero is not None else element_type(code or 2)
    if not is_small_float(target) and "int" not in dtype_name(target):
        raise Unsupported(f"quantization to {target}")
    y = node.emit("divide", node.cast(x, f32), node.cast(along_axis(node, scale, x), f32))
    if is_small_float(target):
        if zero is not None:
            y = node.emit("add", y, node.cast(along_axis(node, zero, x), f32))
        return saturated(node, y, target)
    y = node.emit("round", y)
    if zero is not None:
        y = node.emit("add", y, node.cast(along_axis(node, zero, x), f32))
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
    scale = along_axis(node, scale, x)
    wide = f32 if is_small_float(tensor(x).element_type) else i32
    y = node.cast(x, wide)
    if zero is not None:
        y = node.emit("subtract", y, node.cast(along_axis(node, zero, x), wide))
    return node.emit("multiply", node.cast(y, tensor(scale).element_type), scale)


CONVERTERS: dict[str, Versions] = {
    "DequantizeLinear": {10: dequantize},
    "QuantizeLinear": {10: quantize},
}

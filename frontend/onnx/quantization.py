"""Quantization by scale and zero point, as the arithmetic that it stands for."""

from __future__ import annotations

from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue

from ...dialects.relay.base import shape_of, tensor
from ...dialects.support.dtypes import dtype_name
from .errors import Unsupported
from .node import Node, Versions, rank_of
from .tensors import element_type


def along_axis(node: Node, parameter: SSAValue, x: SSAValue) -> SSAValue:
    """A scale or zero point, one for all of `x` or one for each slice along `axis`, in a shape that broadcasts."""
    if node.integer("block_size", 0):
        raise Unsupported("a scale for each block")
    if shape_of(parameter) in ((), (1,)) and shape_of(parameter) != shape_of(x):
        return node.reshape(parameter, [])
    if rank_of(parameter) != 1:
        raise Unsupported(f"a scale of rank {rank_of(parameter)}")
    axis = node.axis(node.integer("axis", 1), rank_of(x))
    return node.reshape(parameter, [*shape_of(parameter), *[1] * (rank_of(x) - axis - 1)])


def quantize(node: Node) -> SSAValue:
    """`saturate(round(x / scale) + zero_point)`; halves are rounded to even."""
    import numpy as np

    x, scale, zero = node.input(0), node.input(1), node.optional(2)
    code = node.integer("output_dtype", 0)
    target = tensor(zero).element_type if zero is not None else element_type(code or 2)
    if "int" not in dtype_name(target):
        raise Unsupported(f"quantization to {target}")
    limits = np.iinfo(dtype_name(target))
    x = node.cast(x, f32)
    y = node.emit("round", node.emit("divide", x, node.cast(along_axis(node, scale, x), f32)))
    if zero is not None:
        y = node.emit("add", y, node.cast(along_axis(node, zero, x), f32))
    return node.cast(node.emit("clip", y, a_min=float(limits.min), a_max=float(limits.max)), target)


def dequantize(node: Node) -> SSAValue:
    """`(x - zero_point) * scale`."""
    x, scale, zero = node.input(0), node.input(1), node.optional(2)
    scale = along_axis(node, scale, x)
    y = node.cast(x, i32)
    if zero is not None:
        y = node.emit("subtract", y, node.cast(along_axis(node, zero, x), i32))
    return node.emit("multiply", node.cast(y, tensor(scale).element_type), scale)


CONVERTERS: dict[str, Versions] = {
    "DequantizeLinear": {10: dequantize},
    "QuantizeLinear": {10: quantize},
}

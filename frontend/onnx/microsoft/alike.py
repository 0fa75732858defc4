"""Operators of ONNX Runtime's domain that mean what operators of ONNX mean, or little more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ....dialects.relay.base import DYNAMIC, shape_of, tensor
from ..elementwise import softplus_of
from ..errors import Malformed, Unsupported
from ..indexing import unique_slices
from ..linear import product
from ..node import Converter, Node, rank_of
from ..normalization import rms_norm_of

if TYPE_CHECKING:
    from onnx import NodeProto

OF_ONNX: Mapping[str, tuple[int, Mapping[str, float]]] = {
    "CausalConvWithState": (
        27,
        {
            "channels_last": 0, "dilation": 1, "input_channel_offset": 0, "input_channels": 0, "ndim": 1,
            "state_channels_last": -1, "state_length": 0, "state_update_capacity": 0, "state_window": 0,
        },
    ),
    "GatherND": (11, {}),
    "GridSample": (16, {}),
    "LinearAttention": (27, {"state_window": 0}),
    "Pad": (13, {}),
}  # fmt: skip
"""Operators that ONNX has as well: in which opset, and attributes that it does not have, with the only values that they
may have."""


def as_of_onnx(node: NodeProto) -> NodeProto:
    """A node of `OF_ONNX` as one of ONNX's own domain.

    Raises:
        Unsupported: an attribute asks for what ONNX does not have.
    """
    import onnx

    version, defaults = OF_ONNX[node.op_type]
    result = onnx.NodeProto()
    result.CopyFrom(node)
    result.domain = ""
    del result.attribute[:]
    for attribute in node.attribute:
        if attribute.name not in defaults:
            result.attribute.append(attribute)
        elif (value := onnx.helper.get_attribute_value(attribute)) != defaults[attribute.name]:
            raise Unsupported(f"attribute '{attribute.name}' is {value}, which opset {version} of ONNX does not have")
    return result


def distances(node: Node) -> SSAValue:
    """`CDist`: the distance of each row of `a` to each of `b`, or its square."""
    a, b = node.input(0, rank=2), node.input(1, rank=2)
    metric = node.choice("metric", {"euclidean": True, "sqeuclidean": False}, "sqeuclidean")
    apart = node.emit("subtract", node.emit("expand_dims", a, axis=1), node.emit("expand_dims", b, axis=0))
    squares = node.emit("sum", node.emit("multiply", apart, apart), axis=[2], keepdims=False)
    return node.emit("sqrt", squares) if metric else squares


def unfold(node: Node) -> SSAValue:
    """Windows of `size` elements along a dimension, each `step` from the last; they are a new last dimension."""
    import numpy as np

    x = node.input(0, at_least=1)
    axis = node.axis(node.integer("dim", -1), rank_of(x))
    size, step, extent = node.integer("size"), node.integer("step", 1), node.static_shape(x)[axis]
    if not 1 <= size <= extent or step < 1:
        raise Malformed(f"windows of {size} elements in steps of {step} over {extent}")
    places = np.arange(0, extent - size + 1, step)[:, None] + np.arange(size)
    y = node.emit("take", x, node.constant(places), axis=axis, mode="clip")
    rank = rank_of(y)
    return node.emit("transpose", y, axes=[*(at for at in range(rank) if at != axis + 1), axis + 1])


def scaled_silu(node: Node) -> SSAValue:
    """`z * sigmoid(z)` of `z = scale * x`, each rounded to the type of `x`."""
    x, scale = node.input(0), node.optional(1)
    if scale is None:
        scale = node.scalar(node.real("alpha", 1.0), x)
    z = node.emit("multiply", x, node.reshape(scale, []))
    return node.emit("multiply", z, node.emit("sigmoid", z))


def gated_add(node: Node) -> SSAValue:
    """`x + y * gate`, where a row has a gate; with weights, `gate` is what it is the sigmoid of a product of."""
    x, y, gate = node.input(0, at_least=1), node.input(1, at_least=1), node.input(2, at_least=1)
    if (weight := node.optional(3)) is not None:
        gate = node.emit("sigmoid", product(node, gate, weight))
    if shape_of(gate)[-1] != 1:
        raise Malformed(f"gates of shape {list(shape_of(gate))}, and not one for each row")
    return node.emit("add", x, node.emit("multiply", y, gate))


def gated_rms_norm(node: Node) -> SSAValue:
    """The norm by the root of the mean square, of each group of as many numbers as there are factors, times what an
    activation makes of a gate; in f32."""
    given, gamma, gate = node.input(0, at_least=1), node.input(1, rank=1), node.input(2, at_least=1)
    size, width = shape_of(gamma)[0], shape_of(given)[-1]
    if DYNAMIC in (size, width) or not size or width % size:
        raise Malformed(f"rows of {width} numbers are not groups of {size}")
    dims = node.dims(given)
    x = node.reshape_to(node.cast(given, f32), [*dims[:-1], width // size, size])
    y = rms_norm_of(node, x, node.cast(gamma, f32), rank_of(x) - 1, node.real("epsilon", 1e-5))
    z = node.cast(gate, f32)
    passing = node.emit("sigmoid", z)
    if node.choice("activation", {"silu": True, "swish": True, "sigmoid": False}, "silu"):
        passing = node.emit("multiply", z, passing)
    y = node.emit("multiply", node.reshape_to(y, dims), passing)
    return node.cast(y, tensor(given).element_type)


def linear_attention_gate(node: Node) -> list[SSAValue | None]:
    """`a, dt_bias, decay_scale, b`: how fast states of heads decay, `decay_scale * softplus(a + dt_bias)`, in f32, and
    how much of them is written, `sigmoid(b)`."""
    a, bias, scale = node.input(0, at_least=1), node.input(1, rank=1), node.input(2, rank=1)
    decay = softplus_of(node, node.emit("add", node.cast(a, f32), node.cast(bias, f32)))
    decay = node.cast(node.emit("multiply", node.cast(scale, f32), decay), tensor(a).element_type)
    b = node.optional(3)
    return [decay, None if b is None else node.cast(node.emit("sigmoid", node.cast(b, f32)), tensor(b).element_type)]


def unique(node: Node) -> list[SSAValue]:
    """The different elements of a vector in the order in which they first stand, which of them each is, and how often
    it stands."""
    values, _, which, counts = unique_slices(node, node.input(0, rank=1), 0, is_sorted=False)
    return [values, which, counts]


OPERATORS: dict[str, tuple[Converter, str]] = {
    "CDist": (distances, "metric"),
    "GatedAdd": (gated_add, ""),
    "GatedRMSNorm": (gated_rms_norm, "activation epsilon"),
    "LinearAttentionGate": (linear_attention_gate, ""),
    "ScaledSiLU": (scaled_silu, "alpha"),
    "Unique": (unique, ""),
    "UnfoldTensor": (unfold, "dim size step"),
}
"""Operators by name: their converters, and the attributes that those read."""

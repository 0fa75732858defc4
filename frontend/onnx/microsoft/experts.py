"""Mixtures of experts: of several small networks, each row goes through those that a router has the most for."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import SSAValue

from ....dialects.relay.base import shape_of, tensor
from ....dialects.support.dtypes import dtype_name, numpy_dtype
from ..elementwise import gelu_of
from ..errors import Malformed, Unsupported
from ..linear import product, swap_last
from ..node import Converter, Node, rank_of
from .few_bits import floats_of


def experts(node: Node, *, of_chosen: bool = False) -> SSAValue:
    """`input, router, w1, b1, w2, b2, w3, b3`: of each row the results of the `k` experts that its router has the most
    for, weighted by its softmax; by that of those `k`, where it is `of_chosen` or an attribute says so. An
    expert is `act(x @ w1.T + b1) @ w2.T + b2`; all are computed, and those that are not asked for weigh nothing.

    Source: Shazeer et al., Outrageously large neural networks, 2017; Mixtral of experts, 2024.
    """
    given, router = node.input(0, at_least=2), node.input(1, rank=2)
    x = node.emit("expand_dims", node.reshape_to(given, [*node.dims(router)[:1], node.dims(given)[-1]]), axis=0)
    hidden = _expert_layer(node, x, node.input(2, rank=3), node.optional(3))
    other = None if node.optional(6) is None else _expert_layer(node, x, node.input(6, rank=3), node.optional(7))
    y = _expert_layer(node, _expert_activation(node, hidden, other), node.input(4, rank=3), node.optional(5))
    weights = node.emit("transpose", _expert_weights(node, router, of_chosen), axes=[1, 0])
    weighted = node.emit("multiply", y, node.emit("expand_dims", weights, axis=2))
    return node.reshape_to(node.emit("sum", weighted, axis=[0], keepdims=False), node.dims(given))


def _expert_layer(node: Node, x: SSAValue, weights: SSAValue, bias: SSAValue | None) -> SSAValue:
    """`[experts, rows, out]` of `[experts or 1, rows, in]` and `[experts, out, in]`."""
    y = product(node, x, swap_last(node, weights))
    return y if bias is None else node.emit("add", y, node.emit("expand_dims", bias, axis=1))


def _expert_activation(node: Node, x: SSAValue, other: SSAValue | None) -> SSAValue:
    """
    Raises:
        Unsupported: there is no such activation, or it has another number of layers before it.
    """
    kind, fused = node.string("activation_type", "relu"), node.integer("swiglu_fusion", 0)
    if kind == "swiglu":
        if (other is None) != (fused in (1, 2)):
            raise Unsupported(f"swiglu of fusion {fused} with{'out' if other is None else ''} a third layer")
        gate, linear = (x, other) if other is not None else _halves(node, x, apart=fused == 2)
        if "swiglu_limit" in node.attributes:
            limit = node.real("swiglu_limit")
            gate = node.emit("minimum", gate, node.scalar(limit, gate))
            linear = node.emit("clip", linear, a_min=-limit, a_max=limit)
        part = node.emit("multiply", gate, node.scalar(node.real("activation_alpha", 1.0), gate))
        gate = node.emit("multiply", gate, node.emit("sigmoid", part))
        return node.emit("multiply", gate, node.emit("add", linear, node.scalar(node.real("activation_beta", 0.0), x)))
    match kind:
        case "relu":
            y = node.emit("nn.relu", x)
        case "gelu":
            y = gelu_of(node, x, by_tanh=True)
        case "silu":
            y = node.emit("multiply", x, node.emit("sigmoid", x))
        case "identity":
            y = x
        case _:
            raise Unsupported(f"the activation '{kind}'")
    return y if other is None else node.emit("multiply", y, other)


def _halves(node: Node, x: SSAValue, *, apart: bool) -> tuple[SSAValue, SSAValue]:
    """What is to pass a gate, and what the gate is: one behind the other, or by turns."""
    width, at = shape_of(x)[2], rank_of(x) - 1
    if width < 0 or width % 2:
        raise Malformed(f"{width} numbers, and not two for each of the expert's")
    bounds = [(0, width // 2, 1), (width // 2, width, 1)] if apart else [(0, width, 2), (1, width, 2)]
    first, second = (
        node.emit("strided_slice", x, begin=[begin], end=[end], strides=[step], axes=[at], slice_mode="end")
        for begin, end, step in bounds
    )
    return first, second


def _expert_weights(node: Node, router: SSAValue, of_chosen: bool) -> SSAValue:
    """How much each expert weighs in each row: `[rows, experts]`; 0 for all but `k`."""
    count, k = shape_of(router)[1], node.integer("k", 1)
    if not 1 <= k <= count:
        raise Malformed(f"{k} of {count} experts")
    most = node.emit_tuple("topk", router, k=k, axis=1, ret_type="both", is_ascend=False, dtype="int64")
    dtype = dtype_name(tensor(router).element_type)
    on, off = node.scalar(1.0, router), node.scalar(0.0, router)
    places = node.emit("one_hot", most[1], on, off, depth=count, axis=-1, dtype=dtype)
    if of_chosen or node.integer("normalize_routing_weights", 0):
        shares = node.emit("nn.softmax", most[0], axis=1)
    else:
        shares = node.emit("take", node.emit("nn.softmax", router, axis=1), most[1], axis=1, batch_dims=1, mode="clip")
    return node.emit(
        "sum", node.emit("multiply", places, node.emit("expand_dims", shares, axis=2)), axis=[1], keepdims=False
    )


def experts_of_few_bits(node: Node) -> SSAValue:
    """`experts`, whose weights are numbers of few bits: `input, router`, then for each of three layers weights, scales
    and bias, then their zero points. The weights become floats where the model is imported. Results weigh as the
    softmax of those that are chosen says, whatever the attribute says: so ONNX Runtime has it."""
    if any(node.optional(at) is not None for at in range(14, len(node.inputs))):
        raise Unsupported("weights of the router, or scales of floats (inputs from 14 on)")
    bits, block = node.integer("expert_weight_bits", 4), node.integer("block_size", 0)
    dtype = numpy_dtype(tensor(node.input(0)).element_type)
    given: list[SSAValue | None] = [node.input(0), node.input(1)]
    for layer in range(3):
        if node.optional(2 + 3 * layer) is None:
            given += [None, None]
            continue
        codes, scales = node.static(2 + 3 * layer), node.static(3 + 3 * layer)
        zeros = None if node.optional(11 + layer) is None else node.static(11 + layer)
        weights = floats_of(codes, scales, zeros, bits, block)
        given += [node.constant(weights.astype(dtype)), node.optional(4 + 3 * layer)]
    return experts(replace(node, inputs=given), of_chosen=True)


_ATTRIBUTES = (
    "activation_alpha activation_beta activation_type k normalize_routing_weights swiglu_fusion swiglu_limit "
    "swiglu_limit_after_activation=0 use_sparse_mixer=0"
)

OPERATORS: dict[str, tuple[Converter, str]] = {
    "MoE": (experts, _ATTRIBUTES),
    "QMoE": (experts_of_few_bits, f"{_ATTRIBUTES} accuracy_level block_size expert_weight_bits"),
}
"""Operators by name: their converters, and the attributes that those read."""

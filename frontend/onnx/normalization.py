"""Normalizations."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, shape_of, tensor
from ...dialects.support.advice import give_shapes
from ...dialects.support.dtypes import numpy_dtype
from .errors import Malformed, Unsupported
from .node import Node, Versions, rank_of


def batch_norm(node: Node) -> list[SSAValue | None]:
    if node.integer("spatial", 1) == 0:
        raise Unsupported("statistics for each activation (spatial = 0)")
    x, scale, offset, mean, variance = (node.input(i) for i in range(5))
    running: list[SSAValue | None] = []
    if node.integer("training_mode", 0):
        running, mean, variance = _trained(node, x, mean, variance)
    elif any(node.output_used(i) for i in range(1, 5)):
        raise Unsupported("the outputs of training (running and saved statistics)", "export the model for inference")
    fields = node.emit_tuple(
        "nn.batch_norm",
        x,
        *(scale, offset, mean, variance),
        axis=1,
        epsilon=node.real("epsilon", 1e-5),
        center=True,
        scale=True,
    )
    return [fields[0], *running]


def _trained(
    node: Node, x: SSAValue, mean: SSAValue, variance: SSAValue
) -> tuple[list[SSAValue | None], SSAValue, SSAValue]:
    """The statistics of the batch, and the running ones moved towards them."""
    others, momentum = [d for d in range(rank_of(x)) if d != 1], node.real("momentum", 0.9)
    wide = node.emit("mean", x, axis=others, keepdims=True)
    seen = node.emit("mean", x, axis=others), node.emit("variance", x, wide, axis=others)

    def moved(old: SSAValue, new: SSAValue) -> SSAValue:
        new = node.cast(new, tensor(old).element_type)
        kept = node.emit("multiply", old, node.scalar(momentum, old))
        return node.emit("add", kept, node.emit("multiply", new, node.scalar(1 - momentum, old)))

    return [moved(mean, seen[0]), moved(variance, seen[1])], seen[0], seen[1]


def local_response_norm(node: Node) -> SSAValue:
    return node.emit(
        "nn.lrn",
        node.input(0),
        size=node.integer("size"),
        axis=1,
        alpha=node.real("alpha", 1e-4),
        beta=node.real("beta", 0.75),
        bias=node.real("bias", 1.0),
    )


def layer_norm(node: Node) -> list[SSAValue | None]:
    """Over the dimensions from `axis` on, which `nn.layer_norm` sees as one."""
    import numpy as np

    x, scale, bias = node.input(0), node.input(1), node.optional(2)
    axis = node.axis(node.integer("axis", -1), rank_of(x))
    epsilon = node.real("epsilon", 1e-5)
    normalized = node.dims(x)[axis:]
    count = te.product(normalized)
    flat = x if len(normalized) == 1 else node.reshape_to(x, [*node.dims(x)[:axis], count])

    def row(parameter: SSAValue) -> SSAValue:
        dims = node.dims(parameter)
        if len(normalized) == 1 == len(dims) and dims != (1,):
            return parameter
        if len(dims) != len(normalized) or not all(map(te.same, dims, normalized)):
            parameter = node.emit("dyn.broadcast_to", parameter, node.shape_value(normalized))
        return node.reshape_to(parameter, [count])

    gamma = row(scale)
    beta = row(bias if bias is not None else node.constant(np.zeros(1, numpy_dtype(tensor(x).element_type))))
    y = node.emit("nn.layer_norm", flat, gamma, beta, axis=axis, epsilon=epsilon, center=bias is not None, scale=True)
    mean = inverse = None
    if node.output_used(1) or node.output_used(2):
        axes = list(range(axis, rank_of(x)))
        mean = node.emit("mean", x, axis=axes, keepdims=True)
        centered = node.emit("subtract", x, mean)
        variance = node.emit("mean", node.emit("multiply", centered, centered), axis=axes, keepdims=True)
        inverse = node.emit("rsqrt", node.emit("add", variance, node.scalar(epsilon, x)))
    return [y if flat is x else node.reshape_to(y, node.dims(x)), mean, inverse]


def instance_norm(node: Node) -> SSAValue:
    return node.emit(
        "nn.instance_norm",
        *(node.input(i) for i in range(3)),
        axis=1,
        epsilon=node.real("epsilon", 1e-5),
        center=True,
        scale=True,
    )


def group_norm(node: Node) -> SSAValue:
    """Scale and bias are one for each channel, or, in the first revision, one for each group."""
    x, scale, bias = node.input(0, at_least=2), node.input(1), node.input(2)
    groups, channels = node.integer("num_groups"), shape_of(x)[1]
    if node.version >= 21 and channels == DYNAMIC:
        (channels,) = shape_of(scale)  # of which there is one for each
    if groups < 1 or (channels != DYNAMIC and channels % groups):
        raise Malformed(f"{channels} channels do not make {groups} groups")
    if node.version < 21:
        if channels == DYNAMIC:
            raise Unsupported(f"the channels of {x.type} in groups, with a scale for each group", give_shapes())
        scale, bias = (node.emit("repeat", v, repeats=channels // groups, axis=0) for v in (scale, bias))
    return node.emit(
        "nn.group_norm",
        x,
        scale,
        bias,
        num_groups=groups,
        axis=1,
        epsilon=node.real("epsilon", 1e-5),
        center=True,
        scale=True,
    )


def lp_norm(node: Node) -> SSAValue:
    """`x` divided by its length along an axis; where all is zero, the result is too."""
    given = node.input(0)
    x = node.widened(given)
    axes = [node.axis(node.integer("axis", -1), rank_of(x))]
    match node.integer("p", 2):
        case 1:
            length = node.emit("sum", node.emit("abs", x), axis=axes, keepdims=True)
        case 2:
            length = node.emit("sqrt", node.emit("sum", node.emit("multiply", x, x), axis=axes, keepdims=True))
        case p:
            raise Malformed(f"p is {p}, but must be 1 or 2")
    none = node.emit("equal", length, node.scalar(0.0, x))
    quotient = node.emit("divide", x, node.emit("where", none, node.scalar(1.0, x), length))
    return node.cast(quotient, tensor(given).element_type)


def rms_norm(node: Node) -> SSAValue:
    """`x / sqrt(mean(x^2) + epsilon) * scale` over the dimensions from `axis` on."""
    axis = node.axis(node.integer("axis", -1), rank_of(node.input(0)))
    return rms_norm_of(node, node.input(0), node.input(1), axis, node.real("epsilon", 1e-5))


def rms_norm_of(node: Node, given: SSAValue, scale: SSAValue, axis: int, epsilon: float) -> SSAValue:
    """`rms_norm` of `given`."""
    x = node.widened(given)
    axes = list(range(axis, rank_of(x)))
    squares = node.emit("mean", node.emit("multiply", x, x), axis=axes, keepdims=True)
    inverse = node.emit("rsqrt", node.emit("add", squares, node.scalar(epsilon, x)))
    normal = node.cast(node.emit("multiply", x, inverse), tensor(given).element_type)
    return node.emit("multiply", normal, scale)


def mean_variance_norm(node: Node) -> SSAValue:
    """`(x - mean) / (sqrt(variance) + 1e-9)` over `axes`."""
    given = node.input(0)
    x = node.widened(given)
    axes = sorted(node.axis(a, rank_of(x)) for a in node.integers("axes", [0, 2, 3]))
    centered = node.emit("subtract", x, node.emit("mean", x, axis=axes, keepdims=True))
    variance = node.emit("mean", node.emit("multiply", centered, centered), axis=axes, keepdims=True)
    deviation = node.emit("add", node.emit("sqrt", variance), node.scalar(1e-9, x))
    return node.cast(node.emit("divide", centered, deviation), tensor(given).element_type)


CONVERTERS: dict[str, Versions] = {
    "BatchNormalization": {7: batch_norm},
    "GroupNormalization": {18: group_norm},
    "InstanceNormalization": {6: instance_norm},
    "LRN": {1: local_response_norm},
    "LayerNormalization": {1: layer_norm},  # before opset 17, it is ONNX Runtime's
    "LpNormalization": {1: lp_norm},
    "MeanVarianceNormalization": {9: mean_variance_norm},
    "RMSNormalization": {23: rms_norm},
}

"""What optimisers make of several operators of ONNX: activations, sums and norms in one, products with a factor."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from ....dialects.relay.base import tensor
from ....dialects.support.dtypes import numpy_dtype
from ..elementwise import gelu_of, hard_sigmoid_like
from ..errors import Malformed, Unsupported
from ..linear import gemm, product, swap_last
from ..node import Converter, Node, rank_of
from ..normalization import rms_norm, rms_norm_of
from ..shapes import positions, trilu
from ..windows import conv

EPSILON = 1e-12
"""Of the norms of this domain, where they do not say."""


def summed(node: Node, *places: int) -> SSAValue:
    """The sum of the inputs at `places`, of which those after the first may be missing."""
    total = node.input(places[0])
    for place in places[1:]:
        if (term := node.optional(place)) is not None:
            total = node.emit("add", total, term)
    return total


def gelu(by_tanh: bool) -> Converter:
    """Of the sum of `x` and a bias, where there is one."""
    return lambda node: gelu_of(node, summed(node, 0, 1), by_tanh)


def quick_gelu(node: Node) -> SSAValue:
    """`x * sigmoid(alpha * x)`."""
    x = node.input(0)
    part = node.emit("multiply", x, node.scalar(node.real("alpha", 1.702), x))
    return node.emit("multiply", x, node.emit("sigmoid", part))


def bias_add(node: Node) -> SSAValue:
    """`x + bias + skip`."""
    return summed(node, 0, 1, 2)


# Norms


def layer_norm_of(node: Node, x: SSAValue, gamma: SSAValue, beta: SSAValue | None) -> SSAValue:
    """The norm over the last dimension."""
    import numpy as np

    center = beta is not None
    if beta is None:
        beta = node.constant(np.zeros(node.static_shape(gamma), numpy_dtype(tensor(gamma).element_type)))
    epsilon = node.real("epsilon", EPSILON)
    axis = rank_of(x) - 1
    return node.emit("nn.layer_norm", x, gamma, beta, axis=axis, epsilon=epsilon, center=center, scale=True)


def skip_layer_norm(node: Node) -> list[SSAValue | None]:
    """The norm of the sum of an input, of one that skipped layers, and of a bias; the sum is the fourth output."""
    check_no_statistics(node)
    total = summed(node, 0, 1, 4)
    return [layer_norm_of(node, total, node.input(2), node.optional(3)), None, None, total]


def skip_rms_norm(node: Node) -> list[SSAValue | None]:
    """`skip_layer_norm`, divided by the root of the mean square instead."""
    check_no_statistics(node)
    total = summed(node, 0, 1, 3)
    y = rms_norm_of(node, total, node.input(2), rank_of(total) - 1, node.real("epsilon", EPSILON))
    return [y, None, None, total]


def simplified_layer_norm(node: Node) -> list[SSAValue | None]:
    """`RMSNormalization`, by the name that it had in ONNX Runtime before."""
    check_no_statistics(node)
    return [rms_norm(node), None]


def check_no_statistics(node: Node) -> None:
    """
    Raises:
        Unsupported: something reads the second or third output.
    """
    if node.output_used(1) or node.output_used(2):
        raise Unsupported("the outputs of training (mean and inverse deviation)", "export the model for inference")


def embed_layer_norm(node: Node) -> list[SSAValue | None]:
    """The norm of the sum of the embeddings of words, of their places and of their segments; then for each row how
    many words a mask lets pass, and the sum."""
    import numpy as np

    ids, segments, words, places = node.input(0, rank=2), node.optional(1), node.input(2), node.input(3)
    batch, length = node.dims(ids)
    total = node.emit("take", words, ids, axis=0, mode="clip")
    at = node.optional(8) or positions(node, length)
    total = node.emit("add", total, node.emit("take", places, at, axis=0, mode="clip"))
    if node.optional(4) is not None:
        segments = node.extent(0) if segments is None else segments
        total = node.emit("add", total, node.emit("take", node.input(4), segments, axis=0, mode="clip"))
    elif segments is not None:
        raise Malformed("segments (input 1) without their embeddings (input 4)")
    y = layer_norm_of(node, total, node.input(5), node.input(6))
    counted: SSAValue | None = None
    if node.output_used(1):
        if (mask := node.optional(7)) is not None:
            passes = node.emit("equal", mask, node.scalar(1, mask))
            counted = node.emit("sum", node.cast(passes, i32), axis=[1], keepdims=False)
        elif isinstance(batch, int):
            counted = node.constant(np.zeros(batch, np.int32))
        else:
            raise Unsupported("the count of words (output 1) of an open batch without a mask")
    return [y, counted, total]


# Products


def fused_matmul(node: Node) -> SSAValue:
    """`alpha * a @ b`, of which each may be transposed, and may have its rows before its batches."""
    a, b = (
        _matrices(node, node.input(at, at_least=1), f"trans{name}", f"transBatch{name}") for at, name in enumerate("AB")
    )
    y = product(node, a, b)
    alpha = node.real("alpha", 1.0)
    return y if alpha == 1.0 else node.emit("multiply", y, node.scalar(alpha, y))


def _matrices(node: Node, x: SSAValue, turned: str, rows_first: str) -> SSAValue:
    """A factor as the attributes of these names say."""
    rank = rank_of(x)
    if node.integer(rows_first, 0) and rank > 2:
        x = node.emit("transpose", x, axes=[*range(1, rank - 1), 0, rank - 1])
    return swap_last(node, x) if node.integer(turned, 0) and rank > 1 else x


def activated(node: Node, y: SSAValue, parameters: Sequence[float]) -> SSAValue:
    """What the attribute `activation` names, of `y`.

    Raises:
        Unsupported: there is no such activation, or it has another number of parameters.
    """
    match (name := node.string("activation", ""), *parameters):
        case ("",):
            return y
        case ("Relu",):
            return node.emit("nn.relu", y)
        case ("Sigmoid" | "Tanh",):
            return node.emit(name.lower(), y)
        case ("LeakyRelu", alpha):
            return node.emit("nn.leaky_relu", y, alpha=alpha)
        case ("Clip", least, most):
            return node.emit("clip", y, a_min=least, a_max=most)
        case ("HardSigmoid", alpha, beta):
            return hard_sigmoid_like(node, y, alpha, beta)
        case _:
            raise Unsupported(f"the activation '{name}' of {len(parameters)} parameters")


def fused_conv(node: Node) -> SSAValue:
    """A convolution, to which a tensor may be added, under an activation."""
    y = conv(node)
    if (other := node.optional(3)) is not None:
        y = node.emit("add", y, other)
    given = node.attributes.get("activation_params")
    return activated(node, y, [] if given is None else list(given.floats))


def fused_gemm(node: Node) -> SSAValue:
    """`Gemm` under an activation."""
    names = ("activation_alpha", "activation_beta", "activation_gamma")
    return activated(node, gemm(node), [node.real(name) for name in names if name in node.attributes])


def expand_dims(node: Node) -> SSAValue:
    """A dimension of size one at the place that the second input says."""
    x = node.input(0)
    return node.emit("expand_dims", x, axis=node.axis(int(node.static_scalar(1)), rank_of(x) + 1), num_newaxis=1)


_CONV = "auto_pad dilations group kernel_shape pads strides"

OPERATORS: dict[str, tuple[Converter, str]] = {
    "BiasAdd": (bias_add, ""),
    "BiasGelu": (gelu(by_tanh=False), ""),
    "EmbedLayerNormalization": (embed_layer_norm, "epsilon mask_index_type"),
    "ExpandDims": (expand_dims, ""),
    "FastGelu": (gelu(by_tanh=True), ""),
    "FusedConv": (fused_conv, f"{_CONV} activation activation_params"),
    "FusedGemm": (
        fused_gemm,
        "alpha beta transA transB activation activation_alpha activation_beta activation_gamma",
    ),
    "FusedMatMul": (fused_matmul, "alpha transA transB transBatchA transBatchB"),
    "Gelu": (gelu(by_tanh=False), ""),
    "QuickGelu": (quick_gelu, "alpha"),
    "SkipLayerNormalization": (skip_layer_norm, "epsilon"),
    "SkipSimplifiedLayerNormalization": (skip_rms_norm, "epsilon"),
    "TransposeMatMul": (fused_matmul, "alpha transA transB transBatchA transBatchB"),
    "Trilu": (trilu, "upper"),
}
"""Operators by name: their converters, and the attributes that those read."""

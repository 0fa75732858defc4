"""Random numbers: RandomNormal, RandomUniform, their `Like`s, Bernoulli, Multinomial, and Dropout in training.

A program of Weft has no state, so each node draws from a key of its own, and draws the same numbers whenever it runs:
a node with a `seed` from that, as ONNX asks; one without from its place, which is the name of its result. To draw
others, import the model with other seeds, or write a graph that takes a key: `relay.random`.

Floats of 16 bits are drawn as f32 and rounded, so the highest bound may be among them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from zlib import crc32

import numpy as np
from xdsl.dialects.builtin import AnyFloat, f32, f64, i1
from xdsl.ir import Attribute, SSAValue

from ...dialects.relay.base import DYNAMIC, shape_of, tensor
from ...dialects.support.dtypes import dtype_name, numpy_dtype
from .errors import Malformed
from .node import Converter, Node, Versions
from .tensors import element_type


def key_of(node: Node) -> SSAValue:
    """The key of a node: ten words, of which the first are its seed's bits, or, without one, a sum of its name."""
    if "seed" in node.attributes:
        seed = float(node.attributes["seed"].i) or node.real("seed")  # Dropout's is an integer
        words = [0, 0, 0, struct.unpack("<I", struct.pack("<f", seed))[0]]
    else:
        words = [0, 0, 1, crc32(node.proto.output[0].encode())]
    return node.constant(np.array([*words, 0, 0, 0, 0, 1 << 63, 0], np.uint64))


def drawn(
    node: Node, operator: str, of: Sequence[int] | SSAValue, element: Attribute, first: float, second: float
) -> SSAValue:
    """Floats of a distribution with two parameters, of a shape, or of that of a tensor, which may be open."""
    wide = f64 if element == f64 else f32
    parameters = [node.constant(np.asarray(value, numpy_dtype(wide))) for value in (first, second)]
    shape = shape_of(of) if isinstance(of, SSAValue) else of
    if isinstance(of, SSAValue) and DYNAMIC in shape:  # such an extent is that of the first parameter
        parameters[0] = node.emit("broadcast_to_like", parameters[0], of)
    out_shape = [-1 if n == DYNAMIC else n for n in shape]
    _, numbers = node.emit_tuple(operator, key_of(node), *parameters, out_shape=out_shape, out_dtype=dtype_name(wide))
    return node.cast(numbers, element)


def _element(node: Node, default: Attribute | None = None) -> Attribute:
    """The type that the attribute `dtype` says.

    Raises:
        Malformed: it is none of floats.
    """
    element = default
    if "dtype" in node.attributes or default is None:
        element = element_type(node.integer("dtype", 1))
    if not isinstance(element, AnyFloat):
        raise Malformed(f"random numbers are floats, and not of the type {element}")
    return element


def _of_shape(operator: str, first: str, second: str, defaults: tuple[float, float]) -> Converter:
    def convert(node: Node) -> SSAValue:
        shape = node.integers("shape")
        if any(extent < 0 for extent in shape):
            raise Malformed(f"attribute 'shape' is {shape}, but extents are not negative")
        values = [node.real(name, default) for name, default in zip((first, second), defaults, strict=True)]
        return drawn(node, operator, shape, _element(node), *values)

    return convert


def _like(operator: str, first: str, second: str, defaults: tuple[float, float]) -> Converter:
    def convert(node: Node) -> SSAValue:
        like = node.input(0)
        values = [node.real(name, default) for name, default in zip((first, second), defaults, strict=True)]
        element = _element(node, tensor(like).element_type)
        return drawn(node, operator, like, element, *values)

    return convert


def bernoulli(node: Node) -> SSAValue:
    """1 with the probability that stands in the data, else 0."""
    data = node.input(0)
    own = tensor(data).element_type
    element = element_type(node.integer("dtype")) if "dtype" in node.attributes else own
    wide = f64 if own == f64 else f32
    numbers = drawn(node, "random.uniform", data, wide, 0.0, 1.0)
    hit = node.emit("less", numbers, node.cast(data, wide))
    return hit if element == i1 else node.emit("cast", hit, dtype=dtype_name(element))


def multinomial(node: Node) -> SSAValue:
    """Indices of classes, drawn by rows of logarithms of what is as likely as they are, up to a factor."""
    logits = node.input(0, rank=2)
    element = element_type(node.integer("dtype", 6))
    if dtype_name(element) not in ("int32", "int64"):
        raise Malformed(f"indices are int32 or int64, and not {dtype_name(element)}")
    rows, classes = node.static_shape(logits)
    if classes == 0:
        raise Malformed("there is no class to draw")
    likely = node.emit("nn.softmax", node.widened(logits), axis=1)
    wide = tensor(likely).element_type
    sums = node.emit("cumsum", likely, axis=1)
    total = node.emit("strided_slice", sums, begin=[0, classes - 1], end=[rows, classes], strides=[1, 1])
    numbers = drawn(node, "random.uniform", [rows, node.integer("sample_size", 1)], wide, 0.0, 1.0)
    parts = node.emit("expand_dims", node.emit("multiply", numbers, total), axis=2)
    # The index is how many sums a part of the whole has passed; the last one is the whole.
    bounds = node.emit("strided_slice", sums, begin=[0, 0], end=[rows, classes - 1], strides=[1, 1])
    passed = node.emit("less_equal", node.emit("expand_dims", bounds, axis=1), parts)
    return node.emit("sum", node.emit("cast", passed, dtype=dtype_name(element)), axis=[2])


def dropout(node: Node) -> list[SSAValue | None]:
    """At inference, and where nothing is dropped, the data passes and the mask, if asked for, is all true. What data
    says to be training drops what random numbers below the ratio say, and makes up for it."""
    x = node.input(0)
    element = tensor(x).element_type
    said = None if node.is_known(2) else node.input(2)
    is_training = said is None and node.optional(2) is not None and bool(node.static_scalar(2))
    if said is None and (not is_training or (node.is_known(1) and not ratio_of(node))):
        mask_type = i1 if node.version >= 10 else element
        mask = node.cast(node.emit("ones_like", x), mask_type) if node.output_used(1) else None
        return [node.emit_tuple("nn.dropout", x, rate=ratio_of(node) if node.is_known(1) else 0.5)[0], mask]
    wide = f64 if element == f64 else f32
    numbers = drawn(node, "random.uniform", x, wide, 0.0, 1.0)
    ratio = node.scalar(ratio_of(node), numbers) if node.is_known(1) else node.cast(node.input(1), wide)
    if said is not None:
        ratio = node.emit("where", said, ratio, node.scalar(0.0, ratio))
    kept = node.emit("greater_equal", numbers, ratio)
    part = node.emit("divide", node.cast(x, wide), node.emit("subtract", node.scalar(1.0, ratio), ratio))
    y = node.emit("where", kept, part, node.scalar(0.0, part))
    return [node.cast(y, element), kept]


def ratio_of(node: Node) -> float:
    """The share of the data that is dropped, where it is known."""
    return node.static_scalar(1) if node.optional(1) is not None else node.real("ratio", 0.5)


_NORMAL = ("random.normal", "mean", "scale", (0.0, 1.0))
_UNIFORM = ("random.uniform", "low", "high", (0.0, 1.0))

CONVERTERS: dict[str, Versions] = {
    "Bernoulli": {15: bernoulli},
    "Dropout": {7: dropout},
    "Multinomial": {7: multinomial},
    "RandomNormal": {1: _of_shape(*_NORMAL)},
    "RandomNormalLike": {1: _like(*_NORMAL)},
    "RandomUniform": {1: _of_shape(*_UNIFORM)},
    "RandomUniformLike": {1: _like(*_UNIFORM)},
}

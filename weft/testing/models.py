"""ONNX models to test and measure with, made here: random weights from a seed, nothing downloaded. Needs `onnx`.

The convolutional networks are the nine that the `onnx` package carries (`light_*.onnx`), whose weights are fills of one
value: `with_random_weights` replaces them, so that nothing can fold them away and every weight decides the result. The
transformer encoder and MobileNet v2 are built operator by operator, as PyTorch exports them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

NDArray: TypeAlias = npt.NDArray[np.generic]

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
OPSET = 17


def light_models() -> list[str]:
    """The names of the networks that the `onnx` package carries, as `light_model` takes them."""
    return sorted(path.stem.removeprefix("light_") for path in LIGHT.glob("light_*.onnx"))


def light_model(name: str, seed: int = 0) -> ModelProto:
    """One of the `onnx` package's networks (`squeezenet`, `resnet50`, ...) with random weights.

    Raises:
        ValueError: there is none of that name.
    """
    path = LIGHT / f"light_{name}.onnx"
    if not path.exists():
        raise ValueError(f"there is no model '{name}'; models: {', '.join(light_models())}")
    return with_random_weights(ModelProto.FromString(path.read_bytes()), seed)


def with_random_weights(model: ModelProto, seed: int = 0) -> ModelProto:
    """A copy of `model` in which random weights take the place of those that `ConstantOfShape` fills with one value.

    Weights of products are normally distributed with the variance of He et al. (2015), so that values neither vanish
    nor grow on their way through; scales and variances are positive, and biases small.
    """
    model = _copy(model)
    graph, rng = model.graph, np.random.default_rng(seed)
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    filled = {
        node.output[0]: [int(n) for n in arrays[node.input[0]]]
        for node in graph.node
        if node.op_type == "ConstantOfShape" and node.input[0] in arrays
    }
    roles = _roles(model)
    nodes = [node for node in graph.node if node.output[0] not in filled]
    weights = [
        numpy_helper.from_array(_random_weight(shape, roles.get(name, ""), rng), name) for name, shape in filled.items()
    ]
    used = {name for node in nodes for name in node.input}
    weights += [tensor for tensor in graph.initializer if tensor.name in used]
    inputs = [value for value in graph.input if value.name not in arrays]
    del graph.node[:], graph.initializer[:], graph.input[:]
    graph.node.extend(nodes)
    graph.initializer.extend(weights)
    graph.input.extend(inputs)
    model.ir_version = max(model.ir_version, 8)  # before, initializers were inputs too
    return model


def _copy(model: ModelProto) -> ModelProto:
    copy = ModelProto()
    copy.CopyFrom(model)
    return copy


def _roles(model: ModelProto) -> dict[str, str]:
    """What a value is to the operator that reads it, where that is no inner product: a `scale`, a `variance`; the
    scale of a branch of a `residual` sum, which would grow from block to block; the weight of a product that makes
    `logits`, on which a softmax would saturate if they were large; that of a `linear` product, which no rectifier
    follows that would halve its variance."""
    found: dict[str, str] = {}
    made_of = {node.output[0]: node.input[0] for node in model.graph.node if node.op_type == "Unsqueeze"}
    for node in model.graph.node:
        if node.op_type == "BatchNormalization":
            found |= {node.input[1]: "scale", node.input[4]: "variance"}
        elif node.op_type == "Mul":
            found |= {made_of[name]: "scale" for name in node.input if name in made_of}
    readers = {name: node for node in model.graph.node for name in node.input}
    for product in (node for node in model.graph.node if node.op_type == "Conv"):
        reader = readers.get(product.output[0])
        while reader is not None and reader.op_type in ("Add", "Mul", "BatchNormalization"):
            reader = readers.get(reader.output[0])
        if reader is not None and reader.op_type in ("Conv", "Sum"):
            found[product.input[1]] = "linear"
    producers = {node.output[0]: node for node in model.graph.node}
    for total in (node for node in model.graph.node if node.op_type == "Sum"):
        for value in total.input:
            while (node := producers.get(value)) is not None and node.op_type in ("Add", "Mul", "BatchNormalization"):
                found |= {name: "residual" for name in _weights_of(node, made_of) if found.get(name) == "scale"}
                value = node.input[0]
    for softmax in (node for node in model.graph.node if node.op_type == "Softmax"):
        value = softmax.input[0]
        while (node := producers.get(value)) is not None:
            if node.op_type in ("Conv", "Gemm", "MatMul"):
                found[node.input[1]] = "logits"
                break
            value = node.input[0]
    return found


def _weights_of(node: onnx.NodeProto, made_of: dict[str, str]) -> list[str]:
    return [made_of.get(name, name) for name in node.input]


def _random_weight(shape: Sequence[int], role: str, rng: np.random.Generator) -> NDArray:
    if role == "variance":
        drawn = rng.uniform(0.5, 1.5, shape)
    elif role == "scale":
        drawn = rng.uniform(0.8, 1.2, shape)
    elif role == "residual":
        drawn = rng.uniform(0.4, 0.6, shape)
    elif len(shape) < 2:
        drawn = rng.normal(0, 0.05, shape)
    else:
        gain = {"logits": 0.02, "linear": 1.0}.get(role, 2.0)
        drawn = rng.normal(0, math.sqrt(gain / math.prod(shape[1:])), shape)
    return drawn.astype(np.float32)


class GraphBuilder:
    """An ONNX graph, built operator by operator; values are named by their number."""

    def __init__(self, seed: int = 0):
        self._rng = np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[TensorProto] = []

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Append an operator with one result, and give the result's name."""
        name = f"{kind.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, array: npt.ArrayLike) -> str:
        """A weight of this value."""
        name = f"weight_{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def normal(self, *shape: int, scale: float, mean: float = 0.0) -> str:
        """A normally distributed weight."""
        return self.constant(self._rng.normal(mean, scale, shape).astype(np.float32))

    def linear(self, x: str, inputs: int, outputs: int) -> str:
        """`x @ w + b`."""
        product = self.op("MatMul", x, self.normal(inputs, outputs, scale=1 / math.sqrt(inputs)))
        return self.op("Add", product, self.normal(outputs, scale=0.02))

    def layer_norm(self, x: str, size: int) -> str:
        """Layer normalisation over the last axis."""
        scale, bias = self.normal(size, scale=0.1, mean=1.0), self.normal(size, scale=0.02)
        return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-12)

    def convolution(
        self, x: str, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1, relu6: bool = True
    ) -> str:
        """A convolution without bias, batch normalisation, and a clip to [0, 6]."""
        fan_in = inputs // groups * kernel * kernel
        weight = self.normal(outputs, inputs // groups, kernel, kernel, scale=math.sqrt(2 / fan_in))
        pad = kernel // 2
        y = self.op("Conv", x, weight, strides=[stride] * 2, pads=[pad] * 4, group=groups, kernel_shape=[kernel] * 2)
        uniform = self._rng.uniform(0.8, 1.2, (2, outputs)).astype(np.float32)
        scale, variance = (self.constant(row) for row in uniform)
        bias, mean = self.normal(outputs, scale=0.05), self.normal(outputs, scale=0.05)
        y = self.op("BatchNormalization", y, scale, bias, mean, variance)
        return self.op("Clip", y, self.constant(np.float32(0)), self.constant(np.float32(6))) if relu6 else y

    def attention(self, x: str, hidden: int, heads: int) -> str:
        """Self-attention of `x`, `[batch, tokens, hidden]`, with its four linear layers."""
        size = hidden // heads
        split = self.constant([0, 0, heads, size])
        query, key, value = (
            self.op("Transpose", self.op("Reshape", self.linear(x, hidden, hidden), split), perm=perm)
            for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
        )
        scores = self.op("Div", self.op("MatMul", query, key), self.constant(np.float32(math.sqrt(size))))
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), value)
        merged = self.op("Reshape", self.op("Transpose", mixed, perm=[0, 2, 1, 3]), self.constant([0, 0, hidden]))
        return self.linear(merged, hidden, hidden)

    def gelu(self, x: str) -> str:
        """The Gaussian error linear unit, by the error function."""
        erf = self.op("Erf", self.op("Div", x, self.constant(np.float32(math.sqrt(2)))))
        doubled = self.op("Mul", x, self.op("Add", erf, self.constant(np.float32(1))))
        return self.op("Mul", doubled, self.constant(np.float32(0.5)))

    def model(self, inputs: Sequence[onnx.ValueInfoProto], output: str, shape: Sequence[int | str]) -> ModelProto:
        """The model that takes `inputs` and gives `output`."""
        result = helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)
        graph = helper.make_graph(self._nodes, "main", inputs, [result], self._weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


def transformer_encoder(
    layers: int = 12,
    hidden: int = 768,
    heads: int = 12,
    intermediate: int | None = None,
    tokens: int | str = 128,
    batch: int | str = 1,
    vocabulary: int = 30522,
    seed: int = 0,
) -> ModelProto:
    """The encoder of BERT (Devlin et al., 2019): ids `[batch, tokens]` of int64 in, `[batch, tokens, hidden]` out.

    With its default arguments it has the sizes of BERT base. `tokens` and `batch` may be names of dimensions.
    """
    g = GraphBuilder(seed)
    words = g.op("Gather", g.normal(vocabulary, hidden, scale=1.0), "tokens")
    positions = g.normal(512 if isinstance(tokens, str) else tokens, hidden, scale=0.5)
    if isinstance(tokens, str):
        length = g.op("Slice", g.op("Shape", "tokens"), g.constant([1]), g.constant([2]))
        positions = g.op("Slice", positions, g.constant([0]), length, g.constant([0]))
    x = g.layer_norm(g.op("Add", words, positions), hidden)
    for _ in range(layers):
        attended = g.attention(x, hidden, heads)
        x = g.layer_norm(g.op("Add", attended, x), hidden)
        wide = g.linear(x, hidden, intermediate or 4 * hidden)
        x = g.layer_norm(g.op("Add", g.linear(g.gelu(wide), intermediate or 4 * hidden, hidden), x), hidden)
    ids = helper.make_tensor_value_info("tokens", TensorProto.INT64, [batch, tokens])
    return g.model([ids], x, [batch, tokens, hidden])


MOBILENET_V2 = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
"""Expansion, channels, blocks and first stride of each stage: table 2 of Sandler et al. (2018)."""


def mobilenet_v2(pixels: int = 224, classes: int = 1000, seed: int = 0) -> ModelProto:
    """MobileNet v2 (Sandler et al., 2018): images `[1, 3, pixels, pixels]` in, `[1, classes]` logits out."""
    g, channels = GraphBuilder(seed), 32
    x = g.convolution("image", 3, channels, 3, stride=2)
    for expansion, outputs, blocks, stride in MOBILENET_V2:
        for block in range(blocks):
            step, wide = (stride if block == 0 else 1), channels * expansion
            y = g.convolution(x, channels, wide, 1) if expansion != 1 else x
            y = g.convolution(y, wide, wide, 3, stride=step, groups=wide)
            y = g.convolution(y, wide, outputs, 1, relu6=False)
            x = g.op("Add", x, y) if step == 1 and channels == outputs else y
            channels = outputs
    x = g.op("Flatten", g.op("GlobalAveragePool", g.convolution(x, channels, 1280, 1)))
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, pixels, pixels])
    return g.model([image], g.linear(x, 1280, classes), [1, classes])


def vision_transformer(
    layers: int = 12, hidden: int = 768, heads: int = 12, pixels: int = 224, patch: int = 16, seed: int = 0
) -> ModelProto:
    """ViT (Dosovitskiy et al., 2021): images `[1, 3, pixels, pixels]` in, the class token `[1, hidden]` out."""
    g, tokens = GraphBuilder(seed), (pixels // patch) ** 2
    kernel = g.normal(hidden, 3, patch, patch, scale=1 / math.sqrt(3 * patch * patch))
    x = g.op("Conv", "image", kernel, strides=[patch] * 2, kernel_shape=[patch] * 2)
    x = g.op("Transpose", g.op("Reshape", x, g.constant([1, hidden, tokens])), perm=[0, 2, 1])
    x = g.op("Concat", g.normal(1, 1, hidden, scale=1.0), x, axis=1)
    x = g.op("Add", x, g.normal(1, tokens + 1, hidden, scale=0.5))
    for _ in range(layers):
        y = g.layer_norm(x, hidden)
        x = g.op("Add", x, g.attention(y, hidden, heads))
        wide = g.linear(g.layer_norm(x, hidden), hidden, 4 * hidden)
        x = g.op("Add", x, g.linear(g.gelu(wide), 4 * hidden, hidden))
    first = g.op("Gather", g.layer_norm(x, hidden), g.constant(np.int64(0)), axis=1)
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, pixels, pixels])
    return g.model([image], first, [1, hidden])


BUILT: dict[str, Callable[[], ModelProto]] = {
    "bert_base_128": transformer_encoder,
    "mobilenet_v2": mobilenet_v2,
    "vit_base_224": vision_transformer,
}


def model_names() -> list[str]:
    """Every model that `make_model` makes."""
    return [*light_models(), *BUILT]


def make_model(name: str) -> ModelProto:
    """The model `name`, one of `model_names`, at its full size.

    Raises:
        ValueError: there is none of that name.
    """
    return BUILT[name]() if name in BUILT else light_model(name)


def random_feeds(model: ModelProto, seed: int = 0) -> dict[str, NDArray]:
    """Inputs for `model`: normally distributed floats; integers from 0 to 999, which are ids in any vocabulary."""
    rng = np.random.default_rng(seed)
    weights = {tensor.name for tensor in model.graph.initializer}
    feeds: dict[str, NDArray] = {}
    for value in model.graph.input:
        if value.name not in weights:
            tensor = value.type.tensor_type
            shape = [dim.dim_value or 1 for dim in tensor.shape.dim]
            dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
            drawn = rng.standard_normal(shape) if dtype.kind == "f" else rng.integers(0, 1000, shape)
            feeds[value.name] = drawn.astype(dtype)
    return feeds

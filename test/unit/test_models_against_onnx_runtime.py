"""Whole models with random weights give what ONNX Runtime gives, on one thread and on two."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

onnxruntime: Any = pytest.importorskip("onnxruntime")

from onnx import ModelProto, TensorProto, helper

import weft
from weft.testing.models import (
    GraphBuilder,
    light_model,
    mobilenet_v2,
    random_feeds,
    transformer_encoder,
    vision_transformer,
)

pytestmark = pytest.mark.usefixtures("optimized_code")


def densely_connected(pixels: int = 16) -> ModelProto:
    """Two blocks as those of DenseNet (Huang et al., 2017), whose layers see the results of all before them."""
    g, channels = GraphBuilder(seed=0), 12
    x = g.convolution("image", 3, channels, 3)
    for block in range(2):
        for _ in range(3):
            y = g.convolution(g.convolution(x, channels, 16, 1), 16, 8, 3)
            x, channels = g.op("Concat", x, y, axis=1), channels + 8
        if block == 0:
            x = g.op("AveragePool", g.convolution(x, channels, channels // 2, 1), kernel_shape=[2, 2], strides=[2, 2])
            channels //= 2
    return classifier(g, x, channels, pixels)


def of_parallel_branches(pixels: int = 16) -> ModelProto:
    """Two modules as those of GoogLeNet (Szegedy et al., 2015), with its local response normalisation before."""
    g, channels = GraphBuilder(seed=0), 8
    x = g.op("LRN", g.convolution("image", 3, channels, 3), size=5, alpha=0.1, beta=0.75)
    for _ in range(2):
        pool = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
        branches = [
            g.convolution(x, channels, 8, 1),
            g.convolution(g.convolution(x, channels, 6, 1), 6, 12, 3),
            g.convolution(g.convolution(x, channels, 4, 1), 4, 6, 5),
            g.convolution(pool, channels, 6, 1),
        ]
        x, channels = g.op("Concat", *branches, axis=1), 32
    return classifier(g, x, channels, pixels)


def of_grouped_channels(pixels: int = 16) -> ModelProto:
    """Inverted residuals as those of MobileNet v2 (Sandler et al., 2018), grouped convolutions whose channels are
    shuffled as in ShuffleNet (Zhang et al., 2018), and halves of channels that are joined again."""
    g, channels, groups = GraphBuilder(seed=0), 12, 3
    x = g.convolution("image", 3, channels, 3, stride=2)
    for _ in range(2):
        wide = g.convolution(g.convolution(x, channels, 24, 1), 24, 24, 3, groups=24)
        x = g.op("Add", x, g.convolution(wide, 24, channels, 1, relu6=False))
        y = g.convolution(x, channels, channels, 1, groups=groups)
        apart = g.op("Reshape", y, g.constant([0, groups, channels // groups, pixels // 2, pixels // 2]))
        mixed = g.op("Transpose", apart, perm=[0, 2, 1, 3, 4])
        shuffled = g.op("Reshape", mixed, g.constant([0, channels, pixels // 2, pixels // 2]))
        x = g.op("Add", x, g.convolution(shuffled, channels, channels, 3, groups=channels, relu6=False))
    down = g.convolution(x, channels, channels, 3, stride=2, groups=channels)
    pool = g.op("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    return classifier(g, g.op("Concat", down, pool, axis=1), 2 * channels, pixels)


def classifier(g: GraphBuilder, x: str, channels: int, pixels: int) -> ModelProto:
    """Seven classes of the means of `x` over its pixels."""
    means = g.op("Flatten", g.op("GlobalAveragePool", x))
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [2, 3, pixels, pixels])
    return g.model([image], g.op("Softmax", g.linear(means, channels, 7), axis=1), [2, 7])


MODELS: dict[str, Callable[[], ModelProto]] = {
    "dense blocks": densely_connected,
    "parallel branches": of_parallel_branches,
    "grouped channels": of_grouped_channels,
    "a BERT encoder of two layers": lambda: transformer_encoder(layers=2, tokens=37, vocabulary=1000),
    "a batch for an encoder whose rows and heads leave rests": lambda: transformer_encoder(
        layers=1, hidden=72, heads=3, tokens=53, batch=2, vocabulary=1000
    ),
    "a vision transformer of two layers": lambda: vision_transformer(layers=2, hidden=192, heads=3, pixels=112),
}
LARGE: dict[str, Callable[[], ModelProto]] = {
    "MobileNet v2": lambda: mobilenet_v2(pixels=96, classes=100),
    **{
        name: partial(light_model, name)
        for name in ("squeezenet", "shufflenet", "densenet121", "inception_v1", "resnet50")
    },
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "make",
    [
        *(pytest.param(make, id=name) for name, make in MODELS.items()),
        *(pytest.param(make, id=name, marks=pytest.mark.large) for name, make in LARGE.items()),
    ],
)
def test_a_model_gives_what_onnx_runtime_gives(make: Callable[[], ModelProto]) -> None:
    model = make()
    feeds = random_feeds(model, seed=1)
    (expected,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)
    assert expected.std() > 1e-2 * np.abs(expected).max(), "the output hardly depends on anything"
    executable = weft.compile(model)
    for threads in (1, 2):
        executable.threads = threads
        (found,) = executable.run(feeds).values()
        np.testing.assert_allclose(found.astype(np.float64), expected, rtol=2e-4, atol=2e-5 * np.abs(expected).max())

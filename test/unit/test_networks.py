"""The networks to measure with: each is a model that ONNX accepts. And convolutions of other kinds, compiled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import weft
from weft.testing.further_networks import FURTHER_NETWORKS
from weft.testing.models import GraphBuilder, random_feeds
from weft.testing.networks import NETWORKS, NetworkBuilder
from weft.testing.onnx_graphs import run_onnx_runtime

SMALL: dict[str, dict[str, int]] = {
    "dcgan": {"width": 8},
    "gpt2_decode_128": {"layers": 1, "hidden": 24, "past": 4},
    "gru_64": {"steps": 2, "width": 8, "layers": 1},
    "lstm_64": {"steps": 2, "inputs": 4, "hidden": 8, "layers": 1},
    "swin": {"pixels": 56, "hidden": 32},
    "tcn": {"length": 8, "channels": 16},
    "unet_256": {"pixels": 32, "width": 4},
    "vocoder": {"frames": 4, "channels": 16},
    "yolo_v5n_320": {"pixels": 64, "width": 4},
}
"""Sizes at which the shapes of a model are those of its like; the others have one argument that counts, the pixels."""


LARGE = {"convnext_tiny", "deeplab_v3", "resnext50"}
"""Whose weights take seconds to draw at any size of the image."""


ALL = NETWORKS | FURTHER_NETWORKS


@pytest.mark.parametrize("name", sorted(ALL.keys() - LARGE))
def test_a_network_is_a_model_whose_shapes_are_what_it_says(name: str) -> None:
    model = ALL[name](**SMALL.get(name, {"pixels": 64}))
    onnx.checker.check_model(model.SerializeToString(), full_check=True)  # pyright: ignore[reportUnknownMemberType]


def test_images_are_enlarged_as_onnx_runtime_does() -> None:
    g, x = GraphBuilder(), "x"
    for inputs, outputs, kernel, extra in ((8, 16, 4, 0), (16, 3, 3, 1)):
        weight = g.normal(inputs, outputs, kernel, kernel, scale=1 / math.sqrt(inputs))
        x = g.op("ConvTranspose", x, weight, strides=[2, 2], pads=[1] * 4, output_padding=[extra] * 2)
    agrees_with_onnx_runtime(g.model([tensor("x", 1, 8, 5, 4)], x, [1, 3, 20, 16]))


def test_convolutions_along_one_and_three_axes_are_onnx_runtimes() -> None:
    g = GraphBuilder()
    row = g.op("Conv", "row", g.normal(16, 60, 3, scale=0.1), strides=[2], pads=[2, 1], dilations=[2])
    block = g.op("Conv", "block", g.normal(16, 10, 2, 3, 3, scale=0.1), strides=[2, 1, 1], pads=[1, 0, 1, 0, 1, 0])
    both = g.op("Concat", g.op("Flatten", row), g.op("Flatten", block), axis=1)
    agrees_with_onnx_runtime(g.model([tensor("row", 1, 60, 8), tensor("block", 1, 10, 3, 4, 5)], both, [1, 448]))


def test_transposed_convolutions_along_one_and_three_axes_are_onnx_runtimes() -> None:
    g = GraphBuilder()
    row = g.op("ConvTranspose", "row", g.normal(8, 6, 5, scale=0.2), strides=[3], pads=[1, 2], output_padding=[1])
    flat = g.op("ConvTranspose", "flat", g.normal(4, 3, 3, 4, scale=0.2), strides=[1, 2], pads=[1, 1, 1, 1])
    block = g.op("ConvTranspose", "block", g.normal(4, 3, 2, 3, 2, scale=0.2), strides=[2, 1, 2])
    parts = [g.op("Flatten", each) for each in (row, flat, block)]
    inputs = [tensor("row", 2, 8, 4), tensor("flat", 2, 4, 3, 3), tensor("block", 2, 4, 2, 3, 2)]
    agrees_with_onnx_runtime(g.model(inputs, g.op("Concat", *parts, axis=1), [2, 72 + 54 + 240]))


def test_groups_of_channels_are_onnx_runtimes() -> None:
    """Groups that fill vectors, that share one, that are one and a half; gates on the last."""
    g, x = NetworkBuilder(), "x"
    for outputs, groups, stride in ((96, 3, 1), (96, 12, 2), (72, 3, 1)):
        inputs = 96 if outputs == 72 or x != "x" else 48
        x = g.conv(x, inputs, outputs, 3, stride=stride, groups=groups)
    x = g.squeeze_excite(x, 72, 8, "relu", "Sigmoid")
    exe = agrees_with_onnx_runtime(g.model([tensor("x", 1, 48, 6, 7)], g.conv(x, 72, 16), [1, 16, 3, 4]))
    assert "relay.nn.conv2d " not in exe.ir["graph"]


def test_attention_of_windows_takes_some_rows_of_one_at_a_time() -> None:
    """Heads of 24 numbers and windows of 18 rows leave rests. A mask of -100 makes weights below the least number."""
    g, tokens, heads, size = GraphBuilder(), 18, 2, 24
    split = g.constant([3, tokens, heads, size])
    query, key, value = (
        g.op("Transpose", g.op("Reshape", name, split), perm=perm)
        for name, perm in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3]))
    )
    mask = g.constant(np.where(np.arange(3 * tokens * tokens) % 5 < 2, -100, 0).astype(np.float32))
    scores = g.op("Add", g.op("MatMul", query, key), g.op("Reshape", mask, g.constant([3, 1, tokens, tokens])))
    mixed = g.op("Transpose", g.op("MatMul", g.op("Softmax", scores, axis=-1), value), perm=[0, 2, 1, 3])
    merged = g.op("Reshape", mixed, g.constant([3 * tokens, heads * size]))
    inputs = [tensor(name, 3 * tokens, heads * size) for name in "qkv"]
    exe = agrees_with_onnx_runtime(g.model(inputs, merged, [3 * tokens, heads * size]))
    sums = [line for line in exe.ir["schedule"].splitlines() if "tir.block @batch_matmul_init(" in line]
    assert sums, "products of tiles of rows begin with zeros of their own"


def test_weights_of_softmax_below_the_least_normal_number_are_zero() -> None:
    g = GraphBuilder()
    exe = weft.compile(g.model([tensor("x", 1, 4)], g.op("Softmax", "x", axis=-1), [1, 4]), threads=1)
    found: Any = exe(np.array([[0, -87, -88, -np.inf]], np.float32))
    assert found[0, 1] > 0 and found[0, 2] == found[0, 3] == 0


def tensor(name: str, *shape: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def agrees_with_onnx_runtime(model: onnx.ModelProto) -> weft.Executable:
    feeds = list(random_feeds(model).values())
    expected = run_onnx_runtime(model, feeds)
    assert expected is not None
    wanted: Any = expected[0]
    exe = weft.compile(model, threads=1)
    got: Any = exe(*feeds)
    assert np.abs(got - wanted).max() <= 1e-5 * np.abs(wanted).max()
    return exe

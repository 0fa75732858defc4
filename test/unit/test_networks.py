"""The networks to measure with: each is a model that ONNX accepts. And convolutions of other kinds, compiled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import weft
from weft.testing.models import GraphBuilder, random_feeds
from weft.testing.networks import NETWORKS
from weft.testing.onnx_graphs import run_onnx_runtime

SMALL: dict[str, dict[str, int]] = {
    "dcgan": {"width": 8},
    "gpt2_decode_128": {"layers": 1, "hidden": 24, "past": 4},
    "gru_64": {"steps": 2, "width": 8, "layers": 1},
    "lstm_64": {"steps": 2, "inputs": 4, "hidden": 8, "layers": 1},
    "unet_256": {"pixels": 32, "width": 4},
    "yolo_v5n_320": {"pixels": 64, "width": 4},
}
"""Sizes at which the shapes of a model are those of its like; the others have one argument that counts, the pixels."""


LARGE = {"convnext_tiny", "deeplab_v3", "resnext50"}
"""Whose weights take seconds to draw at any size of the image."""


@pytest.mark.parametrize("name", sorted(NETWORKS.keys() - LARGE))
def test_a_network_is_a_model_whose_shapes_are_what_it_says(name: str) -> None:
    model = NETWORKS[name](**SMALL.get(name, {"pixels": 64}))
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


def tensor(name: str, *shape: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def agrees_with_onnx_runtime(model: onnx.ModelProto) -> None:
    feeds = list(random_feeds(model).values())
    expected = run_onnx_runtime(model, feeds)
    assert expected is not None
    wanted: Any = expected[0]
    got: Any = weft.compile(model, threads=1)(*feeds)
    assert np.abs(got - wanted).max() <= 1e-5 * np.abs(wanted).max()

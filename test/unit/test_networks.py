"""The networks to measure with: each is a model that ONNX accepts. And what they enlarge images by, compiled."""

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
    model = g.model([helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8, 5, 4])], x, [1, 3, 20, 16])
    feeds = list(random_feeds(model).values())
    expected = run_onnx_runtime(model, feeds)
    assert expected is not None
    wanted: Any = expected[0]
    got: Any = weft.compile(model, threads=1)(*feeds)
    assert np.abs(got - wanted).max() <= 1e-5 * np.abs(wanted).max()

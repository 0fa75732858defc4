"""Whole models with random weights give what ONNX Runtime gives, on one thread and on two."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnxruntime: Any = pytest.importorskip("onnxruntime")

from onnx import ModelProto  # noqa: E402

import weft  # noqa: E402
from weft.testing.models import (  # noqa: E402
    light_model,
    mobilenet_v2,
    random_feeds,
    transformer_encoder,
    vision_transformer,
)

MODELS = {
    "a BERT encoder of two layers": lambda: transformer_encoder(layers=2, tokens=37, vocabulary=1000),
    "a narrow BERT encoder": lambda: transformer_encoder(
        layers=2, hidden=72, heads=3, tokens=17, batch=2, vocabulary=1000
    ),
    "a vision transformer of two layers": lambda: vision_transformer(layers=2, hidden=192, heads=3, pixels=112),
    "MobileNet v2": lambda: mobilenet_v2(pixels=96, classes=100),
    "SqueezeNet": lambda: light_model("squeezenet"),
    "ShuffleNet": lambda: light_model("shufflenet"),
}


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> ModelProto:
    return MODELS[request.param]()


def test_a_model_gives_what_onnx_runtime_gives(model: ModelProto) -> None:
    feeds = random_feeds(model, seed=1)
    (expected,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)
    assert expected.std() > 1e-2 * np.abs(expected).max(), "the output hardly depends on anything"
    executable = weft.compile(model)
    for threads in (1, 2):
        executable.threads = threads
        (found,) = executable.run(feeds).values()
        np.testing.assert_allclose(found.astype(np.float64), expected, rtol=2e-4, atol=2e-5 * np.abs(expected).max())

"""Networks that find as many things as there are: what ONNX Runtime finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import onnx
import onnxruntime as ort

import weft
from weft.testing.detectors import faster_rcnn, ssd, yolo

DETECTORS = {"ssd": ssd, "yolo": yolo, "faster_rcnn": faster_rcnn}


def agrees(model: onnx.ModelProto, exe: Any, image: np.ndarray[Any, Any]) -> int:
    """How many things are found."""
    session: Any = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted: Any = session.run(None, {"image": image})
    for threads in (1, 2):
        exe.threads = threads
        for got, expected in zip(exe(image), wanted, strict=True):
            assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
            np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-3)
    return len(wanted[0])


@pytest.mark.parametrize(
    "name, score",
    [
        ("ssd", 0.5),
        pytest.param("yolo", 0.35, marks=pytest.mark.large),
        pytest.param("faster_rcnn", 0.6, marks=pytest.mark.large),
    ],
)
def test_what_is_found_is_what_onnx_runtime_finds(name: str, score: float) -> None:
    model = DETECTORS[name](score=score, deep=False)
    onnx.checker.check_model(model, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    exe = weft.compile(model, shapes={"image": (1, 3, 16, 24)}, threads=1)
    rng = np.random.default_rng(1)
    found = {agrees(model, exe, rng.random((1, 3, 16, 24)).astype(np.float32) * scale) for scale in (0, 1, 4, 30)}
    assert min(found) == 0 < max(found), f"{found} things are found: one image has none"


@pytest.mark.large
@pytest.mark.parametrize("name", DETECTORS)
def test_one_program_finds_things_in_images_of_all_sizes(name: str) -> None:
    model = DETECTORS[name]()
    exe = weft.compile(model, threads=1)
    rng = np.random.default_rng(0)
    for height, width in ((64, 64), (32, 48), (96, 64), (8, 8)):
        agrees(model, exe, rng.random((1, 3, height, width)).astype(np.float32))

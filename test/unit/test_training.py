"""examples/training.py: networks learn with Weft as they do with NumPy."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "training.py"


@pytest.fixture(scope="module")
def training() -> ModuleType:
    spec = importlib.util.spec_from_file_location("training_example", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("number", [0, 1], ids=["perceptron", "convolutions"])
def test_the_loss_falls_as_numpy_s_does(training: ModuleType, number: int) -> None:
    task = training.tasks()[number]
    ours, theirs = training.train_with_weft(task, 30), training.train_with_numpy(task, 30)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)
    assert np.mean(ours[-5:]) < 0.9 * ours[0]


def test_the_losses_are_drawn(training: ModuleType) -> None:
    lines = ElementTree.fromstring(training.drawing({"one": [2.0, 1.0], "other": [1.0, 0.5]}))
    assert [len(line.attrib["points"].split()) for line in lines.iter() if line.tag.endswith("polyline")] == [2, 2]

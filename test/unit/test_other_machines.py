"""What is compiled for other processors computes what it computes here: by emulators, where there are such.

`make test-cross` installs them. Without them nothing is known of the machine, and its tests are skipped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from other_machines import MACHINES, Machine

import weft
from weft.frontend.mlir import parse_mlir
from weft.testing.models import light_model, random_feeds, transformer_encoder

LAYERS = """
relay.func @main(%x: tensor<3x16xf32>, %v: tensor<5x16xf32>) -> tensor<3x5xf32> {
  %0 = relay.nn.dense %x, %v : (tensor<3x16xf32>, tensor<5x16xf32>) -> tensor<3x5xf32>
  %1 = relay.nn.softmax %0 : tensor<3x5xf32>
  relay.return %1 : tensor<3x5xf32>
}
"""
RUN_HERE = {"x86-64-v2", "x86-64-v3", "x86-64-v4"}
"""These need no emulator, so that their tests are never skipped: the long one is not for every day."""


def agree(model: Any, machine: Machine, inputs: list[Any], folder: Path, atol: float) -> None:
    if (reason := machine.missing()) is not None:
        pytest.skip(reason)
    wanted = weft.compile(model)(*inputs)
    found = machine.run(weft.compile(model, target=machine.target), inputs, folder)
    for one, other in zip(found, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        np.testing.assert_allclose(one, np.asarray(other, np.float32), rtol=1e-4, atol=atol)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: m.name)
def test_layers_agree(machine: Machine, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in ((3, 16), (5, 16))]
    agree(parse_mlir(LAYERS, "layers.mlir"), machine, inputs, tmp_path, 1e-6)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: m.name)
def test_a_layer_of_bert_agrees(machine: Machine, tmp_path: Path) -> None:
    model = transformer_encoder(layers=1, hidden=64, heads=4, tokens=16, vocabulary=1000)
    agree(model, machine, list(random_feeds(model).values()), tmp_path, 1e-5)


@pytest.mark.parametrize(
    "machine",
    [pytest.param(m, id=m.name, marks=[pytest.mark.large] * (m.name in RUN_HERE)) for m in MACHINES],
)
def test_squeezenet_agrees(machine: Machine, tmp_path: Path) -> None:
    model = light_model("squeezenet")
    agree(model, machine, list(random_feeds(model).values()), tmp_path, 1e-5)

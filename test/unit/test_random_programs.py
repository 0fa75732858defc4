"""Random programs give on machine code what they give on the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from random_notes import note_places
from random_programs import random_program

import weft
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.frontend.mlir import parse_mlir
from weft.transforms.relay.plan_devices import PlanDevicesPass

pytestmark = pytest.mark.usefixtures("optimized_code")


@pytest.mark.parametrize("seed", [3, 8])
def test_a_random_program_means_the_same_everywhere(seed: int):
    module = parse_mlir(random_program(seed), f"program {seed}")
    (main,) = (op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    inputs = [np.array([0.1, -0.2, 0.3], np.float32), np.array([1, 0.5, -0.7], np.float32)]
    exe = weft.compile(module, threads=1)
    for _ in range(3):
        for found, expected in zip(exe(*inputs), evaluate_function(main, inputs), strict=True):
            np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("seed", "extent"), [(3, "3"), (19, "3"), (3, "?")])
def test_a_random_program_means_the_same_on_several_devices(seed: int, extent: str):
    """Lists, functions and references of tensors that are far away among them."""
    text = random_program(seed).replace("tensor<3xf32>", f"tensor<{extent}xf32>")
    module, noted = (parse_mlir(text, f"program {seed}") for _ in range(2))
    assert note_places(noted, seed)
    once = PlanDevicesPass()(noted)
    assert str(PlanDevicesPass()(once)) == str(once), "planned anew, it is another"
    exe, there = weft.compile(module, threads=1), weft.compile(noted, threads=1)
    assert len({device.name for segment in there.graph.segments for device in segment.devices}) > 1
    inputs = [np.array([0.1, -0.2, 0.3], np.float32), np.array([1, 0.5, -0.7], np.float32)]
    for found, expected in zip(there(*inputs), exe(*inputs), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)

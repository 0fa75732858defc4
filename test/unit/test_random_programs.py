"""Random programs give on machine code what they give on the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from random_languages import random_language
from random_notes import note_places

import weft
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.frontend.mlir import parse_mlir
from weft.transforms.relay.plan_devices import PlanDevicesPass

pytestmark = pytest.mark.usefixtures("optimized_code")

INPUTS = [np.array([1, -2, 3], np.float32), np.array([4, 0, -3], np.float32)]


@pytest.mark.parametrize("seed", [3, 29])
def test_a_random_program_means_the_same_everywhere(seed: int):
    module = parse_mlir(random_language(seed, plain=True), f"program {seed}")
    (main,) = (op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    exe = weft.compile(module, threads=1)
    for _ in range(3):
        for found, expected in zip(exe(*INPUTS), evaluate_function(main, INPUTS), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("seed", "extent"), [(4, "3"), (34, "3"), (14, "?")])
def test_a_random_program_means_the_same_on_several_devices(seed: int, extent: str):
    """Lists, functions and references of tensors that are far away among them."""
    text = random_language(seed, plain=True).replace("tensor<3xf32>", f"tensor<{extent}xf32>")
    module, noted = (parse_mlir(text, f"program {seed}") for _ in range(2))
    assert note_places(noted, seed)
    once = PlanDevicesPass()(noted)
    assert str(PlanDevicesPass()(once)) == str(once), "planned anew, it is another"
    exe, there = weft.compile(module, threads=1), weft.compile(noted, threads=1)
    assert len({device.name for segment in there.graph.segments for device in segment.devices}) > 1
    for found, expected in zip(there(*INPUTS), exe(*INPUTS), strict=True):
        np.testing.assert_array_equal(found, expected)

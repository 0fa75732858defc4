"""Random programs give on machine code what they give on the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from random_programs import random_program

import weft
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.frontend.mlir import parse_mlir


@pytest.mark.parametrize("seed", [3, 8])
def test_a_random_program_means_the_same_everywhere(seed: int):
    module = parse_mlir(random_program(seed), f"program {seed}")
    (main,) = (op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    inputs = [np.array([0.1, -0.2, 0.3], np.float32), np.array([1, 0.5, -0.7], np.float32)]
    exe = weft.compile(module, threads=1)
    for _ in range(3):
        for found, expected in zip(exe(*inputs), evaluate_function(main, inputs), strict=True):
            np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float), rtol=1e-4, atol=1e-5)

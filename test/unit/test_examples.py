"""The files in `examples/` mean what they say: judged by NumPy and ONNX Runtime, not by Weft."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

import weft

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_perceptron_gives_what_its_formula_says() -> None:
    with np.load(EXAMPLES / "perceptron.weights.npz") as weights:
        w1, b1, w2 = (weights[name].astype(np.float64) for name in ("w1", "b1", "w2"))
    executable = weft.compile(EXAMPLES / "perceptron.mlir")
    for x in np.random.default_rng(0).standard_normal((3, 1, 64)).astype(np.float32):
        hidden = x @ w1.T + b1
        assert (hidden < 0).any() and (hidden > 0).any(), "the rectifier has nothing to do"
        logits = np.maximum(hidden, 0) @ w2.T
        expected = np.exp(logits) / np.exp(logits).sum()
        np.testing.assert_allclose(np.asarray(executable(x), np.float64), expected, rtol=1e-5)


def test_the_demo_finds_its_result_right() -> None:
    done = subprocess.run([sys.executable, EXAMPLES / "demo.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "the result is right" in done.stdout

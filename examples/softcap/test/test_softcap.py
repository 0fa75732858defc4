"""The operators' examples, on the interpreter and as machine code; the ONNX domain; the layout rule."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from softcap.ops import RmsNormOp, Softcap

import weft
from weft.testing import OperatorExample, assert_close, examples_of, run_operator
from weft.testing.operators import random_floats

NDArray = npt.NDArray[np.float32]


@pytest.mark.parametrize("example", examples_of(Softcap), ids=str)
def test_the_example_holds(example: OperatorExample) -> None:
    example.check()


def rms(x: NDArray, axis: tuple[int, ...]) -> NDArray:
    return x / np.sqrt(np.mean(x * x, axis=axis, keepdims=True) + 1e-5)


def test_several_axes_are_normalised_together() -> None:
    x = random_floats(2, 3, 4)
    assert_close(run_operator(RmsNormOp, [x], axes=[-1, 1]), rms(x, (1, 2)))


WEIGHT = random_floats(16, 16, 3, 3)


def model(*, whole: bool) -> onnx.ModelProto:
    """A convolution; behind it, if `whole`, both operators of the domain."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 8, 8])
    y = helper.make_tensor_value_info("y" if whole else "a", TensorProto.FLOAT, [1, 16, 8, 8])
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Softcap", ["a"], ["b"], domain="com.example", cap=3.0),
        helper.make_node("RmsNorm", ["b", "s"], ["y"], domain="com.example", axis=2),
    ]
    weights = [numpy_helper.from_array(WEIGHT, "w"), numpy_helper.from_array(np.array(2.0, np.float32), "s")]
    graph = helper.make_graph(nodes if whole else nodes[:1], "g", [x], [y], weights)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    return helper.make_model(graph, opset_imports=opsets)


def test_a_model_with_both_operators_runs_in_blocks_of_channels() -> None:
    executable = weft.compile(model(whole=True), threads=1)
    normalised = [line for line in executable.ir["graph"].splitlines() if "softcap.rms_norm" in line]
    (line,) = normalised
    assert re.search(r"tensor<1x\d+x8x8x\d+xf32>$", line), line
    x = random_floats(1, 16, 8, 8)
    convolved: NDArray = np.asarray(weft.compile(model(whole=False), threads=1)(x), np.float32)
    assert_close(executable(x), 2 * rms(3 * np.tanh(convolved / 3), (2, 3)))


def test_the_pass_joins_a_compilation() -> None:
    executable = weft.compile(Path(__file__).with_name("recognise_softcap.mlir"), threads=1)
    assert "softcap.softcap" in executable.ir["graph"]
    assert_close(executable(np.full((2, 4), 1e9, np.float32)), np.full((2, 4), 2))

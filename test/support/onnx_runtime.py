"""Models of one node, and what ONNX Runtime makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.frontend.onnx import from_onnx

NDArray = npt.NDArray[Any]

ort: Any = import_module("onnxruntime")


def normal(*shape: int, seed: int = 0) -> NDArray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def model(
    operator: str,
    inputs: Sequence[NDArray],
    constants: Sequence[NDArray] = (),
    opset: int = 18,
    outputs: int = 1,
    declared: Sequence[int] | None = None,
    **attributes: Any,
) -> ModelProto:
    """One node: `inputs` are the graph's, `constants` follow them."""
    names = [f"x{i}" for i in range(len(inputs))]
    weights = [f"c{i}" for i in range(len(constants))]
    results = [f"y{i}" for i in range(outputs)]
    types = [helper.np_dtype_to_tensor_dtype(array.dtype) for array in inputs]
    graph = helper.make_graph(
        [helper.make_node(operator, [*names, *weights], results, **attributes)],
        "g",
        [helper.make_tensor_value_info(n, t, x.shape) for n, t, x in zip(names, types, inputs, strict=True)],
        [
            helper.make_value_info(name, onnx.TypeProto())
            if declared is None
            else helper.make_tensor_value_info(name, TensorProto.FLOAT, declared)
            for name in results
        ],
        [numpy_helper.from_array(c, name) for c, name in zip(constants, weights, strict=True)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def evaluate(proto: ModelProto, inputs: Sequence[NDArray]) -> list[NDArray]:
    function = from_onnx(proto).body.block.first_op
    assert isinstance(function, FuncOp)
    return evaluate_function(function, inputs)


def check(proto: ModelProto, *inputs: NDArray) -> None:
    """Weft's meaning of a model is ONNX Runtime's."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session: Any = ort.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    wanted = session.run(None, {f"x{i}": x for i, x in enumerate(inputs)})
    for got, expected in zip(evaluate(proto, inputs), wanted, strict=True):
        assert got.shape == expected.shape and got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)

"""Small ONNX models, and what the importer makes of them."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import ModuleOp

onnx = pytest.importorskip("onnx")

from onnx import (
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    helper,
    numpy_helper,
)

from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function

NDArray = npt.NDArray[np.generic]
Dims = Sequence[int | str | None]


def random(*shape: int, seed: int = 0) -> npt.NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def graph_of(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, Dims],
    outputs: Sequence[str] = ("y",),
    weights: Mapping[str, NDArray] | None = None,
    dtype: int = TensorProto.FLOAT,
) -> GraphProto:
    return helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, dtype, list(shape)) for name, shape in inputs.items()],
        [helper.make_value_info(name, onnx.TypeProto()) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()],
    )


def model_of(graph: GraphProto, opset: int = 17, **more: object) -> ModelProto:
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8, **more)


def main_of(module: ModuleOp) -> FuncOp:
    module.verify()
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    return function


def run(module: ModuleOp, *inputs: NDArray) -> list[NDArray]:
    return evaluate_function(main_of(module), inputs)

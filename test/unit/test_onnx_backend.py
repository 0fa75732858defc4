"""ONNX's own backend tests, run by machine code through `weft.frontend.onnx_backend`.

Category Real: the nine light_* models of the onnx wheel against their recorded outputs. They are left to `make large`:
smaller networks of their kinds, with random weights, stand in test_models_against_onnx_runtime.py, and test_examples.py
runs one of them with random weights.
Categories PyTorchConverted and PyTorchOperator: some models of one layer that PyTorch exported; test_onnx_nodes.py runs
them all.
"""

import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")

import onnx.backend.test.runner as runner
from onnx import TensorProto, helper

import weft.frontend.onnx_backend as backend
from weft.dialects.support.diagnostics import Diagnostic

MODELS = (
    "squeezenet",
    "bvlc_alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
    "shufflenet",
    "vgg19",
    "zfnet512",
)
LAYERS = (
    "Conv2d_groups", "Conv3d_stride", "ConvTranspose2d", "AvgPool2d_stride", "MaxPool1d", "ZeroPad2d", "Embedding",
    "PixelShuffle", "LogSoftmax", "Linear_no_bias", "operator_concat2", "operator_reduced_mean_keepdim",
)  # fmt: skip


def _unless_node(load: Any, kind: str) -> Any:
    return [] if kind == "node" else load(kind=kind)


def backend_tests() -> dict[str, Any]:
    """ONNX's test classes, with the tests of these models and layers alone rather than thousands of skipped ones."""
    load: Any = vars(runner)["load_model_tests"]
    with pytest.MonkeyPatch.context() as patch:  # node tests take ONNX seconds to make, and are not wanted
        patch.setattr(runner, "load_model_tests", partial(_unless_node, load))
        cases = runner.Runner(backend, __name__).test_cases  # pyright: ignore[reportArgumentType]
    wanted = re.compile(f"test_({'|'.join((*MODELS, *LAYERS))})_cpu")
    large = {f"test_{name}_cpu" for name in MODELS}
    for case in cases.values():
        for name in [name for name in vars(case) if name.startswith("test_")]:
            if not wanted.fullmatch(name):
                delattr(case, name)
            elif name in large:
                pytest.mark.large(vars(case)[name])
    return cases


_cases = backend_tests()
OnnxBackendRealModelTest = _cases["OnnxBackendRealModelTest"]
OnnxBackendPyTorchConvertedModelTest = _cases["OnnxBackendPyTorchConvertedModelTest"]
OnnxBackendPyTorchOperatorModelTest = _cases["OnnxBackendPyTorchOperatorModelTest"]


@pytest.fixture(autouse=True)
def onnx_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ONNX writes the tests' inputs below $ONNX_HOME."""
    monkeypatch.setenv("ONNX_HOME", str(tmp_path))


def test_all_nine_light_models_and_the_layers_are_tested():
    classes: list[type] = [*_cases.values()]
    names = [name for case in classes for name in vars(case)]
    tests = {name for name in names if name.startswith("test_")}
    assert tests == {f"test_{name}_cpu" for name in (*MODELS, *LAYERS)}
    assert len(MODELS) == 9


def test_only_the_cpu_is_a_supported_device():
    assert backend.supports_device("CPU")
    assert not backend.supports_device("CUDA")


def test_a_single_node_runs_without_a_model():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    [y] = backend.run_node(helper.make_node("Softmax", ["x"], ["y"], axis=0), [x], opset_version=13)
    np.testing.assert_allclose(np.asarray(y).sum(axis=0), np.ones(3), rtol=1e-6)


def test_a_sequence_is_a_list():
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 2])
    parts = helper.make_tensor_sequence_value_info("parts", TensorProto.FLOAT, None)
    node = helper.make_node("SplitToSequence", ["x"], ["parts"], keepdims=0)
    graph = helper.make_graph([node], "g", [x], [parts])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    data = np.arange(6, dtype=np.float32).reshape(3, 2)
    (rows,) = backend.run_model(model, [data])
    assert isinstance(rows, list)
    np.testing.assert_array_equal(rows, data)


def test_an_input_is_a_list_of_as_many_tensors_as_there_are():
    given = helper.make_tensor_sequence_value_info("parts", TensorProto.FLOAT, None)
    outputs = [helper.make_empty_tensor_value_info(name) for name in ("y", "count")]
    nodes = [
        helper.make_node("ConcatFromSequence", ["parts"], ["y"], axis=0),
        helper.make_node("SequenceLength", ["parts"], ["count"]),
    ]
    graph = helper.make_graph(nodes, "g", [given], outputs)
    prepared = backend.prepare(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]))
    ones = np.ones((2, 3), np.float32)
    for parts in ([ones], [ones, ones[:1] * 2], [ones[:1], ones, ones]):
        y, count = prepared.run([parts])
        np.testing.assert_array_equal(y, np.concatenate(parts))
        assert count == len(parts)
    with pytest.raises(Diagnostic, match="an empty sequence"):
        prepared.run([[]])
    with pytest.raises(Diagnostic, match="no list of shapes"):
        prepared.run([None])


def test_an_optional_input_may_not_be_there():
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, [2])
    given = helper.make_value_info("x", helper.make_optional_type_proto(tensor))
    node = helper.make_node("OptionalHasElement", ["x"], ["y"])
    graph = helper.make_graph([node], "g", [given], [helper.make_tensor_value_info("y", TensorProto.BOOL, [])])
    prepared = backend.prepare(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]))
    assert prepared.run([None]) == (False,)
    assert prepared.run([np.zeros(2, np.float32)]) == (True,)


def test_a_sequence_that_a_loop_fills_is_no_output():
    sequence = helper.make_tensor_sequence_value_info
    body = helper.make_graph(
        [
            helper.make_node("SequenceInsert", ["held", "x"], ["more"]),
            helper.make_node("Identity", ["goes"], ["on"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("turn", TensorProto.INT64, []),
            helper.make_tensor_value_info("goes", TensorProto.BOOL, []),
            sequence("held", TensorProto.FLOAT, None),
        ],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, []), sequence("more", TensorProto.FLOAT, None)],
    )
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]),
        helper.make_tensor_value_info("turns", TensorProto.INT64, []),
        sequence("parts", TensorProto.FLOAT, None),
    ]
    loop = helper.make_node("Loop", ["turns", "", "parts"], ["all"], body=body)
    graph = helper.make_graph([loop], "g", inputs, [sequence("all", TensorProto.FLOAT, None)])
    prepared = backend.prepare(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]))
    x = np.zeros(2, np.float32)
    for parts in ([], [x]):
        with pytest.raises(Diagnostic) as refused:
            prepared.run([x, np.array(3), parts])
        assert "a sequence of as many tensors as only a run tells" in str(refused.value)


def test_too_few_inputs_are_an_error():
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "aby"]
    graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["y"])], "g", values[:2], values[2:])
    prepared = backend.prepare(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]))
    with pytest.raises(Diagnostic, match="1 inputs, but there are 2: a, b"):
        prepared.run([np.zeros(2, np.float32)])

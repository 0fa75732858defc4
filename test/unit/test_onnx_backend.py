"""ONNX's own backend tests, run by machine code.

Category Real: the nine light_* models of the onnx wheel against their recorded outputs. Categories PyTorchConverted and
PyTorchOperator: models of one layer, in one to three dimensions, that PyTorch exported.
"""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # ONNX makes its node tests while it is imported, and overflows on purpose
    import onnx.backend.test
    from onnx import TensorProto, helper

    import weft.frontend.onnx_backend as backend

    _tests = onnx.backend.test.BackendTest(backend, __name__)  # pyright: ignore[reportArgumentType]

from weft.dialects.support.diagnostics import Diagnostic

LIGHT_MODELS = (
    "bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet", "vgg19",
    "zfnet512",
)  # fmt: skip

LAYERS = (
    r"Conv[123]d\w*", r"ConvTranspose2d\w*", r"AvgPool\w*", r"MaxPool\w*", r"\w*Pad2d", r"Embedding\w*", "ELU", "SELU",
    r"LeakyReLU\w*", "PixelShuffle", r"(Log)?Softm(ax|in)", r"(log_)?softmax_\w+", "Softplus", "Linear_no_bias",
    r"operator_(chunk|clip|concat2|conv|convtranspose|flatten|index|maxpool|pad|permute2|repeat|view)",
    r"operator_reduced_(mean|sum)(_keepdim)?",
)  # fmt: skip
"""Left out are those of operators whose revision is older than opset 7, and plain elementwise ones."""

_wanted = re.compile(f"test_({'|'.join((*LIGHT_MODELS, *LAYERS))})_cpu")
_cases = _tests.test_cases
for _case in _cases.values():
    for _name in [name for name in vars(_case) if name.startswith("test_") and not _wanted.fullmatch(name)]:
        delattr(_case, _name)  # rather than thousands of skipped tests
OnnxBackendRealModelTest = _cases["OnnxBackendRealModelTest"]
OnnxBackendPyTorchConvertedModelTest = _cases["OnnxBackendPyTorchConvertedModelTest"]
OnnxBackendPyTorchOperatorModelTest = _cases["OnnxBackendPyTorchOperatorModelTest"]


@pytest.fixture(autouse=True)
def onnx_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ONNX writes the tests' inputs below $ONNX_HOME."""
    monkeypatch.setenv("ONNX_HOME", str(tmp_path))


def test_all_nine_light_models_are_tested():
    for name in LIGHT_MODELS:
        assert hasattr(OnnxBackendRealModelTest, f"test_{name}_cpu")


def test_only_the_cpu_is_a_supported_device():
    assert backend.supports_device("CPU")
    assert not backend.supports_device("CUDA")


def test_a_single_node_runs_without_a_model():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    [y] = backend.run_node(helper.make_node("Softmax", ["x"], ["y"], axis=0), [x], opset_version=13)
    np.testing.assert_allclose(y.sum(axis=0), np.ones(3), rtol=1e-6)


def test_too_few_inputs_are_an_error():
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "aby"]
    graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["y"])], "g", values[:2], values[2:])
    prepared = backend.prepare(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]))
    with pytest.raises(Diagnostic, match="1 inputs, but there are 2: a, b"):
        prepared.run([np.zeros(2, np.float32)])

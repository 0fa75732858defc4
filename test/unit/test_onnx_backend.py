"""ONNX's own backend tests, category Real: the nine light_* models of the onnx wheel against their recorded outputs."""

import warnings
from pathlib import Path

import pytest

pytest.importorskip("onnx")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # ONNX makes its node tests while it is imported, and overflows on purpose
    import onnx.backend.test

    import weft.frontend.onnx_backend as backend

    _tests = onnx.backend.test.BackendTest(backend, __name__)  # pyright: ignore[reportArgumentType]

LIGHT_MODELS = (
    "bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet", "vgg19",
    "zfnet512",
)  # fmt: skip

for _name in LIGHT_MODELS:
    _tests.include(f"^test_{_name}_cpu$")

OnnxBackendRealModelTest = _tests.test_cases["OnnxBackendRealModelTest"]


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

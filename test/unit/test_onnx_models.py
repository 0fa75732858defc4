"""The light_* models of the onnx wheel, imported and evaluated by the reference: their recorded outputs. One in three
does with `make test`, as a smaller network of each kind stands in test_models_against_onnx_runtime.py."""

from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, numpy_helper

from weft.dialects.relay.base import shape_of
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.frontend.onnx import from_onnx

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
MODELS = sorted(path for path in LIGHT.glob("light_*.onnx") if path.stem != "light_squeezenet")
"""All but SqueezeNet, whose softmax is of equal numbers of 9e9: what it gives is that of their rounding."""


@pytest.mark.sampled(5)
@pytest.mark.parametrize("path", [pytest.param(p, id=p.stem) for p in MODELS])
def test_a_light_model_gives_its_recorded_output(path: Path):
    module = from_onnx(path)
    module.verify()
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    shape = shape_of(function.body.block.args[0])
    count = np.prod(shape)
    [got] = evaluate_function(function, [(np.arange(count).reshape(shape) / count).astype(np.float32)])
    recorded = path.with_name(f"{path.stem}_output_0.pb").read_bytes()
    wanted = numpy_helper.to_array(TensorProto.FromString(recorded))
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    np.testing.assert_allclose(got.astype(np.float64), wanted.astype(np.float64), rtol=1e-3, atol=1e-7)


def test_all_nine_light_models_are_there():
    assert len(list(LIGHT.glob("light_*.onnx"))) == 9


def test_the_numbers_that_squeezenet_gives_softmax_are_equal() -> None:
    """As its recorded output, a thousandth for each, says."""
    model = onnx.load(LIGHT / "light_squeezenet.onnx")
    softmax = model.graph.node.pop()
    model.graph.output[0].name = softmax.input[0]
    function = from_onnx(model).body.block.first_op
    assert softmax.op_type == "Softmax" and isinstance(function, FuncOp)
    shape = shape_of(function.body.block.args[0])
    count = np.prod(shape)
    [got] = evaluate_function(function, [(np.arange(count).reshape(shape) / count).astype(np.float32)])
    assert got.shape == (1, 1000, 1, 1) and got.min() > 1e9
    np.testing.assert_allclose(got.astype(np.float64), float(got.max()), rtol=1e-6)

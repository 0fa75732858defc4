"""Types that numbers are only kept in, from an ONNX file to machine code and back: floats of 8 bits, nibbles."""

from pathlib import Path

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from xdsl.utils.exceptions import VerifyException

import weft
from weft.dialects.relay import Relay
from weft.frontend.mlir import parse_mlir
from weft.testing import run_operator
from weft.tools import weft_import, weft_opt

onnx = pytest.importorskip("onnx")
from onnx import ModelProto, TensorProto, helper, numpy_helper

from weft.frontend.onnx import from_onnx

pytestmark = pytest.mark.sampled(5)

CODES = ["FLOAT8E5M2", "FLOAT8E4M3FN", "INT4", "UINT4", "INT2", "FLOAT4E2M1"]


def model(code: int) -> tuple[ModelProto, npt.NDArray[np.generic]]:
    """A product with weights of a type, and a transposition of it; the weights."""
    dtype = helper.tensor_dtype_to_np_dtype(code)
    weights = (np.arange(24).reshape(4, 6) % 3 - 1).astype(dtype)
    nodes = [
        helper.make_node("Cast", ["w"], ["wide"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["x", "wide"], ["y"]),
        helper.make_node("Transpose", ["v"], ["u"]),
    ]
    inputs = [("x", TensorProto.FLOAT, [3, 4]), ("v", code, [4, 6])]
    outputs = [("y", TensorProto.FLOAT, [3, 6]), ("u", code, [6, 4])]
    taken, given = ([helper.make_tensor_value_info(*each) for each in some] for some in (inputs, outputs))
    graph = helper.make_graph(nodes, "g", taken, given, [numpy_helper.from_array(weights, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)]), weights


@pytest.mark.parametrize("name", CODES)
def test_weights_and_inputs_of_few_bits(name: str, tmp_path: Path) -> None:
    proto, weights = model(TensorProto.DataType.Value(name))
    x = np.random.default_rng(0).uniform(-1, 1, (3, 4)).astype(np.float32)
    wanted: npt.NDArray[np.float32] = x @ weights.astype(np.float32)

    def hold(exe: weft.Executable) -> None:
        y, u = exe(x, weights)
        np.testing.assert_allclose(np.asarray(y, np.float32), wanted, rtol=1e-5, atol=1e-6)
        assert u.dtype == weights.dtype
        np.testing.assert_array_equal(u.view(np.uint8), weights.T.view(np.uint8))

    for level in (0, 3):
        with weft.PassContext(opt_level=level):
            hold(weft.compile(from_onnx(proto)))
    exe = weft.compile(from_onnx(proto))
    exe.save(str(tmp_path / "m.weft"))
    hold(weft.load(str(tmp_path / "m.weft")))


@pytest.mark.parametrize("name", CODES)
def test_weights_of_few_bits_are_written_beside_the_text(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proto, weights = model(TensorProto.DataType.Value(name))
    onnx.save(proto, str(tmp_path / "m.onnx"))
    assert weft_import.main([str(tmp_path / "m.onnx"), "-o", str(tmp_path / "m.mlir")]) == 0
    with np.load(tmp_path / "m.weights.npz") as file:
        (key,) = (key for key in file.files if not key.endswith(".dtype"))
        assert str(file[key + ".dtype"]) == weights.dtype.name
    assert weft_opt.main([str(tmp_path / "m.mlir"), "-p", "fold-constant"]) == 0
    assert "error" not in capsys.readouterr().err


def test_a_name_that_is_no_type_in_the_weights_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proto, _ = model(TensorProto.INT4)
    onnx.save(proto, str(tmp_path / "m.onnx"))
    weft_import.main([str(tmp_path / "m.onnx"), "-o", str(tmp_path / "m.mlir")])
    with np.load(tmp_path / "m.weights.npz") as file:
        arrays = {key: file[key] for key in file.files}
    (key,) = (key for key in arrays if key.endswith(".dtype"))
    np.savez(tmp_path / "m.weights.npz", **{**arrays, key: np.array("finfo")})  # pyright: ignore[reportArgumentType]
    assert weft_opt.main([str(tmp_path / "m.mlir"), "-p", "fold-constant"]) == 1
    assert "'finfo' is no element type" in capsys.readouterr().err


def test_nothing_is_computed_with_them() -> None:
    operators = {op.name: op for op in Relay.operations}
    x = np.ones(4, ml_dtypes.float8_e4m3fn)
    with pytest.raises(
        VerifyException, match="f8E4M3FN is a type to keep numbers in; to compute with them, cast to f32"
    ):
        run_operator(operators["relay.add"], [x, x])  # pyright: ignore[reportArgumentType]
    with pytest.raises(VerifyException, match="i4 is a type to keep numbers in; to compute with them, cast to i8"):
        run_operator(operators["relay.sum"], [x.astype(ml_dtypes.int4)])  # pyright: ignore[reportArgumentType]
    with pytest.raises(VerifyException, match="neither 0 nor a sign"):
        run_operator(operators["relay.cast"], [np.ones(4, np.float32)], dtype="float8_e8m0fnu")  # pyright: ignore[reportArgumentType]


def test_a_cast_to_few_bits_and_back_is_not_dropped() -> None:
    text = """relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relay.cast %x {dtype = "float8_e4m3fn"} : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
      %1 = relay.cast %0 {dtype = "float32"} : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
      relay.return %1 : tensor<4xf32>
    }"""
    x = np.array([1.03, -17.9, 447.0, 0.0], np.float32)
    wanted = x.astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
    for level in range(4):
        with weft.PassContext(opt_level=level):
            np.testing.assert_array_equal(weft.compile(parse_mlir(text, "text"))(x), wanted)


@pytest.mark.parametrize("name, block", [("UINT4", 5), ("INT4", 4)])
def test_zero_points_of_few_bits_count_for_blocks(name: str, block: int) -> None:
    """Weights of a nibble whose every block along an axis has a scale and a zero point of its own."""
    random = np.random.default_rng(1)
    dtype, blocks = helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(name)), -(-10 // block)
    weights, zero = (random.integers(-6, 7, (6, n)).astype(np.int8) for n in (10, blocks))
    if name == "UINT4":
        weights, zero = np.abs(weights), np.abs(zero)
    scale = random.uniform(0.1, 1, (6, blocks)).astype(np.float32)
    x = random.uniform(-1, 1, (3, 6)).astype(np.float32)
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["wide"], axis=1, block_size=block),
        helper.make_node("MatMul", ["x", "wide"], ["y"]),
    ]
    kept = [numpy_helper.from_array(weights.astype(dtype), "w"), numpy_helper.from_array(scale, "s")]
    kept.append(numpy_helper.from_array(zero.astype(dtype), "z"))
    taken, given = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)]
        for name, shape in (("x", [3, 6]), ("y", [3, 10]))
    )
    proto = helper.make_model(
        helper.make_graph(nodes, "g", taken, given, kept), opset_imports=[helper.make_opsetid("", 21)]
    )
    of = np.arange(10) // block
    wanted = x @ ((weights.astype(np.float32) - zero[:, of]) * scale[:, of])
    y = np.asarray(weft.compile(from_onnx(proto))(x), np.float32)
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-5)

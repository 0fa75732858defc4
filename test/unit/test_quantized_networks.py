"""Models of `QuantizeLinear` and `DequantizeLinear` are computed with bytes, as ONNX Runtime does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper

import weft
from weft import relay
from weft.dialects.relay.base import tensor
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.relay.ops.nn.dense import DenseOp
from weft.frontend.onnx import from_onnx
from weft.lowering.compiler import compile_graph
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable
from weft.transforms.relay.affine_values import Affine
from weft.transforms.relay.emitter import Emitter
from weft.transforms.relay.sink_dequantize import SinkDequantizePass

pytestmark = pytest.mark.sampled(5)

WITH_VNNI = "llvm -mcpu=icelake-server -mtriple=x86_64-unknown-linux-gnu"


class Network:
    """A model with a border behind every operator."""

    def __init__(self, activations: str, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self.activations = activations

    def constant(self, name: str, array: npt.ArrayLike) -> str:
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, kind: str, inputs: Sequence[str], name: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def border(self, x: str, scale: float, zero: int) -> str:
        """Quantised, and back."""
        s, z = self.constant(f"{x}_s", np.float32(scale)), self.constant(f"{x}_z", np.array(zero, self.activations))
        return self.node("DequantizeLinear", [self.node("QuantizeLinear", [x, s, z], f"{x}_q"), s, z], f"{x}_d")

    def weight(self, name: str, shape: Sequence[int], scales: npt.NDArray[np.float32], axis: int) -> str:
        values = self.rng.integers(-127, 128, shape).astype(np.int8)
        parts = [self.constant(f"{name}_q", values), self.constant(f"{name}_s", scales)]
        parts.append(self.constant(f"{name}_z", np.zeros(scales.shape, np.int8)))
        return self.node("DequantizeLinear", parts, name, axis=axis)

    def product(self, kind: str, x: str, name: str, shape: Sequence[int], step: float, **attributes: Any) -> str:
        """With a scale for each output, and a bias of 32 bits in the product's scale."""
        scales = self.rng.uniform(0.002, 0.01, shape[0]).astype(np.float32)
        w = self.weight(f"{name}_w", shape, scales, 0)
        bias = self.rng.integers(-2000, 2000, shape[0]).astype(np.int32)
        parts = [self.constant(f"{name}_bq", bias), self.constant(f"{name}_bs", np.float32(step) * scales)]
        parts.append(self.constant(f"{name}_bz", np.zeros(shape[0], np.int32)))
        b = self.node("DequantizeLinear", parts, f"{name}_b", axis=0)
        return self.node(kind, [x, w, b], name, **attributes)

    def model(self, shape: Sequence[int], result: str, of: Sequence[int]) -> Any:
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
        y = helper.make_tensor_value_info(result, TensorProto.FLOAT, of)
        graph = helper.make_graph(self.nodes, "network", [x], [y], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        onnx.checker.check_model(model)
        return model


def network(activations: str) -> Any:
    """An image of three colours; a sum, parts that are joined, channels apart, pools, and a product at the end."""
    net, low = Network(activations), 0 if activations == "uint8" else -128
    x = net.border("x", 0.02, low + 117)
    a = net.product("Conv", x, "a", (16, 3, 3, 3), 0.02, strides=[2, 2], pads=[1, 1, 1, 1])
    a = net.border(net.node("Relu", [a], "a_relu"), 0.03, low)
    b = net.border(net.node("MaxPool", [a], "pool", kernel_shape=[2, 2], strides=[2, 2]), 0.03, low)
    c = net.border(net.product("Conv", b, "c", (16, 16, 1, 1), 0.03), 0.05, low + 120)
    d = net.border(net.product("Conv", b, "d", (16, 1, 3, 3), 0.03, group=16, pads=[1, 1, 1, 1]), 0.02, low + 130)
    e = net.border(net.node("Concat", [c, d], "e", axis=1), 0.05, low + 125)
    f = net.border(net.product("Conv", e, "f", (16, 32, 3, 3), 0.05, pads=[1, 1, 1, 1]), 0.1, low + 100)
    g = net.border(net.node("Add", [f, b], "g"), 0.1, low + 110)
    h = net.border(net.node("GlobalAveragePool", [g], "h"), 0.02, low + 100)
    i = net.node("Flatten", [h], "i")
    y = net.border(net.product("Gemm", i, "y", (10, 16), 0.02, transB=1), 0.02, low + 128)
    return net.model((1, 3, 18, 16), y, (1, 10))


def inputs(shape: Sequence[int] = (1, 3, 18, 16)) -> npt.NDArray[np.float32]:
    return np.random.default_rng(3).normal(0, 1, shape).astype(np.float32)


@pytest.mark.parametrize("activations", ["uint8", "int8"])
def test_a_network_gives_the_steps_of_onnx_runtime(activations: str) -> None:
    model, x = network(activations), inputs()
    options = ort.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")  # else sums saturate where there is no VNNI
    (expected,) = ort.InferenceSession(model.SerializeToString(), options).run(None, {"x": x})
    assert len(np.unique(expected)) > 5, "the example says nothing"
    module = SinkDequantizePass(data="uint8")(from_onnx(model))
    run = Executable(compile_graph(module, Target.parse("llvm -mcpu=native"), codegen_level=1), threads=1)
    assert np.abs(np.asarray(run(x)) - expected).max() / 0.02 < 1.01


@pytest.mark.parametrize("data", [None, "uint8", "int8"])
@pytest.mark.parametrize("activations", ["uint8", "int8"])
def test_bytes_of_any_sign_give_the_same(activations: str, data: str | None) -> None:
    module, x = from_onnx(network(activations)), inputs()
    results: list[npt.NDArray[Any]] = []
    for changed in (module, SinkDequantizePass(data=data)(module)):
        (func,) = (op for op in changed.ops if isinstance(op, FuncOp))
        results.append(np.asarray(evaluate_function(func, [x])[0]))
    names = {op.name for op in SinkDequantizePass(data=data)(module).walk()}
    assert {"relay.qnn.conv2d", "relay.qnn.dense"} <= names and not {"relay.nn.conv2d", "relay.nn.dense"} & names
    assert np.abs(results[0] - results[1]).max() / 0.02 < 1.01


def enlarging(activations: str, zero: int) -> Any:
    """Two transposed convolutions: with phases of one tap, and with phases that lack taps."""
    net = Network(activations)
    x = net.border("x", 0.05, zero)
    for name, shape, attributes in (
        ("a", (3, 32, 2, 2), {"strides": [2, 2]}),
        ("b", (32, 16, 3, 3), {"strides": [2, 2], "pads": [1, 1, 0, 1]}),
    ):
        scales = net.rng.uniform(0.002, 0.01, shape[1]).astype(np.float32)
        w = net.weight(f"{name}_w", shape, scales, 1)
        x = net.border(net.node("ConvTranspose", [x, w], name, **attributes), 0.02, zero)
    return net.model((1, 3, 9, 8), x, (1, 16, 36, 31))


@pytest.mark.parametrize("activations", ["uint8", "int8"])
@pytest.mark.parametrize("above", [0, 3])
def test_a_transposed_convolution_is_one_of_bytes_where_the_least_byte_is_zero(activations: str, above: int) -> None:
    model, x = enlarging(activations, int(np.iinfo(activations).min) + above), inputs((1, 3, 9, 8))
    options = ort.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")
    (expected,) = ort.InferenceSession(model.SerializeToString(), options).run(None, {"x": x})
    assert len(np.unique(expected)) > 5, "the example says nothing"
    module = SinkDequantizePass(data="uint8")(from_onnx(model))
    names = {op.name for op in module.walk()}
    assert ("relay.qnn.conv2d_transpose" in names, "relay.nn.conv2d_transpose" in names) == (not above, bool(above))
    run = Executable(compile_graph(module, Target.parse("llvm -mcpu=native"), codegen_level=1), threads=1)
    assert np.abs(np.asarray(run(x)) - expected).max() / 0.02 < 1.01


def test_an_image_of_three_colours_is_summed_by_the_processors_dot_products() -> None:
    net = Network("uint8")
    a = net.border(net.product("Conv", net.border("x", 0.02, 117), "a", (16, 3, 3, 3), 0.02), 0.03, 0)
    compiled = weft.compile(net.model((1, 3, 8, 8), a, (1, 16, 6, 6)), target=WITH_VNNI, threads=1)
    assert "x86.avx512.vpdpbusd.512" in str(compiled.ir["llvm"])


@pytest.mark.parametrize(
    ("cpu", "name"), [("x86-64-v3", "avx2.pmadd.wd"), ("x86-64", "sse2.pmadd.wd"), ("skylake-avx512", None)]
)
def test_a_network_of_bytes_is_one_of_pairs_of_16_bits_where_these_are_quicker_than_floats(
    cpu: str, name: str | None
) -> None:
    net = Network("uint8")
    a = net.border(net.product("Conv", net.border("x", 0.02, 117), "a", (16, 8, 3, 3), 0.02), 0.03, 0)
    target = f"llvm -mcpu={cpu} -mtriple=x86_64-unknown-linux-gnu"
    text = str(weft.compile(net.model((1, 8, 8, 8), a, (1, 16, 6, 6)), target=target, threads=1).ir["llvm"])
    assert "llvm.x86" not in text if name is None else f'call_intrinsic "llvm.x86.{name}"' in text


def test_small_scales_are_not_taken_for_equal() -> None:
    zero = np.zeros((), np.int32)
    one, two = (Affine(np.float32(scale), zero, "int32") for scale in (1e-9, 2e-9))  # pyright: ignore[reportArgumentType]
    assert one.same(one) and not one.same(two)


def test_a_scale_that_is_not_above_zero_is_left_to_floats() -> None:
    net = Network("int8")
    x = net.border("x", -0.05, 3)
    model = net.model((2, 4), net.border(net.node("Relu", [x], "relu"), 0.05, 3), (2, 4))
    assert "relay.maximum" not in str(SinkDequantizePass()(from_onnx(model)))


def standing_for(x: Any, scale: float = 1.0, zero: int = 0) -> Any:
    return relay.qnn.dequantize(x, relay.const(np.float32(scale)), relay.const(np.int32(zero)))


def product(scale: float = 1.0, zero: int = 0) -> Any:
    """Of bytes `x` with twelve weights of 127."""
    weight = standing_for(relay.const(np.full((3, 4), 127, np.int8)), scale)
    return relay.nn.dense(standing_for(relay.var("x", shape=(2, 4), dtype="uint8"), scale, zero), weight)


def biased(x: Any, bias: int) -> Any:
    return relay.nn.bias_add(x, standing_for(relay.const(np.full(3, bias, np.int32))))


def quantised(x: Any, scale: float) -> Any:
    return relay.qnn.quantize(x, relay.const(np.float32(scale)), relay.const(np.int32(3)), out_dtype="int8")


BYTES = np.arange(128, 136, dtype=np.uint8).reshape(2, 4)
WORDS = np.array([[2**31 - 1, 1, -(2**31)], [2**31 - 5, 1, 2]], np.int32)

ANY_BYTES = relay.var("x", shape=(2, 4), dtype="uint8")
ANY_WORDS = relay.var("x", shape=(2, 3), dtype="int32")

BEYOND: dict[str, tuple[Any, npt.NDArray[Any]]] = {
    "a bias of what may be any number": (biased(standing_for(ANY_WORDS), 2**29), WORDS),
    "a bias of a bias": (biased(biased(biased(product(), 2**30 - 1), 2**30 - 1), 2**30 - 1), BYTES),
    "a zero point that is no byte": (relay.nn.relu(standing_for(ANY_BYTES, 1, 300)), BYTES),
    "a product around a zero point that is no byte": (product(zero=2**30), BYTES),
    "a scale of a product that is no float": (product(1e20, 128), np.full((2, 4), 128, np.uint8)),
    "a factor that is no float": (quantised(product(1e17, 128), 1e-10), np.full((2, 4), 128, np.uint8)),
}  # fmt: skip


@pytest.mark.parametrize("case", BEYOND)
@pytest.mark.filterwarnings("error")
def test_what_integers_cannot_hold_is_left_to_floats(case: str) -> None:
    expr, x = BEYOND[case]
    module = weft.IRModule.from_expr(relay.Function(relay.analysis.free_vars(expr), expr))
    results: list[npt.NDArray[Any]] = []
    for changed in (module, SinkDequantizePass(data="uint8")(module)):
        with weft.PassContext(opt_level=3, disabled_pass=["sink-dequantize", "fold-scale-axis"]):
            results.append(np.asarray(weft.compile(changed, threads=1)(x)))
    np.testing.assert_allclose(results[1], results[0], rtol=1e-6)


@pytest.mark.filterwarnings("error")
def test_scales_of_slices_may_be_larger_than_integers() -> None:
    affine = Affine(np.array([1e20, 1], np.float32), np.zeros((), np.int32), "int32", 0)
    scale, zero = affine.parameters(Emitter())
    assert str(scale.type) == "tensor<2xf32>" and str(zero.type) == "tensor<2xi32>"


@pytest.mark.parametrize(("dtype", "zero"), [("int8", 0), ("uint8", 128), ("uint8", 0), ("int8", 5)])
@pytest.mark.parametrize("columns", [3, 40])
def test_floats_times_weights_of_bytes_are_not_rounded_to_bytes(dtype: str, zero: int, columns: int) -> None:
    rng, bounds = np.random.default_rng(0), np.iinfo(dtype)
    weight, scale = rng.integers(bounds.min, bounds.max + 1, (64, columns)), rng.uniform(0.01, 0.02, columns)
    parts = {"q": weight.astype(dtype), "s": scale.astype(np.float32), "z": np.full(columns, zero, dtype)}
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["w"], axis=1),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 64])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, columns])
    constants = [numpy_helper.from_array(array, name) for name, array in parts.items()]
    model = helper.make_model(helper.make_graph(nodes, "g", [x], [y], constants))
    module = SinkDequantizePass(data="uint8")(from_onnx(model))
    (product,) = (op for op in module.walk() if isinstance(op, DenseOp))
    kept = "ui8" if (dtype, zero) == ("uint8", 0) else "i8"
    assert str(tensor(product.weight).element_type) == ("f32" if zero == 5 else kept)
    given = rng.standard_normal((1, 2, 64)).astype(np.float32)
    run = Executable(compile_graph(module, Target.parse("llvm -mcpu=native")), threads=1)
    exact: Any = given.astype(np.float64) @ ((weight - zero) * parts["s"].astype(np.float64))
    assert np.abs(np.asarray(run(given)) - exact).max() < 1e-4


@pytest.mark.parametrize("columns", [3, 2000])
def test_a_scale_in_front_of_weights_of_bytes_is_not_moved_into_them(columns: int) -> None:
    rng = np.random.default_rng(0)
    weight, x = rng.integers(-127, 128, (columns, 64)).astype(np.int8), rng.standard_normal((2, 64)).astype(np.float32)
    factors = rng.uniform(0.5, 2, 64).astype(np.float32)
    scaled = relay.multiply(relay.var("x", shape=(2, 64)), relay.const(factors))
    expr = relay.nn.dense(scaled, relay.const(weight), out_dtype="float32")
    module = weft.IRModule.from_expr(relay.Function(relay.analysis.free_vars(expr), expr))
    exact: Any = (x * factors).astype(np.float64) @ weight.T.astype(np.float64)
    assert np.abs(np.asarray(weft.compile(module, threads=1)(x)) - exact).max() < 1e-2

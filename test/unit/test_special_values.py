"""NaN, infinities, zeros of both signs and the least numbers, as ONNX Runtime has them (docs/numbers.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

from onnx import helper
from onnx_runtime import evaluate

from weft.frontend.onnx import from_onnx
from weft.lowering.compiler import compile_graph
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable
from weft.testing.tolerance import Tolerance

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

NDArray = npt.NDArray[Any]
INFO = np.finfo(np.float32)
NUMBERS = [0, 0.5, 1, 1.5, 2.5, 20, 80, 200, 1e4, 2.0**23 + 1, INFO.max, np.inf, INFO.tiny, INFO.smallest_subnormal]
X = np.array([*NUMBERS, *(-np.array(NUMBERS)), np.nan], np.float32)
COMPILED: dict[str, dict[str, object]] = {
    "Celu": {"alpha": 0.5}, "Elu": {"alpha": 0.5}, "Erf": {}, "HardSigmoid": {}, "Log": {}, "Mish": {}, "Sign": {},
    "Softplus": {}, "Tanh": {},
}  # fmt: skip
INTERPRETED: dict[str, dict[str, object]] = {
    "Abs": {}, "Acos": {}, "Asinh": {}, "Atan": {}, "Ceil": {}, "Cosh": {}, "Exp": {}, "Floor": {}, "IsInf": {},
    "IsNaN": {}, "LeakyRelu": {}, "Neg": {}, "Reciprocal": {}, "Relu": {}, "Round": {}, "Selu": {}, "Softsign": {},
    "Sqrt": {}, "ThresholdedRelu": {},
}  # fmt: skip
OF_PAIRS = ("Add", "Div", "Equal", "Less", "Max", "Mul", "PRelu", "Pow", "Sub")
ROWS = np.array(
    [np.roll([v, 0.5, -1.25, 2, 3, -0.5, 1], k) for v in (np.nan, np.inf, -np.inf, 1e30) for k in (0, 3)], np.float32
)
OF_ROWS = ("LogSoftmax", "ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMean", "ReduceProd", "ReduceSum", "Softmax")
ALLOWED = Tolerance(64 * 2.0**-23)


def model_of(nodes: list[NodeProto], inputs: dict[str, NDArray]) -> ModelProto:
    type_of = helper.np_dtype_to_tensor_dtype
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, type_of(a.dtype), a.shape) for name, a in inputs.items()],
        [helper.make_value_info(node.output[0], onnx.TypeProto()) for node in nodes],
        [helper.make_tensor("last", onnx.TensorProto.INT64, [1], [-1])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def by_runtime(model: ModelProto, inputs: dict[str, NDArray]) -> list[NDArray]:
    options: Any = ort.SessionOptions()
    options.log_severity_level = 4
    session: Any = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def by_machine_code(model: ModelProto, inputs: dict[str, NDArray]) -> list[NDArray]:
    graph = compile_graph(from_onnx(model), Target.parse("llvm -mcpu=native"), codegen_level=1, jobs=1)
    return list(Executable(graph, threads=1)(*inputs.values()))


def node(op: str, *inputs: str, **attributes: Any) -> NodeProto:
    return helper.make_node(op, inputs, [f"{op}_"], **attributes)


def assert_same(nodes: list[NodeProto], found: list[NDArray], wanted: list[NDArray]) -> None:
    """Values within rounding, and the signs of those zeros that are results of zeros."""
    for each, got, want in zip(nodes, found, wanted, strict=True):
        assert got.dtype == want.dtype
        excess = ALLOWED.excess(got, want)
        assert not excess.any(), (each.op_type, got[excess > 0], want[excess > 0])
        if got.shape == X.shape and each.op_type in SIGNED:
            assert tuple(np.signbit(got[X == 0])) == SIGNED[each.op_type], each.op_type


SIGNED = {
    "Abs": (0, 0),
    "Ceil": (0, 1),
    "Elu": (0, 1),
    "LeakyRelu": (0, 1),
    "Neg": (1, 0),
    "Sign": (0, 0),
    "Tanh": (0, 1),
}
"""Whether the results of 0 and -0 have the sign."""


def test_machine_code_makes_of_special_values_what_onnx_runtime_does() -> None:
    inputs = {"x": X, "r": ROWS}
    nodes = [node(op, "x", **attributes) for op, attributes in COMPILED.items()]
    nodes += [node("LogSoftmax", "r", axis=1), node("ReduceLogSumExp", "r", "last")]
    model = model_of(nodes, inputs)
    assert_same(nodes, by_machine_code(model, inputs), by_runtime(model, inputs))


def test_operators_make_of_special_values_what_onnx_runtime_does() -> None:
    inputs = {"x": X, "a": np.repeat(X, len(X)), "b": np.tile(X, len(X)), "r": ROWS}
    nodes = [node(op, "x", **attributes) for op, attributes in (COMPILED | INTERPRETED).items()]
    nodes += [node(op, "a", "b") for op in OF_PAIRS]
    nodes += [node(op, "r", axis=1) if "max" in op else node(op, "r", "last") for op in OF_ROWS]
    model = model_of(nodes, inputs)
    assert_same(nodes, evaluate(model, list(inputs.values())), by_runtime(model, inputs))


def test_lengths_of_short_floats_do_not_overflow() -> None:
    inputs = {"x": np.array([[300, 400], [65504, 1]], np.float16)}
    nodes = [node("ReduceL2", "x", "last"), node("LpNormalization", "x"), node("ReduceLogSum", "x", "last")]
    model = model_of(nodes, inputs)
    for got, want in zip(evaluate(model, [*inputs.values()]), by_runtime(model, inputs), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-3)

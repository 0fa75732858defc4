"""Revisions of ONNX operators: every opset from 7 to 23 is understood, and each revision as it was meant."""
# The table's functions take whatever arrays their case has:
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper

from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.frontend.onnx import FIRST_OPSET, LAST_OPSET, from_onnx, supported_operators
from weft.frontend.onnx.registry import converter

Array: TypeAlias = Any


@pytest.mark.parametrize("opset", range(FIRST_OPSET, LAST_OPSET + 1))
def test_every_operator_with_a_converter_has_one_for_its_revision_in_each_opset(opset: int):
    lacking: list[str] = []
    for name in supported_operators():
        try:
            schema = onnx.defs.get_schema(name, opset)
        except onnx.defs.SchemaError:
            continue  # the operator came later
        if converter(name, schema.since_version) is None:
            lacking.append(f"{name}-{schema.since_version}")
    assert not lacking


@dataclass(frozen=True)
class Case:
    """One node in the revisions that some opsets have, on inputs (`weights` are constants), and what NumPy says."""

    operator: str
    opsets: tuple[int, ...]
    inputs: tuple[Array, ...]
    expected: Callable[..., Array | tuple[Array, ...]]
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    weights: tuple[Array | None, ...] = ()
    outputs: int = 1


def random(*shape: int) -> npt.NDArray[np.float32]:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def ints(*values: int) -> npt.NDArray[np.int64]:
    return np.array(values, np.int64)


def floats(*values: float) -> npt.NDArray[np.float32]:
    return np.array(values, np.float32)


def softmax(x: Array, axes: tuple[int, ...]) -> Array:
    e = np.exp(x - x.max(axis=axes, keepdims=True))
    return e / e.sum(axis=axes, keepdims=True)


def one_hot_of_maximum(x: Array) -> Array:
    return np.equal(np.arange(x.shape[-1]), x.argmax(-1)[..., None]).astype(x.dtype)


def normalized(x: Array, axes: tuple[int, ...]) -> Array:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


X = random(2, 3, 4)
IMAGE = random(1, 4, 6, 6)

CASES = [
    # Attributes that became inputs
    Case("Clip", (7, 10), (X,), lambda x: x.clip(-0.5, 0.5), {"min": -0.5, "max": 0.5}),
    Case("Clip", (7, 10), (X,), lambda x: x.clip(None, 0.5), {"max": 0.5}),
    Case("Clip", (11, 13), (X,), lambda x: x.clip(-0.5, 0.5), weights=(np.float32(-0.5), np.float32(0.5))),
    Case("Clip", (11, 13), (X,), lambda x: x.clip(-0.5), weights=(np.float32(-0.5),)),
    Case("Clip", (11, 13), (X,), lambda x: x.clip(None, 0.5), weights=(None, np.float32(0.5))),
    Case("Clip", (13,), (X, np.float32(-0.5)), lambda x, low: x.clip(low)),
    Case("Clip", (12,), (ints(1, 5, 9),), lambda x: x.clip(2, 6), weights=(np.int64(2), np.int64(6))),
    Case("ReduceSum", (7, 11), (X,), lambda x: x.sum(axis=(0, 2), keepdims=True), {"axes": [0, -1]}),
    Case("ReduceSum", (13, 18), (X,), lambda x: x.sum(axis=(0, 2)), {"keepdims": 0}, (ints(0, 2),)),
    Case("ReduceSum", (13,), (X,), lambda x: x, {"noop_with_empty_axes": 1}),
    Case("ReduceSum", (13,), (X,), lambda x: x.sum(keepdims=True)),
    Case("ReduceMean", (7, 13), (X,), lambda x: x.mean(axis=1), {"axes": [1], "keepdims": 0}),
    Case("ReduceMean", (18,), (X,), lambda x: x.mean(axis=1, keepdims=True), weights=(ints(1),)),
    Case("ReduceMax", (11, 12, 13), (X,), lambda x: x.max(axis=2), {"axes": [2], "keepdims": 0}),
    Case("ReduceMax", (18, 20), (X,), lambda x: x.max(axis=2), {"keepdims": 0}, (ints(2),)),
    Case("ReduceLogSumExp", (7, 13), (X,), lambda x: np.log(np.exp(x).sum(axis=1)), {"axes": [1], "keepdims": 0}),
    Case("Squeeze", (7, 11), (random(1, 3, 1),), lambda x: x.reshape(1, 3), {"axes": [-1]}),
    Case("Squeeze", (13, 21), (random(1, 3, 1),), lambda x: x.reshape(1, 3), weights=(ints(2),)),
    Case("Squeeze", (9, 13), (random(1, 3, 1),), lambda x: x.reshape(3)),
    Case("Unsqueeze", (7, 11), (X,), lambda x: x.reshape(1, 1, 2, 3, 1, 4), {"axes": [0, 1, 4]}),
    Case("Unsqueeze", (13, 21), (X,), lambda x: x.reshape(2, 1, 3, 4, 1), weights=(ints(-1, 1),)),
    Case("Slice", (7, 9), (X,), lambda x: x[1:, :, 0:-1], {"starts": [1, 0], "ends": [99, -1], "axes": [0, 2]}),
    Case("Slice", (7,), (X,), lambda x: x[0:1, 1:3], {"starts": [0, 1], "ends": [1, 3]}),
    Case("Slice", (10, 13), (X,), lambda x: x[:, ::-1, 3:0:-2],
         weights=(ints(-1, 3), ints(-(2**63), 0), ints(1, 2), ints(-1, -2))),
    Case("Slice", (10, 13), (X,), lambda x: x[0:1, 5:9], weights=(ints(0, 5), ints(1, 9))),
    Case("Split", (7, 11), (random(6, 2),), lambda x: (x[:2], x[2:]), {"split": [2, 4]}, outputs=2),
    Case("Split", (7, 13), (random(6, 2),), lambda x: (x[:3], x[3:]), outputs=2),
    Case("Split", (13, 18), (random(2, 6),), lambda x: (x[:, :1], x[:, 1:]), {"axis": 1}, (ints(1, 5),), 2),
    Case("Split", (18,), (random(7, 2),), lambda x: (x[:3], x[3:6], x[6:]), {"num_outputs": 3}, outputs=3),
    Case("Pad", (7, 10), (X,), lambda x: np.pad(x, ((0, 0), (1, 0), (0, 2)), constant_values=3),
         {"pads": [0, 1, 0, 0, 0, 2], "value": 3.0}),
    Case("Pad", (11, 13), (X,), lambda x: np.pad(x, ((0, 0), (1, 0), (0, 2)), constant_values=3),
         weights=(ints(0, 1, 0, 0, 0, 2), np.float32(3))),
    Case("Pad", (13,), (X,), lambda x: np.pad(x, ((0, 0), (1, 1), (2, 0)), "reflect"), {"mode": "reflect"},
         (ints(0, 1, 2, 0, 1, 0),)),
    Case("Pad", (13,), (X,), lambda x: np.pad(x, ((0, 0), (1, 1), (2, 0)), "edge"), {"mode": "edge"},
         (ints(0, 1, 2, 0, 1, 0),)),
    Case("Pad", (13,), (X,), lambda x: np.pad(x[:, 1:], ((0, 0), (0, 2), (0, 0))), weights=(ints(0, -1, 0, 0, 2, 0),)),
    Case("Pad", (18,), (X,), lambda x: np.pad(x, ((0, 0), (0, 0), (1, 2))), weights=(ints(1, 2), None, ints(-1))),
    Case("TopK", (7,), (random(5),), lambda x: (np.sort(x)[:-3:-1], np.argsort(x)[:-3:-1]), {"k": 2}, outputs=2),
    Case("TopK", (10, 11), (random(5),), lambda x: (np.sort(x)[:-3:-1], np.argsort(x)[:-3:-1]), {}, (ints(2),), 2),
    Case("TopK", (11,), (random(5),), lambda x: (np.sort(x)[:2], np.argsort(x)[:2]), {"largest": 0}, (ints(2),), 2),
    Case("Upsample", (7,), (IMAGE,), lambda x: x.repeat(2, 2).repeat(3, 3), {"scales": [1.0, 1.0, 2.0, 3.0]}),
    Case("Upsample", (9,), (IMAGE,), lambda x: x.repeat(2, 2).repeat(3, 3),
         weights=(np.array([1, 1, 2, 3], np.float32),)),
    Case("Resize", (10,), (IMAGE,), lambda x: x.repeat(2, 2).repeat(3, 3),
         weights=(np.array([1, 1, 2, 3], np.float32),)),
    Case("Resize", (10,), (IMAGE,), lambda x: x[..., [0, 2, 4], :].repeat(2, 3),  # shorter: rounded up; longer: down
         weights=(np.array([1, 1, 0.6, 2], np.float32),)),
    Case("Resize", (11, 13, 19), (IMAGE,), lambda x: x.repeat(2, 2).repeat(3, 3),
         {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
         (None, np.array([1, 1, 2, 3], np.float32))),
    Case("Resize", (11, 13), (IMAGE,), lambda x: x.repeat(2, 2).repeat(2, 3), {},
         (None, None, ints(1, 4, 12, 12))),
    Case("Dropout", (7, 10), (X,), lambda x: x, {"ratio": 0.3}),
    Case("Dropout", (12, 13, 22), (X,), lambda x: (x, np.ones(x.shape, bool)), outputs=2),
    Case("CumSum", (11, 14), (X,), lambda x: x.cumsum(1), weights=(np.int64(1),)),
    Case("CumSum", (14,), (X,), lambda x: x[..., ::-1].cumsum(-1)[..., ::-1] - x, {"exclusive": 1, "reverse": 1},
         (np.int64(-1),)),
    # Meanings that changed
    Case("Softmax", (7, 11), (X,), lambda x: softmax(x, (1, 2))),
    Case("Softmax", (11,), (X,), lambda x: softmax(x, (2,)), {"axis": -1}),
    Case("Softmax", (11,), (random(2, 5, 1, 1),), lambda x: softmax(x, (1,))),
    Case("Softmax", (13,), (X,), lambda x: softmax(x, (2,))),
    Case("Softmax", (13,), (X,), lambda x: softmax(x, (1,)), {"axis": 1}),
    Case("LogSoftmax", (11,), (X,), lambda x: np.log(softmax(x, (0, 1, 2))), {"axis": 0}),
    Case("LogSoftmax", (13,), (X,), lambda x: np.log(softmax(x, (0,))), {"axis": 0}),
    Case("Hardmax", (11,), (X,), lambda x: one_hot_of_maximum(x.reshape(2, 12)).reshape(x.shape)),
    Case("Hardmax", (13,), (X,), one_hot_of_maximum),
    Case("GroupNormalization", (18,), (IMAGE,),
         lambda x: normalized(x.reshape(1, 2, 2, 6, 6), (2, 3, 4)).reshape(x.shape)
         * np.repeat(floats(1, 2), 2)[:, None, None] + 1,
         {"num_groups": 2}, (floats(1, 2), floats(1, 1))),
    Case("GroupNormalization", (21,), (IMAGE,),
         lambda x: normalized(x.reshape(1, 2, 2, 6, 6), (2, 3, 4)).reshape(x.shape)
         * floats(1, 2, 3, 4)[:, None, None],
         {"num_groups": 2}, (floats(1, 2, 3, 4), np.zeros(4, np.float32))),
    Case("BatchNormalization", (7, 9, 14, 15), (IMAGE,),
         lambda x: ((x - 1) / np.sqrt(np.float32(4) + np.float32(1e-5))) * 2 + 3, {},
         tuple(np.full(4, v, np.float32) for v in (2, 3, 1, 4))),
    # NumPy's reshape and matmul
    Case("Reshape", (7, 13, 21), (X,), lambda x: x.reshape(2, 12), weights=(ints(0, -1),)),
    Case("Reshape", (14,), (random(0, 4),), lambda x: x.reshape(2, 0), {"allowzero": 1}, (ints(2, 0),)),
    Case("MatMul", (9, 13), (random(2, 3), random(3, 4)), np.matmul),
    Case("MatMul", (13,), (random(5, 2, 3), random(3, 4)), np.matmul),
    Case("MatMul", (13,), (random(3,), random(3, 4)), np.matmul),
    Case("MatMul", (13,), (random(2, 3), random(3,)), np.matmul),
    Case("MatMul", (13,), (random(3,), random(3,)), np.matmul),
    Case("MatMul", (13,), (random(5, 2, 3), random(5, 3, 4)), np.matmul),
    Case("MatMul", (13,), (random(1, 2, 3), random(5, 3, 4)), np.matmul),
    Case("MatMul", (13,), (random(2, 3), random(5, 3, 4)), np.matmul),
    Case("MatMul", (13,), (random(4, 5, 2, 3), random(5, 3, 4)), np.matmul),
    Case("MatMul", (13,), (random(4, 1, 2, 3), random(1, 5, 3, 2)), np.matmul),
    Case("MatMul", (13,), (random(4, 5, 2, 3), random(3)), np.matmul),
    Case("MatMul", (13,), (random(3), random(4, 5, 3, 2)), np.matmul),
    Case("Gemm", (7, 9), (random(2, 3), random(3, 4), random(4)), lambda a, b, c: a @ b + c),
    Case("Gemm", (11, 13), (random(3, 2), random(4, 3), random(2, 1)), lambda a, b, c: 0.5 * a.T @ b.T + 2 * c,
         {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0}),
    Case("Gemm", (11,), (random(2, 3), random(3, 4)), np.matmul),
    Case("Flatten", (7, 11), (X,), lambda x: x.reshape(6, 4), {"axis": -1}),
    Case("Flatten", (9,), (X,), lambda x: x.reshape(1, 24), {"axis": 0}),
    Case("Flatten", (9,), (X,), lambda x: x.reshape(24, 1), {"axis": 3}),
    # Negative indices
    Case("Gather", (7, 11, 13), (X, ints(0, -1)), lambda x, i: x[:, i], {"axis": 1}),
    Case("GatherElements", (11, 13), (random(3, 2), np.array([[0, -1]])),
         lambda x, i: np.take_along_axis(x, i, 0), {"axis": 0}),
    Case("GatherND", (11, 12), (random(3, 4), np.array([[0, 1], [-1, -2]])), lambda x, i: x[i[:, 0], i[:, 1]]),
    Case("OneHot", (9, 11), (ints(0, 2, -1),), lambda i: np.float32(5) * np.eye(3, dtype=np.float32)[i] - 1, {},
         (np.int64(3), floats(-1, 4))),
    # Others
    Case("Pow", (7, 12, 13), (X, ints(2)), lambda x, y: x**2),
    Case("Mod", (10, 13), (ints(-5, 5), ints(3, -3)), np.mod),
    Case("Mod", (13,), (floats(-5, 5), floats(3, -3)), np.fmod, {"fmod": 1}),
    Case("Div", (7, 14), (ints(7, -7), ints(2, 2)), lambda x, y: np.trunc(x / y).astype(np.int64)),
    Case("PRelu", (7, 9, 16), (IMAGE, random(4, 1, 1)), lambda x, s: np.where(x < 0, s * x, x)),
    Case("PRelu", (9,), (IMAGE, random(1)), lambda x, s: np.where(x < 0, s * x, x)),
    Case("ArgMax", (7, 11, 13), (X,), lambda x: x.argmax(1)[:, None], {"axis": 1}),
    Case("ArgMin", (12,), (np.zeros((2, 3), np.float32),), lambda x: np.full(2, 2),
         {"axis": 1, "keepdims": 0, "select_last_index": 1}),
    Case("Round", (11, 22), (floats(0.5, 1.5, -2.5, 2.4),), np.round),
    Case("Cast", (7, 9, 13), (floats(1.7, -1.7, 0),), lambda x: x.astype(np.int32), {"to": TensorProto.INT32}),
    Case("Cast", (13,), (floats(1.7, 0),), lambda x: x != 0, {"to": TensorProto.BOOL}),
    Case("Shape", (15,), (X,), lambda x: ints(3, 4), {"start": 1}),
    Case("Expand", (8, 13), (random(3, 1),), lambda x: np.broadcast_to(x, (2, 3, 4)), {}, (ints(2, 1, 4),)),
    Case("Sum", (8, 13), (X, X, random(4)), lambda a, b, c: a + b + c),
    Case("Mean", (8, 13), (X, random(4)), lambda a, b: (a + b) / 2),
    Case("Trilu", (14,), (random(3, 4),), lambda x: np.tril(x, 1), {"upper": 0}, (np.int64(1),)),
    Case("LpNormalization", (7, 22), (X,), lambda x: x / np.abs(x).sum(1, keepdims=True), {"axis": 1, "p": 1}),
]  # fmt: skip


def identify(case: Case) -> str:
    return f"{case.operator}-{'-'.join(map(str, case.opsets))}"


@pytest.mark.parametrize("case", CASES, ids=identify)
def test_a_revision_means_what_numpy_says(case: Case):
    inputs = [helper.make_tensor_value_info(f"x{i}", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
              for i, x in enumerate(case.inputs)]  # fmt: skip
    weights = {f"w{i}": w for i, w in enumerate(case.weights)}
    names = [*(f"x{i}" for i in range(len(inputs))), *("" if w is None else name for name, w in weights.items())]
    outputs = [f"y{i}" for i in range(case.outputs)]
    expected = case.expected(*case.inputs)
    for opset in case.opsets:
        graph = helper.make_graph(
            [helper.make_node(case.operator, names, outputs, **case.attributes)],
            "g",
            inputs,
            [helper.make_value_info(name, onnx.TypeProto()) for name in outputs],
            [numpy_helper.from_array(np.asarray(w), name) for name, w in weights.items() if w is not None],
        )
        module = from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]))
        module.verify()
        function = module.body.block.first_op
        assert isinstance(function, FuncOp)
        results = evaluate_function(function, [np.asarray(x) for x in case.inputs])
        for got, wanted in zip(results, expected if isinstance(expected, tuple) else (expected,), strict=True):
            assert got.dtype == wanted.dtype and got.shape == wanted.shape, f"opset {opset}"
            np.testing.assert_allclose(
                got.astype(np.float64), wanted.astype(np.float64), rtol=1e-5, atol=1e-5, err_msg=f"opset {opset}"
            )

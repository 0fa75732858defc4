"""Models of one operator of ONNX Runtime's own domain, and what ONNX Runtime makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import helper, numpy_helper

from weft.dialects.relay.functions import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.frontend.onnx import from_onnx

ort: Any = import_module("onnxruntime")

NDArray = npt.NDArray[Any]
RNG = np.random.default_rng(7)
DOMAIN = "com.microsoft"


def floats(*shape: int) -> NDArray:
    return RNG.standard_normal(shape).astype(np.float32)


def codes(*shape: int, dtype: str = "uint8") -> NDArray:
    """Any numbers; of int8, which weights are, such that two products with bytes fit 16 bits: ONNX Runtime sums them
    there where the processor has no VNNI."""
    limits, parts = np.iinfo(dtype), 2 if dtype == "int8" else 1
    return RNG.integers(limits.min // parts, limits.max // parts, shape, dtype, endpoint=True)


def number(value: float, dtype: str = "float32") -> NDArray:
    return np.asarray(value, dtype)


def model(
    operator: str, inputs: Sequence[NDArray | None], outputs: int = 1, fixed: tuple[int, ...] = (), **attributes: Any
):
    """A model of one node, of which the inputs `fixed` are weights."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    given = {f"x{i}": x for i, x in enumerate(inputs) if x is not None}
    weights = {f"x{i}" for i in fixed}
    node = helper.make_node(operator, names, [f"y{i}" for i in range(outputs)], domain=DOMAIN, **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for name, x in given.items()
            if name not in weights
        ],
        [helper.make_empty_tensor_value_info(name) for name in node.output],
        [numpy_helper.from_array(x, name) for name, x in given.items() if name in weights],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    return made, {name: x for name, x in given.items() if name not in weights}


def run(made: Any, feeds: dict[str, NDArray]) -> list[NDArray]:
    """What relay's interpreter makes of it."""
    (function,) = from_onnx(made).body.ops
    assert isinstance(function, FuncOp)
    return evaluate_function(function, list(feeds.values()))


def check(
    operator: str, inputs: Sequence[NDArray | None], outputs: int = 1, fixed: tuple[int, ...] = (), **attributes: Any
) -> None:
    made, feeds = model(operator, inputs, outputs, fixed, **attributes)
    expected = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)
    for ours, theirs in zip(run(made, feeds), expected, strict=True):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        if theirs.dtype.kind in "ui":  # kernels of ONNX Runtime round in other orders
            assert np.abs(ours.astype(int) - theirs.astype(int)).max(initial=0) <= 1
            assert np.mean(ours != theirs) <= 0.03
        else:
            np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-5)


S, Z = number(0.02), number(120, "uint8")
T, W = number(0.05), number(3, "int8")

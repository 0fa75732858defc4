"""Operators on floats of 16 bits that the importer makes of others are rounded once, as ONNX Runtime rounds them."""

from __future__ import annotations

from math import erfc, sqrt
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

onnx = pytest.importorskip("onnx")

from onnx import helper

import weft

NDArray = npt.NDArray[Any]
TYPES: dict[str, Any] = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
LARGEST = {"float16": 65504.0, "bfloat16": float.fromhex("0x1.fep127")}


def result(operator: str, *arrays: NDArray, **attributes: Any) -> NDArray:
    names = [f"x{number}" for number in range(len(arrays))]
    type_of = helper.np_dtype_to_tensor_dtype
    inputs = [
        helper.make_tensor_value_info(name, type_of(x.dtype), x.shape) for name, x in zip(names, arrays, strict=True)
    ]
    node = helper.make_node(operator, names, ["y"], **attributes)
    output = helper.make_tensor_value_info("y", type_of(arrays[0].dtype), None)
    graph = helper.make_graph([node], "g", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    found = weft.compile(model)(*arrays)
    assert isinstance(found, np.ndarray) and found.dtype == arrays[0].dtype
    return found


@pytest.mark.parametrize("dtype", TYPES)
def test_gelu_has_its_tail(dtype: str) -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(TYPES[dtype])
    x = every[np.abs(every.astype(np.float32)) < 30]
    exact = np.array([v / 2 * erfc(-v / sqrt(2)) for v in x.astype(np.float64).tolist()])
    found = result("Gelu", x).astype(np.float64)
    step = np.maximum(np.abs(exact) * EPS[dtype], 1e-6)
    assert (np.abs(found - exact) <= step).all()


@pytest.mark.parametrize("dtype", TYPES)
def test_sums_and_means_may_pass_through_what_is_no_such_float(dtype: str) -> None:
    largest = LARGEST[dtype]
    x, y, z = (np.array([value, 1, np.inf], TYPES[dtype]) for value in (largest, largest, -largest))
    if dtype == "float16":  # the largest of bfloat16 is about f32's
        np.testing.assert_array_equal(result("Mean", x, y), x)
        np.testing.assert_array_equal(result("Sum", x, y, z)[:2], np.array([largest, 3], TYPES[dtype]))
    least = np.array([1, 2.0**-9, 2.0**-9, 2.0**-9, 2.0**-9, 2.0**-9, 2.0**-9, 2.0**-9, 2.0**-9], np.float64)
    parts = [np.array([value], TYPES[dtype]) for value in (least if dtype == "bfloat16" else least / [1, *[4] * 8])]
    wanted = np.array([sum(float(part[0]) for part in parts)], TYPES[dtype])
    np.testing.assert_array_equal(result("Sum", *parts), wanted)
    assert wanted[0] > 1

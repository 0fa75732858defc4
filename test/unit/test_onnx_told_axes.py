"""ONNX operators along axes that data names give what ONNX Runtime gives, or end in an error as it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import helper

from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.onnx import from_onnx
from weft.lowering.compiler import compile_graph
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable

from .test_onnx_told_by_data import X, check

pytestmark = pytest.mark.sampled(6)


@pytest.mark.parametrize("name", ["L2", "LogSumExp", "Mean"])
def test_a_reduction_along_one_axis_of_open_extents(name: str):
    node = helper.make_node(f"Reduce{name}", ["x", "axes"], ["y"])
    x = np.abs(X)
    check([node], {"x": ["n", 3, "m"], "axes": [1]}, [{"x": x, "axes": [axis]} for axis in (0, 1, -1, 3, -4)])


@pytest.mark.parametrize("keepdims", [0, 1])
def test_a_reduction_along_two_axes_in_any_order(keepdims: int):
    node = helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=keepdims)
    pairs = ([0, 1], [2, 0], [-1, 1], [1, 5])
    check([node], {"x": [2, 3, 4], "axes": [2]}, [{"x": X, "axes": axes} for axes in pairs])
    empty = [{"x": x, "axes": [0, 2]} for x in (X[:0], X[:, :0], X[:, :, :0])]
    check([node], {"x": ["a", "b", "c"], "axes": [2]}, empty)


def test_a_reduction_along_all_axes_leaves_one_number():
    node = helper.make_node("ReduceMax", ["x", "axes"], ["y"], keepdims=0)
    check([node], {"x": [3, 4], "axes": [2]}, [{"x": X[0], "axes": axes} for axes in ([0, 1], [-1, -2])])


def test_an_empty_list_of_axes_means_all_or_none():
    for noop in (0, 1):
        node = helper.make_node("ReduceSum", ["x", "axes"], ["y"], noop_with_empty_axes=noop)
        check([node], {"x": [3, 4], "axes": [0]}, [{"x": X[0], "axes": []}])


def test_a_number_of_axes_that_data_decides_is_refused():
    node = helper.make_node("ReduceSum", ["x", "axes"], ["y"])
    with pytest.raises(Diagnostic) as error:
        check([node], {"x": [3, 4], "axes": ["k"]}, [])
    assert "as many axes as data says" in error.value.notes[0].message


@pytest.mark.parametrize("shape", [[4], ["n", 3, 4]])
def test_a_running_sum_along_an_axis(shape: Sequence[int | str]):
    node = helper.make_node("CumSum", ["x", "axis"], ["y"], reverse=1, exclusive=1)
    rank = len(shape)
    x = X[(0,) * (3 - rank)]
    check([node], {"x": list(shape), "axis": []}, [{"x": x, "axis": axis} for axis in (*range(-rank, rank), rank)])


def transform(x: npt.NDArray[Any], **attributes: Any) -> Any:
    """A model of a Fourier transform of `x` along an axis that is an input."""
    values = [helper.make_tensor_value_info("x", 1, x.shape), helper.make_tensor_value_info("axis", 7, [])]
    node = helper.make_node("DFT", ["x", "", "axis"], ["y"], **attributes)
    graph = helper.make_graph([node], "g", values, [helper.make_empty_tensor_value_info("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def test_a_fourier_transform_along_an_axis():
    x = np.stack([X, X[::-1]], axis=-1)
    compiled = Executable(compile_graph(from_onnx(transform(x)), Target.parse("llvm")), threads=1)
    for axis in (0, 1, 2, -2, -4):
        wanted = np.fft.fft(x[..., 0] + 1j * x[..., 1], axis=axis if axis >= 0 else axis + 1)
        y: Any = compiled(x, np.array(axis))
        np.testing.assert_allclose(y[..., 0] + 1j * y[..., 1], wanted, rtol=1e-4, atol=1e-5)
    for axis in (3, -1, 4):
        with pytest.raises(Diagnostic):
            compiled(x, np.array(axis))


def test_a_fourier_transform_that_leaves_other_extents_along_each_axis_is_refused():
    halves: list[dict[str, Any]] = [{"onesided": 1}, {"onesided": 1, "inverse": 1}]
    for attributes in halves:
        with pytest.raises(Diagnostic) as refused:
            from_onnx(transform(X[:, :1, :, None], **attributes))
        assert "an axis that data decides" in refused.value.notes[0].message

"""ONNX operators along axes that data names give what ONNX Runtime gives, or end in an error as it does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import helper  # noqa: E402

from weft.dialects.support.diagnostics import Diagnostic  # noqa: E402

from .test_onnx_told_by_data import X, check  # noqa: E402


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

"""ONNX operators that move data as far as other data says give what ONNX Runtime gives, or fail as it does."""

from __future__ import annotations

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import helper

from .test_onnx_told_by_data import X, check

pytestmark = pytest.mark.sampled(5)


def test_a_slice_along_axes_and_in_steps_that_data_decides():
    shapes: dict[str, list[int | str]] = {"x": ["n", 3, 4], "from": [2], "to": [2], "axes": [2], "by": [2]}
    far = 1 << 62
    calls = [
        {"from": [0, 1], "to": [1, 9], "axes": [1, 2], "by": [1, 2]},
        {"from": [-1, 9], "to": [-far, -far], "axes": [-1, 0], "by": [-2, -1]},
        {"from": [2, -1], "to": [1, 9], "axes": [0, 1], "by": [1, 1]},
        {"from": [0, 0], "to": [1, 1], "axes": [0, 3], "by": [1, 1]},
        {"from": [0, 0], "to": [1, 1], "axes": [0, 1], "by": [1, 0]},
    ]
    node = helper.make_node("Slice", ["x", "from", "to", "axes", "by"], ["y"])
    check([node], shapes, [{"x": X, **call} for call in calls])


@pytest.mark.parametrize("mode", ["constant", "reflect", "wrap"])
def test_padding_by_amounts_that_data_decides(mode: str):
    node = helper.make_node("Pad", ["x", "by"], ["y"], mode=mode)
    amounts = ([0, 1, 2, 0], [1, -1, 0, 0], [0, 0, -1, 2], [0, -3, 0, -2])
    amounts += ([2, -2, -1, 3],) if mode == "wrap" else ()
    check([node], {"x": [3, 4], "by": [4]}, [{"x": X[0], "by": by} for by in amounts])


def test_padding_of_what_may_be_empty_along_axes_that_data_names():
    node = helper.make_node("Pad", ["x", "by", "v", "axes"], ["y"])
    calls = [{"x": x, "by": [1, 2], "v": 5, "axes": [axis]} for x, axis in ((X[0], -1), (X[0], 0), (X[0, :0], 0))]
    check([node], {"x": ["n", 4], "by": [2], "v": [], "axes": [1]}, calls)


def test_parts_of_sizes_that_data_decides():
    node = helper.make_node("Split", ["x", "sizes"], ["y", "z"], axis=1)
    sizes = ([1, 2], [0, 3], [3, 0], [2, 2], [-1, 4])
    check([node], {"x": ["n", 3, 4], "sizes": [2]}, [{"x": X, "sizes": each} for each in sizes])


def test_dimensions_taken_away_and_added_where_data_says():
    away = helper.make_node("Squeeze", ["x", "axes"], ["y"])
    x = X[:1, :, :1]
    check([away], {"x": [1, 3, 1], "axes": [1]}, [{"x": x, "axes": [axis]} for axis in (0, -1, 1)])
    check([away], {"x": [1, 1], "axes": [2]}, [{"x": x[0, :1], "axes": [0, 1]}])
    added = helper.make_node("Unsqueeze", ["x", "axes"], ["y"])
    places = ([0, 1], [3, 0], [-1, 1], [2, 4], [1, 1])
    check([added], {"x": ["n", 3], "axes": [2]}, [{"x": X[:, :, 0], "axes": axes} for axes in places])


def test_numbers_from_a_start_in_steps_that_data_decides():
    node = helper.make_node("Range", ["f", "t", "s"], ["y"])
    calls = [{"f": f, "t": t, "s": s} for f, t, s in ((1, 5, 2), (0.5, -2, -0.25), (3, 1, 1))]
    check([node], {"f": [], "t": [], "s": []}, calls)
    node = helper.make_node("Range", ["from", "to", "by"], ["y"])
    steps = [{"from": f, "to": t, "by": s} for f, t, s in ((1, 6, 2), (10, 5, -3), (3, 1, 1), (0, 5, 0))]
    check([node], {"from": [], "to": [], "by": []}, steps)


def test_one_at_as_many_places_as_data_says():
    node = helper.make_node("OneHot", ["at", "depth", "values"], ["y"], axis=1)
    values = {"values": np.array([-1, 2], np.float32)}
    check([node], {"at": [3], "depth": []}, [{"at": [0, -1, 7], "depth": depth} for depth in (3, 8)], values)

"""Slices of open axes: bounds outside of what there is are cut off when the graph runs, as ONNX Runtime does."""

from __future__ import annotations

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import helper

from .test_onnx_told_by_data import check

pytestmark = pytest.mark.sampled(6)

FAR = 1 << 62
SLICES = [
    (-3, FAR, 1), (0, -4, 1), (-3, -1, 1), (4, -2, 1), (-2, 3, 1), (-5, -2, 2),
    (5, 2, -1), (-1, -5, -1), (3, -FAR, -2), (FAR, 1, -2), (-3, -FAR, -1), (-2, 0, -1),
]  # fmt: skip


@pytest.mark.parametrize(("start", "end", "step"), SLICES)
def test_bounds_outside_of_an_open_axis_are_cut_off(start: int, end: int, step: int):
    nodes = [
        helper.make_node("Relu", ["x"], ["z"]),
        helper.make_node("Slice", ["z", "from", "to", "axes", "by"], ["w"]),
        helper.make_node("Sigmoid", ["w"], ["y"]),
    ]
    bounds = {"from": start, "to": end, "axes": 0, "by": step}
    values = {name: np.array([number]) for name, number in bounds.items()}
    sizes = (7, 4, 3, 2, 1) if (start, end) == (-3, -1) else (7, 4, 3, 2, 1, 0)
    x = np.arange(-8, 6, dtype=np.float32).reshape(7, 2)
    check(nodes, {"x": ["n", 2]}, [{"x": x[:size]} for size in sizes], values)


@pytest.mark.parametrize("other", ["MatMul", "Add"])
def test_what_is_cut_off_may_have_to_be_as_long_as_a_constant(other: str):
    bounds = {"from": -3, "to": FAR, "axes": 1}
    values: dict[str, np.ndarray] = {name: np.array([number]) for name, number in bounds.items()}
    values["w"] = np.arange(48, dtype=np.float32).reshape(3, 16) if other == "MatMul" else np.ones(3, np.float32)
    nodes = [helper.make_node("Slice", ["x", *bounds], ["z"]), helper.make_node(other, ["z", "w"], ["y"])]
    x = np.arange(-8, 7, dtype=np.float32).reshape(3, 5)
    check(nodes, {"x": ["n", "m"]}, [{"x": x[:, :size]} for size in (5, 3, 4)], values)


def test_halves_of_an_open_axis_may_reach_beyond_it():
    """As torch's exporter writes `x.chunk(2)`: of an odd number the second half is shorter."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"], start=0, end=1),
        helper.make_node("Add", ["shape", "one"], ["more"]),
        helper.make_node("Div", ["more", "two"], ["half"]),
        helper.make_node("Mul", ["half", "two"], ["whole"]),
        helper.make_node("Slice", ["x", "zero", "half"], ["z"]),
        helper.make_node("Slice", ["x", "half", "whole"], ["w"]),
        helper.make_node("Concat", ["w", "z"], ["y"], axis=0),
    ]
    x = np.arange(14, dtype=np.float32).reshape(7, 2)
    numbers = {"zero": np.array([0]), "one": np.array([1]), "two": np.array([2])}
    check(nodes, {"x": ["n", 2]}, [{"x": x[:size]} for size in (7, 4, 1, 2)], numbers)


@pytest.mark.parametrize("sizes", [[2, 2], [1, 3], [3, 0, 1], [4]])
def test_parts_of_known_sizes_say_how_long_an_open_axis_is(sizes: list[int]):
    """Other lengths are refused: equal sizes were taken for how many parts there are, and the last one for the rest."""
    parts = ["y", "z", "w"][: len(sizes)]
    x = np.arange(18, dtype=np.float32).reshape(6, 3)
    calls = [{"x": x[:size]} for size in (4, 6, 2, 5)]
    check([helper.make_node("Split", ["x", "sizes"], parts[::-1])], {"x": ["n", 3]}, calls, {"sizes": np.array(sizes)})


def test_what_halves_leave_of_an_open_image_is_the_number_of_images():
    """As torch's exporter writes `pixel_unshuffle`: -1 for the images, beside halves of the image's open extents."""
    nodes = [
        helper.make_node("Shape", ["x"], ["height"], start=2, end=3),
        helper.make_node("Shape", ["x"], ["width"], start=3, end=4),
        helper.make_node("Div", ["height", "two"], ["rows"]),
        helper.make_node("Div", ["width", "two"], ["columns"]),
        helper.make_node("Concat", ["rest", "three", "rows", "two", "columns", "two"], ["split"], axis=0),
        helper.make_node("Reshape", ["x", "split"], ["blocks"]),
        helper.make_node("Transpose", ["blocks"], ["depths"], perm=[0, 1, 3, 5, 2, 4]),
        helper.make_node("Concat", ["rest", "twelve", "rows", "columns"], ["shape"], axis=0),
        helper.make_node("Reshape", ["depths", "shape"], ["y"]),
    ]
    numbers = {"two": np.array([2]), "three": np.array([3]), "twelve": np.array([12]), "rest": np.array([-1])}
    x = np.random.default_rng(7).standard_normal((2, 3, 6, 8)).astype(np.float32)
    calls = [{"x": x[:n, :, :h, :w]} for n, h, w in ((2, 6, 8), (1, 2, 4), (2, 5, 8))]
    check(nodes, {"x": ["n", 3, "h", "w"]}, calls, numbers)


def test_elements_of_several_open_axes_are_scattered_where_a_column_says():
    """As torch's exporter writes `max_unpool2d`: a shape is seen as a line, and that as a column."""
    nodes = [
        helper.make_node("MaxPool", ["x"], ["z", "at"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Reshape", ["at", "line"], ["places"]),
        helper.make_node("Unsqueeze", ["places", "line"], ["column"]),
        helper.make_node("Reshape", ["z", "line"], ["values"]),
        helper.make_node("Reshape", ["x", "line"], ["whole"]),
        helper.make_node("ScatterND", ["whole", "column", "values"], ["scattered"]),
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Reshape", ["scattered", "shape"], ["y"]),
    ]
    x = np.random.default_rng(2).integers(0, 99, (2, 3, 6, 8)).astype(np.float32)
    calls = [{"x": x[:n, :, :h, :w]} for n, h, w in ((2, 6, 8), (1, 5, 3), (2, 2, 2))]
    check(nodes, {"x": ["n", 3, "h", "w"]}, calls, {"line": np.array([-1])})


def test_a_bound_that_is_nothing_or_counts_from_the_end_is_told_when_it_runs():
    """The last half of the rows, which is all of one row: -0 is 0."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["rows"]),
        helper.make_node("Div", ["rows", "two"], ["half"]),
        helper.make_node("Neg", ["half"], ["start"]),
        helper.make_node("Slice", ["x", "start", "end", "zero"], ["y"]),
    ]
    numbers = {"zero": np.array([0]), "two": np.array([2]), "end": np.array([2**31])}
    x = np.arange(14, dtype=np.float32).reshape(7, 2)
    check(nodes, {"x": ["n", 2]}, [{"x": x[:size]} for size in (7, 4, 1, 2, 0)], numbers)


def test_what_data_counts_cuts_an_axis_that_it_may_reach_beyond():
    """It was asked of the inputs that all elements together are no more than the axis has."""
    nodes = [
        helper.make_node("NonZero", ["x"], ["places"]),
        helper.make_node("Shape", ["places"], ["shape"]),
        helper.make_node("Gather", ["shape", "one"], ["count"]),
        helper.make_node("Slice", ["z", "zero", "count", "zero"], ["y"]),
    ]
    numbers = {"zero": np.array([0]), "one": np.array([1])}
    x, z = np.eye(5, 3, dtype=np.float32), np.arange(4, dtype=np.float32)
    calls = [{"x": x[:size] * scale, "z": z} for size, scale in ((5, 1), (2, 1), (5, 0))]
    check(nodes, {"x": ["n", 3], "z": [4]}, [*calls, {"x": np.ones((5, 3)), "z": z}], numbers)


@pytest.mark.parametrize(("x", "w"), [(["n", 3, 4], ["k", 4]), ([2, 3, 4], ["k", 4]), (["n", 3, "k"], [2, "k"])])
def test_matrices_of_open_extents_are_multiplied_by_one_of_such(x: list[int | str], w: list[int | str]):
    nodes = [helper.make_node("Transpose", ["w"], ["t"]), helper.make_node("MatMul", ["x", "t"], ["y"])]
    random = np.random.default_rng(4)
    calls = [
        {
            name: random.standard_normal([n if isinstance(n, int) else sizes[n] for n in dims])
            for name, dims in (("x", x), ("w", w))
        }
        for sizes in ({"n": 2, "k": 5}, {"n": 1, "k": 1}, {"n": 3, "k": 0})
    ]
    check(nodes, {"x": x, "w": w}, calls)

"""Convolutions and pools whose windows, weights and padding follow from open extents give what ONNX Runtime gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import helper

from weft.dialects.support.checks import CheckError
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.onnx import from_onnx
from weft.lowering.compiler import compile_graph
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable

from .test_onnx_told_by_data import check

pytestmark = pytest.mark.sampled(6)


def images(*shapes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Calls with an input `x` of each shape; numbers stand more than once."""
    random = np.random.default_rng(5)
    return [{"x": random.integers(-4, 5, shape)} for shape in shapes]


OPEN: dict[str, list[int | str]] = {"x": ["n", "c", "h", "w"]}


@pytest.mark.parametrize(("order", "ceil"), [(0, 1), (1, 0)])
def test_where_the_greatest_of_each_window_stands(order: int, ceil: int):
    node = helper.make_node(
        "MaxPool", ["x"], ["z", "y"], kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1], ceil_mode=ceil,
        storage_order=order,
    )  # fmt: skip
    check([node], OPEN, images((1, 2, 7, 9), (2, 3, 8, 8), (3, 1, 4, 11), (1, 1, 3, 3)))


def test_where_the_greatest_of_windows_with_holes_stands():
    node = helper.make_node("MaxPool", ["x"], ["z", "y"], kernel_shape=[3], dilations=[2], pads=[2, 1])
    check([node], {"x": ["n", 2, "l"]}, images((1, 2, 5), (2, 2, 9), (1, 2, 2)))


def test_a_window_without_an_element_has_no_greatest_one():
    node = helper.make_node("MaxPool", ["x"], ["z", "y"], kernel_shape=[2], dilations=[2], pads=[1, 1])
    outputs = [helper.make_empty_tensor_value_info("y")]

    def compiled(length: int | str) -> Executable:
        given = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 1, length])
        model = helper.make_model(helper.make_graph([node], "g", [given], outputs), ir_version=9)
        return Executable(compile_graph(from_onnx(model), Target.parse("llvm")), threads=1)

    program = compiled("l")
    np.testing.assert_array_equal(program(np.array([[[1, 3, 2]]], np.float32)), [[[1, 2, 1]]])
    with pytest.raises(CheckError):
        program(np.ones((1, 1, 1), np.float32))
    with pytest.raises(Diagnostic) as error:
        compiled(1)
    assert "a window without elements" in error.value.notes[0].message


def test_what_was_pooled_goes_back_to_where_it_stood():
    nodes = [
        helper.make_node("MaxPool", ["x"], ["z", "at"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("MaxUnpool", ["z", "at"], ["y"], kernel_shape=[2, 2], strides=[2, 2]),
    ]
    check(nodes, OPEN, images((1, 2, 4, 4), (2, 3, 8, 6), (3, 1, 2, 2)))


def test_what_was_pooled_stands_in_an_image_of_a_size_that_is_told():
    """ONNX pads what it has put together; ONNX Runtime takes the places for those of the larger image."""
    node = helper.make_node("MaxUnpool", ["z", "at", "size"], ["y"], kernel_shape=[2, 2], strides=[2, 2])
    inputs = [
        helper.make_tensor_value_info(name, onnx.TensorProto.INT64 if len(name) > 1 else onnx.TensorProto.FLOAT, shape)
        for name, shape in (("z", [1, 1, "h", "w"]), ("at", [1, 1, "h", "w"]), ("size", [4]))
    ]
    graph = helper.make_graph([node], "g", inputs, [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, ir_version=9)
    program = Executable(compile_graph(from_onnx(model), Target.parse("llvm")), threads=1)
    z, at = np.array([[[[7, 8]]]], np.float32), np.array([[[[1, 6]]]])
    wanted = np.zeros((1, 1, 3, 5), np.float32)
    wanted[0, 0, 0, 1], wanted[0, 0, 1, 2] = 7, 8  # of 2 x 4 elements the second, and the seventh
    np.testing.assert_array_equal(program(z, at, np.array([1, 1, 3, 5])), wanted)
    np.testing.assert_array_equal(program(z, at, np.array([1, 1, 2, 4])), wanted[:, :, :2, :4])
    with pytest.raises(CheckError):
        program(z, at, np.array([1, 1, 3, 3]))


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("kind", ["Conv", "MaxPool", "AveragePool", "ConvTranspose"])
def test_padding_for_as_many_results_as_strides_reach(kind: str, mode: str):
    weights: dict[str, Any] = {}
    attributes: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [2, 3], "auto_pad": mode}
    if kind.startswith("Conv"):
        weights["w"] = np.random.default_rng(6).integers(-3, 4, (2, 2, 3, 3)).astype(np.float32)
    node = helper.make_node(kind, ["x", *weights], ["y"], **attributes)
    check([node], {"x": ["n", 2, "h", "w"]}, images((1, 2, 5, 4), (2, 2, 8, 9), (1, 2, 1, 1), (1, 2, 4, 3)), weights)


def test_where_the_greatest_of_windows_that_fill_an_image_stands():
    attributes: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [2, 3], "auto_pad": "SAME_UPPER"}
    node = helper.make_node("MaxPool", ["x"], ["z", "y"], **attributes)
    check([node], OPEN, images((1, 2, 5, 4), (2, 2, 8, 9), (1, 2, 1, 1)))


def test_norms_of_windows_in_ceil_mode():
    node = helper.make_node("LpPool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 0, 0, 1], ceil_mode=1)
    check([node], OPEN, images((1, 2, 5, 4), (2, 2, 6, 9), (1, 2, 3, 3)))


@pytest.mark.parametrize("kind", ["Conv", "ConvTranspose"])
def test_kernels_of_any_size_and_number(kind: str):
    node = helper.make_node(kind, ["x", "w"], ["y"], strides=[2, 1])
    random = np.random.default_rng(7)
    calls = [
        {"x": random.integers(-4, 5, (n, c, *image)), "w": random.integers(-4, 5, (*planes, *taps))}
        for n, c, image, planes, taps in (
            (1, 2, (5, 6), (2, 2), (3, 2)), (2, 1, (4, 4), (1, 1), (1, 4)), (1, 3, (7, 5), (3, 3), (7, 5)),
        )
    ]  # fmt: skip
    weights: list[int | str] = ["o", "i", "k", "l"]
    check([node], {**OPEN, "w": weights}, calls)


def test_a_transposed_convolution_to_a_shape_that_is_told():
    node = helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], output_shape=[10, 9])
    weights = {"w": np.random.default_rng(8).integers(-3, 4, (2, 2, 3, 3)).astype(np.float32)}
    check([node], {"x": ["n", 2, "h", "w"]}, images((1, 2, 5, 4), (2, 2, 5, 5), (1, 2, 4, 4)), weights)


@pytest.mark.parametrize("axis", [1, 2])
def test_norms_over_several_open_axes(axis: int):
    node = helper.make_node("LayerNormalization", ["x", "s", "b"], ["y"], axis=axis)
    random = np.random.default_rng(9)
    calls: list[dict[str, Any]] = []
    for shape in ((2, 3, 4, 2), (1, 3, 1, 1), (2, 3, 5, 7)):
        x = random.standard_normal(shape)
        calls.append({"x": x, "s": random.standard_normal(shape[axis:]), "b": np.ones((1, shape[-1]))})
    extents: list[int | str] = ["n", 3, "h", "w"]
    check([node], {"x": extents, "s": extents[axis:], "b": [1, "w"]}, calls)

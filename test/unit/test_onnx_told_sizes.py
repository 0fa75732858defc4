"""Images resampled as sizes, scales and regions say that are inputs are what ONNX Runtime makes of them, and the run
fails for those that nothing can be resampled to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

from onnx import helper

from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.onnx import from_onnx
from weft.lowering.compiler import compile_graph
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable

pytestmark = pytest.mark.sampled(6)

X = np.random.default_rng(4).standard_normal((2, 3, 5, 4)).astype(np.float32)
HALF, ALIGNED = "half_pixel", "align_corners"


def model(nodes: Sequence[tuple[str, dict[int, Any], dict[str, Any]]], opset: int) -> tuple[Any, dict[str, Any]]:
    """Nodes on images, whose further inputs, by their places, are inputs of the model, and those."""
    feeds: dict[str, Any] = {"x": X}
    made: list[Any] = []
    for number, (operator, given, attributes) in enumerate(nodes):
        names = {place: f"in_{number}_{place}" for place in given}
        feeds |= {names[place]: np.asarray(array) for place, array in given.items()}
        inputs = ["x", *(names.get(place, "") for place in range(1, max(given) + 1))]
        made.append(helper.make_node(operator, inputs, [f"y{number}"], **attributes))
    types = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feeds.items()
    ]
    outputs = [helper.make_empty_tensor_value_info(f"y{number}") for number in range(len(nodes))]
    graph = helper.make_graph(made, "g", types, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9), feeds


def program(proto: Any) -> Executable:
    return Executable(compile_graph(from_onnx(proto), Target.parse("llvm")), threads=1)


def check(nodes: Sequence[tuple[str, dict[int, Any], dict[str, Any]]], opset: int = 19) -> None:
    proto, feeds = model(nodes, opset)
    runtime = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    found: list[Any] = [*program(proto).run(feeds).values()]
    for ours, theirs in zip(found, runtime.run(None, feeds), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5, strict=True)


def resize(given: dict[int, Any], coordinates: str = HALF, /, **attributes: Any) -> tuple[str, dict[int, Any], Any]:
    return "Resize", given, {"coordinate_transformation_mode": coordinates, **attributes}


def f32(*numbers: float) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.array(numbers, np.float32)


AXES: dict[str, Any] = {"axes": [2, 3]}


def test_the_nearest_elements_by_scales_and_sizes():
    scales = {2: f32(0.6, 2.5)}
    nodes = [resize(scales, mode, nearest_mode="floor", **AXES) for mode in (HALF, "asymmetric")]
    check([*nodes, resize(scales, **AXES), resize({3: [7, 6]}, axes=[3, 2], keep_aspect_ratio_policy="not_larger")])


def test_interpolated_by_scales_and_sizes():
    check([
        resize({3: [1, 7]}, "pytorch_half_pixel", mode="linear", **AXES),
        resize({3: [7]}, mode="cubic", exclude_outside=1, axes=[2]),
        resize({2: f32(2.5)}, ALIGNED, mode="cubic", axes=[3]),
        resize({2: f32(2.4)}, "half_pixel_symmetric", mode="linear", axes=[3]),
        resize({3: [3, 9]}, mode="linear", antialias=1, **AXES),
        resize({2: f32(0.6)}, mode="cubic", antialias=1, axes=[2]),
    ])  # fmt: skip


def test_a_region_that_data_names_and_what_stands_outside_of_it():
    region = {1: f32(0.2, 0.5, 1.3, 1.0), 3: [4, 3]}
    check([resize(region, "tf_crop_and_resize", mode="linear", extrapolation_value=7.0, **AXES)])


def test_older_revisions_by_scales():
    check([("Resize", {1: f32(1, 1, 0.6, 2)}, {})], opset=10)
    check([("Upsample", {1: f32(1, 1, 2, 3)}, {"mode": "linear"})], opset=9)


def test_what_stays_as_it_is_stays_so_whatever_the_coordinates_and_however_large_its_neighbours():
    proto, feeds = model([resize({2: f32(1, 1, 2, 2)}, "tf_half_pixel_for_nn", mode="linear")], 19)
    x = X.copy()
    x[0, 0] = np.inf
    y: Any = program(proto).run({**feeds, "x": x})["y0"]
    assert np.isinf(y[0, 0]).all() and np.isfinite(y[0, 1:]).all() and np.isfinite(y[1]).all()


def test_nothing_is_resampled_to_nothing():
    proto, feeds = model([resize({3: [2, 3]}, axes=[2, 3]), resize({2: f32(1, 1)}, axes=[2, 3])], 19)
    compiled = program(proto)
    for name, numbers in (("in_0_3", [0, 3]), ("in_0_3", [-1, 3]), ("in_1_2", f32(0, 1)), ("in_1_2", f32(-1, 1))):
        with pytest.raises(Diagnostic):
            compiled.run({**feeds, name: np.asarray(numbers)})


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_scales_may_leave_nothing(mode: str):
    check([resize({2: f32(1, 1, 2, 0.2)}, mode=mode), resize({2: f32(0.1, 2)}, mode=mode, axes=[2, 3])])


def test_sums_over_rows_of_several_known_extents_are_scheduled() -> None:
    attributes = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.5}
    roi = np.array([0, 0, 0.1, 0, 1, 1, 1, 1], np.float32)
    proto, feeds = model([("Resize", {1: roi, 3: [1, 1, 4, 4]}, attributes)], 19)
    feeds["x"] = X[:1, :1, :4, :2]
    for dim, extent in zip(proto.graph.input[0].type.tensor_type.shape.dim, feeds["x"].shape, strict=True):
        dim.dim_value = extent
    scheduled = Executable(compile_graph(from_onnx(proto), Target.parse("llvm")), threads=1)
    found, wanted = (
        np.asarray(next(iter(executable.run(feeds).values())), np.float32) for executable in (scheduled, program(proto))
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_a_scale_of_one_leaves_an_extent_as_it_is_beside_scales_that_are_computed():
    """As places of images are enlarged: by `[1, 1, h / 3, w / 3]`. The batch of one stays one, and broadcasts."""
    weights = {"table": X[:1, :, :3, :3], "ones": f32(1, 1), "three": f32(3, 3), "two": np.array([2]), "four": [4]}
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Slice", ["shape", "two", "four"], ["size"]),
        helper.make_node("Cast", ["size"], ["floats"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Div", ["floats", "three"], ["some"]),
        helper.make_node("Concat", ["ones", "some"], ["scales"], axis=0),
        helper.make_node("Resize", ["table", "", "scales"], ["places"], mode="cubic"),
        helper.make_node("Add", ["x", "places"], ["sum"]),
        helper.make_node("Reshape", ["sum", "flat"], ["y"]),
    ]
    weights["flat"] = np.array([0, 0, -1])
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["b", 3, "h", "w"])],
        [helper.make_empty_tensor_value_info("y")],
        [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    runtime = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    compiled = program(proto)
    for x in (X, X[:1, :, :3], np.concatenate([X, X[:1]], axis=0)[:, :, :, :3]):
        ours: list[Any] = [*compiled.run({"x": np.ascontiguousarray(x)}).values()]
        np.testing.assert_allclose(ours[0], runtime.run(None, {"x": x})[0], rtol=1e-5, atol=1e-5, strict=True)

"""Operators where what TVM computes is not what one would guess: held to what TVM gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import relay

pytestmark = pytest.mark.sampled(3)

relay: Any = relay
KINDS = pytest.mark.parametrize("kind", ["debug", "vm"])


def run(kind: str, function: Any, *arrays: Any) -> Any:
    return relay.create_executor(kind).evaluate(function)(*arrays)


@KINDS
@pytest.mark.parametrize("new", [[50, 20], [50, -1], [25, 40]])
def test_indices_beyond_a_sparse_shape_stay_as_they_are_where_the_shape_does(kind: str, new: list[int]):
    given, old = np.array([[0, 100], [40, 30], [3, 4]]), np.array([50, 20])
    i, p, n = (relay.var(name, shape=shape, dtype="int64") for name, shape in (("i", (3, 2)), ("p", (2,)), ("n", (2,))))
    found, shape = run(
        kind, relay.Function([i, p, n], relay.sparse_reshape(i, p, n).astuple()), given, old, np.array(new)
    )
    flat = given @ [20, 1]
    assert found.tolist() == (given.tolist() if new[0] == 50 else np.stack([flat // 40, flat % 40], 1).tolist())
    assert shape.tolist() == ([50, 20] if new[0] == 50 else [25, 40])


@KINDS
def test_sparse_shapes_have_any_number_of_extents(kind: str):
    types = (("i", (relay.Any(), relay.Any())), ("p", (relay.Any(),)), ("n", (relay.Any(),)))
    i, p, n = (relay.var(name, shape=shape, dtype="int64") for name, shape in types)
    compiled = relay.create_executor(kind).evaluate(relay.Function([i, p, n], relay.sparse_reshape(i, p, n).astuple()))
    given = np.array([[0, 1, 0], [1, 2, 3]])
    for new, filled in (([9, -1], [9, 4]), ([36], [36]), ([3, 2, -1], [3, 2, 6]), ([2, 3, 6], [2, 3, 6])):
        found, shape = compiled(given, np.array([2, 3, 6]), np.array(new))
        assert shape.tolist() == filled
        assert np.ravel_multi_index(tuple(found.T), filled).tolist() == [6, 33]
    beyond, _ = compiled(np.array([[0, 7], [3, 4]]), np.array([9, 4]), np.array([9, 4]))
    assert beyond.tolist() == [[0, 7], [3, 4]]


@KINDS
def test_the_border_of_an_image_is_within_it_as_far_as_tvms_rounding_says(kind: str):
    """To the last row that is cropped TVM comes exactly, and past the last column by the last bit."""
    image, box = np.ones((1, 30, 100, 1), np.float32), np.array([[0.1, 0.2, 1, 1]], np.float32)
    x, b = relay.var("x", shape=image.shape), relay.var("b", shape=(1, 4))
    w = relay.var("w", shape=(1,), dtype="int32")
    function = relay.Function([x, b, w], relay.image.crop_and_resize(x, b, w, [20, 20], "NHWC", "bilinear", 0.0))
    (found,) = run(kind, function, image, box, np.zeros(1, np.int32))
    assert found[:, :19].all() and not found[:, 19].any()


@KINDS
def test_channels_before_depth_is_called_cdr(kind: str):
    x = relay.var("x", shape=(1, 8, 2, 2))
    both = relay.Tuple([relay.nn.depth_to_space(x, 2, mode=mode) for mode in ("CDR", "CRD", "DCR")])
    first, second, other = run(kind, relay.Function([x], both), np.arange(32, dtype=np.float32).reshape(1, 8, 2, 2))
    assert np.array_equal(first, second) and not np.array_equal(first, other)


@KINDS
def test_suppression_that_gives_rows_takes_anything_for_indices(kind: str):
    rows = np.array([[[0, 0.9, 0, 0, 2, 2], [0, 0.8, 0, 0, 2, 2], [0, 0.7, 5, 5, 6, 6]]], np.float32)
    x, n = relay.var("x", shape=(1, 3, 6)), relay.var("n", shape=(1,), dtype="int32")
    kept = relay.vision.non_max_suppression(x, n, x, return_indices=False, invalid_to_bottom=True)
    found = run(kind, relay.Function([x, n], kept), rows, np.array([3], np.int32))
    assert np.array_equal(found[0, :2], rows[0, [0, 2]]) and (found[0, 2] == -1).all()
    with pytest.raises(weft.Diagnostic, match="tensor<1x3x6xf32> are no places of"):
        relay.vision.non_max_suppression(x, n, x)
    with pytest.raises(weft.Diagnostic, match="tensor<2xi32> are no counts of"):
        relay.vision.non_max_suppression(x, relay.var("n", shape=(2,), dtype="int32"), x, return_indices=False)


@KINDS
@pytest.mark.parametrize("groups", [1, 2])
def test_deformable_convolutions_have_their_channels_last(kind: str, groups: int):
    rng = np.random.default_rng(0)
    data, offset = rng.normal(size=(2, 4, 6, 5)), rng.normal(size=(2, 36, 6, 5))
    weight = rng.normal(size=(6, 4 // groups, 3, 3))
    given = [each.astype(np.float32) for each in (data, offset, weight)]

    def convolved(data_layout: str, kernel_layout: str, *arrays: Any) -> Any:
        x, o, w = relay.var("x", shape=arrays[0].shape), relay.var("o"), relay.var("w")
        attributes = {"padding": (1, 1), "deformable_groups": 2, "groups": groups, "channels": 6, "kernel_size": (3, 3)}
        layouts = {"data_layout": data_layout, "kernel_layout": kernel_layout}
        typed = relay.testing.run_infer_type(
            relay.Function([x, o, w], relay.nn.deformable_conv2d(x, o, w, **attributes, **layouts))
        )
        assert typed.checked_type.arg_types[1].concrete_shape == arrays[1].shape
        return run(kind, typed, *arrays)

    x, o, w = given
    expected = convolved("NCHW", "OIHW", x, o, w)
    found = convolved("NHWC", "HWIO", *(each.transpose(0, 2, 3, 1) for each in (x, o)), w.transpose(2, 3, 1, 0))
    np.testing.assert_allclose(found.transpose(0, 3, 1, 2), expected, rtol=1e-5, atol=1e-5)


@KINDS
def test_a_slice_like_another_of_open_length_is_asked_to_be_there(kind: str):
    x, like = (relay.var(name, shape=(relay.Any(), relay.Any())) for name in ("x", "like"))
    function = relay.Function([x, like], relay.slice_like(x, like, axes=(0,)))
    data = np.arange(12, dtype=np.float32).reshape(4, 3)
    assert np.array_equal(run(kind, function, data, np.ones((2, 7), np.float32)), data[:2])
    with pytest.raises(weft.Diagnostic):
        run(kind, function, data, np.ones((5, 7), np.float32))


@pytest.mark.parametrize("is_ascend", [True, False])
def test_the_first_of_each_row_is_a_kernel_of_one_column(is_ascend: bool):
    x, data = relay.var("x", shape=(20, 100)), np.random.default_rng(0).random((20, 100), np.float32)
    for ret_type, first in (
        ("values", data.min if is_ascend else data.max),
        ("indices", data.argmin if is_ascend else data.argmax),
    ):
        found = weft.compile(relay.Function([x], relay.topk(x, 1, -1, ret_type, is_ascend, "int64")))(data)
        assert np.array_equal(found, first(axis=1, keepdims=True))


@KINDS
@pytest.mark.parametrize("layouts", [("NCHW", "OIHW"), ("NHWC", "HWOI")])
def test_a_depthwise_weight_has_a_multiplier_of_channels(kind: str, layouts: tuple[str, str]):
    rng = np.random.default_rng(0)
    data, weight = rng.normal(size=(2, 3, 5, 5)).astype(np.float32), rng.normal(size=(3, 2, 3, 3)).astype(np.float32)
    if layouts[0] == "NHWC":
        data, weight = data.transpose(0, 2, 3, 1), weight.transpose(2, 3, 0, 1)
    x, w = relay.var("x", shape=data.shape), relay.var("w", shape=weight.shape)
    y = relay.nn.conv2d(
        x, w, groups=3, channels=6, kernel_size=(3, 3), data_layout=layouts[0], kernel_layout=layouts[1]
    )
    found = run(kind, relay.Function([x, w], y), data, weight)
    if layouts[0] == "NHWC":
        data, weight, found = data.transpose(0, 3, 1, 2), weight.transpose(2, 3, 0, 1), found.transpose(0, 3, 1, 2)
    windows = np.lib.stride_tricks.sliding_window_view(data, (3, 3), (2, 3))
    expected = np.einsum("nchwij,cmij->ncmhw", windows, weight).reshape(2, 6, 3, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@KINDS
def test_zero_points_of_a_depthwise_weight_are_those_of_channels(kind: str):
    rng = np.random.default_rng(0)
    data, weight = rng.integers(0, 255, (1, 3, 4, 4), np.uint8), rng.integers(0, 255, (3, 2, 3, 3), np.uint8)
    x, w = relay.var("x", shape=data.shape, dtype="uint8"), relay.var("w", shape=weight.shape, dtype="uint8")
    points, scale = np.array([1, 20, 3], np.int32), relay.const(1.0)
    y = relay.qnn.conv2d(x, w, relay.const(7), relay.const(points), scale, scale, (3, 3), 6, groups=3)
    found = run(kind, relay.Function([x, w], y), data, weight)
    windows = np.lib.stride_tricks.sliding_window_view(data.astype(np.int32) - 7, (3, 3), (2, 3))
    taps = weight.astype(np.int32) - points[:, None, None, None]
    assert np.array_equal(found, np.einsum("nchwij,cmij->ncmhw", windows, taps).reshape(1, 6, 2, 2))

"""The neural-network operators against ONNX's reference implementation of the same operators.

Every case evaluates the operator's `compute`, holds its direct NumPy evaluation equal to that, and both to ONNX.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from weft.dialects.relay.base import RelayOp, Value
from weft.dialects.relay.ops.image import GridSampleOp, Resize2dOp
from weft.dialects.relay.ops.nn.activation import LeakyReluOp, LogSoftmaxOp, PreluOp, ReluOp, SoftmaxOp
from weft.dialects.relay.ops.nn.adaptive_pool import GlobalAvgPool2dOp, GlobalMaxPool2dOp
from weft.dialects.relay.ops.nn.conv_transpose import Conv1dTransposeOp, Conv2dTransposeOp
from weft.dialects.relay.ops.nn.convolution import Conv1dOp, Conv2dOp, Conv3dOp
from weft.dialects.relay.ops.nn.dense import BatchMatmulOp, DenseOp, MatmulOp
from weft.dialects.relay.ops.nn.norm import BatchNormOp, GroupNormOp, InstanceNormOp, LayerNormOp, LrnOp
from weft.dialects.relay.ops.nn.padding import PadOp
from weft.dialects.relay.ops.nn.pool import AvgPool1dOp, AvgPool2dOp, AvgPool3dOp, MaxPool1dOp, MaxPool2dOp, MaxPool3dOp
from weft.dialects.relay.ops.nn.spatial import DepthToSpaceOp, SpaceToDepthOp
from weft.dialects.relay.ops.vision import RoiAlignOp, RoiPoolOp
from weft.testing.operators import assert_close, random_floats, run_operator

pytestmark = pytest.mark.sampled(5)

NDArray = npt.NDArray[Any]
Properties = dict[str, Value]
OPSET = 20


def onnx(op_type: str, inputs: Sequence[NDArray | None], **attributes: Any) -> NDArray:
    """The first result of one ONNX operator by ONNX's reference evaluator; an absent input is `None`."""
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    values = {name: x for name, x in zip(names, inputs, strict=True) if x is not None}
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in values.items()
    ]
    node = helper.make_node(op_type, names, ["y"], **attributes)
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    model = helper.make_model(
        helper.make_graph([node], "g", infos, [output]), opset_imports=[helper.make_opsetid("", OPSET)]
    )
    results: Any = ReferenceEvaluator(model).run(None, values)  # pyright: ignore[reportUnknownMemberType]
    return np.asarray(results[0])


CONVOLUTIONS: dict[str, tuple[type[RelayOp], tuple[int, ...], tuple[int, ...], Properties]] = {
    "of_one_dimension": (Conv1dOp, (2, 3, 9), (4, 3, 3), {"padding": [1], "strides": [2]}),
    "unpadded": (Conv2dOp, (1, 3, 5, 6), (4, 3, 3, 2), {}),
    "padded_on_all_sides_differently": (Conv2dOp, (1, 2, 5, 6), (3, 2, 3, 3), {"padding": [0, 1, 2, 3]}),
    "with_strides": (Conv2dOp, (1, 2, 7, 8), (3, 2, 3, 3), {"padding": [1, 1], "strides": [2, 3]}),
    "dilated": (Conv2dOp, (1, 2, 7, 8), (3, 2, 3, 3), {"padding": [2, 2], "dilation": [2, 1]}),
    "in_groups": (Conv2dOp, (2, 6, 5, 5), (4, 3, 3, 3), {"padding": [1, 1], "groups": 2}),
    "depthwise": (Conv2dOp, (2, 4, 5, 5), (4, 1, 3, 3), {"padding": [1, 1], "groups": 4}),
    "depthwise_with_a_multiplier": (Conv2dOp, (1, 3, 5, 5), (6, 1, 3, 3), {"groups": 3}),
    "of_one_by_one": (Conv2dOp, (2, 4, 3, 3), (5, 4, 1, 1), {"strides": [2, 2]}),
    "of_three_dimensions": (Conv3dOp, (1, 2, 4, 5, 4), (3, 2, 2, 3, 2), {"padding": [1], "strides": [1, 2, 1]}),
}


def onnx_window(properties: Properties, rank: int) -> dict[str, object]:
    """TVM's properties of a window as ONNX's attributes."""

    def values(name: str, default: int) -> list[int]:
        value: Any = properties.get(name, [default])
        return list(value) * (rank if len(value) == 1 else 1)

    padding = values("padding", 0)
    return {
        "strides": values("strides", 1),
        "dilations": values("dilation", 1),
        "pads": padding * (1 if len(padding) == 2 * rank else 2),
    }


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_a_convolution_equals_that_of_onnx(case: str):
    op_type, data, weight, properties = CONVOLUTIONS[case]
    inputs = [random_floats(*data), random_floats(*weight)]
    attributes = onnx_window(properties, len(data) - 2) | {"group": properties.get("groups", 1)}
    assert_close(run_operator(op_type, inputs, **properties), onnx("Conv", inputs, **attributes))


@pytest.mark.parametrize("case", [case for case, (op_type, *_) in CONVOLUTIONS.items() if op_type is Conv2dOp])
def test_a_convolution_in_nhwc_equals_that_in_nchw(case: str):
    op_type, data, weight, properties = CONVOLUTIONS[case]
    x, w = random_floats(*data), random_floats(*weight)
    layouts: Properties = {"data_layout": "NHWC", "kernel_layout": "HWIO"}
    found = run_operator(op_type, [x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0)], **properties, **layouts)
    assert_close(found, run_operator(op_type, [x, w], **properties).transpose(0, 2, 3, 1))


TRANSPOSED: dict[str, tuple[type[RelayOp], tuple[int, ...], tuple[int, ...], Properties]] = {
    "of_one_dimension": (Conv1dTransposeOp, (1, 2, 5), (2, 3, 3), {"strides": [2]}),
    "unpadded": (Conv2dTransposeOp, (1, 2, 3, 4), (2, 3, 3, 3), {}),
    "with_strides": (Conv2dTransposeOp, (2, 2, 3, 4), (2, 3, 3, 2), {"strides": [2, 3]}),
    "padded": (Conv2dTransposeOp, (1, 2, 4, 4), (2, 3, 3, 3), {"strides": [2, 2], "padding": [0, 1, 1, 0]}),
    "padded_beyond_its_kernel": (Conv2dTransposeOp, (1, 2, 6, 6), (2, 3, 2, 2), {"padding": [2, 2]}),
    "dilated": (Conv2dTransposeOp, (1, 2, 3, 3), (2, 3, 2, 2), {"dilation": [2, 2], "padding": [1, 1]}),
    "with_output_padding": (
        Conv2dTransposeOp,
        (1, 2, 3, 3),
        (2, 3, 3, 3),
        {"strides": [2, 2], "padding": [1, 1], "output_padding": [1, 1]},
    ),
}


@pytest.mark.parametrize("case", TRANSPOSED)
def test_a_transposed_convolution_equals_that_of_onnx(case: str):
    op_type, data, weight, properties = TRANSPOSED[case]
    inputs = [random_floats(*data), random_floats(*weight)]
    rank = len(data) - 2
    extra: Any = properties.get("output_padding", [0] * rank)
    attributes = onnx_window(properties, rank) | {"output_padding": list(extra), "group": properties.get("groups", 1)}
    assert_close(run_operator(op_type, inputs, **properties), onnx("ConvTranspose", inputs, **attributes))


def test_a_transposed_convolution_in_groups_is_one_for_each_group():
    x, w = random_floats(1, 4, 3, 3), random_floats(4, 3, 3, 3)
    halves = [onnx("ConvTranspose", [x[:, g : g + 2], w[g : g + 2]], strides=[2, 2]) for g in (0, 2)]
    assert_close(run_operator(Conv2dTransposeOp, [x, w], strides=[2, 2], groups=2), np.concatenate(halves, 1))


POOLS: dict[str, tuple[tuple[int, ...], Properties]] = {
    "of_one_dimension": ((2, 3, 9), {"pool_size": [3], "strides": [2]}),
    "unpadded": ((2, 2, 5, 6), {"pool_size": [3, 2]}),
    "padded": ((1, 2, 6, 6), {"pool_size": [3, 3], "strides": [2, 2], "padding": [1, 1, 1, 1]}),
    "padded_on_one_side": ((1, 2, 6, 6), {"pool_size": [3, 3], "strides": [2, 2], "padding": [0, 0, 1, 1]}),
    "in_ceil_mode": ((1, 2, 6, 6), {"pool_size": [3, 3], "strides": [2, 2], "ceil_mode": True}),
    "of_three_dimensions": ((1, 2, 4, 5, 4), {"pool_size": [2, 3, 2], "padding": [0, 1, 0], "strides": [2]}),
}
MAX_POOLS: dict[int, type[RelayOp]] = {1: MaxPool1dOp, 2: MaxPool2dOp, 3: MaxPool3dOp}
AVG_POOLS: dict[int, type[RelayOp]] = {1: AvgPool1dOp, 2: AvgPool2dOp, 3: AvgPool3dOp}


def onnx_pool(properties: Properties, rank: int) -> dict[str, object]:
    window = onnx_window(properties, rank)
    return window | {"kernel_shape": properties["pool_size"], "ceil_mode": int(bool(properties.get("ceil_mode")))}


@pytest.mark.parametrize("case", POOLS)
def test_a_maximum_pool_equals_that_of_onnx(case: str):
    shape, properties = POOLS[case]
    rank, x = len(shape) - 2, random_floats(*shape)
    assert_close(run_operator(MAX_POOLS[rank], [x], **properties), onnx("MaxPool", [x], **onnx_pool(properties, rank)))


@pytest.mark.parametrize("count_include_pad", [False, True])
@pytest.mark.parametrize("case", POOLS)
def test_an_average_pool_equals_that_of_onnx(case: str, count_include_pad: bool):
    shape, properties = POOLS[case]
    rank, x = len(shape) - 2, random_floats(*shape)
    attributes = onnx_pool(properties, rank) | {"count_include_pad": int(count_include_pad)}
    found = run_operator(AVG_POOLS[rank], [x], **properties, count_include_pad=count_include_pad)
    assert_close(found, onnx("AveragePool", [x], **attributes))


def test_a_window_larger_than_the_image_holds_what_is_there_in_ceil_mode():
    """As ONNX Runtime takes it; ONNX's reference evaluator has other means."""
    x, window = random_floats(1, 2, 2, 5), {"pool_size": [4, 3], "strides": [3, 2], "ceil_mode": True}
    parts = np.stack([x[..., :3], x[..., 2:]], 2)  # [batch, channel, place, row, column]
    assert_close(run_operator(MaxPool2dOp, [x], **window), parts.max((3, 4))[:, :, np.newaxis])
    for count_include_pad in (False, True):
        found = run_operator(AvgPool2dOp, [x], **window, count_include_pad=count_include_pad)
        assert_close(found, parts.mean((3, 4))[:, :, np.newaxis])


def test_global_pools_equal_those_of_onnx():
    x = random_floats(2, 3, 4, 5)
    assert_close(run_operator(GlobalMaxPool2dOp, [x]), onnx("GlobalMaxPool", [x]))
    assert_close(run_operator(GlobalAvgPool2dOp, [x]), onnx("GlobalAveragePool", [x]))


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_matrix_products_equal_those_of_onnx(transpose_a: bool, transpose_b: bool):
    a, b = random_floats(3, 4), random_floats(4, 5)
    given = [a.T.copy() if transpose_a else a, b.T.copy() if transpose_b else b]
    expected = onnx("Gemm", given, transA=int(transpose_a), transB=int(transpose_b))
    assert_close(run_operator(MatmulOp, given, transpose_a=transpose_a, transpose_b=transpose_b), expected)
    batch = [np.stack([x, x * 2]) for x in given]
    found = run_operator(BatchMatmulOp, batch, transpose_a=transpose_a, transpose_b=transpose_b)
    assert_close(found, np.stack([expected, expected * 4]))


def test_dense_takes_its_weight_transposed_and_any_number_of_leading_dimensions():
    x, w = random_floats(2, 3, 4), random_floats(5, 4)
    assert_close(run_operator(DenseOp, [x, w], units=5), onnx("MatMul", [x, w.T.copy()]))


def test_batch_matmul_broadcasts_a_batch_of_one():
    x, y = random_floats(3, 2, 4), random_floats(1, 5, 4)
    assert_close(run_operator(BatchMatmulOp, [x, y]), onnx("MatMul", [x, y.transpose(0, 2, 1).copy()]))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_and_log_softmax_equal_those_of_onnx(axis: int):
    x = random_floats(3, 4, 5) * 30
    assert_close(run_operator(SoftmaxOp, [x], axis=axis), onnx("Softmax", [x], axis=axis))
    x = x / 30  # ONNX's reference takes the logarithm of the softmax, which underflows
    assert_close(run_operator(LogSoftmaxOp, [x], axis=axis), onnx("LogSoftmax", [x], axis=axis))


def test_activations_equal_those_of_onnx():
    x, slope = random_floats(2, 3, 4), random_floats(3)
    assert_close(run_operator(ReluOp, [x]), onnx("Relu", [x]))
    assert_close(run_operator(LeakyReluOp, [x], alpha=0.1), onnx("LeakyRelu", [x], alpha=0.1))
    assert_close(run_operator(PreluOp, [x, slope]), onnx("PRelu", [x, slope.reshape(3, 1)]))


def test_normalisations_equal_those_of_onnx():
    x, scale, bias = random_floats(2, 4, 3, 5), random_floats(4), random_floats(1, 4)[0]
    mean, var = random_floats(2, 4)[0], random_floats(3, 4)[0] ** 2
    batch = [x, scale, bias, mean, var]
    assert_close(run_operator(BatchNormOp, batch, epsilon=1e-3), onnx("BatchNormalization", batch, epsilon=1e-3))
    instance = [x, scale, bias]
    assert_close(run_operator(InstanceNormOp, instance), onnx("InstanceNormalization", instance))
    row = [x, random_floats(5), random_floats(1, 5)[0]]
    assert_close(run_operator(LayerNormOp, row), onnx("LayerNormalization", row, axis=-1))


def test_group_norm_is_instance_norm_of_the_groups():
    x, ones, zeros = random_floats(2, 4, 3, 5), np.ones(4, np.float32), np.zeros(4, np.float32)
    groups = onnx("InstanceNormalization", [x.reshape(2, 2, 30), ones[:2], zeros[:2]])
    assert_close(run_operator(GroupNormOp, [x, ones, zeros], num_groups=2), groups.reshape(x.shape))


@pytest.mark.parametrize("size", [1, 3, 5])
def test_local_response_normalisation_equals_that_of_onnx(size: int):
    x = random_floats(7, 7, 2, 2)  # ONNX's reference takes the batch for the channels, so that both must be equal
    attributes: dict[str, Any] = {"size": size, "alpha": 0.3, "beta": 0.6, "bias": 1.5}
    assert_close(run_operator(LrnOp, [x], **attributes), onnx("LRN", [x], **attributes))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
@pytest.mark.parametrize("pads", [(0, 0, 1, 2), (2, 1, 0, 3)])
def test_padding_equals_that_of_onnx(mode: str, pads: tuple[int, int, int, int]):
    x, value = random_floats(3, 4), np.asarray(7, np.float32)
    begins_then_ends = np.asarray([*pads[::2], *pads[1::2]])
    expected = onnx("Pad", [x, begins_then_ends, value], mode=mode)
    assert_close(run_operator(PadOp, [x, value], pad_width=list(pads), pad_mode=mode), expected)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_padding_by_less_than_nothing_cuts_off(mode: str):
    x, value = random_floats(3, 4), np.asarray(7, np.float32)
    assert_close(run_operator(PadOp, [x, value], pad_width=[0, -1, -2, 0], pad_mode=mode), x[:2, 2:])


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space_equals_that_of_onnx_and_space_to_depth_undoes_it(mode: str):
    x = random_floats(2, 12, 3, 2)
    spread = run_operator(DepthToSpaceOp, [x], block_size=2, mode=mode)
    assert_close(spread, onnx("DepthToSpace", [x], blocksize=2, mode=mode))
    assert_close(run_operator(SpaceToDepthOp, [spread], block_size=2, mode=mode), x)


RESIZES: list[tuple[str, str, str, dict[str, int]]] = [
    ("linear", "half_pixel", "", {}),
    ("linear", "pytorch_half_pixel", "", {}),
    ("linear", "align_corners", "", {}),
    ("linear", "asymmetric", "", {}),
    ("cubic", "half_pixel", "", {}),
    ("cubic", "half_pixel", "", {"exclude_outside": 1}),
    ("cubic", "align_corners", "", {}),
    ("nearest_neighbor", "asymmetric", "floor", {}),
    ("nearest_neighbor", "asymmetric", "ceil", {}),
    ("nearest_neighbor", "half_pixel", "round_prefer_floor", {}),
    ("nearest_neighbor", "half_pixel", "round_prefer_ceil", {}),
    ("nearest_neighbor", "align_corners", "round_prefer_floor", {}),
]
ONNX_METHODS = {"nearest_neighbor": "nearest", "linear": "linear", "cubic": "cubic"}


@pytest.mark.parametrize("size", [(8, 10), (3, 2), (4, 7), (1, 1)])
@pytest.mark.parametrize(("method", "coordinates", "rounding", "extra"), RESIZES)
def test_resizing_equals_that_of_onnx(
    method: str, coordinates: str, rounding: str, extra: dict[str, int], size: tuple[int, int]
):
    x = random_floats(1, 2, 4, 5)
    found = run_operator(
        Resize2dOp,
        [x],
        size=size,
        method=method,
        coordinate_transformation_mode=coordinates,
        rounding_method=rounding,
        cubic_alpha=-0.75,
        cubic_exclude=bool(extra),
    )
    sizes = np.asarray([1, 2, *size], np.int64)
    attributes: dict[str, object] = {"mode": ONNX_METHODS[method], "coordinate_transformation_mode": coordinates}
    if rounding:
        attributes["nearest_mode"] = rounding
    assert_close(found, onnx("Resize", [x, None, None, sizes], **attributes, **extra))


def test_resizing_a_region_of_interest_equals_that_of_onnx():
    x, roi = random_floats(1, 1, 4, 5), [0.25, 0.25, 0.5, 1.5]
    found = run_operator(
        Resize2dOp,
        [x],
        size=[3, 6],
        roi=roi,
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=9.0,
    )
    onnx_roi = np.asarray([0, 0, roi[0], roi[1], 1, 1, roi[2], roi[3]], np.float32)
    expected = onnx(
        "Resize",
        [x, onnx_roi, None, np.asarray([1, 1, 3, 6], np.int64)],
        mode="linear",
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=9.0,
    )
    assert_close(found, expected)


# Where a cubic reaches over the border, ONNX's reference moves the place sampled, not (as PyTorch) what is read there.
GRID_MODES = [
    (method, padding)
    for method in ("bilinear", "nearest", "bicubic")
    for padding in ("zeros", "border", "reflection")
    if (method, padding) != ("bicubic", "border")
]


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize(("method", "padding_mode"), GRID_MODES)
def test_grid_sampling_equals_that_of_onnx(method: str, padding_mode: str, align_corners: bool):
    x, grid = random_floats(2, 3, 4, 5), random_floats(2, 3, 4, 2) * 0.9
    found = run_operator(
        GridSampleOp,
        [x, grid.transpose(0, 3, 1, 2).copy()],
        method=method,
        padding_mode=padding_mode,
        align_corners=align_corners,
    )
    mode = {"bilinear": "linear", "nearest": "nearest", "bicubic": "cubic"}[method]
    attributes: dict[str, object] = {"mode": mode, "padding_mode": padding_mode, "align_corners": int(align_corners)}
    assert_close(found, onnx("GridSample", [x, grid], **attributes))


ROIS = np.asarray([[1, 1, 4, 5], [0, 0, 2, 2.5], [-1.5, 2, 3, 8], [-9, -3, 40, 20], [-500, 1, 600, 5]], np.float32)
"""Regions within an image, over its end, and larger than it is."""


@pytest.mark.parametrize("sample_ratio", [0, 1, 2])
def test_aligned_regions_equal_those_of_onnx(sample_ratio: int):
    x, images = random_floats(2, 3, 6, 7), np.asarray([0, 1, 1, 0, 1])
    rois = np.concatenate([images[:, None].astype(np.float32), ROIS], 1)
    properties: Properties = {"pooled_size": [2, 3], "spatial_scale": 0.7, "sample_ratio": sample_ratio}
    attributes: dict[str, Any] = {
        "output_height": 2,
        "output_width": 3,
        "spatial_scale": 0.7,
        "sampling_ratio": sample_ratio,
        "coordinate_transformation_mode": "output_half_pixel",
    }
    corners = onnx("RoiAlign", [x, ROIS, images], **attributes, mode="max")
    assert_close(run_operator(RoiAlignOp, [x, rois], **properties, mode="max_corner"), corners)
    expected = onnx("RoiAlign", [x, ROIS, images], **attributes)
    assert_close(run_operator(RoiAlignOp, [x, rois], **properties), expected)
    largest = run_operator(RoiAlignOp, [x, rois], **properties, mode="max")
    if sample_ratio == 1:
        assert_close(largest, expected)
    else:
        assert (largest >= expected - 1e-5).all() and (largest > expected).any()


@pytest.mark.parametrize("mode", ["avg", "max"])
def test_a_region_of_no_width_gives_zeros(mode: str):
    regions = np.asarray([[0, 2, 1, 2, 3], [0, 3, 1, 2, 3]], np.float32)
    properties: Properties = {"pooled_size": [2, 2], "spatial_scale": 1.0, "aligned": True, "mode": mode}
    found = run_operator(RoiAlignOp, [random_floats(1, 2, 6, 7), regions], **properties)
    assert_close(found, np.zeros((2, 2, 2, 2), np.float32))


def test_pooled_regions_are_the_maxima_of_their_bins():
    x = random_floats(1, 2, 6, 6)
    rois = np.asarray([[0, 0, 1, 3, 4], [0, 2, 2, 5, 9]], np.float32)
    found = run_operator(RoiPoolOp, [x, rois], pooled_size=[2, 2], spatial_scale=1.0)
    first = [[x[0, :, 1:3, 0:2], x[0, :, 1:3, 2:4]], [x[0, :, 3:5, 0:2], x[0, :, 3:5, 2:4]]]
    assert_close(found[0], np.asarray([[b.max((1, 2)) for b in row] for row in first]).transpose(2, 0, 1))
    assert_close(found[1, :, 0, 0], x[0, :, 2:6, 2:4].max((1, 2)))
    assert_close(found[1, :, 1, 0], np.zeros(2, np.float32))

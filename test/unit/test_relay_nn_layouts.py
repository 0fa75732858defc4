"""Layouts, and the operators that work in channel blocks, against the same operators in plain layouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import TensorType, bf16, f16, f32
from xdsl.ir import Block
from xdsl.utils.exceptions import VerifyException

import weft
from weft import relay
from weft.dialects.relay.attributes import tensor_type_of
from weft.dialects.relay.base import DYNAMIC, RelayOp, Value
from weft.dialects.relay.layout import LayoutTransformOp, parse_layout
from weft.dialects.relay.ops.image import Resize2dOp
from weft.dialects.relay.ops.nn.activation import SoftmaxOp
from weft.dialects.relay.ops.nn.adaptive_pool import (
    AdaptiveAvgPool2dOp,
    AdaptiveMaxPool2dOp,
    GlobalAvgPool2dOp,
    GlobalMaxPool2dOp,
)
from weft.dialects.relay.ops.nn.convolution import Conv2dNCHWcOp, Conv2dOp, Conv3dOp, DepthwiseConv2dNCHWcOp
from weft.dialects.relay.ops.nn.dense import BatchMatmulOp, DenseOp, DensePackOp
from weft.dialects.relay.ops.nn.dense_few_bits import DenseFewBitsOp
from weft.dialects.relay.ops.nn.norm import L2NormalizeOp, LayerNormOp
from weft.dialects.relay.ops.nn.padding import DilateOp, MirrorPadOp
from weft.dialects.relay.ops.nn.pool import AvgPool2dOp, MaxPool2dOp
from weft.dialects.relay.ops.nn.spatial import BatchToSpaceNdOp, SpaceToBatchNdOp
from weft.dialects.relay.ops.nn.upsampling import UpsamplingOp
from weft.dialects.relay.reference import evaluate_op
from weft.dialects.support.dtypes import numpy_dtype
from weft.dialects.support.parser import parse_module
from weft.testing.operators import assert_close, random_floats, run_operator
from weft.transforms.infra.registry import new_ir_context

pytestmark = pytest.mark.sampled(6)

NDArray = npt.NDArray[Any]


def relayout(x: NDArray, src: str, dst: str, extents: Sequence[int] = ()) -> NDArray:
    return run_operator(LayoutTransformOp, [x], src_layout=src, dst_layout=dst, extents=list(extents))


def test_a_channel_stands_in_its_block():
    x = random_floats(2, 8, 3, 2)
    y = relayout(x, "NCHW", "NCHW4c")
    np.testing.assert_array_equal(y, x.reshape(2, 2, 4, 3, 2).transpose(0, 1, 3, 4, 2))


SPLIT = [  # groups, layouts of data, kernel and result
    (1, "NCHW4c", "OIHW4i8o", "NCHW8c"),  # computed as `contrib_conv2d_NCHWc`
    (1, "NCHW2c", "OIHW2i4o", ""),
    (1, "NHWC2c", "HWIO4o", "NHWC"),
    (2, "NCHW2c", "OIHW2i4o", "NCHW4c"),
    (8, "NCHW4c", "OIHW4o", "NCHW8c"),
]


@pytest.mark.parametrize(("groups", "data", "kernel", "out"), SPLIT)
def test_a_convolution_reads_channels_where_any_blocks_have_them(groups: int, data: str, kernel: str, out: str):
    x, w = random_floats(2, 8, 4, 5), random_floats(8, 8 // groups, 3, 2)
    shared = {"groups": groups, "strides": [2, 1], "padding": [1, 0, 1, 1]}
    given = [relayout(x, "NCHW", data), relayout(w, "OIHW", kernel)]
    layouts = {"data_layout": data, "kernel_layout": kernel, "out_layout": out}
    types = [relay.var(f"in{i}", shape=each.shape) for i, each in enumerate(given)]
    function = relay.Function(types, relay.nn.conv2d(*types, **shared, **layouts))
    wanted = relayout(run_operator(Conv2dOp, [x, w], **shared), "NCHW", out or data)
    assert_close(run_operator(Conv2dOp, given, **shared, **layouts), wanted)
    assert_close(weft.compile(relay.IRModule.from_expr(function))(*given), wanted)


def test_a_convolution_of_volumes_reads_channels_in_blocks_too():
    x, w = random_floats(1, 4, 3, 3, 3), random_floats(4, 4, 2, 2, 2)
    given = [relayout(x, "NCDHW", "NCDHW2c"), relayout(w, "OIDHW", "OIDHW4i")]
    found = run_operator(Conv3dOp, given, data_layout="NCDHW2c", kernel_layout="OIDHW4i")
    assert_close(found, relayout(run_operator(Conv3dOp, [x, w]), "NCDHW", "NCDHW2c"))


def test_a_convolution_in_blocks_has_the_gradient_of_the_plain_one():
    x, w, g = random_floats(1, 4, 4, 4), random_floats(4, 4, 3, 3), random_floats(1, 4, 2, 2)

    def gradients(data: str, kernel: str) -> tuple[NDArray, NDArray]:
        shapes = relayout(x, "NCHW", data).shape, relayout(w, "OIHW", kernel).shape, relayout(g, "NCHW", data).shape
        a, b, c = (relay.var(name, shape=shape) for name, shape in zip("abc", shapes, strict=True))
        y = relay.nn.conv2d(a, b, data_layout=data, kernel_layout=kernel) * c
        module = relay.IRModule.from_expr(relay.transform.gradient(relay.Function([a, b, c], y)))
        given = relayout(x, "NCHW", data), relayout(w, "OIHW", kernel), relayout(g, "NCHW", data)
        run: Any = relay.create_executor("debug", module).evaluate()
        _, (by_data, by_weight, _) = run(*given)
        return relayout(by_data, data, "NCHW"), relayout(by_weight, kernel, "OIHW")

    for found, wanted in zip(gradients("NCHW2c", "OIHW2i4o"), gradients("NCHW", "OIHW"), strict=True):
        assert_close(found, wanted)


def test_channels_that_do_not_fill_their_block_are_padded_with_zeros_and_come_back():
    x = random_floats(1, 6, 2, 2)
    y = relayout(x, "NCHW", "NCHW4c")
    assert y.shape == (1, 2, 2, 2, 4)
    assert not y[:, 1, :, :, 2:].any()
    np.testing.assert_array_equal(relayout(y, "NCHW4c", "NCHW", [0, 6, 0, 0]), x)
    assert relayout(y, "NCHW4c", "NCHW").shape == (1, 8, 2, 2)


@pytest.mark.parametrize(
    ("src", "dst", "shape"),
    [
        ("NCHW", "NHWC", (2, 3, 4, 5)),
        ("NCHW4c", "NCHW8c", (1, 3, 2, 2, 4)),
        ("NCHW8c", "NCHW4c", (1, 2, 2, 2, 8)),
        ("NCHW4c", "NHWC", (1, 2, 3, 2, 4)),
        ("OIHW", "OIHW4i8o", (10, 3, 2, 2)),
        ("OIHW", "OIHW2i8o4i", (9, 10, 1, 3)),
        ("HWIO", "OIHW4i8o", (2, 2, 3, 10)),
        ("NK", "NK8n", (11, 3)),
        ("NCHW", "NCHW2h3w", (1, 2, 4, 6)),
    ],
)
def test_a_transformed_tensor_comes_back_from_any_layout(src: str, dst: str, shape: tuple[int, ...]):
    x = random_floats(*shape)
    layout = parse_layout(src)
    extents = layout.extents(shape)
    back = [extents[letter] for letter in layout.letters]
    np.testing.assert_array_equal(relayout(relayout(x, src, dst), dst, src, back), x)


def test_inner_parts_of_one_axis_are_read_from_the_outermost_to_the_innermost():
    x = random_floats(1, 8, 1, 1)
    y = relayout(x, "OIHW", "OIHW2i1o4i")
    np.testing.assert_array_equal(y[0, 0, 0, 0, :, 0, :], x.reshape(2, 4))


@pytest.mark.parametrize("text", ["", "NCHW16", "NCHW0c", "nchw", "NCHWC", "NCHW4d", "N,C"])
def test_a_text_that_is_no_layout_is_refused(text: str):
    with pytest.raises(VerifyException):
        parse_layout(text)


BLOCKED: dict[str, tuple[tuple[int, ...], tuple[int, ...], int, int, dict[str, Value]]] = {
    "padded": ((2, 8, 5, 5), (8, 8, 3, 3), 4, 4, {"padding": [1, 1]}),
    "with_other_blocks_of_input_and_output": ((1, 6, 5, 6), (8, 6, 3, 3), 2, 8, {"strides": [2, 2], "padding": [1, 0]}),
    "with_channels_that_do_not_fill_their_blocks": ((1, 3, 5, 5), (6, 3, 3, 3), 4, 4, {"channels": 6}),
    "dilated": ((1, 4, 7, 7), (4, 4, 3, 3), 4, 2, {"dilation": [2, 2]}),
    "in_groups": ((1, 8, 4, 4), (8, 4, 3, 3), 2, 4, {"groups": 2, "padding": [1, 1]}),
    "of_one_by_one": ((1, 8, 3, 3), (4, 8, 1, 1), 4, 4, {}),
}


@pytest.mark.parametrize("case", BLOCKED)
def test_a_convolution_in_channel_blocks_equals_the_plain_one(case: str):
    data, weight, ic, oc, properties = BLOCKED[case]
    x, w = random_floats(*data), random_floats(*weight)
    data_layout, kernel_layout, out_layout = f"NCHW{ic}c", f"OIHW{ic}i{oc}o", f"NCHW{oc}c"
    inputs = [relayout(x, "NCHW", data_layout), relayout(w, "OIHW", kernel_layout)]
    layouts: dict[str, Value] = {"data_layout": data_layout, "kernel_layout": kernel_layout, "out_layout": out_layout}
    y = run_operator(Conv2dNCHWcOp, inputs, **properties, **layouts)
    plain = run_operator(Conv2dOp, [x, w], **properties)
    assert_close(relayout(y, out_layout, "NCHW", [0, weight[0], 0, 0]), plain)


def test_a_convolution_in_channel_blocks_leaves_out_what_lies_beyond_its_channels():
    x, w = random_floats(1, 6, 5, 5), random_floats(4, 6, 3, 3)
    blocked = relayout(x, "NCHW", "NCHW4c")
    blocked[:, 1, :, :, 2:] = np.array([np.nan, np.inf])
    layouts: dict[str, Value] = {"data_layout": "NCHW4c", "kernel_layout": "OIHW2i4o", "out_layout": "NCHW4c"}
    y = run_operator(Conv2dNCHWcOp, [blocked, relayout(w, "OIHW", "OIHW2i4o")], padding=[1, 1], **layouts)
    assert_close(relayout(y, "NCHW4c", "NCHW"), run_operator(Conv2dOp, [x, w], padding=[1, 1]))


NOT_A_NUMBER_BEYOND = """
relay.func @main(%x: tensor<1x3x5x3xf32>) -> (tensor<1x12x5x3xf32>, tensor<1x{c}xf32>, tensor<1x{d}x5x3xf32>) {{
  %w = relay.constant dense<0.125> : tensor<{c}x3x3x3xf32>
  %v = relay.constant dense<0.25> : tensor<12x{c}x1x1xf32>
  %k = relay.constant dense<0.5> : tensor<{c}x1x3x3xf32>
  %0 = relay.nn.conv2d %x, %w {{padding = array<i64: 1, 1>}} : (tensor<1x3x5x3xf32>, tensor<{c}x3x3x3xf32>) -> tensor<1x{c}x5x3xf32>
  %1 = relay.log %0 : tensor<1x{c}x5x3xf32>
  %2 = relay.nn.conv2d %1, %k {{groups = {c} : i64, padding = array<i64: 1, 1>}} : (tensor<1x{c}x5x3xf32>, tensor<{c}x1x3x3xf32>) -> tensor<1x{c}x5x3xf32>
  %3 = relay.nn.conv2d %2, %v : (tensor<1x{c}x5x3xf32>, tensor<12x{c}x1x1xf32>) -> tensor<1x12x5x3xf32>
  %4 = relay.mean %2 {{axis = array<i64: 2, 3>}} : (tensor<1x{c}x5x3xf32>) -> tensor<1x{c}xf32>
  %t = relay.tuple(%2, %1, %3) : (tensor<1x{c}x5x3xf32>, tensor<1x{c}x5x3xf32>, tensor<1x12x5x3xf32>) -> tuple<tensor<1x{c}x5x3xf32>, tensor<1x{c}x5x3xf32>, tensor<1x12x5x3xf32>>
  %5 = relay.concatenate %t {{axis = 1 : i64}} : (tuple<tensor<1x{c}x5x3xf32>, tensor<1x{c}x5x3xf32>, tensor<1x12x5x3xf32>>) -> tensor<1x{d}x5x3xf32>
  relay.return %3, %4, %5 : tensor<1x12x5x3xf32>, tensor<1x{c}xf32>, tensor<1x{d}x5x3xf32>
}}
"""  # noqa: E501


@pytest.mark.parametrize("channels", [24, 17])
def test_what_fills_up_a_last_block_gets_into_no_result(channels: int):
    text = NOT_A_NUMBER_BEYOND.format(c=channels, d=2 * channels + 12)
    x = np.abs(random_floats(1, 3, 5, 3)) + 1
    results, plain = (
        weft.compile(parse_module(text, new_ir_context()), opt_level=level, threads=1)(x) for level in (3, 0)
    )
    for result, expected in zip(results, plain, strict=True):
        assert np.isfinite(expected).all()
        assert_close(result, expected)


def test_a_convolution_may_read_plain_channels_and_write_blocks():
    x, w = random_floats(1, 3, 5, 5), random_floats(8, 3, 3, 3)
    y = run_operator(
        Conv2dNCHWcOp, [x, relayout(w, "OIHW", "OIHW8o")], data_layout="NCHW", kernel_layout="OIHW8o", padding=[1, 1]
    )
    assert_close(relayout(y, "NCHW8c", "NCHW"), run_operator(Conv2dOp, [x, w], padding=[1, 1]))


@pytest.mark.parametrize("channels", [8, 6])
def test_a_depthwise_convolution_in_channel_blocks_equals_the_plain_one(channels: int):
    x, w = random_floats(2, channels, 5, 5), random_floats(channels, 1, 3, 3)
    y = run_operator(
        DepthwiseConv2dNCHWcOp,
        [relayout(x, "NCHW", "NCHW4c"), relayout(w, "OIHW", "OIHW1i4o")],
        data_layout="NCHW4c",
        kernel_layout="OIHW1i4o",
        groups=channels,
        padding=[1, 1],
        strides=[2, 2],
    )
    plain = run_operator(Conv2dOp, [x, w], groups=channels, padding=[1, 1], strides=[2, 2])
    assert_close(relayout(y, "NCHW4c", "NCHW", [0, channels, 0, 0]), plain)


@pytest.mark.parametrize("units", [8, 6])
def test_a_dense_layer_with_a_packed_weight_equals_the_plain_one(units: int):
    x, w = random_floats(3, 5), random_floats(units, 5)
    packed = relayout(w, "NK", "NK4n")
    assert_close(
        run_operator(DensePackOp, [x, packed], weight_layout="NK4n", units=units), run_operator(DenseOp, [x, w])
    )


def test_a_packed_weight_multiplies_every_matrix_of_a_batch():
    x, w = random_floats(2, 3, 5), random_floats(6, 5)
    packed = relayout(w, "NK", "NK4n")
    assert_close(run_operator(DensePackOp, [x, packed], weight_layout="NK4n", units=6), run_operator(DenseOp, [x, w]))


@pytest.mark.parametrize(("data", "weights"), [(3, 3), (1, 3), (3, 1)])
@pytest.mark.parametrize("units", [8, 6])
def test_a_batch_of_packed_weights_equals_a_product_of_batches(data: int, weights: int, units: int):
    x, w = random_floats(data, 4, 5), random_floats(weights, units, 5)
    packed = relayout(w, "BNK", "BNK4n")
    assert_close(
        run_operator(DensePackOp, [x, packed], weight_layout="BNK4n", units=units), run_operator(BatchMatmulOp, [x, w])
    )


def test_rows_of_several_dimensions_have_the_packed_weight_of_their_first():
    x, w = random_floats(3, 2, 4, 5), random_floats(3, 6, 5)
    packed = relayout(w, "BNK", "BNK4n")
    y = run_operator(DensePackOp, [x, packed], weight_layout="BNK4n", units=6)
    rows = run_operator(DensePackOp, [x.reshape(3, 8, 5), packed], weight_layout="BNK4n", units=6)
    assert_close(y, rows.reshape(3, 2, 4, 6))


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("data", "weights"), [(3, 3), (1, 3), (3, 1)])
@pytest.mark.parametrize("rows", [5, DYNAMIC])
def test_batches_of_constant_weights_are_packed(rows: int, data: int, weights: int, transposed: bool):
    w = random_floats(weights, 40, 24) if transposed else random_floats(weights, 24, 40)
    x = random_floats(data, 5, 24)
    y = relay.var("x", shape=[data, relay.Any() if rows == DYNAMIC else rows, 24])
    product = relay.nn.batch_matmul(y, relay.const(w), transpose_b=transposed)
    exe = weft.compile(relay.Function([y], relay.nn.relu(product)))
    assert "contrib_dense_pack" in exe.ir["fuse"]
    expected = np.maximum(np.matmul(x, np.swapaxes(w, 1, 2) if transposed else w), 0)
    assert_close(exe(x), expected)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_weights_of_few_bits_are_the_numbers_that_they_stand_for(bits: int, each: bool, dtype: str):
    units, depth, blocks = 6, 32, 2
    x = random_floats(3, depth).astype(dtype)
    codes = np.random.default_rng(bits).integers(0, 2**bits, (units, depth), np.uint8)
    bytes = codes.reshape(units, -1, 8 // bits) << np.arange(0, 8, bits, dtype=np.uint8)
    packed = np.bitwise_or.reduce(bytes, -1)
    scale, zero = random_floats(units, blocks), random_floats(units, blocks) if each else np.array(2.5, np.float32)
    middle = np.repeat(zero, depth // blocks, 1) if each else zero
    floats = (codes - middle) * np.repeat(scale, depth // blocks, 1)
    weight, factor = relayout(packed, "NK", "NK4n"), relayout(scale, "NK", "NK4n")
    middles = relayout(zero, "NK", "NK4n") if each else zero
    y = run_operator(DenseFewBitsOp, [x, weight, factor, middles], bits=bits, units=units, weight_layout="NK4n")
    tolerance = 1e-2 if dtype == "float16" else 1e-5
    np.testing.assert_allclose(y, x.astype(np.float64) @ floats.T, rtol=tolerance, atol=10 * tolerance)


POOLS: dict[str, tuple[type[RelayOp], dict[str, Value]]] = {
    "maximum": (MaxPool2dOp, {"pool_size": [3, 3], "strides": [2, 2], "padding": [1, 1]}),
    "average": (AvgPool2dOp, {"pool_size": [3, 2], "padding": [1, 1, 0, 1], "dilation": [2, 1]}),
    "average_with_padding": (AvgPool2dOp, {"pool_size": [2, 2], "padding": [1, 1], "count_include_pad": True}),
    "global_maximum": (GlobalMaxPool2dOp, {}),
    "global_average": (GlobalAvgPool2dOp, {}),
    "adaptive_maximum": (AdaptiveMaxPool2dOp, {"output_size": [3, 2]}),
    "adaptive_average": (AdaptiveAvgPool2dOp, {"output_size": [2, 4]}),
}


@pytest.mark.parametrize("layout", ["NCHW4c", "NHWC"])
@pytest.mark.parametrize("case", POOLS)
def test_a_pool_gives_the_same_in_every_layout(case: str, layout: str):
    op_type, properties = POOLS[case]
    x = random_floats(2, 8, 6, 7)
    y = run_operator(op_type, [relayout(x, "NCHW", layout)], **properties, layout=layout)
    assert_close(relayout(y, layout, "NCHW"), run_operator(op_type, [x], **properties))


RESIZED: dict[str, dict[str, Value]] = {
    "linear": {"size": [5, 9]},
    "cubic": {"size": [12, 4], "method": "cubic", "cubic_exclude": True},
    "nearest": {"size": [3, 14], "method": "nearest_neighbor", "coordinate_transformation_mode": "asymmetric"},
    "cut_out": {"size": [4, 4], "coordinate_transformation_mode": "tf_crop_and_resize", "roi": [0.5, 0.0, 1.5, 0.75]},
}


@pytest.mark.parametrize("layout", ["NCHW4c", "NHWC"])
@pytest.mark.parametrize("case", RESIZED)
def test_a_resized_image_is_the_same_in_every_layout(case: str, layout: str):
    x = random_floats(2, 6, 6, 7)
    y = run_operator(Resize2dOp, [relayout(x, "NCHW", layout)], **RESIZED[case], layout=layout)
    back = [0, 6, 0, 0] if layout == "NCHW4c" else []
    assert_close(relayout(y, layout, "NCHW", back), run_operator(Resize2dOp, [x], **RESIZED[case]))


@pytest.mark.parametrize("layout", ["NCHW2h", "NCHWD", "NCH"])
def test_an_image_is_resized_in_layouts_of_its_axes_only(layout: str):
    with pytest.raises(VerifyException, match="layout"):
        run_operator(Resize2dOp, [random_floats(*([2] * parse_layout(layout).rank))], size=[3, 3], layout=layout)


RESIZED_AND_JOINED = """
relay.func @main(%x: tensor<1x32x4x5xf32>, %y: tensor<1x16x8x10xf32>) -> tensor<1x16x8x10xf32> {
  %w = relay.constant dense<0.125> : tensor<16x48x1x1xf32>
  %0 = relay.image.resize2d %x {size = array<i64: 8, 10>} : (tensor<1x32x4x5xf32>) -> tensor<1x32x8x10xf32>
  %1 = relay.exp %y : tensor<1x16x8x10xf32>
  %t = relay.tuple(%0, %1) : (tensor<1x32x8x10xf32>, tensor<1x16x8x10xf32>) -> tuple<tensor<1x32x8x10xf32>, tensor<1x16x8x10xf32>>
  %2 = relay.concatenate %t {axis = 1 : i64} : (tuple<tensor<1x32x8x10xf32>, tensor<1x16x8x10xf32>>) -> tensor<1x48x8x10xf32>
  %3 = relay.nn.conv2d %2, %w : (tensor<1x48x8x10xf32>, tensor<16x48x1x1xf32>) -> tensor<1x16x8x10xf32>
  relay.return %3 : tensor<1x16x8x10xf32>
}
"""  # noqa: E501


def test_resized_images_that_are_joined_in_blocks_are_right():
    x, y = random_floats(1, 32, 4, 5), random_floats(1, 16, 8, 10)
    joined, plain = (
        weft.compile(parse_module(RESIZED_AND_JOINED, new_ir_context()), opt_level=level, threads=1)(x, y)
        for level in (3, 0)
    )
    assert_close(joined, plain)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_adaptive_pools_reduce_the_parts_that_their_docstring_names(size: int):
    x = random_floats(1, 2, 7, 7)
    cuts = [(o * 7 // size, -(-(o + 1) * 7 // size)) for o in range(size)]
    windows = [[x[:, :, a:b, c:d] for c, d in cuts] for a, b in cuts]
    mean = np.asarray([[w.mean((2, 3)) for w in row] for row in windows]).transpose(2, 3, 0, 1)
    largest = np.asarray([[w.max((2, 3)) for w in row] for row in windows]).transpose(2, 3, 0, 1)
    assert_close(run_operator(AdaptiveAvgPool2dOp, [x], output_size=[size]), mean)
    assert_close(run_operator(AdaptiveMaxPool2dOp, [x], output_size=[size]), largest)


def test_a_dilated_average_counts_the_taps_inside_the_data():
    x = np.ones((1, 1, 5, 5), np.float32)
    y = run_operator(AvgPool2dOp, [x], pool_size=[3, 3], dilation=[2, 2], padding=[2, 2])
    assert_close(y, np.ones_like(x))


def test_a_window_in_ceil_mode_does_not_begin_in_the_padding_and_does_not_count_what_lies_beyond_it():
    x = np.arange(1, 6, dtype=np.float32).reshape(1, 1, 1, 5)
    properties: dict[str, Value] = {"pool_size": [1, 2], "strides": [1, 2], "ceil_mode": True}
    y = run_operator(AvgPool2dOp, [x], **properties, count_include_pad=True)
    assert_close(y, np.asarray([1.5, 3.5, 5], np.float32).reshape(1, 1, 1, 3))
    padded = run_operator(MaxPool2dOp, [x[..., :4]], **properties, padding=[0, 0, 0, 1])
    assert_close(padded, np.asarray([2, 4], np.float32).reshape(1, 1, 1, 2))


def test_mirror_images_repeat_the_edge_or_not():
    x = random_floats(3, 4)
    y = run_operator(MirrorPadOp, [x], pad_width=[2, 1, 0, 3], mode="SYMMETRIC")
    np.testing.assert_array_equal(y, np.pad(x, [(2, 1), (0, 3)], mode="symmetric"))
    y = run_operator(MirrorPadOp, [x], pad_width=[2, 1, 0, 3], mode="REFLECT")
    np.testing.assert_array_equal(y, np.pad(x, [(2, 1), (0, 3)], mode="reflect"))


def test_dilation_spreads_the_elements_out():
    x = random_floats(2, 3)
    y = run_operator(DilateOp, [x], strides=[2, 3], dilation_value=5.0)
    expected = np.full((3, 7), 5, np.float32)
    expected[::2, ::3] = x
    np.testing.assert_array_equal(y, expected)


def test_space_to_batch_is_undone_by_batch_to_space():
    x = random_floats(2, 3, 5, 2)
    batched = run_operator(SpaceToBatchNdOp, [x], block_shape=[2, 3], paddings=[1, 0, 0, 1], pad_value=7.0)
    assert batched.shape == (12, 2, 2, 2)
    assert batched[0, 0, 0, 0] == 7.0
    np.testing.assert_array_equal(batched[0, 1, 1], x[0, 1, 3])
    np.testing.assert_array_equal(run_operator(BatchToSpaceNdOp, [batched], block_shape=[2, 3], crops=[1, 0, 0, 1]), x)


def test_upsampling_to_the_nearest_repeats_elements():
    x = random_floats(1, 2, 3, 2)
    y = run_operator(UpsamplingOp, [x], scale_h=2.0, scale_w=3.0)
    np.testing.assert_array_equal(y, x.repeat(2, 2).repeat(3, 3))


@pytest.mark.parametrize("element", [f16, bf16])
def test_sums_of_narrow_floats_are_formed_in_f32(element: Any):
    dtype = numpy_dtype(element)
    ones = np.full((1, 4096), 0.1, np.float32).astype(dtype)
    exact = float(ones.astype(np.float32)[0, 0]) ** 2 * 4096
    y = run_operator(DenseOp, [ones, ones])
    assert y.dtype == dtype
    assert_close(y, np.asarray([[exact]]), 1e-2)
    image = ones.reshape(1, 4096, 1, 1)
    assert_close(run_operator(Conv2dOp, [image, image]), np.asarray([[[[exact]]]]), 1e-2)
    assert_close(run_operator(SoftmaxOp, [ones])[0, :1].astype(np.float32) * 4096, np.asarray([1.0]), 1e-2)
    mean_of_hundredths = run_operator(GlobalAvgPool2dOp, [ones.reshape(1, 1, 64, 64)])
    assert_close(mean_of_hundredths, np.asarray([[[[float(ones[0, 0])]]]]), 1e-2)
    norm = run_operator(LayerNormOp, [random_floats(2, 64).astype(dtype), *[np.ones(64, dtype)] * 2])
    assert norm.dtype == dtype
    assert_close(norm.astype(np.float32).mean(1), np.ones(2), 1e-2)
    assert_close(run_operator(L2NormalizeOp, [ones], eps=1e-6, axis=[1])[0, :1], np.asarray([1 / 64]), 1e-2)


def test_a_product_of_bytes_may_have_a_wider_result():
    x, w = np.full((1, 300), 100, np.int8), np.full((2, 300), 100, np.int8)
    np.testing.assert_array_equal(
        run_operator(DenseOp, [x, w], out_dtype="int32"), np.full((1, 2), 3_000_000, np.int32)
    )


def test_an_operator_on_dynamic_shapes_takes_them_from_the_arrays():
    x, w = random_floats(1, 2, 5, 6), random_floats(3, 2, 3, 3)
    arguments = Block(arg_types=[TensorType(f32, [DYNAMIC, 2, DYNAMIC, DYNAMIC]), tensor_type_of(w)]).args
    convolution = Conv2dOp(*arguments, padding=[1, 1])
    assert_close(evaluate_op(convolution, [x, w])[0], run_operator(Conv2dOp, [x, w], padding=[1, 1]))
    pool = AdaptiveAvgPool2dOp(arguments[0], output_size=[2])
    assert_close(evaluate_op(pool, [x])[0], run_operator(AdaptiveAvgPool2dOp, [x], output_size=[2]))

"""Losses, gradients of convolutions and further operators of relay, against NumPy and ONNX's reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")

from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import weft
from weft import relay
from weft.dialects.relay.ops.dilation import Dilation2dOp
from weft.dialects.relay.ops.fixed_point import FixedPointMultiplyOp
from weft.dialects.relay.ops.nn.backward_weight import Conv2dBackwardWeightOp
from weft.dialects.relay.ops.nn.convolution import Conv2dOp
from weft.dialects.relay.ops.nn.correlation import CorrelationOp
from weft.dialects.relay.ops.nn.deformable import DeformableConv2dOp
from weft.dialects.relay.ops.nn.loss import CrossEntropyOp, NllLossOp
from weft.dialects.relay.ops.nn.pool import AvgPool2dOp, MaxPool2dOp
from weft.dialects.relay.ops.nn.pool_gradient import AvgPool2dGradOp, MaxPool2dGradOp
from weft.dialects.relay.ops.strided_set import StridedSetOp
from weft.testing.operators import NDArray, assert_close, random_floats, run_operator


def onnx_loss(x: NDArray, targets: NDArray, weights: NDArray, **attributes: Any) -> NDArray:
    names = ["x", "t", "w"]
    node = helper.make_node("NegativeLogLikelihoodLoss", names, ["y"], **attributes)
    kinds = [TensorProto.FLOAT, TensorProto.INT64, TensorProto.FLOAT]
    inputs = [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(names, kinds, strict=True)]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    (result,) = ReferenceEvaluator(model).run(None, {"x": x, "t": targets, "w": weights})  # pyright: ignore
    return np.asarray(result)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("ignored", [1, -100])
def test_the_loss_is_onnx_s(reduction: str, ignored: int) -> None:
    x, weights = random_floats(3, 4, 2), np.abs(random_floats(4))
    targets = np.array([[0, 1], [2, 3], [1, 1]])
    wanted = onnx_loss(x, targets, weights, reduction=reduction, ignore_index=ignored)
    assert_close(run_operator(NllLossOp, [x, targets, weights], reduction=reduction, ignore_index=ignored), wanted)


def test_the_entropy_of_certainty_is_none() -> None:
    sure = np.eye(3, dtype=np.float32)
    assert_close(run_operator(CrossEntropyOp, [sure + 1e-30, sure]), 0)
    assert_close(run_operator(CrossEntropyOp, [np.full((3, 3), 1 / 3, np.float32), sure]), np.log(3))


@pytest.mark.parametrize("groups", [1, 2])
def test_the_weight_s_gradient_is_the_transpose_of_the_convolution(groups: int) -> None:
    """`<grad, conv(x, w)> = <backward_weight(grad, x), w>`, for every `w`."""
    x, w = random_floats(2, 4, 7, 6), random_floats(6, 4 // groups, 2, 3)
    window = {"strides": [2, 1], "padding": [1, 0, 0, 2], "dilation": [2, 1], "groups": groups}
    y = run_operator(Conv2dOp, [x, w], **window)
    grad = random_floats(*y.shape)
    found = run_operator(Conv2dBackwardWeightOp, [grad, x], kernel_size=[2, 3], **window)
    assert found.shape == w.shape
    assert_close(np.sum(found * w, dtype=np.float64), np.sum(grad * y, dtype=np.float64))


def test_a_pool_s_gradient_goes_to_the_first_of_the_greatest() -> None:
    x = np.array([[[[1, 3, 3], [2, 3, 0]]]], np.float32)
    grad = np.array([[[[10, 100]]]], np.float32)
    found = run_operator(MaxPool2dGradOp, [grad, x], pool_size=[2, 2])
    assert_close(found, [[[[0, 110, 0], [0, 0, 0]]]])


@pytest.mark.parametrize(("pool", "gradient"), [(MaxPool2dOp, MaxPool2dGradOp), (AvgPool2dOp, AvgPool2dGradOp)])
def test_a_pool_s_gradient_is_that_of_its_value(pool: Any, gradient: Any) -> None:
    """Both pools double where their data does: `<gradient(grad), x> = <grad, pool(x)>`."""
    x = random_floats(2, 3, 7, 6)
    window = {"pool_size": [3, 2], "strides": [2, 2], "padding": [1, 1], "ceil_mode": True}
    y = run_operator(pool, [x], **window)
    grad = random_floats(*y.shape)
    found = run_operator(gradient, [grad, x], **window)
    assert_close(np.sum(found * x, dtype=np.float64), np.sum(grad * y, dtype=np.float64))


@pytest.mark.parametrize(("multiplier", "shift"), [(1 << 30, -1), (1 << 30, 1), (1518500250, 0), (0x7FFFFFFF, -31)])
def test_a_fixed_point_product_is_rounded_from_the_exact_one(multiplier: int, shift: int) -> None:
    x = np.array([0, 1, -1, 5, -5, 1000, 123456789, -123456789], np.int32)
    down = 31 + max(-shift, 0)
    exact = [((int(v) << max(shift, 0)) * multiplier + (1 << (down - 1))) >> down for v in x]
    found = run_operator(FixedPointMultiplyOp, [x], multiplier=multiplier, shift=shift)
    assert found.tolist() == exact


@pytest.mark.parametrize(
    "cut", [(slice(1, 4, 2), slice(0, 3)), (slice(-1, -6, -2), slice(-2, None)), (slice(-9, 9, 3), slice(2, 0, -1))]
)
def test_a_slice_is_set_as_numpy_does(cut: tuple[slice, slice]) -> None:
    x = random_floats(5, 3)
    wanted = x.copy()
    v = random_floats(*x[cut].shape)
    wanted[cut] = v
    begin, end, strides = (
        np.array(values)
        for values in zip(*((c.start, 9 if c.stop is None else c.stop, c.step or 1) for c in cut), strict=True)
    )
    assert_close(run_operator(StridedSetOp, [x, v, begin, end, strides]), wanted)


def test_a_dilation_is_the_maximum_of_shifted_images() -> None:
    x, w = random_floats(1, 2, 5, 6), random_floats(2, 2, 3)
    padded = np.pad(x, [(0, 0), (0, 0), (1, 0), (0, 2)], constant_values=-np.inf)
    taps = [
        padded[:, :, 2 * k : 2 * k + 4 : 2, m : m + 6] + w[:, k, m][:, None, None] for k in range(2) for m in range(3)
    ]
    found = run_operator(Dilation2dOp, [x, w], strides=[2, 1], padding=[1, 0, 0, 2], dilations=[2, 1])
    assert_close(found, np.max(taps, 0))
    images = x.transpose(0, 2, 3, 1).copy()
    properties = {"strides": [2, 1], "padding": [1, 0, 0, 2], "dilations": [2, 1]}
    turned = run_operator(Dilation2dOp, [images, w], data_layout="NHWC", **properties)
    assert_close(turned.transpose(0, 3, 1, 2), found)


@pytest.mark.parametrize("is_multiply", [True, False])
def test_a_correlation_is_the_mean_of_products_with_a_moved_image(is_multiply: bool) -> None:
    a, b = random_floats(2, 3, 9, 10), random_floats(2, 3, 9, 10)
    one, other = (np.pad(x, [(0, 0), (0, 0), (2, 2), (1, 1)]) for x in (a, b))
    size, reach, step, stride = 3, 2, 2, 2
    rows, columns = -(-(13 - 2 * (reach + 1)) // step), -(-(12 - 2 * (reach + 1)) // step)
    wanted = np.zeros((2, 9, rows, columns), np.float32)
    for q in range(9):
        down, right = (q // 3 - 1) * stride, (q % 3 - 1) * stride
        for i in range(rows):
            for j in range(columns):
                y, x = i * step + reach, j * step + reach
                first = one[:, :, y : y + size, x : x + size]
                second = other[:, :, y + down : y + down + size, x + right : x + right + size]
                met = first * second if is_multiply else abs(first - second)
                wanted[:, q, i, j] = met.mean(axis=(1, 2, 3))
    found = run_operator(
        CorrelationOp, [a, b], kernel_size=size, max_displacement=reach, stride1=step, stride2=stride, padding=[2, 1],
        is_multiply=is_multiply,
    )  # fmt: skip
    assert_close(found, wanted)


def test_a_deformed_convolution_without_offsets_is_none() -> None:
    x, w = random_floats(1, 4, 5, 6), random_floats(6, 2, 3, 2)
    window = {"strides": [1, 2], "padding": [1, 1], "groups": 2}
    wanted = run_operator(Conv2dOp, [x, w], **window)
    offset = np.zeros((1, 2 * 2 * 6, *wanted.shape[2:]), np.float32)
    found = run_operator(DeformableConv2dOp, [x, offset, w], deformable_groups=2, **window)
    assert_close(found, wanted)
    mask = np.full((1, 2 * 6, *wanted.shape[2:]), 0.5, np.float32)
    masked = run_operator(DeformableConv2dOp, [x, offset, w, mask], deformable_groups=2, **window)
    assert_close(masked, wanted / 2)


def test_an_offset_of_a_whole_element_moves_the_image() -> None:
    x, w = random_floats(1, 1, 4, 5), random_floats(1, 1, 1, 1)
    offset = np.zeros((1, 2, 4, 5), np.float32)
    offset[:, 1] = 1
    found = run_operator(DeformableConv2dOp, [x, offset, w])
    assert_close(found[..., :-1], x[..., 1:] * w.item())
    assert_close(found[..., -1], np.zeros((1, 1, 4)))


@pytest.mark.parametrize("edges", ["cut", "interpolated"])
def test_a_tap_between_the_first_element_and_what_is_before_it(edges: str) -> None:
    """TVM and MXNet take zero for it, and interpolate beyond the last element; ONNX interpolates at both."""
    x = np.array([[[[2.0, 4.0]]]], np.float32)
    offset = np.zeros((1, 2, 1, 2), np.float32)
    offset[0, 1] = [[-0.25, 0.25]]
    found = run_operator(DeformableConv2dOp, [x, offset, np.ones((1, 1, 1, 1), np.float32)], edges=edges)
    assert_close(found, np.array([[[[0.0 if edges == "cut" else 1.5, 3.0]]]]))


def test_a_correlation_of_any_number_of_images_is_compiled() -> None:
    x, y = (relay.var(name, shape=(relay.Any(), 2, 5, 6)) for name in "xy")
    moved = relay.nn.correlation(x, y, 1, 1, 1, 1, (1, 1), True, "NCHW")
    compiled = weft.compile(relay.Function([x, y], moved))
    for count in (1, 3):
        a, b = random_floats(count, 2, 5, 6), random_floats(count, 2, 5, 6)
        wanted = run_operator(CorrelationOp, [a, b], padding=[1, 1])
        assert_close(np.asarray(compiled(a, b)), wanted)


def test_a_correlation_of_half_floats_is_summed_in_wider_ones() -> None:
    x, y = (relay.var(name, shape=(1, 4096, 2, 2), dtype="float16") for name in "xy")
    compiled = weft.compile(relay.Function([x, y], relay.nn.correlation(x, y, 1, 0, 1, 1, (0, 0), True, "NCHW")))
    fours = np.full((1, 4096, 2, 2), 4, np.float16)
    np.testing.assert_array_equal(np.asarray(compiled(fours, fours)), np.full((1, 1, 2, 2), 16, np.float16))

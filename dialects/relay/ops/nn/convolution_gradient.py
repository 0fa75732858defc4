"""Gradients of convolutions, which are convolutions: by the data one that is transposed, by the weight one that slides
the result's gradient over the data, with strides and dilation exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.utils.exceptions import VerifyException

from ...layout import parse_layout
from ...nn_common import Window
from .conv_transpose import Conv1dTransposeOp, Conv2dTransposeOp, Conv3dTransposeOp
from .convolution import Conv1dOp, Conv2dOp, Conv3dOp, ConvolutionBase

if TYPE_CHECKING:
    from ...gradient import Gradient, Term, Terms

CONVOLUTION: dict[int, type[ConvolutionBase]] = {1: Conv1dOp, 2: Conv2dOp, 3: Conv3dOp}
TRANSPOSED: dict[int, type[ConvolutionBase]] = {1: Conv1dTransposeOp, 2: Conv2dTransposeOp, 3: Conv3dTransposeOp}
"""By the number of spatial axes."""


def convolution_gradient(op: ConvolutionBase, g: Gradient) -> Terms:
    """The gradient of `nn.conv1d`, `nn.conv2d`, `nn.conv3d`."""
    data, weight, grad, window = _plain(op, g, "OI")
    extents = data.shape[2:]
    places = zip(grad.shape[2:], window.strides, window.spans, window.before, window.after, strict=True)
    reached = [(n - 1) * stride + span - before - after for n, stride, span, before, after in places]
    by_data = grad.op(
        TRANSPOSED[len(extents)],
        weight,
        **_properties(op, window),
        output_padding=[n - most for n, most in zip(extents, reached, strict=True)],
    )
    by_weight = weight_gradient(data, grad, window, op.group_count(), weight.shape)
    return _as_given(op, by_data, by_weight, "OI")


def transposed_gradient(op: ConvolutionBase, g: Gradient) -> Terms:
    """The gradient of the transposed convolutions."""
    data, weight, grad, window = _plain(op, g, "IO")
    by_data = grad.op(CONVOLUTION[len(data.shape) - 2], weight, **_properties(op, window))
    by_data = by_data.slice([0] * len(data.shape), data.shape)
    by_weight = weight_gradient(grad, data, window, op.group_count(), weight.shape)
    return _as_given(op, by_data, by_weight, "IO")


def weight_gradient(data: Term, grad: Term, window: Window, groups: int, shape: Sequence[int]) -> Term:
    """`w[o, i, k] = sum_{n, p} grad[n, o, p] * data[n, g(o) + i, p*strides + k*dilation - padding]`.

    The images become channels, and the channels of a group images: data `[I, groups * N, ..]`, a kernel `[O, N, ..]`.
    """
    batch, channels, *extents = data.shape
    spatial = range(3, 3 + len(extents))
    grouped = data.reshape([batch, groups, channels // groups, *extents]).transpose([2, 1, 0, *spatial])
    images = grouped.reshape([channels // groups, groups * batch, *extents])
    kernel = grad.transpose([1, 0, *range(2, 2 + len(extents))])
    properties = {
        "strides": window.dilation,
        "dilation": window.strides,
        "padding": (*window.before, *window.after),
        "groups": groups,
    }
    found = images.op(CONVOLUTION[len(extents)], kernel, **properties)  # [I, O, at least as many taps]
    turned = found.transpose([1, 0, *range(2, 2 + len(extents))])
    return turned.slice([0] * len(shape), shape)


def _properties(op: ConvolutionBase, window: Window) -> dict[str, int | Sequence[int]]:
    padding = (*window.before, *window.after)
    return {"strides": window.strides, "padding": padding, "dilation": window.dilation, "groups": op.group_count()}


def _plain(op: ConvolutionBase, g: Gradient, kernel: str) -> tuple[Term, Term, Term, Window]:
    """Data, weight and the result's gradient in the plain layouts, and the window.

    Raises:
        VerifyException: a shape is not static.
    """
    g.static()
    data_layout, kernel_layout, out_layout = op.layouts()
    plain, plain_kernel = parse_layout("NC" + op.SPATIAL), parse_layout(kernel + op.SPATIAL)
    data, weight = g.inputs
    if data.type.element_type != weight.type.element_type:
        raise VerifyException(f"its operands have elements of {data.type.element_type} and {weight.type.element_type}")
    grad = g.grad.cast(data.type.element_type).relaid(out_layout, plain)
    window = op.window(weight.shape)
    return data.relaid(data_layout, plain), weight.relaid(kernel_layout, plain_kernel), grad, window


def _as_given(op: ConvolutionBase, by_data: Term, by_weight: Term, kernel: str) -> Terms:
    data_layout, kernel_layout, _ = op.layouts()
    plain, plain_kernel = parse_layout("NC" + op.SPATIAL), parse_layout(kernel + op.SPATIAL)
    return [by_data.relaid(plain, data_layout), by_weight.relaid(plain_kernel, kernel_layout)]

"""Gradients of convolutions, which are convolutions: by the data one that is transposed, by the weight one that slides
the result's gradient over the data, with strides and dilation exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...nn_common import Window

if TYPE_CHECKING:
    from ...gradient import Gradient, Term, Terms


@dataclass(frozen=True)
class PlainConvolution:
    """A convolution, or a transposed one, whose operands can be brought into the plain layouts and back."""

    layouts: tuple[str, ...]
    """Of data, kernel and result."""
    kernel: str
    """The plain layout of the kernel: `OIHW`, or `IOHW`."""
    window: Window

    @property
    def data(self) -> str:
        """The plain layout of data and result."""
        return "NC" + self.kernel[2:]

    def terms(self, g: Gradient) -> tuple[Term, Term, Term]:
        """Data, weight, and the result's gradient in the plain layouts."""
        data, kernel, out = self.layouts
        grad = g.grad.cast(g.input.type.element_type)
        weight = g.inputs[1].relaid(kernel, self.kernel)
        return g.input.relaid(data, self.data), weight, grad.relaid(out, self.data)

    def as_given(self, by_data: Term, by_weight: Term) -> Terms:
        """The gradients in the layouts of the operands."""
        data, kernel, _ = self.layouts
        return [by_data.relaid(self.data, data), by_weight.relaid(self.kernel, kernel)]

    def properties(self, groups: int) -> dict[str, int | Sequence[int]]:
        """The properties of a convolution with this window."""
        window = self.window
        padding = (*window.before, *window.after)
        return {"strides": window.strides, "padding": padding, "dilation": window.dilation, "groups": groups}


def convolution_gradient(g: Gradient, plain: PlainConvolution, groups: int) -> Terms:
    """The gradient of `nn.conv1d`, `nn.conv2d`, `nn.conv3d`."""
    data, weight, grad = plain.terms(g)
    window, extents = plain.window, data.shape[2:]
    places = zip(grad.shape[2:], window.strides, window.spans, window.before, window.after, strict=True)
    reached = [(n - 1) * stride + span - before - after for n, stride, span, before, after in places]
    extra = [n - most for n, most in zip(extents, reached, strict=True)]
    properties = {**plain.properties(groups), "output_padding": extra}
    by_data = grad.op(f"nn.conv{len(extents)}d_transpose", weight, **properties)
    return plain.as_given(by_data, weight_gradient(data, grad, window, groups, weight.shape))


def transposed_gradient(g: Gradient, plain: PlainConvolution, groups: int) -> Terms:
    """The gradient of the transposed convolutions."""
    data, weight, grad = plain.terms(g)
    by_data = grad.op(f"nn.conv{len(data.shape) - 2}d", weight, **plain.properties(groups))
    by_data = by_data.slice([0] * len(data.shape), data.shape)
    return plain.as_given(by_data, weight_gradient(grad, data, plain.window, groups, weight.shape))


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
    found = images.op(f"nn.conv{len(extents)}d", kernel, **properties)  # [I, O, at least as many taps]
    turned = found.transpose([1, 0, *range(2, 2 + len(extents))])
    return turned.slice([0] * len(shape), shape)

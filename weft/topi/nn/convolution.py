"""Convolutions (`tvm.topi.nn`): each is Relay's of as many dimensions, in one layout."""

from __future__ import annotations

from ...dialects import te
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from ..relay_operators import computed
from .utils import Padding, Sizes, each, pads


def _convolution(
    data: te.Tensor,
    weight: te.Tensor,
    strides: Sizes,
    padding: Padding,
    dilation: Sizes,
    layouts: tuple[str, str],
    groups: int = 1,
    out_dtype: str | None = None,
) -> te.Tensor:
    """A convolution of as many dimensions as `layouts`, of the data and the weight, have.

    Raises:
        UsageError: the weight has another number of dimensions, or the padding is none.
    """
    if weight.rank != len(layouts[1]):
        raise UsageError(
            f"topi: '{weight.name}' has {weight.rank} dimensions, and the layout {layouts[1]!r} is of others"
        )
    spatial = [place for place, letter in enumerate(layouts[1]) if letter in "DHW"]
    kernel = [int(weight.shape[place]) for place in spatial]
    return computed(
        f"nn.conv{len(spatial)}d", data, weight, each(strides, kernel), pads(padding, kernel, dilation),
        each(dilation, kernel), groups, data_layout=layouts[0], kernel_layout=layouts[1], out_dtype=out_dtype or "",
    )  # fmt: skip


@checked
def conv1d(
    data: te.Tensor,
    kernel: te.Tensor,
    strides: Sizes = 1,
    padding: Padding = "VALID",
    dilation: Sizes = 1,
    data_layout: str = "NCW",
    kernel_layout: str = "",
    out_dtype: str | None = None,
) -> te.Tensor:
    """A convolution over one dimension."""
    layouts = (data_layout, kernel_layout or {"NCW": "OIW", "NWC": "WIO"}.get(data_layout, ""))
    return _convolution(data, kernel, strides, padding, dilation, layouts, 1, out_dtype)


@checked
def conv2d(
    input: te.Tensor,
    filter: te.Tensor,
    strides: Sizes,
    padding: Padding,
    dilation: Sizes,
    data_layout: str = "NCHW",
    kernel_layout: str = "",
    out_dtype: str | None = None,
    *,
    layout: str | None = None,
) -> te.Tensor:
    """A convolution over two dimensions; the kernel is laid out as TVM has it for the data, unless said. `layout` is
    `data_layout`, as TVM called it before."""
    data = layout or data_layout
    layouts = (data, kernel_layout or {"NCHW": "OIHW", "NHWC": "HWIO", "HWCN": "HWIO"}.get(data, ""))
    return _convolution(input, filter, strides, padding, dilation, layouts, 1, out_dtype)


@checked
def conv2d_nchw(
    Input: te.Tensor,
    Filter: te.Tensor,
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    out_dtype: str | None = None,
) -> te.Tensor:
    """The same, of channels outside, and a kernel `OIHW`."""
    return _convolution(Input, Filter, stride, padding, dilation, ("NCHW", "OIHW"), 1, out_dtype)


@checked
def conv2d_nhwc(
    Input: te.Tensor,
    Filter: te.Tensor,
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    out_dtype: str | None = "float32",
) -> te.Tensor:
    """The same, of channels inside, and a kernel `HWIO`."""
    return _convolution(Input, Filter, stride, padding, dilation, ("NHWC", "HWIO"), 1, out_dtype)


@checked
def conv2d_hwcn(
    Input: te.Tensor,
    Filter: te.Tensor,
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    out_dtype: str | None = None,
) -> te.Tensor:
    """The same, of batches inside, and a kernel `HWIO`."""
    return _convolution(Input, Filter, stride, padding, dilation, ("HWCN", "HWIO"), 1, out_dtype)


@checked
def group_conv2d_nchw(
    Input: te.Tensor,
    Filter: te.Tensor,
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    groups: int,
    out_dtype: str | None = None,
) -> te.Tensor:
    """One for each group of channels."""
    return _convolution(Input, Filter, stride, padding, dilation, ("NCHW", "OIHW"), groups, out_dtype)


@checked
def depthwise_conv2d_nchw(
    Input: te.Tensor,
    Filter: te.Tensor,
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    out_dtype: str | None = None,
) -> te.Tensor:
    """One for each channel, of a kernel `[C, M, H, W]`, which gives `M` channels for each."""
    kernel = computed("reshape", Filter, (-1, 1, *Filter.shape[2:]))
    return _convolution(Input, kernel, stride, padding, dilation, ("NCHW", "OIHW"), Input.shape[1], out_dtype)


@checked
def depthwise_conv2d_nhwc(
    Input: te.Tensor,
    Filter: te.Tensor,
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    out_dtype: str | None = None,
) -> te.Tensor:
    """One for each channel, of a kernel `[H, W, C, M]`, which gives `M` channels for each."""
    return _convolution(Input, Filter, stride, padding, dilation, ("NHWC", "HWOI"), Input.shape[3], out_dtype)


@checked
def conv3d_ncdhw(
    Input: te.Tensor,
    Filter: te.Tensor,
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    groups: int = 1,
    out_dtype: str | None = None,
) -> te.Tensor:
    """A convolution over three dimensions, of channels outside."""
    return _convolution(Input, Filter, stride, padding, dilation, ("NCDHW", "OIDHW"), groups, out_dtype)


@checked
def conv3d_ndhwc(
    Input: te.Tensor,
    Filter: te.Tensor,
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    groups: int = 1,
    out_dtype: str | None = "float32",
) -> te.Tensor:
    """A convolution over three dimensions, of channels inside, and a kernel `DHWIO`."""
    return _convolution(Input, Filter, stride, padding, dilation, ("NDHWC", "DHWIO"), groups, out_dtype)


@checked
def conv2d_transpose_nchw(
    Input: te.Tensor,
    Filter: te.Tensor,
    strides: Sizes,
    padding: Padding,
    out_dtype: str | None = None,
    output_padding: Sizes = 0,
) -> te.Tensor:
    """What a convolution of these strides has made of, summed up: its derivative by the data, of a kernel `IOHW`."""
    kernel = [int(each) for each in Filter.shape[2:]]
    return computed(
        "nn.conv2d_transpose", Input, Filter, each(strides, kernel), pads(padding, kernel, 1),
        output_padding=each(output_padding, kernel), out_dtype=out_dtype or "",
    )  # fmt: skip

"""Layers (`tvm.topi.nn`): each is Relay's operator, which says what it computes, under the arguments of `topi`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ..dialects import te
from ..dialects.relay.layout import parse_layout
from ..dialects.support.arguments import checked
from ..dialects.support.diagnostics import UsageError, did_you_mean
from .broadcast import add, multiply
from .relay_operators import computed, computed_all

Sizes: TypeAlias = int | Sequence[int]
Padding: TypeAlias = int | Sequence[int] | str
"""On each side; `"VALID"`, none; `"SAME"`, as much as a kernel of that size needs for a result as large at stride 1."""


@checked
def relu(x: te.Tensor) -> te.Tensor:
    """The greater of each element and 0."""
    return computed("nn.relu", x)


@checked
def leaky_relu(x: te.Tensor, alpha: float) -> te.Tensor:
    """The elements above 0, and `alpha` times the others."""
    return computed("nn.leaky_relu", x, alpha)


@checked
def prelu(x: te.Tensor, slope: te.Tensor, axis: int = 1) -> te.Tensor:
    """The elements above 0, and the others times the slope of their channel."""
    return computed("nn.prelu", x, slope, axis)


@checked
def softmax(x: te.Tensor, axis: int = -1) -> te.Tensor:
    """`exp(x)` divided by the sum of it along a dimension."""
    return computed("nn.softmax", x, axis)


@checked
def fast_softmax(x: te.Tensor, axis: int = -1) -> te.Tensor:
    """The same, by a polynomial."""
    return computed("nn.fast_softmax", x, axis)


@checked
def log_softmax(x: te.Tensor, axis: int = -1) -> te.Tensor:
    """The logarithm of `softmax`."""
    return computed("nn.log_softmax", x, axis)


@checked
def flatten(data: te.Tensor) -> te.Tensor:
    """A row of elements for each batch."""
    return computed("nn.batch_flatten", data)


@checked
def pad(
    data: te.Tensor, pad_before: Sequence[int], pad_after: Sequence[int] | None = None, pad_value: float | te.Expr = 0.0
) -> te.Tensor:
    """So many elements of a value before and behind those of each dimension; as many behind as before, unless said.

    Raises:
        UsageError: they are not as many as the dimensions, or the value is known only when it runs.
    """
    after = pad_before if pad_after is None else pad_after
    if not len(pad_before) == len(after) == data.rank:
        raise UsageError(f"topi: '{data.name}' has {data.rank} dimensions, of each of which pad is told two numbers")
    if isinstance(pad_value, te.Expr) and not isinstance(pad_value, te.Const):
        raise UsageError("topi: what pad puts there is a number", hint="te.const")
    value = pad_value.value if isinstance(pad_value, te.Const) else pad_value
    return computed("nn.pad", data, tuple(zip(pad_before, after, strict=True)), value)


@checked
def mirror_pad(
    data: te.Tensor, pad_before: Sequence[int], pad_after: Sequence[int] | None = None, mode: str = "SYMMETRIC"
) -> te.Tensor:
    """The same with what is near the edge, mirrored: the edge too if `SYMMETRIC`, not if `REFLECT`."""
    return computed("nn.mirror_pad", data, tuple(zip(pad_before, pad_after or pad_before, strict=True)), mode)


@checked
def dilate(data: te.Tensor, strides: Sequence[int], dilation_value: float = 0.0) -> te.Tensor:
    """`strides - 1` elements of a value between those of each dimension."""
    return computed("nn.dilate", data, tuple(strides), dilation_value)


@checked
def dense(data: te.Tensor, weight: te.Tensor, bias: te.Tensor | None = None, out_dtype: str | None = None) -> te.Tensor:
    """`data` times the transposed `weight`, plus `bias`: `[M, K]` and `[N, K]` give `[M, N]`."""
    product = computed("nn.dense", data, weight, out_dtype=out_dtype or "")
    return product if bias is None else add(product, bias)


@checked
def batch_matmul(
    tensor_a: te.Tensor,
    tensor_b: te.Tensor,
    oshape: Sequence[int] | None = None,
    out_dtype: str | None = None,
    transpose_a: bool = False,
    transpose_b: bool = True,
) -> te.Tensor:
    """A product of matrices for each batch.

    Raises:
        UsageError: its shape is not `oshape`.
    """
    product = computed("nn.batch_matmul", tensor_a, tensor_b, out_dtype or "", transpose_a, transpose_b)
    if oshape is not None and tuple(oshape) != product.shape:
        raise UsageError(f"topi: the product of these matrices has the shape {product.shape}, and not {tuple(oshape)}")
    return product


# convolutions


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
        f"nn.conv{len(spatial)}d", data, weight, _each(strides, kernel), _pads(padding, kernel, dilation),
        _each(dilation, kernel), groups, data_layout=layouts[0], kernel_layout=layouts[1], out_dtype=out_dtype or "",
    )  # fmt: skip


def _each(size: Sizes, kernel: Sequence[int]) -> tuple[int, ...]:
    return (size,) * len(kernel) if isinstance(size, int) else tuple(size)


def _pads(padding: Padding, kernel: Sequence[int], dilation: Sizes) -> tuple[int, ...]:
    """Before each dimension, then behind each.

    Raises:
        UsageError: a word is none of those that say so.
    """
    if isinstance(padding, str):
        if padding not in ("VALID", "SAME"):
            raise UsageError(f"topi: there is no padding {padding!r}", hint=did_you_mean(padding, ("VALID", "SAME")))
        both = [(n - 1) * by if padding == "SAME" else 0 for n, by in zip(kernel, _each(dilation, kernel), strict=True)]
        before = [(pad + 1) // 2 for pad in both]
        return (*before, *(pad - first for pad, first in zip(both, before, strict=True)))
    given = _each(padding, kernel)
    return given if len(given) == 2 * len(kernel) else (*given, *given)


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
        "nn.conv2d_transpose", Input, Filter, _each(strides, kernel), _pads(padding, kernel, 1),
        output_padding=_each(output_padding, kernel), out_dtype=out_dtype or "",
    )  # fmt: skip


# pooling


def _pool(
    data: te.Tensor,
    kernel: Sizes,
    stride: Sizes,
    dilation: Sizes,
    padding: Sizes,
    pool_type: str,
    ceil_mode: bool,
    layout: str,
    count_include_pad: bool,
) -> te.Tensor:
    count = sum(letter in "DHW" for letter in layout)
    ones = (1,) * count
    kind = _kind_of_pool(pool_type)
    more = {"count_include_pad": count_include_pad} if kind == "avg" else {}
    return computed(
        f"nn.{kind}_pool{count}d", data, _each(kernel, ones), _each(stride, ones), _each(dilation, ones),
        _pads(padding, ones, 1), layout, ceil_mode=ceil_mode, **more,
    )  # fmt: skip


def _kind_of_pool(pool_type: str) -> str:
    if pool_type not in ("max", "avg"):
        raise UsageError(f"topi: there is no pool_type {pool_type!r}", hint="'max' or 'avg'")
    return pool_type


@checked
def pool1d(
    data: te.Tensor,
    kernel: Sizes,
    stride: Sizes,
    dilation: Sizes,
    padding: Sizes,
    pool_type: str,
    ceil_mode: bool = False,
    layout: str = "NCW",
    count_include_pad: bool = True,
) -> te.Tensor:
    """The greatest or the mean of windows along one dimension."""
    return _pool(data, kernel, stride, dilation, padding, pool_type, ceil_mode, layout, count_include_pad)


@checked
def pool2d(
    data: te.Tensor,
    kernel: Sizes,
    stride: Sizes,
    dilation: Sizes,
    padding: Sizes,
    pool_type: str,
    ceil_mode: bool = False,
    layout: str = "NCHW",
    count_include_pad: bool = True,
) -> te.Tensor:
    """The greatest or the mean of windows over two dimensions."""
    return _pool(data, kernel, stride, dilation, padding, pool_type, ceil_mode, layout, count_include_pad)


@checked
def pool3d(
    data: te.Tensor,
    kernel: Sizes,
    stride: Sizes,
    dilation: Sizes,
    padding: Sizes,
    pool_type: str,
    ceil_mode: bool = False,
    layout: str = "NCDHW",
    count_include_pad: bool = True,
) -> te.Tensor:
    """The greatest or the mean of windows over three dimensions."""
    return _pool(data, kernel, stride, dilation, padding, pool_type, ceil_mode, layout, count_include_pad)


@checked
def global_pool(data: te.Tensor, pool_type: str, layout: str = "NCHW") -> te.Tensor:
    """The greatest or the mean of each channel."""
    return computed(f"nn.global_{_kind_of_pool(pool_type)}_pool2d", data, layout)


@checked
def adaptive_pool(data: te.Tensor, output_size: Sizes, pool_type: str, layout: str = "NCHW") -> te.Tensor:
    """The greatest or the mean of as many windows as the result has elements."""
    return _adaptive(data, output_size, pool_type, layout)


@checked
def adaptive_pool1d(data: te.Tensor, output_size: Sizes, pool_type: str, layout: str = "NCW") -> te.Tensor:
    """The same along one dimension."""
    return _adaptive(data, output_size, pool_type, layout)


@checked
def adaptive_pool3d(data: te.Tensor, output_size: Sizes, pool_type: str, layout: str = "NCDHW") -> te.Tensor:
    """The same over three dimensions."""
    return _adaptive(data, output_size, pool_type, layout)


def _adaptive(data: te.Tensor, output_size: Sizes, pool_type: str, layout: str) -> te.Tensor:
    count = sum(axis.name in "DHW" and not axis.factor for axis in parse_layout(layout).axes)
    sizes = _each(output_size, (1,) * count)
    return computed(f"nn.adaptive_{_kind_of_pool(pool_type)}_pool{count}d", data, sizes, layout)


# normalisation


@checked
def batch_norm(
    data: te.Tensor,
    gamma: te.Tensor,
    beta: te.Tensor,
    moving_mean: te.Tensor,
    moving_var: te.Tensor,
    axis: int = 1,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> list[te.Tensor]:
    """`data` less the mean of its channel, divided by the deviation, times `gamma`, plus `beta`; then both as given."""
    given = (data, gamma, beta, moving_mean, moving_var)
    return [*computed_all("nn.batch_norm", *given, axis, epsilon, center, scale)[:1], moving_mean, moving_var]


@checked
def layer_norm(
    data: te.Tensor, gamma: te.Tensor, beta: te.Tensor, axis: int | Sequence[int] = -1, epsilon: float = 1e-5
) -> te.Tensor:
    """`data` less the mean along a dimension, divided by the deviation, times `gamma`, plus `beta`.

    Raises:
        UsageError: there are several dimensions.
    """
    return computed("nn.layer_norm", data, gamma, beta, _only(axis, "layer_norm"), epsilon)


def _only(axis: int | Sequence[int], what: str) -> int:
    axes = [axis] if isinstance(axis, int) else list(axis)
    if len(axes) != 1:
        raise UsageError(f"topi: {what} is along one dimension, not {len(axes)}", hint="reshape them into one")
    return axes[0]


@checked
def lrn(
    data: te.Tensor, size: int, axis: int = 1, alpha: float = 0.0001, beta: float = 0.75, bias: float = 2
) -> te.Tensor:
    """`data` divided by a power of the sum of squares of its neighbours along a dimension."""
    return computed("nn.lrn", data, size, axis, bias, alpha, beta)


@checked
def scale_shift_nchw(Input: te.Tensor, Scale: te.Tensor, Shift: te.Tensor) -> te.Tensor:
    """Each channel times its scale, plus its shift."""
    places = [computed("reshape", each, (-1, 1, 1)) for each in (Scale, Shift)]
    return add(multiply(Input, places[0]), places[1])


@checked
def scale_shift_nhwc(Input: te.Tensor, Scale: te.Tensor, Shift: te.Tensor) -> te.Tensor:
    """The same, of channels inside."""
    return add(multiply(Input, Scale), Shift)


# space


@checked
def depth_to_space(data: te.Tensor, block_size: int, layout: str = "NCHW", mode: str = "DCR") -> te.Tensor:
    """Channels as blocks of pixels."""
    return computed("nn.depth_to_space", data, block_size, layout, mode)


@checked
def space_to_depth(data: te.Tensor, block_size: int, layout: str = "NCHW") -> te.Tensor:
    """Blocks of pixels as channels."""
    return computed("nn.space_to_depth", data, block_size, layout)


@checked
def upsampling(
    data: te.Tensor,
    scale_h: float,
    scale_w: float,
    layout: str = "NCHW",
    method: str = "nearest_neighbor",
    align_corners: bool = False,
) -> te.Tensor:
    """An image so many times as high and as wide."""
    return computed("nn.upsampling", data, scale_h, scale_w, layout, method, align_corners)

"""The greatest or the mean of windows (`tvm.topi.nn.pooling`)."""

from __future__ import annotations

from ...dialects import te
from ...dialects.relay.layout import parse_layout
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from ..relay_operators import computed
from .utils import Sizes, each, pads


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
        f"nn.{kind}_pool{count}d", data, each(kernel, ones), each(stride, ones), each(dilation, ones),
        pads(padding, ones, 1), layout, ceil_mode=ceil_mode, **more,
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
    sizes = each(output_size, (1,) * count)
    return computed(f"nn.adaptive_{_kind_of_pool(pool_type)}_pool{count}d", data, sizes, layout)

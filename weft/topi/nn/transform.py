"""Elements that are moved, or repeated, and values put between them (`tvm.topi.nn`)."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import te
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from ..relay_operators import computed


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

"""What tests of schedules of `topi` need (`tvm.topi.testing`): schedules by target, and what layers give, in arrays.

The arrays are the layers' own formulas, evaluated by NumPy; no schedule and no code of Weft's has a part in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from .. import te
from ..dialects.support.arguments import checked
from ..dialects.te.evaluate import evaluate
from ..targets import Target
from . import generic, nn
from .nn.utils import Padding, Sizes

Array = npt.NDArray[Any]
ScheduleOf = Callable[[generic.Outputs], te.Schedule]


@checked
def get_injective_schedule(target: str | Target) -> ScheduleOf:
    """What makes a schedule of elements that are made of one of each tensor; the same for every target."""
    return generic.schedule_injective


get_elemwise_schedule = get_broadcast_schedule = get_injective_schedule


@checked
def get_reduce_schedule(target: str | Target) -> ScheduleOf:
    """What makes a schedule of reductions; the same for every target."""
    return generic.schedule_reduce


@checked
def get_conv2d_nchw_implement(target: str | Target) -> tuple[Callable[..., te.Tensor], ScheduleOf]:
    """A convolution, and what makes a schedule of it; the same for every target."""
    return nn.conv2d_nchw, generic.schedule_conv2d_nchw


def _evaluated(layer: Callable[..., te.Tensor], *given: object, **named: object) -> Array:
    """What a layer gives for arrays; other arguments are handed on."""
    arrays = {number: cast(Array, each) for number, each in enumerate(given) if isinstance(each, np.ndarray)}
    inputs = {n: te.placeholder(each.shape, str(each.dtype), name=f"input{n}") for n, each in arrays.items()}
    result = layer(*(inputs.get(number, each) for number, each in enumerate(given)), **named)
    return evaluate([result], {inputs[number]: each for number, each in arrays.items()})[0]


@checked
def conv2d_nchw_python(a_np: Array, w_np: Array, stride: Sizes, padding: Padding, groups: int = 1) -> Array:
    """A convolution of `[N, C, H, W]` by `[O, C / groups, H, W]`."""
    return _evaluated(nn.group_conv2d_nchw, a_np, w_np, stride, padding, 1, groups)


@checked
def conv2d_nhwc_python(a_np: Array, w_np: Array, stride: Sizes, padding: Padding) -> Array:
    """A convolution of `[N, H, W, C]` by `[H, W, C, O]`."""
    return _evaluated(nn.conv2d_nhwc, a_np, w_np, stride, padding, 1, out_dtype=str(a_np.dtype))


@checked
def conv2d_hwcn_python(a_np: Array, w_np: Array, stride: Sizes, padding: Padding) -> Array:
    """A convolution of `[H, W, C, N]` by `[H, W, C, O]`."""
    return _evaluated(nn.conv2d_hwcn, a_np, w_np, stride, padding, 1)


@checked
def conv1d_ncw_python(a_np: Array, w_np: Array, stride: Sizes, padding: Padding, dilation: Sizes) -> Array:
    """A convolution of `[N, C, W]` by `[O, C, W]`."""
    return _evaluated(nn.conv1d, a_np, w_np, stride, padding, dilation)


@checked
def conv3d_ncdhw_python(a_np: Array, w_np: Array, stride: Sizes, padding: Padding, groups: int = 1) -> Array:
    """A convolution of `[N, C, D, H, W]` by `[O, C / groups, D, H, W]`."""
    return _evaluated(nn.conv3d_ncdhw, a_np, w_np, stride, padding, 1, groups)


@checked
def depthwise_conv2d_python_nchw(input_np: Array, filter_np: Array, stride: Sizes, padding: Padding) -> Array:
    """A convolution of each channel of `[N, C, H, W]` by `[C, M, H, W]`."""
    return _evaluated(nn.depthwise_conv2d_nchw, input_np, filter_np, stride, padding, 1)


@checked
def depthwise_conv2d_python_nhwc(input_np: Array, filter_np: Array, stride: Sizes, padding: Padding) -> Array:
    """A convolution of each channel of `[N, H, W, C]` by `[H, W, C, M]`."""
    return _evaluated(nn.depthwise_conv2d_nhwc, input_np, filter_np, stride, padding, 1)


@checked
def dilate_python(input_np: Array, strides: Sequence[int], dilation_value: float = 0.0) -> Array:
    """`strides - 1` elements of a value between those of each dimension."""
    return _evaluated(nn.dilate, input_np, strides, dilation_value)


@checked
def softmax_python(a_np: Array, axis: int = 1) -> Array:
    """`exp(x)` divided by the sum of it along a dimension."""
    return _evaluated(nn.softmax, a_np, axis)


@checked
def log_softmax_python(a_np: Array, axis: int = 1) -> Array:
    """The logarithm of `softmax_python`."""
    return _evaluated(nn.log_softmax, a_np, axis)


@checked
def batch_matmul(
    x: Array, y: Array, out_dtype: str | None = None, trans_x: bool = False, trans_y: bool = True
) -> Array:
    """A product of matrices for each batch."""
    return _evaluated(nn.batch_matmul, x, y, None, out_dtype, trans_x, trans_y)

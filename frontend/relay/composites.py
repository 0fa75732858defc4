"""What TVM offers beside the operators, made of them; and operators whose arguments TVM takes as numbers."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TypeAlias

from xdsl.utils.exceptions import VerifyException

from ...dialects.relay.devices import FREE
from ...dialects.relay.layout import parse_layout
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from .bit_serial import BIT_SERIAL
from .depthwise import BLOCKED, DEPTHWISE
from .expr import Expr, Operand, Tuple, as_value, const
from .operators import Operator, operator
from .random_numbers import RANDOM
from .rearranging import fifo_buffer, reverse_reshape, sliding_window, yolo_reorg
from .requantizing import requantize
from .simulated import simulated_dequantize, simulated_quantize
from .sparse import OPEN, SPARSE
from .spectral import stft
from .told import rebound

Axes: TypeAlias = "int | Sequence[int] | None"


@checked
def variance(
    data: Operand,
    axis: Axes = None,
    keepdims: bool = False,
    exclude: bool = False,
    unbiased: bool = False,
    with_mean: Operand | None = None,
) -> Expr:
    """The variance over `axis`, around the mean, or around `with_mean`, whose reduced dimensions are 1."""
    data = Expr(as_value(data))
    mean = operator("mean")(data, axis, True, exclude) if with_mean is None else with_mean
    return operator("variance")(data, mean, unbiased, axis, keepdims, exclude)


@checked
def std(
    data: Operand, axis: Axes = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False
) -> Expr:
    """The standard deviation over `axis`."""
    return operator("sqrt")(variance(data, axis, keepdims, exclude, unbiased))


@checked
def mean_variance(
    data: Operand, axis: Axes = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False
) -> Expr:
    """Mean and variance over `axis`, as a tuple."""
    data = Expr(as_value(data))
    mean = operator("mean")(data, axis, True, exclude)
    result = variance(data, axis, keepdims, exclude, unbiased, mean)
    return Tuple([mean if keepdims else operator("mean")(data, axis, False, exclude), result])


@checked
def mean_std(data: Operand, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Expr:
    """Mean and standard deviation over `axis`, as a tuple."""
    mean, squared = mean_variance(data, axis, keepdims, exclude)
    return Tuple([mean, operator("sqrt")(squared)])


@checked
def logsumexp(data: Operand, axis: Axes = None, keepdims: bool = False) -> Expr:
    """`log(sum(exp(data)))` over `axis`, computed around the greatest element so that nothing overflows."""
    data = Expr(as_value(data))
    peak = operator("max")(data, axis, True)
    total = operator("log")(operator("sum")(operator("exp")(data - peak), axis, True)) + peak
    return total if keepdims else operator("sum")(total, axis, False)


@checked
def arange(start: Operand, stop: Operand | None = None, step: Operand | None = None, dtype: str = "float32") -> Expr:
    """Numbers from `start` (0 where only one is given) up to, not including, `stop`."""
    first, last = (0, start) if stop is None else (start, stop)
    bounds = [_number(value, dtype) for value in (first, last, 1 if step is None else step)]
    return operator("arange")(*bounds, dtype=dtype)


@checked
def one_hot(indices: Operand, on_value: Operand, off_value: Operand, depth: int, axis: int, dtype: str) -> Expr:
    """`on_value` where a new axis of extent `depth` is at an index, `off_value` elsewhere."""
    on, off = _number(on_value, dtype), _number(off_value, dtype)
    return operator("one_hot")(indices, on, off, depth, axis, dtype)


@checked
def full(fill_value: Operand, shape: Sequence[int] = (), dtype: str = "") -> Expr:
    """A tensor whose elements are all `fill_value`."""
    value = _number(fill_value, dtype) if dtype else Expr(as_value(fill_value))
    return operator("full")(value, shape, dtype or value.dtype)


@checked
def matrix_set_diag(data: Operand, diagonal: Operand, k: int | tuple[int, int] = 0, align: str = "RIGHT_LEFT") -> Expr:
    """`data` with diagonal `k`, or the band of diagonals from `k[0]` to `k[1]`, replaced."""
    low, high = k if isinstance(k, tuple) else (k, k)
    return operator("matrix_set_diag")(data, diagonal, k1=low, k2=high, align=align)


@checked
def dropout(data: Operand, rate: float = 0.5) -> Expr:
    """`data` with a part `rate` of its elements dropped when training, and as it is otherwise. `nn.dropout_raw` gives
    the mask as well."""
    return operator("nn.dropout")(data, rate)[0]


@checked
def strided_slice(
    data: Operand,
    begin: Sequence[int],
    end: Sequence[int],
    strides: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    slice_mode: str = "end",
) -> Expr:
    """The elements from `begin` up to, not including, `end`. Where these are of different lengths, and of no `axes`,
    the shorter leaves the other dimensions as they are."""
    first, last, steps = list(begin), list(end), list(strides or ())
    if axes is None:
        count = max(len(first), len(last), len(steps))
        steps += [1] * (count - len(steps))
        backwards = [step < 0 for step in steps]
        first += [EDGE if back else 0 for back in backwards[len(first) :]]
        if slice_mode == "size":
            last += [-1] * (count - len(last))
        last += [-EDGE if back else EDGE for back in backwards[len(last) :]]
    return operator("strided_slice")(data, first, last, steps or None, axes, slice_mode)


EDGE = 2**31 - 1
"""An index behind the end of every axis."""


@checked
def strided_set(data: Operand, v: Operand, begin: Operand, end: Operand, strides: Operand | None = None) -> Expr:
    """`data` with the elements from `begin` up to `end` replaced by those of `v`; where these have fewer numbers than
    there are dimensions, all of the other dimensions."""
    data, start, stop = Expr(as_value(data)), Expr(as_value(begin)), Expr(as_value(end))
    steps = const([], start.dtype) if strides is None else Expr(as_value(strides))
    rank = len(data.shape)
    bounds = ((start, [0] * rank), (stop, [EDGE] * rank), (steps, [1] * rank))
    return operator("strided_set")(data, v, *(_filled_up(value, missing) for value, missing in bounds))


def _filled_up(value: Expr, missing: Sequence[int]) -> Expr:
    """A vector with the last of `missing` behind it, as many as there are too few."""
    (count,) = value.shape if len(value.shape) == 1 else (len(missing),)
    if not 0 <= count < len(missing):
        return value
    rest = const(missing[count:], value.dtype)
    return operator("concatenate")([value, rest], 0) if count else rest


@checked
def checkpoint(data: Operand) -> Expr:
    """`data` as it is. Gradients keep what they need: nothing is computed again for them."""
    return Expr(as_value(data))


def _input_first(name: str) -> Operator:
    """The builder of a transposed convolution whose layout names, in TVM, call the input channels of the weight `O`:
    by default "OIW", where what stands first is as many as the data has."""
    make = operator(name)

    def call(bound: inspect.BoundArguments) -> Expr:
        bound.apply_defaults()
        layout = bound.arguments["kernel_layout"]
        if isinstance(layout, str):
            bound.arguments["kernel_layout"] = layout.translate(str.maketrans("OIoi", "IOio"))
        return make(**bound.arguments)

    return rebound(make, call)


def _freed_on_device() -> Operator:
    """The builder of `on_device`, which names no device where nothing has to be on it."""
    make = operator("on_device")

    def call(bound: inspect.BoundArguments) -> Expr:
        bound.apply_defaults()
        if not bound.arguments["constrain_body"] and not bound.arguments["constrain_result"]:
            bound.arguments["device"] = FREE
        return make(**bound.arguments)

    return rebound(make, call)


def _in_known_blocks() -> Operator:
    """The builder of `layout_transform`, for which the extent of a block is what the layout says, where the data's is
    not known."""
    make = operator("layout_transform")

    def call(bound: inspect.BoundArguments) -> Expr:
        data, layout = Expr(as_value(bound.arguments["data"])), str(bound.arguments["src_layout"])
        try:
            blocks = [axis.factor for axis in parse_layout(layout).axes]
        except VerifyException as error:
            raise UsageError(f"relay.layout_transform: {error}") from None
        if len(blocks) == len(data.shape) and any(
            block and n == OPEN for block, n in zip(blocks, data.shape, strict=True)
        ):
            bound.arguments["data"] = operator("reshape")(data, blocks)
        return make(*bound.args, **bound.kwargs)

    return rebound(make, call)


def _number(value: Operand, dtype: str) -> Expr:
    """A number as a constant of `dtype`; an expression as it is."""
    return value if isinstance(value, Expr) else const(value, dtype)  # pyright: ignore[reportArgumentType]


@checked
def global_max_pool1d(data: Operand, layout: str = "NCW", out_layout: str = "") -> Expr:
    """The greatest element of each channel."""
    return operator("nn.adaptive_max_pool1d")(data, (1,), layout, out_layout)


@checked
def global_avg_pool1d(data: Operand, layout: str = "NCW", out_layout: str = "") -> Expr:
    """The mean of each channel."""
    return operator("nn.adaptive_avg_pool1d")(data, (1,), layout, out_layout)


@checked
def global_max_pool3d(data: Operand, layout: str = "NCDHW", out_layout: str = "") -> Expr:
    """The greatest element of each channel."""
    return operator("nn.adaptive_max_pool3d")(data, (1, 1, 1), layout, out_layout)


@checked
def global_avg_pool3d(data: Operand, layout: str = "NCDHW", out_layout: str = "") -> Expr:
    """The mean of each channel."""
    return operator("nn.adaptive_avg_pool3d")(data, (1, 1, 1), layout, out_layout)


COMPOSITES = {
    "nn.dropout": dropout,
    "nn.fifo_buffer": fifo_buffer,
    "nn.dropout_raw": operator("nn.dropout"),
    "strided_slice": strided_slice,
    "strided_set": strided_set,
    "variance": variance,
    "std": std,
    "mean_variance": mean_variance,
    "mean_std": mean_std,
    "logsumexp": logsumexp,
    "layout_transform": _in_known_blocks(),
    "arange": arange,
    "one_hot": one_hot,
    "full": full,
    "matrix_set_diag": matrix_set_diag,
    "annotation.checkpoint": checkpoint,
    "annotation.on_device": _freed_on_device(),
    "reverse_reshape": reverse_reshape,
    "sliding_window": sliding_window,
    "stft": stft,
    "vision.yolo_reorg": yolo_reorg,
    "qnn.requantize": requantize,
    "qnn.simulated_quantize": simulated_quantize,
    "qnn.simulated_dequantize": simulated_dequantize,
    "nn.conv1d_transpose": _input_first("nn.conv1d_transpose"),
    "nn.conv3d_transpose": _input_first("nn.conv3d_transpose"),
    "nn.global_max_pool1d": global_max_pool1d,
    "nn.global_avg_pool1d": global_avg_pool1d,
    "nn.global_max_pool3d": global_max_pool3d,
    "nn.global_avg_pool3d": global_avg_pool3d,
    **BIT_SERIAL,
    **BLOCKED,
    **DEPTHWISE,
    **RANDOM,
    **SPARSE,
}
"""By their names without `relay.`; these come before the operators of the same name."""

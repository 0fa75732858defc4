"""Operators of TVM that put elements at other places, made of those that there are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from .expr import AnyExtent, Expr, Operand, as_value, const, tensor_type, var
from .operators import operator


def _known(data: Operand, what: str) -> Expr:
    """An expression whose extents are all known.

    Raises:
        UsageError: one is not.
    """
    expr = Expr(as_value(data))
    if -1 in expr.shape:
        raise UsageError(f"relay.{what} needs extents that are known, and got {expr!r}")
    return expr


@checked
def reverse_reshape(data: Operand, newshape: Sequence[int]) -> Expr:
    """`data` in another shape, where 0 keeps an extent, -1 stands for what is left, -2 keeps all that are left, and -3
    is the product of two, all counted from the last dimension: `(10, 5, 4)` by `(-1, 0)` is `(50, 4)`.

    Raises:
        UsageError: the number of elements differs, or a number is below -3.
    """
    data = Expr(as_value(data))
    if any(n < -3 for n in newshape):
        raise UsageError(f"relay.reverse_reshape takes extents and 0 to -3, and got {list(newshape)}")
    extents = [AnyExtent() if n == -1 else n for n in data.shape[::-1]]
    backwards = var("backwards", tensor_type(extents, data.dtype))
    shape = operator("reshape")(backwards, list(newshape)[::-1]).shape[::-1]
    if shape.count(-1) > 1:
        return operator("dyn.reshape")(data, operator("concatenate")(_read_from_the_end(data, newshape), 0))
    return operator("reshape")(data, shape)


def _read_from_the_end(data: Expr, newshape: Sequence[int]) -> list[Expr]:
    """What `reverse_reshape` puts in the place of each number, as vectors of one element."""
    sizes = operator("shape_of")(data, "int64")

    def own(place: int) -> Expr:
        return operator("strided_slice")(sizes, [place], [place + 1])

    shape: list[Expr] = []
    rest: int | None = None
    place = len(data.shape) - 1
    for number in reversed(newshape):
        match number:
            case 0:
                shape.append(own(place))
            case -2:
                shape += map(own, range(place, -1, -1))
                place = 0
            case -3:
                shape.append(own(place) * own(place - 1))
                place -= 1
            case _:
                rest = len(shape) if number == -1 else rest
                shape.append(const(np.array([abs(number)]), "int64"))  # in the place of -1, for now, 1
        place -= 1
    if rest is not None:
        others = operator("prod")(operator("concatenate")(shape, 0), 0, True)
        shape[rest] = operator("prod")(sizes, 0, True) / operator("maximum")(others, const(1, "int64"))
    return shape[::-1]


@checked
def sliding_window(data: Operand, axis: int, window_shape: Sequence[int], strides: Sequence[int]) -> Expr:
    """All windows over the dimensions from `axis` on: the dimensions before it, how many windows there are along each
    of the others, and the window.

    Raises:
        UsageError: there are not as many sizes and strides as dimensions, or a window does not fit.
    """
    data = _known(data, "sliding_window")
    rank = len(data.shape)
    first = axis + rank if axis < 0 else axis
    if not 0 <= first < rank or not len(window_shape) == len(strides) == rank - first:
        raise UsageError(
            f"relay.sliding_window over the dimensions from {axis} on of {data!r} needs a size and a stride for each,"
            f" and got {list(window_shape)} and {list(strides)}"
        )
    for extent, size, stride in zip(data.shape[first:], window_shape, strides, strict=True):
        if not 1 <= size <= extent or stride < 1:
            raise UsageError(f"a window of {size} that moves by {stride} does not fit into an extent of {extent}")
    result = data
    for place in reversed(range(rank - first)):
        starts = np.arange(0, data.shape[first + place] - window_shape[place] + 1, strides[place], dtype=np.int32)
        indices = starts[:, None] + np.arange(window_shape[place], dtype=np.int32)
        result = operator("take")(result, const(indices), first + place)
    counts = range(first, 2 * rank - first, 2)
    return operator("transpose")(result, [*range(first), *counts, *(d + 1 for d in counts)])


@checked
def yolo_reorg(data: Operand, stride: int) -> Expr:
    """`[n, c, h, w]` as `[n, c * stride^2, h / stride, w / stride]`, in the order of Darknet's reorg layer: the data is
    first read as `[n, c / stride^2, h * stride, w * stride]`.

    Raises:
        UsageError: an extent is not known or does not divide, or it has not four dimensions.
    """
    data = _known(data, "vision.yolo_reorg")
    if len(data.shape) != 4 or stride < 1:
        raise UsageError(f"relay.vision.yolo_reorg takes [n, c, h, w] and a stride, and got {data!r} and {stride}")
    n, c, h, w = data.shape
    if c % stride**2 or h % stride or w % stride:
        raise UsageError(f"relay.vision.yolo_reorg: {data!r} does not divide by the stride {stride}")
    spread = operator("reshape")(data, (n, c // stride**2, h * stride, w * stride))
    return operator("reshape")(
        operator("nn.space_to_depth")(spread, stride), (n, c * stride**2, h // stride, w // stride)
    )


@checked
def fifo_buffer(data: Operand, buffer: Operand, axis: int) -> Expr:
    """`buffer`, from the front of which as many elements along `axis` are dropped as `data` puts behind it: what a
    window over a stream has seen last.

    Raises:
        UsageError: an extent is not known, there is no such axis, or `data` is longer than the buffer.
    """
    data, buffer = _known(data, "nn.fifo_buffer"), _known(buffer, "nn.fifo_buffer")
    rank = len(buffer.shape)
    if not -rank <= axis < rank:
        raise UsageError(f"relay.nn.fifo_buffer has no axis {axis} in {buffer!r}")
    axis %= rank
    if len(data.shape) != rank or data.shape[axis] > buffer.shape[axis]:
        raise UsageError(f"relay.nn.fifo_buffer puts what its buffer has room for behind it, and got {data!r}")
    joined = operator("concatenate")([buffer, data], axis)
    return operator("strided_slice")(joined, [data.shape[axis]], [joined.shape[axis]], [1], axes=[axis])

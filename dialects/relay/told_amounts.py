"""Slices, ranges, first elements and enlarged images of which data decides how much there is, as operators of which
that is a bound, or that are told by integers.

    dyn.strided_slice(x, b, e, s)  =  take(x, p)   where p are the places from `b` on in steps of `s`: of as many as the
                                                   axis has elements the first `data_extent`, axis by axis
    arange(a, b, s)                =  a + arange(0, n) * s   where n is ceil((b - a) / s)
    dyn.topk(x, k)                 =  dyn.topk(x, `data_extent` of k), where k is what the axis has if it is below 1
    dyn.nn.upsampling(x, h, w)     =  dyn.image.resize2d(x, [round(rows * h), round(columns * w)]); in three dimensions
                                      two of them, one of rows and columns, and one of what lies behind one another

Bounds are Python's: negative ones count from the end, and what lies outside of the axis is cut off.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, f32, i64
from xdsl.ir import BlockArgument, SSAValue

from ..support.dtypes import dtype_name
from .base import DYNAMIC, is_true, normalize_axis, shape_of, tensor
from .core import ConstantOp, TupleOp
from .decomposition import Emit
from .ops.broadcast import (
    AddOp,
    DivideOp,
    EqualOp,
    FloorDivideOp,
    LessOp,
    MaximumOp,
    MinimumOp,
    MultiplyOp,
    SubtractOp,
    WhereOp,
)
from .ops.creation import ArangeOp, ShapeOfOp
from .ops.dyn import DynReshapeOp, DynStridedSliceOp
from .ops.dyn_common import numbers
from .ops.dyn_creation import DynTopkOp
from .ops.dyn_images import DynResize2dOp, DynUpsampling3dOp, DynUpsamplingOp
from .ops.dynamic import DataExtentOp
from .ops.elementwise import AbsOp, CastOp, CeilOp, RoundOp
from .ops.gather import TakeOp
from .ops.slicing import ConcatenateOp, StridedSliceOp
from .ops.transform import ReshapeOp, TransposeOp
from .resample import Sampling
from .slices_of_data import LONGEST
from .telling import is_told_by_data

LARGEST = (1 << 63) - 1
"""The largest number that a bound, a step or a number of elements can be."""


def extent_of(emit: Emit, x: SSAValue, axis: int = 0) -> SSAValue:
    """An extent of a tensor, as a vector of one element."""
    if (extent := shape_of(x)[axis]) != DYNAMIC:
        return emit.constant([extent], i64)
    return emit(TakeOp(emit(ShapeOfOp(x, dtype="int64")), emit.constant([axis], i64), axis=0, mode="clip"))


def first_rows(emit: Emit, count: SSAValue, most: SSAValue, *data: SSAValue) -> list[SSAValue]:
    """The first `count` rows of tensors that have `most`."""
    extent = emit(DataExtentOp(count, most))
    begin, step = emit.constant([0], i64), emit.constant([1], i64)
    return [emit(DynStridedSliceOp(each, begin, extent, step)) for each in data]


def sliced_as_told(emit: Emit, op: DynStridedSliceOp) -> SSAValue | None:
    """What `op` gives; `None` where its bounds are made of extents and its steps are known to go forwards, or the type
    of the result says how many elements are taken."""
    cut = shape_of(op.begin)[0]
    if (_goes_forwards(op) and not _is_told(op)) or any(n != DYNAMIC for n in shape_of(op.result)[:cut]):
        return None
    data = op.data
    by_size = op.slice_mode.data == "size"
    for axis in range(cut):
        extent = extent_of(emit, op.data, axis)
        begin, end, step = (_element(emit, each, axis) for each in (op.begin, op.end, op.strides))
        places, count = _places(emit, extent, begin, end, step, by_size)
        (places,) = first_rows(emit, count, extent, places)
        data = emit(TakeOp(data, places, axis=axis, mode="clip"))
    return data


def _goes_forwards(op: DynStridedSliceOp) -> bool:
    """Whether the steps are known, and not below zero, or so are the bounds."""
    begin, end, strides = (each.owner.numpy() if isinstance(each.owner, ConstantOp) else None for each in op.told())
    if strides is None:
        return False
    return (begin is not None and end is not None) or all(step >= 0 for step in numbers(strides))


def _is_told(op: DynStridedSliceOp) -> bool:
    """Whether numbers that may be negative decide the bounds: what is computed of data, or is an input as it is."""
    return is_told_by_data(op) or any(isinstance(each, BlockArgument) for each in (op.begin, op.end))


def _element(emit: Emit, vector: SSAValue, place: int) -> SSAValue:
    """An element of a vector of integers, as one of an element."""
    one = vector if shape_of(vector) == (1,) else emit(StridedSliceOp(vector, begin=[place], end=[place + 1]))
    return one if tensor(one).element_type == i64 else emit(CastOp(one, dtype="int64"))


def _places(
    emit: Emit, extent: SSAValue, begin: SSAValue, end: SSAValue, step: SSAValue, by_size: bool
) -> tuple[SSAValue, SSAValue]:
    """Where the elements of a slice of an axis stand, of as many as it has, and how many are taken. The run fails where
    the step is zero."""
    zero, one, none = (emit.constant([n], i64) for n in (0, 1, -1))

    def from_the_end(bound: SSAValue) -> SSAValue:
        return emit(WhereOp(emit(LessOp(bound, zero)), emit(AddOp(bound, extent)), bound))

    begin = from_the_end(begin)
    if by_size:
        longest = emit(SubtractOp(emit.constant([LARGEST], i64), extent))  # no sum is above it
        following = emit(AddOp(emit(MinimumOp(begin, extent)), emit(MinimumOp(end, longest))))
        end = emit(WhereOp(emit(LessOp(end, zero)), extent, following))
        step = one
    else:
        end = from_the_end(end)
    step = _between(emit, step, *(emit.constant([n], i64) for n in (-LONGEST, LONGEST)))
    back = emit(LessOp(step, zero))
    low = emit(WhereOp(back, none, zero))
    high = emit(WhereOp(back, emit(SubtractOp(extent, one)), extent))
    begin, end = (_between(emit, bound, low, high) for bound in (begin, end))
    away = emit(SubtractOp(end, begin))
    covered = emit(WhereOp(back, emit(SubtractOp(zero, away)), away))
    length = emit(AbsOp(step))
    is_zero = emit(CastOp(emit(EqualOp(length, zero)), dtype="int64"))
    length = emit(AddOp(length, _zero_unless(emit, is_zero)))
    above = emit(AddOp(covered, emit(SubtractOp(length, one))))
    count = emit(MaximumOp(emit(FloorDivideOp(above, emit(MaximumOp(length, one)))), zero))
    places = emit(AddOp(begin, emit(MultiplyOp(_numbered(emit, extent), step))))
    return places, count


def _between(emit: Emit, x: SSAValue, low: SSAValue, high: SSAValue) -> SSAValue:
    return emit(MaximumOp(emit(MinimumOp(x, high)), low))


def _numbered(emit: Emit, count: SSAValue) -> SSAValue:
    """0, 1, 2, ... below a number, which is a vector of one element."""
    if isinstance(count.owner, ConstantOp) and (array := count.owner.numpy()) is not None and array[0] <= 1024:
        return emit.constant([*range(int(array[0]))], i64)
    stop = emit(ReshapeOp(count, newshape=[]))
    return emit(ArangeOp(emit.constant(0, i64), stop, emit.constant(1, i64), dtype="int64"))


def numbers_as_told(emit: Emit, op: ArangeOp) -> SSAValue | None:
    """What a range of floats gives, of which data decides how many there are; `None` of another."""
    element = tensor(op.start).element_type
    if DYNAMIC not in shape_of(op.result) or not isinstance(element, AnyFloat):
        return None
    start, stop, step = (emit(CastOp(each, dtype="float64")) for each in op.operands)
    count = emit(CeilOp(emit(DivideOp(emit(SubtractOp(stop, start)), step))))
    whole = emit(MaximumOp(emit(CastOp(count, dtype="int64")), emit.constant(0, i64)))
    numbers = emit(ArangeOp(emit.constant(0, i64), whole, emit.constant(1, i64), dtype="int64"))
    numbers = emit(CastOp(numbers, dtype=dtype_name(element)))
    return emit(CastOp(emit(AddOp(op.start, emit(MultiplyOp(numbers, op.step)))), dtype=op.dtype))


def first_as_told(emit: Emit, op: DynTopkOp) -> SSAValue | None:
    """What `op` gives, by a number of elements that the axis has; `None` where that follows from extents. The run fails
    where there are fewer elements."""
    none_is_zero = is_true(op.zero_is_none)
    if not is_told_by_data(op) and (none_is_zero or not isinstance(op.k, BlockArgument)):
        return None
    k = op.k if shape_of(op.k) else emit(ReshapeOp(op.k, newshape=[1]))
    if tensor(k).element_type != i64:
        k = emit(CastOp(k, dtype="int64"))
    extent = extent_of(emit, op.data, normalize_axis(op.axis.value.data, len(shape_of(op.data))))
    takes_all = emit(LessOp(k, emit.constant([0 if none_is_zero else 1], i64)))
    lacking = emit(CastOp(emit(LessOp(extent, k)), dtype="int64"))
    count = emit(AddOp(emit(WhereOp(takes_all, extent, k)), _zero_unless(emit, lacking)))
    found = DynTopkOp(op.data, emit(DataExtentOp(count, extent)), **{**op.properties, "zero_is_none": True})
    return emit(found)


def _zero_unless(emit: Emit, failing: SSAValue) -> SSAValue:
    """0, of a vector of one element; the run fails where that is 1."""
    return emit(TakeOp(emit.constant([0], i64), failing, axis=0, mode="error"))


def enlarged_as_told(emit: Emit, op: DynUpsamplingOp | DynUpsampling3dOp) -> SSAValue | None:
    """What enlarging by factors gives, by the size that follows; `None` where the factors are known."""
    if all(isinstance(each.owner, ConstantOp) for each in op.told()):
        return None
    axes = op.axes()
    sizes = [
        _enlarged(emit, extent_of(emit, op.data, axes.position(letter)), scale)
        for letter, scale in zip(op.SPATIAL, op.told(), strict=True)
    ]
    if isinstance(op, DynUpsamplingOp):
        return _resized(emit, op.data, sizes, op.layout.data, op.sampling())
    order = [axes.position(letter) for letter in "NCDHW"]
    data = emit(TransposeOp(op.data, axes=order))
    batch, channels, depth, rows, columns = (extent_of(emit, data, axis) for axis in range(5))
    flat = emit(MultiplyOp(channels, depth))
    planes = _resized(emit, _reshaped(emit, data, batch, flat, rows, columns), sizes[1:], "NCHW", op.sampling())
    pixels = emit(MultiplyOp(sizes[1], sizes[2]))  # which stay as they are, while there are more of each
    slices = _reshaped(emit, planes, batch, channels, depth, pixels)
    deep = _resized(emit, slices, [sizes[0], pixels], "NCHW", op.sampling())
    whole = _reshaped(emit, deep, batch, channels, *sizes)
    return emit(TransposeOp(whole, axes=[order.index(axis) for axis in range(5)]))


def _enlarged(emit: Emit, extent: SSAValue, scale: SSAValue) -> SSAValue:
    """An extent times a factor, as a whole number."""
    factor = emit(CastOp(scale if shape_of(scale) else emit(ReshapeOp(scale, newshape=[1])), dtype="float64"))
    product = emit(MultiplyOp(emit(CastOp(extent, dtype="float64")), factor))
    return emit(CastOp(emit(RoundOp(product)), dtype="int64"))


def _reshaped(emit: Emit, data: SSAValue, *extents: SSAValue) -> SSAValue:
    return emit(DynReshapeOp(data, emit(ConcatenateOp(emit(TupleOp(*extents)), axis=0))))


def _resized(emit: Emit, data: SSAValue, sizes: Sequence[SSAValue], layout: str, how: Sampling) -> SSAValue:
    """Images of another size."""
    return emit(
        DynResize2dOp(
            data,
            emit(ConcatenateOp(emit(TupleOp(*sizes)), axis=0)),
            emit.constant([], f32),
            layout=layout,
            method=how.method,
            coordinate_transformation_mode=how.coordinates,
        )
    )

"""Operators whose results have an extent that data decides, as operators of which that is a bound.

    argwhere(x)  =  `compact` gives the places, as many as x has elements, and how many they are: `data_extent`;
                    the first so many of them are the result: `dyn.strided_slice`

What a kernel writes has a size that is known before the graph is called, and what follows runs for as many as there
are.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TupleType, i64
from xdsl.ir import SSAValue

from ..support.dtypes import dtype_name
from .base import DYNAMIC, RelayOp, is_static, is_true, shape_of, tensor
from .core import TupleGetOp, TupleOp
from .decomposition import Emit
from .ops.advanced_indexing import UnravelIndexOp
from .ops.broadcast import EqualOp, LessOp, MultiplyOp, WhereOp
from .ops.creation import ArangeOp, OnesLikeOp, ShapeOfOp
from .ops.dyn import DynExpandDimsOp, DynReshapeOp, DynSqueezeOp, DynStridedSliceOp
from .ops.dyn_creation import DynTopkOp, DynZerosOp
from .ops.dyn_images import DynUpsampling3dOp, DynUpsamplingOp
from .ops.dynamic import ArgwhereOp, CompactOp, UniqueOp, UniqueRowsOp
from .ops.elementwise import CastOp
from .ops.gather import TakeOp
from .ops.nn.padding import PadOp
from .ops.scatter import ScatterAddOp
from .ops.slicing import ConcatenateOp, StridedSliceOp
from .ops.sort import ArgsortOp
from .ops.sparse import SparseFillEmptyRowsOp
from .ops.transform import ExpandDimsOp, ReshapeOp, TransposeOp
from .remaining import told_by_extents
from .told_amounts import enlarged_as_told, extent_of, first_as_told, first_rows, numbers_as_told, sliced_as_told
from .told_axes import with_told_axes


def flattened(emit: Emit, x: SSAValue) -> SSAValue:
    """All elements as a vector."""
    if len(shape_of(x)) == 1:
        return x
    if is_static(x.type):
        return emit(ReshapeOp(x, newshape=[-1]))
    return emit(DynReshapeOp(x, emit.constant([-1], i64)))


def first(emit: Emit, count: SSAValue, *data: SSAValue) -> list[SSAValue]:
    """The first `count` rows of tensors that have equally many."""
    return first_rows(emit, count, extent_of(emit, data[0]), *data)


def fields(emit: Emit, value: SSAValue) -> list[SSAValue]:
    """The fields of a tuple."""
    assert isinstance(value.type, TupleType)
    return [emit(TupleGetOp(value, number)) for number in range(len(value.type.types))]


def places_of(emit: Emit, condition: SSAValue) -> SSAValue:
    """The places of the elements of a vector that are not zero."""
    places, count = fields(emit, emit(CompactOp(condition)))
    return first(emit, count, places)[0]


def nonzero(emit: Emit, x: SSAValue) -> SSAValue:
    """The coordinates of the elements that are not zero, a row for each dimension; one of a scalar."""
    if len(shape_of(x)) == 0:
        x = emit(ExpandDimsOp(x, axis=0))
    places = places_of(emit, flattened(emit, x))
    if len(shape_of(x)) == 1:
        return emit(ExpandDimsOp(places, axis=0))
    return emit(UnravelIndexOp(places, emit(ShapeOfOp(x, dtype="int64"))))


def argwhere(emit: Emit, x: SSAValue) -> SSAValue:
    """The coordinates of the elements that are not zero, a column for each dimension."""
    if len(shape_of(x)) == 0:
        rows = emit(ExpandDimsOp(places_of(emit, emit(ExpandDimsOp(x, axis=0))), axis=1))
        none = StridedSliceOp(rows, begin=[0], end=[0], strides=[1], axes=[1])
        return emit(CastOp(emit(none), dtype="int32"))
    return emit(CastOp(emit(TransposeOp(nonzero(emit, x), axes=[1, 0])), dtype="int32"))


def unique_rows(emit: Emit, rows: SSAValue, is_sorted: bool) -> list[SSAValue]:
    """Of the different rows of a matrix where each first stands and how often, which of them each row is, and how many
    they are."""
    places, counts, which, total = fields(emit, emit(UniqueRowsOp(rows, sorted=is_sorted)))
    places, counts = first(emit, total, places, counts)
    return [places, counts, which, total]


def unique(emit: Emit, op: UniqueOp) -> SSAValue:
    """What `relay.unique` gives."""
    rows = emit(ExpandDimsOp(op.data, axis=1))
    places, counts, which, total = unique_rows(emit, rows, is_true(op.sorted))
    values = emit(TakeOp(op.data, places, axis=0, mode="clip"))
    numbers = [places, which, total, *([counts] if is_true(op.return_counts) else [])]
    return emit(TupleOp(values, *(emit(CastOp(each, dtype="int32")) for each in numbers)))


def filled_rows(emit: Emit, op: SparseFillEmptyRowsOp) -> SSAValue:
    """What `relay.sparse_fill_empty_rows` gives: the rows that have no element behind the others, and all in order."""
    indices = op.sparse_indices
    element = tensor(indices).element_type
    first_place = emit.constant([0], i64)
    count = emit(TakeOp(emit(CastOp(op.dense_shape, dtype="int64")), first_place, axis=0, mode="error"))
    at = emit(CastOp(_first_column(emit, indices), dtype="int64"))
    at = emit(WhereOp(emit(LessOp(at, emit.constant(0, i64))), count, at))  # below zero is outside, as what is beyond
    have = emit(ScatterAddOp(emit(DynZerosOp(count, dtype="int64")), at, emit(OnesLikeOp(at)), axis=0))
    empty = emit(EqualOp(have, emit.constant(0, i64)))
    missing = places_of(emit, empty)
    added = emit(CastOp(emit(ExpandDimsOp(missing, axis=1)), dtype=dtype_name(element)))
    if (columns := shape_of(indices)[1]) != DYNAMIC:
        added = emit(PadOp(added, emit.constant(0, element), pad_width=[0, 0, 0, columns - 1]))
    else:
        zeros = emit(DynZerosOp(extent_of(emit, indices, 1), dtype=dtype_name(element)))
        is_first = emit(ScatterAddOp(zeros, first_place, emit.constant([1], element), axis=0))
        added = emit(MultiplyOp(added, emit(ExpandDimsOp(is_first, axis=0))))
    default = emit(TakeOp(emit(ReshapeOp(op.default_value, newshape=[1])), missing, axis=0, mode="clip"))
    rows = emit(ConcatenateOp(emit(TupleOp(indices, added)), axis=0))
    values = emit(ConcatenateOp(emit(TupleOp(op.sparse_values, default)), axis=0))
    order = emit(ArgsortOp(_first_column(emit, rows), axis=0, is_ascend=True, dtype="int64"))
    return emit(TupleOp(*(emit(TakeOp(each, order, axis=0, mode="clip")) for each in (rows, values)), empty))


def _first_column(emit: Emit, matrix: SSAValue) -> SSAValue:
    return emit(TakeOp(matrix, emit.constant(0, i64), axis=1, mode="error"))


def bounded(op: RelayOp, emit: Emit) -> Sequence[SSAValue] | None:
    """What stands for an operator whose result has an extent that data decides; `None` where none has to."""
    match op:
        case ArgwhereOp():
            return [argwhere(emit, op.condition)]
        case UniqueOp():
            return [unique(emit, op)]
        case SparseFillEmptyRowsOp():
            return [filled_rows(emit, op)]
        case DynReshapeOp():
            return None if (made := told_by_extents(emit, op)) is None else [made]
        case DynStridedSliceOp():
            return None if (made := sliced_as_told(emit, op)) is None else [made]
        case DynUpsamplingOp() | DynUpsampling3dOp():
            return None if (made := enlarged_as_told(emit, op)) is None else [made]
        case DynTopkOp():
            return None if (made := first_as_told(emit, op)) is None else [made]
        case ArangeOp():
            return None if (made := numbers_as_told(emit, op)) is None else [made]
        case DynExpandDimsOp() | DynSqueezeOp():
            return None if (made := with_told_axes(emit, op)) is None else [made]
        case _:
            return None

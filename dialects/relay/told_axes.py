"""Dimensions of extent one put in, or taken out, where data decides: what shape the elements have then, computed.

    dyn.expand_dims(x, a)  =  dyn.reshape(x, s[:a] + [1] + s[a:])   where s is the shape of x
    dyn.squeeze(x, axes)   =  dyn.reshape(x, s without those of axes)

The ranks are known: a place in the new shape is one before `a`, a new one, or one behind, which follows by comparison.
An axis that there is not, or one that is dropped and has another extent than one, ends the run.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from .base import shape_of
from .core import ConstantOp
from .decomposition import Emit
from .ops.broadcast import AddOp, EqualOp, LessOp, LogicalAndOp, MinimumOp, MultiplyOp, SubtractOp, WhereOp
from .ops.creation import ShapeOfOp
from .ops.dyn import DynExpandDimsOp, DynReshapeOp, DynSqueezeOp
from .ops.elementwise import CastOp, LogicalNotOp
from .ops.gather import TakeOp
from .ops.reduce import AllOp, MaxOp, SumOp
from .ops.slicing import StridedSliceOp
from .ops.sort import ArgsortOp
from .ops.transform import ExpandDimsOp, ReshapeOp


def with_told_axes(emit: Emit, op: DynExpandDimsOp | DynSqueezeOp) -> SSAValue | None:
    """What `op` gives, under a shape that is computed; `None` where the axes are known."""
    if isinstance(op.axis.owner, ConstantOp):
        return None
    return _expanded(emit, op) if isinstance(op, DynExpandDimsOp) else _squeezed(emit, op)


def _numbers(emit: Emit, count: int) -> SSAValue:
    return emit.constant([*range(count)], i64)


def _axes(emit: Emit, told: SSAValue, rank: int) -> SSAValue:
    """Axes as a vector, counted from the front; the run fails where there is no such one of `rank`."""
    told = emit(CastOp(told, dtype="int64"))
    told = told if len(shape_of(told)) == 1 else emit(ReshapeOp(told, newshape=[1]))
    return emit(TakeOp(_numbers(emit, rank), told, axis=0, mode="error"))


def _shape(emit: Emit, x: SSAValue) -> SSAValue:
    """The extents of `x`; one of a scalar."""
    return emit(ShapeOfOp(x, dtype="int64")) if shape_of(x) else emit.constant([1], i64)


def _expanded(emit: Emit, op: DynExpandDimsOp) -> SSAValue:
    rank, new = len(shape_of(op.data)), op.num_newaxis.value.data
    at, places = _axes(emit, op.axis, rank + 1), _numbers(emit, rank + new)
    is_before = emit(LessOp(places, at))
    is_new = emit(LessOp(places, emit(AddOp(at, emit.constant([new], i64)))))
    behind = emit(SubtractOp(places, emit.constant([new], i64)))
    source = emit(MinimumOp(emit(WhereOp(is_before, places, behind)), emit.constant([max(rank - 1, 0)], i64)))
    own = emit(TakeOp(_shape(emit, op.data), source, axis=0, mode="clip"))
    one = emit.constant([1], i64)
    shape = emit(WhereOp(is_before, own, emit(WhereOp(is_new, one, own))))
    return emit(DynReshapeOp(op.data, shape, allowzero=True))


def _squeezed(emit: Emit, op: DynSqueezeOp) -> SSAValue:
    data, rank, dropped = op.data, len(shape_of(op.data)), shape_of(op.axis)[0]
    if not dropped:
        return data if not rank else emit(DynReshapeOp(data, _shape(emit, data), allowzero=True))
    axes, sizes, one = _axes(emit, op.axis, rank), _shape(emit, data), emit.constant([1], i64)
    is_named = emit(EqualOp(emit(ExpandDimsOp(axes, axis=1)), _numbers(emit, rank)))
    marked = emit(MaxOp(emit(CastOp(is_named, dtype="int64")), axis=[0]))
    are_one = emit(AllOp(emit(EqualOp(emit(TakeOp(sizes, axes, axis=0, mode="clip")), one)), axis=[0], keepdims=True))
    count = emit(SumOp(marked, axis=[0], keepdims=True))
    is_right = emit(LogicalAndOp(are_one, emit(EqualOp(count, emit.constant([dropped], i64)))))
    wrong = emit(CastOp(emit(LogicalNotOp(is_right)), dtype="int64"))
    nothing = emit(TakeOp(emit.constant([0], i64), wrong, axis=0, mode="error"))
    if dropped == rank:
        number = emit(TakeOp(emit(ReshapeOp(data, newshape=[-1])), nothing, axis=0, mode="error"))
        return emit(ReshapeOp(number, newshape=[]))
    keys = emit(AddOp(emit(MultiplyOp(marked, emit.constant([rank], i64))), _numbers(emit, rank)))
    order = emit(ArgsortOp(keys, axis=0, is_ascend=True, dtype="int64"))
    kept = emit(StridedSliceOp(order, begin=[0], end=[rank - dropped], strides=[1], axes=[0]))
    shape = emit(TakeOp(sizes, kept, axis=0, mode="clip"))
    return emit(DynReshapeOp(data, emit(AddOp(shape, nothing)), allowzero=True))

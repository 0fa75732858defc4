"""What 0 and -1 stand for in a shape that data decides, computed: `dyn.reshape` to `[-1, k, 64]`, or to `s + t`.

What a graph computes of extents is followed as they are, and `-1` of such a shape is what they leave. An element that
data decides is read once it has been computed, and then it has to be an extent, and so have the others: -1 is written
as what `k` and 64 leave of the elements, and each number of `s + t`, which may be 0 or -1, as what that means.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from .base import is_true, shape_of
from .core import ConstantOp, TupleOp
from .decomposition import Emit
from .ops.broadcast import EqualOp, FloorDivideOp, MaximumOp, WhereOp
from .ops.creation import ShapeOfOp
from .ops.dyn import DynReshapeOp
from .ops.elementwise import CastOp
from .ops.reduce import ProdOp
from .ops.slicing import ConcatenateOp, StridedSliceOp
from .telling import is_told_by_data

Part = int | SSAValue
"""An element of a shape that is known, or a vector of some that are not."""


def told_by_extents(emit: Emit, op: DynReshapeOp) -> SSAValue | None:
    """What `op` gives, told by extents alone; `None` where data does not decide its shape, or where 0 is just zero and
    no number is known to be -1."""
    parts, allowzero = _parts(op.newshape), is_true(op.allowzero)
    if not is_told_by_data(op) or (allowzero and -1 not in parts):
        return None
    have = () if allowzero else shape_of(op.data)
    sizes = emit(ShapeOfOp(op.data, dtype="int64"))
    one, rest = emit.constant([1], i64), emit.constant([-1], i64)
    shape: list[SSAValue] = []
    place = 0
    for part in parts:
        count = 1 if isinstance(part, int) else shape_of(part)[0]
        end = min(place + count, len(have))
        own = emit(StridedSliceOp(sizes, begin=[place], end=[end], strides=[1], axes=[0])) if place < end else None
        shape.append(_without_zeros(emit, part, own, place + count - max(end, place)))
        place += count
    fixed = parts.index(-1) if -1 in parts else None
    if fixed is not None:  # only this one may be what remains
        shape[fixed] = one
    open_parts = [number for number, part in enumerate(parts) if fixed is None and not isinstance(part, int)]
    is_rest = {number: emit(EqualOp(shape[number], rest)) for number in open_parts}
    for number, found in is_rest.items():
        shape[number] = emit(WhereOp(found, one, shape[number]))
    others = emit(MaximumOp(_product(emit, _joined(emit, shape)), one))
    remaining = emit(FloorDivideOp(_product(emit, sizes), others))
    if fixed is not None:
        shape[fixed] = remaining
    for number, found in is_rest.items():
        shape[number] = emit(WhereOp(found, remaining, shape[number]))
    return emit(DynReshapeOp(op.data, _joined(emit, shape), allowzero=True))


def _without_zeros(emit: Emit, part: Part, own: SSAValue | None, beyond: int) -> SSAValue:
    """A part of a shape, in which 0 is an extent of the data's: of `own`, behind which `beyond` more numbers are."""
    if isinstance(part, int):
        return own if part == 0 and own is not None else emit.constant([part], i64)
    part = emit(CastOp(part, dtype="int64"))
    if own is None:
        return part
    if beyond:
        own = _joined(emit, [own, emit.constant([0] * beyond, i64)])
    return emit(WhereOp(emit(EqualOp(part, emit.constant([0], i64))), own, part))


def _parts(shape: SSAValue) -> list[Part]:
    """What a shape is put together of."""
    match shape.owner:
        case ConstantOp() if (array := shape.owner.numpy()) is not None:
            return [int(number) for number in array.reshape(-1)]
        case ConcatenateOp() if isinstance(fields := shape.owner.operands[0].owner, TupleOp):
            return [part for field in fields.fields for part in _parts(field)]
        case _:
            return [shape]


def _joined(emit: Emit, vectors: Sequence[SSAValue]) -> SSAValue:
    return emit(ConcatenateOp(emit(TupleOp(*vectors)), axis=0))


def _product(emit: Emit, vector: SSAValue) -> SSAValue:
    return emit(ProdOp(vector, axis=[0], keepdims=True))

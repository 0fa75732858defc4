"""The extent that -1 stands for in a shape that data decides, computed: `dyn.reshape` to `[-1, k, 64]`.

What a graph computes of extents is followed as they are, and `-1` of such a shape is what they leave. An element that
data decides is read once it has been computed, and then the others have to be numbers, too: -1 is written as what `k`
and 64 leave of the elements.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from .base import shape_of
from .core import ConstantOp, TupleOp
from .decomposition import Emit
from .ops.broadcast import FloorDivideOp
from .ops.creation import ShapeOfOp
from .ops.dyn import DynReshapeOp
from .ops.elementwise import CastOp
from .ops.reduce import ProdOp
from .ops.slicing import ConcatenateOp, StridedSliceOp
from .telling import is_told_by_data

Part = int | SSAValue
"""An element of a shape that is known, or a vector of some that are not."""


def without_remaining(emit: Emit, op: DynReshapeOp) -> SSAValue | None:
    """What `op` gives, told by extents alone; `None` where data does not decide its shape, that has no -1,
    or is known to have no elements."""
    parts = _parts(op.newshape) if is_told_by_data(op) else []
    if parts.count(-1) != 1 or 0 in shape_of(op.data):  # of no elements none are left; 0 would be an extent of the data
        return None
    sizes = emit(ShapeOfOp(op.data, dtype="int64"))
    shape: list[SSAValue] = []
    for part in parts:
        if part == 0 and (place := sum(shape_of(each)[0] for each in shape)) < len(shape_of(op.data)):
            shape.append(emit(StridedSliceOp(sizes, begin=[place], end=[place + 1], strides=[1], axes=[0])))
        else:
            shape.append(emit.constant([part], i64) if isinstance(part, int) else emit(CastOp(part, dtype="int64")))
    place = parts.index(-1)
    others = _joined(emit, [*shape[:place], *shape[place + 1 :]])
    shape[place] = emit(FloorDivideOp(_product(emit, sizes), _product(emit, others)))
    return emit(DynReshapeOp(op.data, _joined(emit, shape), allowzero=True))


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

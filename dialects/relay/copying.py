"""Which functions do nothing but copy: what they give is what they are given, one argument after the other, or a part
of their only one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from .base import DYNAMIC, ReshapeLike, shape_of
from .core import ConstantOp, FuncOp, ReturnOp, TupleGetOp, TupleOp
from .ops.slicing import ConcatenateOp, StridedSliceOp


def copied_from(function: FuncOp) -> int | None:
    """Where what `function` copies begins: the number of an element among those of its arguments, one argument after
    the other in memory, in their order. `None` where it does anything else than to give these as its one result.

    Of one argument it is a reshape, which may be a field of a tuple of such, or a slice whose elements stand one after
    the other; of two and more a concatenation whose parts are contiguous in the whole, and the number is 0. What takes
    fields, and computes others of them or reshapes nothing, is a kernel, as in TVM.
    """
    ops = function.body.block.ops
    if any(isinstance(op, TupleGetOp) for op in ops):
        others = [op for op in ops if not isinstance(op, TupleOp | TupleGetOp | ConstantOp | ReturnOp)]
        if not others or not all(op.has_trait(ReshapeLike) for op in others):
            return None
    end, arguments = function.return_op, list(function.body.block.args)
    types = (*function.function_type.inputs, *function.function_type.outputs)
    tensors = all(isinstance(type, TensorType) for type in types)
    if len(end.arguments) != 1 or not arguments or not tensors:
        return None
    if _contents(end.arguments[0]) == arguments:
        return 0
    return _part(end.arguments[0]) if len(arguments) == 1 else None


def start_of_slice(op: StridedSliceOp) -> int | None:
    """The number of the first element of a slice in the memory of what is sliced; `None` where its elements do not
    stand one after the other there, or an extent is open."""
    shape = shape_of(op.data)
    if DYNAMIC in shape:
        return None
    start, inner, whole = 0, 1, True
    for extent, cut in zip(reversed(shape), reversed(op.slices(shape)), strict=True):
        if cut.count == 0 or (cut.count > 1 and (cut.step != 1 or not whole)):
            return None
        whole &= cut.count == extent
        start += cut.start * inner
        inner *= extent
    return start


def _part(value: SSAValue) -> int | None:
    """The element of the only argument where a value begins that is some of it, one element after the other; what is
    all of it is computed, as in TVM."""
    start, shape = 0, shape_of(value)
    while isinstance(owner := value.owner, Operation):
        if isinstance(owner, StridedSliceOp):
            if (more := start_of_slice(owner)) is None:
                return None
            start, value = start + more, owner.data
        elif owner.has_trait(ReshapeLike) and len(owner.operands) == 1:
            value = owner.operands[0]
        else:
            return None
    return start if prod(shape) < prod(shape_of(value)) else None


def _contents(value: SSAValue) -> Sequence[SSAValue] | None:
    """The arguments that a value consists of, one after the other; `None` where it is computed."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return [value]
    if isinstance(owner, TupleGetOp):
        fields = owner.tuple.owner
        return _contents(fields.fields[owner.index.value.data]) if isinstance(fields, TupleOp) else None
    if isinstance(owner, ConcatenateOp):
        shape = shape_of(owner.result)
        if any(extent != 1 for extent in shape[: owner.axis.value.data % len(shape)]):
            return None
        if not isinstance(fields := owner.operands[0].owner, TupleOp):
            return None
        parts = [_contents(field) for field in fields.fields]
        return None if None in parts else [v for part in parts if part is not None for v in part]
    if owner.has_trait(ReshapeLike) and len(owner.operands) == 1:
        return _contents(owner.operands[0])
    return None

"""Which functions do nothing but copy: what they give is what they are given, one argument after the other."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from .base import ReshapeLike, shape_of
from .core import ConstantOp, FuncOp, ReturnOp, TupleGetOp, TupleOp
from .ops.slicing import ConcatenateOp


def copied_arguments(function: FuncOp) -> int:
    """How many arguments `function` lays one after the other in memory, in their order, to give its one result; 0 where
    it does anything else.

    1 is a reshape, and may be a field of a tuple of such; 2 and more are a concatenation whose parts are contiguous in
    the whole. What takes fields, and computes others of them or reshapes nothing, is a kernel, as in TVM.
    """
    ops = function.body.block.ops
    if any(isinstance(op, TupleGetOp) for op in ops):
        others = [op for op in ops if not isinstance(op, TupleOp | TupleGetOp | ConstantOp | ReturnOp)]
        if not others or not all(op.has_trait(ReshapeLike) for op in others):
            return 0
    end, arguments = function.return_op, list(function.body.block.args)
    types = (*function.function_type.inputs, *function.function_type.outputs)
    tensors = all(isinstance(type, TensorType) for type in types)
    if len(end.arguments) != 1 or not arguments or not tensors:
        return 0
    return len(arguments) if _contents(end.arguments[0]) == arguments else 0


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

"""Which values say what extents others have."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, TensorType, TupleType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ..support.hints import isa
from ..te.contents import is_small_integer
from .base import DYNAMIC, RelayOp, flatten_types
from .core import ConstantOp, FuncOp
from .ops.creation import NdarraySizeOp, ShapeOfOp

MAX_TELLING = 16
"""The elements of a tensor that says extents."""


def is_telling(type: Attribute) -> bool:
    """Whether the elements of a tensor may be symbols: a few integers, which memory holds as words."""
    if not isa(type, TensorType) or type.element_type not in (i32, i64):
        return False
    shape = type.get_shape()
    return DYNAMIC not in shape and prod(shape) <= MAX_TELLING


def is_told_by_data(op: RelayOp) -> bool:
    """Whether what says the extents of an operator's results is computed of more than constants and shapes, or through
    other numbers than integers which hold any size: its kernel cannot compute that, too."""
    pending = [value.owner for value in op.told_extents() if isinstance(value.owner, Operation)]
    seen: set[Operation] = set()
    while pending:
        owner = pending.pop()
        if owner in seen or isinstance(owner, ConstantOp | ShapeOfOp | NdarraySizeOp):
            continue
        if isinstance(owner, RelayOp) and owner.SAYS_EXTENT:
            continue
        seen.add(owner)
        types = flatten_types([value.type for value in (*owner.operands, *owner.results)])
        elements = [type.element_type for type in types]
        if any(is_small_integer(each) or not isinstance(each, IntegerType | IndexType) for each in elements):
            return True
        for value in owner.operands:
            if not isinstance(value.owner, Operation):
                return True
            pending.append(value.owner)
    return False


def told_inputs(function: FuncOp) -> list[int]:
    """The inputs, by number, that say what extents a function's results have. They are no parts of tuples."""
    pending = [value for op in function.body.block.ops if isinstance(op, RelayOp) for value in op.told_extents()]
    seen: set[SSAValue] = set()
    while pending:
        value = pending.pop()
        if value not in seen:
            seen.add(value)
            if isinstance(owner := value.owner, Operation):
                pending += owner.operands
    told: list[int] = []
    number = 0
    for argument in function.body.block.args:
        types = flatten_types([argument.type])
        small = len(types) == 1 and isinstance(types[0].element_type, IntegerType | IndexType | AnyFloat)
        if argument in seen and small and not isinstance(argument.type, TupleType):
            told.append(number)
        number += len(types)
    return told

"""Arithmetic on indices, which lowering makes much of: made without finding out anew what an operation is made of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from xdsl.dialects import arith
from xdsl.ir import Attribute, Operation, SSAValue

from .interned import index, index_attribute


def index_constant(value: int) -> arith.ConstantOp:
    """`arith.constant value : index`."""
    return arith.ConstantOp.create(result_types=(index,), properties={"value": index_attribute(value)})


def index_binary(kind: type[Operation], lhs: SSAValue, rhs: SSAValue) -> Operation:
    """`kind` of two indices."""
    return kind.create(operands=(lhs, rhs), result_types=(index,), properties=_flags(kind))


@cache
def _flags(kind: type[Operation]) -> Mapping[str, Attribute]:
    """What an operation of two operands has beside them, unless it is said."""
    overflows = issubclass(kind, arith.SignlessIntegerBinaryOperationWithOverflow)
    return {"overflowFlags": arith.IntegerOverflowAttr("none")} if overflows else {}

"""Which float a value is known to be."""

from __future__ import annotations

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr
from xdsl.ir import SSAValue


def known_number(value: SSAValue) -> float | None:
    """The float that a value, or each of its elements, is known to be."""
    match value.owner:
        case arith.ConstantOp(value=FloatAttr() as number):
            return number.value.data
        case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as numbers) if numbers.is_splat():
            first = numbers.get_values()[0]
            return float(first) if isinstance(first, int | float) else None
        case vector.BroadcastOp() as broadcast:
            return known_number(broadcast.source)
        case _:
            return None

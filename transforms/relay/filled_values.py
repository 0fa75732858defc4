"""Tensors all of whose elements are one number."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ...dialects.relay.attributes import is_uniform
from ...dialects.relay.core import ConstantOp
from ...dialects.relay.ops.creation import OnesOp, ZerosOp
from .dataflow.pattern import DFPattern
from .dataflow.rows import PredicatePattern


def is_filled_with(value: SSAValue, number: float) -> bool:
    """Whether every element of a constant, of `zeros` or of `ones` is `number`."""
    match value.owner:
        case ConstantOp() as constant:
            array = constant.numpy()
            return array is not None and is_uniform(array) and bool(array.flat[0] == number)
        case ZerosOp():
            return number == 0
        case OnesOp():
            return number == 1
        case _:
            return False


def filled_with(number: float) -> DFPattern:
    """A tensor all of whose elements are `number`."""
    return PredicatePattern(lambda value: is_filled_with(value, number), (ConstantOp, ZerosOp, OnesOp))

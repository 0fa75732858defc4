"""Shapes that data decides, in which numbers stand for others: of `relay.reshape(x, shape)`, TVM's 0, -1 and -3.

What a shape made of other shapes holds is known, and are extents. Of one that comes from data it is not, so that it is
computed here what its numbers stand for.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import BlockArgument, SSAValue

from ...dialects.relay.ops.creation import NdarraySizeOp, ShapeOfOp
from .expr import Expr, Tuple, const
from .operators import operator

_ABSENT = -4
"""Stands for an extent that there is not."""


def resolved(data: Expr, newshape: Expr, allowzero: bool) -> Expr:
    """The extents that a shape of `[n]` integers stands for: 0 for the data's in that place, unless `allowzero`, -3 for
    the product of two of them, -1 for what remains. Where the data has no such extent, a negative one is found,
    which is refused when it runs. A shape that no data decides stays as it is."""
    count = newshape.shape[0] if isinstance(newshape.checked_type, TensorType) and len(newshape.shape) == 1 else -1
    if count < 1 or not isinstance(data.checked_type, TensorType) or not _is_of_data(newshape.value):
        return newshape
    wanted = newshape if newshape.dtype == "int64" else newshape.astype("int64")
    one = _numbers(np.ones(count))
    extents = operator("shape_of")(data, "int64")
    behind = _numbers(np.full(count + 1, _ABSENT))
    padded = operator("concatenate")(Tuple([extents, behind]), 0) if data.shape else behind
    is_pair = operator("equal")(wanted, _numbers([-3]))
    place = operator("cumsum")(is_pair.astype("int64"), 0, "int64", True) + _numbers(range(count))
    own, following = (operator("take")(padded, each, 0) for each in (place, place + one))
    is_there = operator("greater_equal")(operator("minimum")(own, following), _numbers([0]))
    pair = operator("where")(is_there, own * following, _numbers([_ABSENT]))
    found = operator("where")(is_pair, pair, wanted)
    if not allowzero:
        found = operator("where")(operator("equal")(wanted, _numbers([0])), own, found)
    is_rest = operator("equal")(found, _numbers([-1]))
    others = operator("prod")(operator("where")(is_rest, one, found))
    rest = operator("prod")(extents) / operator("maximum")(others, const(1, "int64"))
    return operator("where")(is_rest, operator("reshape")(rest, [1]) * one, found)


def _numbers(values: object) -> Expr:
    return const(np.array(values, np.int64), "int64")


def _is_of_data(value: SSAValue) -> bool:
    """Whether a value is made of what tensors hold, and not of their extents alone."""
    pending, seen = [value], set[SSAValue]()
    while pending:
        current = pending.pop()
        if isinstance(current, BlockArgument):
            return True
        if current not in seen and not isinstance(op := current.owner, ShapeOfOp | NdarraySizeOp | type(None)):
            seen.add(current)
            pending += getattr(op, "operands", ())
    return False

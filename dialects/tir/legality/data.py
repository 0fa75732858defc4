"""What data has a say in."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.ir import OpResult, SSAValue

from ...support.walking import in_order


def depends_on_data(value: SSAValue) -> bool:
    """Whether an element of a buffer has a say in what a value is."""
    work, seen = [value], set[SSAValue]()
    while work:
        current = work.pop()
        if current in seen or not isinstance(current, OpResult):
            continue
        seen.add(current)
        if isinstance(current.op, memref.LoadOp):
            return True
        work += current.op.operands
        for region in current.op.regions:
            work += [operand for op in in_order(region) for operand in op.operands]
    return False

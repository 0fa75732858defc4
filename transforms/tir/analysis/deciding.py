"""Which iterators decide what a block does: those that the conditions of its branches depend on."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import OpResult, SSAValue

from ....dialects.support.facts import remembered
from ....dialects.support.walking import in_order
from ....dialects.tir.core import BlockOp


@remembered
def deciding_iterators(block: BlockOp) -> set[SSAValue]:
    """The iterators that the conditions of branches in `block` depend on."""
    found: set[SSAValue] = set()
    work = [op.cond for op in in_order(block.body) if type(op) is scf.IfOp]
    while work:
        value = work.pop()
        if value in found:
            continue
        found.add(value)
        if isinstance(value, OpResult):
            work += value.op.operands
    return found & set(block.iters)

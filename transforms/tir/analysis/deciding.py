"""Which iterators decide what a block does: those that the conditions of its branches depend on, and those that it
computes with."""

from __future__ import annotations

from xdsl.dialects import memref, scf
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


@remembered
def computed_with(block: BlockOp) -> set[SSAValue]:
    """The iterators that are numbers in what `block` computes, not only places in memory: what is compared to keep a
    triangle of a matrix, say. Each of two that are one loop is found by division, for each element anew."""
    found: set[SSAValue] = set()
    work = [op.value for op in in_order(block.body) if isinstance(op, memref.StoreOp)]
    work += [op.cond for op in in_order(block.body) if isinstance(op, scf.IfOp)]
    while work:
        value = work.pop()
        if value in found:
            continue
        found.add(value)
        if isinstance(value, OpResult) and not isinstance(value.op, memref.LoadOp):
            work += value.op.operands
            work += [operand for op in value.op.walk() if isinstance(op, scf.YieldOp) for operand in op.operands]
    return found & set(block.iters)


@remembered
def placing_iterators(block: BlockOp) -> tuple[set[SSAValue], int]:
    """The iterators that places which data decides depend on, as where an image is sampled at points that are given;
    and how many operations find these places."""
    found: set[SSAValue] = set()
    steps = 0
    for load in (op for op in in_order(block.body) if isinstance(op, memref.LoadOp)):
        for index in load.indices:
            slice = _before(index)
            if any(isinstance(value, OpResult) and isinstance(value.op, memref.LoadOp) for value in slice):
                steps += sum(isinstance(value, OpResult) for value in slice - found)
                found |= slice
    return found & set(block.iters), steps


def _before(value: SSAValue) -> set[SSAValue]:
    """A value, and all that it is computed from."""
    found: set[SSAValue] = set()
    work = [value]
    while work:
        value = work.pop()
        if value not in found:
            found.add(value)
            if isinstance(value, OpResult):
                work += value.op.operands
                work += [operand for op in value.op.walk() if isinstance(op, scf.YieldOp) for operand in op.operands]
    return found

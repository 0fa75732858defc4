"""Stores that change nothing: the elements are written again before they are read, or hold the value already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from xdsl.dialects import memref
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import ForOp, OuterBlockOp, PrimFuncOp, blocks_under, enclosing_loops
from ....dialects.tir.symbols import Extent
from .known_values import KnownValues, conditions_of
from .regions import fills, required_region


def overwritten_stores(func: PrimFuncOp) -> list[memref.StoreOp]:
    """The stores of statements to buffers of which a later statement, among the same loops, writes all that they write,
    before it is read."""
    found: list[memref.StoreOp] = []
    for body in (func.body.block, *(op.body.block for op in func.walk() if isinstance(op, ForOp | OuterBlockOp))):
        statements = list(body.ops)
        for number, statement in enumerate(statements):
            for buffer in dict.fromkeys(buffer for block in blocks_under(statement) for buffer in block.writes):
                if _is_overwritten(buffer, statement, statements[number + 1 :]):
                    found += _stores_to(buffer, statement)
    return list(dict.fromkeys(found))


def _is_overwritten(buffer: SSAValue, statement: Operation, later: Sequence[Operation]) -> bool:
    if any(touch.buffer is buffer and not touch.is_write for b in blocks_under(statement) for touch in b.touches()):
        return False
    around = enclosing_loops(statement)
    variables = [loop.var for loop in around]
    region = required_region(buffer, blocks_under(statement), variables, True)
    for other in later:
        blocks = blocks_under(other)
        if any(touch.buffer is buffer and not touch.is_write for block in blocks for touch in block.touches()):
            return False
        for block in blocks:
            if buffer in block.writes:
                there = required_region(buffer, [block], variables, True)
                if fills(block, buffer, around, there) and _covers(buffer, there, region):
                    return True
    return False


Region = Sequence[tuple[AffineExpr, Extent]]


def _covers(buffer: SSAValue, region: Region, other: Region) -> bool:
    """Whether a part of a buffer has all of another part."""
    for (low, size), part, extent in zip(region, other, shape_of(buffer), strict=True):
        whole = low == AffineConstantExpr(0) and size == extent
        if not whole and (low, size) != part:
            return False
    return True


def _stores_to(buffer: SSAValue, statement: Operation) -> Iterator[memref.StoreOp]:
    return (op for op in statement.walk() if isinstance(op, memref.StoreOp) and op.memref is buffer)


def stores_of_known_values(func: PrimFuncOp) -> list[memref.StoreOp]:
    """The stores of integers that the elements surely hold already."""
    knowns = KnownValues(func)
    found: list[memref.StoreOp] = []
    for block in knowns.at:
        conditions = conditions_of(block, block.body)
        conditions.element = partial(knowns.element, block, conditions)
        for op in block.body.walk() if block.init is None else ():
            if not isinstance(op, memref.StoreOp):
                continue
            facts = [*knowns.at[block].sizes, *conditions.around(op)]
            given = conditions.number(op.value, facts)
            held = None if given is None else knowns.element(block, conditions, op, facts)
            if given is not None and held is not None and conditions.proves(given.equal(held), facts):
                found.append(op)
    return found

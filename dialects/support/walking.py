"""Walks over operations that take little time: most of what looks at a kernel looks for operations of a class in it.

As `walk` of xDSL, each operation comes before those within it; all are gathered before the first is given.
"""

from __future__ import annotations

from typing import TypeVar, cast

from xdsl.ir import Block, Operation, Region

Kind = TypeVar("Kind", bound=Operation)


def in_order(place: Region | Block) -> list[Operation]:
    """The operations in a region or a block."""
    ops: list[Operation] = []
    if type(place) is Block:
        _gather_block(place, ops)
    else:
        _gather(cast(Region, place), ops)
    return ops


def within(root: Operation) -> list[Operation]:
    """The operations within `root`, itself left out."""
    ops: list[Operation] = []
    for region in root.regions:
        _gather(region, ops)
    return ops


def all_within(root: Operation, kind: type[Kind]) -> list[Kind]:
    """Those of one class, and not of classes made from it: `isinstance` takes long where it says no."""
    return cast("list[Kind]", [op for op in within(root) if type(op) is kind])


def _gather(region: Region, ops: list[Operation]) -> None:
    block = region.first_block
    while block is not None:
        _gather_block(block, ops)
        block = block.next_block


def _gather_block(block: Block, ops: list[Operation]) -> None:
    op = block.first_op
    while op is not None:
        ops.append(op)
        if op.regions:
            for inner in op.regions:
                _gather(inner, ops)
        op = op.next_op

"""A walk over operations that takes little time: the checks of loops and blocks walk often."""

from __future__ import annotations

from xdsl.ir import Operation, Region


def in_order(region: Region) -> list[Operation]:
    """The operations in `region`, each before those within it, as `walk` gives them one by one."""
    ops: list[Operation] = []
    _gather(region, ops)
    return ops


def _gather(region: Region, ops: list[Operation]) -> None:
    block = region.first_block
    while block is not None:
        op = block.first_op
        while op is not None:
            ops.append(op)
            if op.regions:
                for inner in op.regions:
                    _gather(inner, ops)
            op = op.next_op
        block = block.next_block

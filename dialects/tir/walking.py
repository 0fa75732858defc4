"""A walk over operations that takes little time: the checks of loops and blocks walk often."""

from __future__ import annotations

from xdsl.ir import Operation, Region


def in_order(region: Region) -> list[Operation]:
    """The operations in `region`, each before those within it, as `walk` gives them one by one."""
    ops: list[Operation] = []
    for block in region.blocks:
        op = block.first_op
        while op is not None:
            ops.append(op)
            for inner in op.regions:
                ops += in_order(inner)
            op = op.next_op
    return ops

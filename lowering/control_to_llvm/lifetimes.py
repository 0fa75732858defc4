"""When a value of a block is needed for the last time."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.relay.interpreter import free_values


def last_uses(block: Block, inherited: Iterable[SSAValue]) -> tuple[dict[Operation, list[SSAValue]], list[SSAValue]]:
    """For each operation of a block the values that it, or what is in it, is the last to need; and those that none
    needs of what the block has from the beginning.

    Values are those that the block makes, its arguments, and what it has `inherited`: values from around it that
    nothing needs after it.
    """
    given = [*inherited, *block.args]
    last: dict[SSAValue, Operation | None] = dict.fromkeys(given)
    for op in block.ops:
        for value in (*op.operands, *(free_values(op) if op.regions else ())):
            if value in last:
                last[value] = op
        last.update(dict.fromkeys(op.results))
    dying: dict[Operation, list[SSAValue]] = {}
    for value, op in last.items():
        if op is not None:
            dying.setdefault(op, []).append(value)
    return dying, [value for value in given if last[value] is None]

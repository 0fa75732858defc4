"""What values are made of: the operations, in order, and their types."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ...dialects.relay.interpreter import free_values
from ...dialects.relay.types import is_complete


def needs(op: Operation) -> Sequence[SSAValue]:
    """The values that an operation is made of: its operands, and what its branches see."""
    return [*op.operands, *(free_values(op) if op.regions else ())]


def operations_of(roots: Sequence[SSAValue]) -> list[Operation]:
    """The operations that `roots` are made of, each once and after those of its operands."""
    order: dict[Operation, None] = {}
    stack: list[tuple[Operation, bool]] = [
        (root.owner, False) for root in reversed(roots) if isinstance(root.owner, Operation)
    ]
    while stack:
        op, ready = stack.pop()
        if ready:
            order[op] = None
        elif op not in order:
            stack.append((op, True))
            owners = [value.owner for value in reversed(needs(op))]
            stack.extend((owner, False) for owner in owners if isinstance(owner, Operation) and owner not in order)
    return list(order)


def completed(roots: Sequence[SSAValue]) -> None:
    """Find the types of what `roots` are made of."""
    if all(is_complete(root.type) for root in roots):
        return
    from ...transforms.relay.completion import complete

    for op in operations_of(roots):
        complete(op)

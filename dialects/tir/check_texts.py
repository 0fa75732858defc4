"""What is said where a check fails."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from .blocks import BlockOp


def access_text(access: Operation, buffer: SSAValue, dimension: int) -> str:
    """What is said of an access that lies outside of its buffer."""
    name = f"%{buffer.name_hint}" if buffer.name_hint else "a buffer"
    return (
        f"'{access.name}': index {{index}} lies outside of dimension {dimension} of {name}, whose extent is {{extent}}"
    )


def iterator_text(block: BlockOp, number: int) -> str:
    """What is said of an iterator that leaves its extent."""
    name = block.iters[number].name_hint or number
    return f"'{block.name}': iterator %{name} of block @{block.block_name} is {{index}}, but its extent is {{extent}}"

"""Buffers of a block as users give them: by kind and number, or by name; and other blocks that read them."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.ir import SSAValue

from ....dialects.support.diagnostics import did_you_mean
from ....dialects.tir.core import BlockOp, OuterBlockOp
from ....dialects.tir.nodes.buffers import Buffer
from ..analysis.block_scopes import AnyBlock, buffers_of, children_of, reads_of, scope_of
from ..analysis.producers import function_of
from ..schedule.errors import ScheduleError

BufferName: TypeAlias = tuple[str, int] | str | SSAValue | Buffer
"""A buffer that a block reads or writes: by number, by name, or itself, as a value or as a node of the function's tree.
"""


def buffer_of(block: AnyBlock, buffer: BufferName) -> tuple[str, int]:
    """`("read", n)` or `("write", n)`, of a buffer that may be given by its name, or as what it is.

    Raises:
        ScheduleError: the block touches none of the name.
    """
    if isinstance(buffer, Buffer):
        buffer = _value_of(block, buffer)
    if isinstance(buffer, SSAValue):
        for kind, buffers in (("read", buffers_of(block, "read")), ("write", buffers_of(block, "write"))):
            if buffer in buffers:
                return kind, buffers.index(buffer)
        raise ScheduleError.at(block, f"block @{block.block_name} touches no buffer %{buffer.name_hint or 'of those'}")
    if not isinstance(buffer, str):
        return buffer
    named = [
        (kind, number, value.name_hint)
        for kind in ("read", "write")
        for number, value in enumerate(buffers_of(block, kind))
    ]
    for kind, number, name in named:
        if name == buffer:
            return kind, number
    hint = did_you_mean(buffer, [name for _, _, name in named if name])
    raise ScheduleError.at(block, f"block @{block.block_name} touches no buffer %{buffer}", hint=hint)


def _value_of(block: AnyBlock, buffer: Buffer) -> SSAValue:
    """What a node of a buffer stands for.

    Raises:
        ScheduleError: it is none of the function's tree as it is now.
    """
    from ....dialects.tir.nodes.tree import reading_of

    found = [value for value, node in reading_of(function_of(block)).buffers.items() if node is buffer]
    if not found:
        hint = "schedule.get(block).reads and .writes have the nodes"
        raise ScheduleError.at(block, f"'{buffer.name}' is no buffer of the function as it is now", hint=hint)
    return found[0]


def index_of(block: AnyBlock, kind: str, index: int | str) -> int:
    """The number of a buffer among those that a block reads (`kind` is `"read"`) or writes; it may be given by name.

    Raises:
        ScheduleError: there is none of the name among them.
    """
    if not isinstance(index, str):
        return index
    names = [value.name_hint for value in buffers_of(block, kind)]
    if index not in names:
        hint = did_you_mean(index, [name for name in names if name])
        raise ScheduleError.at(block, f"block @{block.block_name} {kind}s no buffer %{index}", hint=hint)
    return names.index(index)


def other_readers(block: AnyBlock, index: int) -> list[tuple[str, str, int | None]]:
    """The other blocks of the scope of `block` that read what it reads under a number, but for blocks of blocks that
    make it themselves: as `get_block` takes them, by name, function and number."""
    numbered = buffers_of(block, "read")
    if not 0 <= index < len(numbered):
        return []
    buffer = numbered[index]
    func = function_of(block)
    everything = [each for each in func.walk() if isinstance(each, BlockOp | OuterBlockOp)]
    found: list[tuple[str, str, int | None]] = []
    for other in children_of(scope_of(block)):
        makes = isinstance(other, OuterBlockOp) and buffer in buffers_of(other, "write")
        reads = other.reads if isinstance(other, BlockOp) else reads_of(other)
        if other is not block and not makes and buffer in reads:
            alike = [each for each in everything if each.block_name == other.block_name]
            found.append((other.block_name, func.sym_name.data, alike.index(other) if len(alike) > 1 else None))
    return found

"""Handles: what a schedule gives for blocks, loops and sampled integers, and what instructions are built on."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Block, SSAValue

from ....dialects.schedule.core import KINDS


class Handle:
    """A name for what an instruction gives. Two are equal where they stand for the same result.

    One that is made by hand stands for nothing yet: the instruction that has it as an output gives it its meaning.

    Args:
        value: the result, as a value of the `schedule` dialect.
    """

    KIND: ClassVar[str]

    def __init__(self, value: SSAValue | None = None):
        self.value: SSAValue = Block(arg_types=[KINDS[self.KIND]]).args[0] if value is None else value

    @property
    def is_free(self) -> bool:
        """Whether no instruction gives it."""
        return isinstance(self.value.owner, Block)

    def give(self, value: SSAValue) -> None:
        """Let a free handle stand for a result."""
        self.value.replace_all_uses_with(value)
        self.value = value

    def same_as(self, other: object) -> bool:
        """Whether `other` is a handle of the same result."""
        return self == other

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.value is self.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        name = None if self.is_free else self.value.name_hint
        return f"{type(self).__name__}({'' if name is None else f'%{name}'})"


class BlockRV(Handle):
    """A handle of a block."""

    KIND = "block"


class LoopRV(Handle):
    """A handle of a loop."""

    KIND = "loop"


class ExprRV(Handle):
    """An integer that was sampled."""

    KIND = "value"


HANDLES: dict[str, type[Handle]] = {kind.KIND: kind for kind in (BlockRV, LoopRV, ExprRV)}
"""By the word for their kind."""


def handle_of(value: SSAValue) -> Handle:
    """The handle of a value of the `schedule` dialect."""
    word = next(word for word, type in KINDS.items() if type == value.type)
    return HANDLES[word](value)

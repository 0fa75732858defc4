"""What a layout rule of an operator is given, and says: see `RelayOp.channel_block`, `RelayOp.to_blocks`.

`alter-op-layout` computes values of shape `[N, C, H, W]` (`NCHW`) in blocks of channels (`NCHW16c`) where that pays.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Protocol

from xdsl.ir import Operation, SSAValue

from ..support.machine_model import MachineModel

PLAIN = 0
"""The block size that stands for the layout without blocks."""

TILE_BYTES = 64
"""Bytes in a row of a matrix unit's tile: the channels of a pixel that it sums at once."""


def layout_text(block: int) -> str:
    """`"NCHW16c"` for 16."""
    return f"NCHW{block}c" if block else "NCHW"


class Wish(Enum):
    """How much an operator that can be computed in blocks wants to be."""

    EITHER = "either layout will do"
    WINDOW = "a window slides over each channel by itself: only blocks make vectors of it"
    DEPTHWISE = "as WINDOW, and reason enough to look for blocks at all"
    ALWAYS = "always"


class Blocks(Protocol):
    """The values of the function that is rewritten. An operator is told to others by its original operands."""

    @property
    def lanes(self) -> int:
        """How many floats of 32 bits there are in a vector."""
        ...

    @property
    def dot(self) -> str | None:
        """Which instructions the target has for dot products of bytes, by name."""
        ...

    @property
    def matrix(self) -> Sequence[str]:
        """What the target's matrix unit multiplies, by names: `int8`, `bf16`."""
        ...

    @property
    def machine(self) -> MachineModel:
        """What the target's processor takes for its work."""
        ...

    @property
    def winograd(self) -> int:
        """The extent of the largest tiles of results that may be computed by minimal filtering; 0 where none may."""
        ...

    def channel_block(self, channels: int) -> int:
        """The block for a number of channels; `PLAIN` where it does not fill vectors, or is dynamic.

        It need not divide the number: the last block is then filled with elements that mean nothing, which an operator
        must not mix with others (a sum over channels leaves them out)."""
        ...

    def whole_block(self, channels: int) -> int:
        """As `channel_block`, of blocks that divide the number of channels."""
        ...

    def block_of(self, value: SSAValue) -> int:
        """The block in which the original `value` is computed; `PLAIN` if it is in none."""
        ...

    def get(self, value: SSAValue, block: int, at: Operation) -> SSAValue:
        """The original `value` in blocks of `block`, for use in `at` or after it."""
        ...

    def fit(self, value: SSAValue, block: int, at: Operation) -> SSAValue:
        """The original `value`, of rank 4 at most, as it broadcasts against a tensor in blocks."""
        ...

    def fit_channels(self, value: SSAValue, batch: int, channels: int, block: int, at: Operation) -> SSAValue:
        """A plain value of one element for each channel of a batch, as it broadcasts against a tensor in blocks."""
        ...

    def unblocked(self, value: SSAValue, block: int, shape: Sequence[int], at: Operation) -> SSAValue:
        """A new value in blocks of `block`, brought to the plain layout, where its shape is `shape`."""
        ...

    def reshape(self, value: SSAValue, shape: Sequence[int], at: Operation) -> SSAValue:
        """A plain value seen under another shape."""
        ...

    def insert(self, new: Operation, at: Operation) -> SSAValue:
        """Put an operation before `at`, with its location; return its result."""
        ...

    def replace(self, op: Operation, new: Operation, block: int) -> None:
        """Let `new`, which gives its result in blocks, take the place of `op`."""
        ...

    def replace_plain(self, op: Operation, value: SSAValue) -> None:
        """Let a plain value take the place of the result of `op`."""
        ...

    def drop(self, op: Operation) -> None:
        """Say that the place of `op` has been taken."""
        ...

    def missed(self, op: Operation, reason: str, hint: str | None = None) -> None:
        """Remark that `op` stays as it is, and why."""
        ...

    def passed(self, op: Operation, what: str) -> None:
        """Remark what was done to `op`."""
        ...

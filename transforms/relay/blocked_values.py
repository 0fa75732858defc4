"""Values in channel blocks: which ones there are, and how one gets a value in the layout that it needs.

While `alter-op-layout` walks over a block, every value of the original graph is looked up here. It is plain (`NCHW`),
or has been computed in blocks (`NCHW16c`) by the operator that took the original one's place. Whoever needs it
otherwise asks, and gets one `layout_transform`, the same for all who ask. A transformation is made from the layout in
which the value is computed, never from one that is itself transformed, so that no two of them undo one another.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from ...dialects.relay.base import DYNAMIC, shape_of
from ...dialects.relay.blocking import PLAIN, TILE_BYTES, layout_text
from ...dialects.relay.layout import LayoutTransformOp
from ...dialects.relay.ops.transform import ReshapeOp
from ...dialects.support.machine_model import MachineModel
from ..infra import remarks

NAME = "alter-op-layout"


def largest_power_of_two(n: int, limit: int) -> int:
    """The largest power of two that divides `n` and is at most `limit`."""
    power = 1
    while power * 2 <= limit and n % (power * 2) == 0:
        power *= 2
    return power


@dataclass
class BlockedValues:
    """The values of one function, by the original value; `vector_bytes` is the width of the target's vectors.

    This is the `Blocks` that the operators' layout rules are given.
    """

    vector_bytes: int
    _main: dict[SSAValue, tuple[SSAValue, int]] = field(default_factory=dict[SSAValue, "tuple[SSAValue, int]"])
    _forms: dict[tuple[SSAValue, int], SSAValue] = field(default_factory=dict["tuple[SSAValue, int]", SSAValue])
    replaced: list[Operation] = field(default_factory=list[Operation])
    """Operations of the original graph whose place has been taken."""
    dot: str | None = None
    """Which instructions the target has for dot products of bytes."""
    matrix: Sequence[str] = ()
    """What the target's matrix unit multiplies."""
    machine: MachineModel = field(default_factory=MachineModel)
    """What the target's processor takes for its work."""
    winograd: int = 0
    """The extent of the largest tiles of results that may be computed by minimal filtering."""
    tile_channels: Container[int] = ()
    """Numbers of channels that stand in blocks as wide as a row of a matrix unit's tile (`tile_channels.py`)."""

    @property
    def lanes(self) -> int:
        """How many floats of 32 bits there are in a vector."""
        return max(1, self.vector_bytes // 4)

    def channel_block(self, channels: int) -> int:
        """The block for a number of channels, which all values with so many share, whatever their elements are.

        It is a row of a tile for one of `tile_channels`. Else it is a whole vector of 32-bit floats, the last of them
        filled up, where that keeps more of the lanes busy than the largest power of two that divides the number, and at
        least half of them: 24 channels fill 3 of 4 halves of two vectors of 16, or 3 halves of vectors of which the
        others stay empty. `PLAIN` where either would leave most of the vector empty, or the number is dynamic."""
        if channels <= 0:
            return PLAIN
        if channels in self.tile_channels:
            return TILE_BYTES
        whole, filled = self.whole_block(channels), -(-channels // self.lanes) * self.lanes
        busier = channels * self.lanes > whole * filled  # channels / filled > whole / lanes
        padded = busier and 2 * channels >= filled
        return self.lanes if padded and self.lanes > 1 else whole

    def whole_block(self, channels: int) -> int:
        """The largest power of two that divides a number of channels and fits a vector of 32-bit floats, or for one of
        `tile_channels` a tile's row; `PLAIN` where that would leave most of the vector empty, or the number is dynamic.
        """
        if channels in self.tile_channels:
            return TILE_BYTES
        block = largest_power_of_two(channels, self.lanes) if channels > 0 else 1
        return block if block > 1 and 4 * block >= self.lanes else PLAIN

    def block_of(self, value: SSAValue) -> int:
        """The block in which an original value is computed; `PLAIN` if it is in none."""
        return self._main[value][1] if value in self._main else PLAIN

    def assign(self, value: SSAValue, computed: SSAValue, block: int) -> None:
        """Say that the original `value` is now computed as `computed`, in blocks."""
        self._main[value] = (computed, block)
        computed.name_hint = value.name_hint

    def replace(self, op: Operation, new: Operation, block: int) -> None:
        """Let `new`, which gives its result in blocks, take the place of `op`."""
        self.insert(new, op)
        self.assign(op.results[0], new.results[0], block)
        self.drop(op)

    def replace_plain(self, op: Operation, value: SSAValue) -> None:
        """Let a plain value take the place of the result of `op`."""
        value.name_hint = op.results[0].name_hint
        op.results[0].replace_all_uses_with(value)
        self.drop(op)

    def drop(self, op: Operation) -> None:
        """Say that the place of `op` has been taken."""
        self.replaced.append(op)

    def missed(self, op: Operation, reason: str, hint: str | None = None) -> None:
        """Remark that `op` stays as it is, and why."""
        remarks.missed(NAME, op, reason, hint)

    def passed(self, op: Operation, what: str) -> None:
        """Remark what was done to `op`."""
        remarks.passed(NAME, op, what)

    def insert(self, new: Operation, at: Operation) -> SSAValue:
        """Put an operation before `at`, with its location; return its result."""
        block = at.parent
        assert block is not None
        block.insert_op_before(new, at)
        new.location = at.location
        return new.results[0]

    def get(self, value: SSAValue, block: int, at: Operation) -> SSAValue:
        """The original `value` in blocks of `block`, for use in `at` or after it."""
        source, source_block = self._main.get(value, (value, PLAIN))
        if source_block == block:
            return source
        if (value, block) not in self._forms:
            self._forms[value, block] = self.insert(_transform(source, source_block, block, shape_of(value)), at)
        return self._forms[value, block]

    def unblocked(self, value: SSAValue, block: int, shape: Sequence[int], at: Operation) -> SSAValue:
        """A new value in blocks of `block`, brought to the plain layout, where its shape is `shape`."""
        return self.insert(_transform(value, block, PLAIN, shape), at)

    def reshape(self, value: SSAValue, shape: Sequence[int], at: Operation) -> SSAValue:
        """A plain value seen under another shape."""
        return value if shape_of(value) == tuple(shape) else self.insert(ReshapeOp(value, newshape=shape), at)

    def fit(self, value: SSAValue, block: int, at: Operation) -> SSAValue:
        """`value`, of rank 4 at most, as it broadcasts against a tensor in blocks; see `fits_blocks`."""
        shape = shape_of(value)
        if all(n == 1 for n in shape):
            return value
        if self.block_of(value) or (len(shape) == 4 and shape[1] > 1 and shape[2:] != (1, 1)):
            return self.get(value, block, at)
        batch, channels, height, width = (1,) * (4 - len(shape)) + shape
        if channels == 1:
            return self.reshape(value, (batch, 1, height, width, 1), at)
        if height == width == 1:
            return self.fit_channels(value, batch, channels, block, at)
        full = self.reshape(value, (batch, channels, height, width), at)
        return self.insert(_transform(full, PLAIN, block, shape_of(full)), at)

    def fit_channels(self, value: SSAValue, batch: int, channels: int, block: int, at: Operation) -> SSAValue:
        """A plain value of one element for each channel of a batch, as it broadcasts against a tensor in blocks."""
        if channels % block == 0:
            return self.reshape(value, (batch, channels // block, 1, 1, block), at)
        full = self.reshape(value, (batch, channels, 1, 1), at)
        return self.insert(_transform(full, PLAIN, block, shape_of(full)), at)


def _transform(source: SSAValue, source_block: int, block: int, shape: Sequence[int]) -> Operation:
    """From one block to another, for a value of plain shape `shape`. One pixel is in the same order in any layout."""
    batch, channels, height, width = shape
    full = [not size or channels % size == 0 for size in (source_block, block)]
    if height == width == 1 and batch != DYNAMIC and all(full):
        plain = (batch, channels, 1, 1)
        return ReshapeOp(source, newshape=(batch, channels // block, 1, 1, block) if block else plain)
    if PLAIN in (block, source_block) and 1 in (block, source_block) and DYNAMIC not in shape:
        return ReshapeOp(source, newshape=(*shape, 1) if block else shape)
    layouts = {"src_layout": layout_text(source_block), "dst_layout": layout_text(block)}
    return LayoutTransformOp(source, **layouts, extents=[] if full[0] else [0, channels, 0, 0])

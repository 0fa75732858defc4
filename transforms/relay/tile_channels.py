"""Which numbers of channels stand in blocks as wide as a row of a matrix unit's tile.

A tile takes 64 bytes of 16 pixels at once, if they lie side by side. So the values that convolutions of bytes read and
write are wanted in blocks of 64 channels where the target has such a unit, and everything between them goes along. What
concatenations join, and splits take apart, has to be in blocks of one size: there wide ones are taken only where all of
it can be in them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block

from ...dialects.relay.base import shape_of
from ...dialects.relay.blocking import TILE_BYTES
from ...dialects.relay.ops.nn.convolution import Conv2dOp
from ...dialects.relay.ops.slicing import ConcatenateOp, SplitOp
from ...dialects.relay.shapes import normalize_axis


def tile_channels(block: Block, matrix: Collection[str]) -> frozenset[int]:
    """The numbers of channels of a function's block, for a target whose matrix unit multiplies what `matrix` names."""
    convolutions = [op for op in block.ops if isinstance(op, Conv2dOp) and op.sums_bytes_by(matrix)]
    values = [value for op in convolutions for value in (op.data, op.result)]
    found = {channels for value in values if (channels := shape_of(value)[1]) > 0 and channels % TILE_BYTES == 0}
    joined = list(_joined(block))
    while narrow := {n for numbers in joined if not numbers <= found for n in numbers & found}:
        found -= narrow
    return frozenset(found)


def _joined(block: Block) -> Iterator[set[int]]:
    """For each place where channels are joined or taken apart, the numbers of channels there."""
    for op in block.ops:
        if isinstance(op, ConcatenateOp):
            whole, parts = op.result.type, [value.type for value in op.layout_sources()]
        elif isinstance(op, SplitOp):
            whole, parts = op.data.type, op.result.type.types
        else:
            continue
        shapes = [type.get_shape() for type in (whole, *parts) if isinstance(type, TensorType)]
        if len(shapes[0]) == 4 and normalize_axis(op.axis.value.data, 4) == 1:
            yield {shape[1] for shape in shapes}

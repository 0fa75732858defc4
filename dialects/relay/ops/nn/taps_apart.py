"""Convolutions whose taps lie apart, as convolutions of neighbours: each on the data at one distance from the last
multiple of the dilation.

Along an axis, with the dilation `d` and padding of `q * d` before, result `d*u + r` is the sum over `k` of
`x[d * (u + k - q) + r] * w[k]`: of images `x[d*_ + r]`, one for each `r`, each padded by `q`. They become images of the
batch, and their results are interleaved again, both as transpositions of whole vectors of channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ...base import shape_of, tensor
from ...blocking import Blocks
from ...core import ConstantOp
from ...nn_common import Window
from ..slicing import StridedSliceOp
from ..transform import ReshapeOp, TransposeOp
from .padding import PadOp


@dataclass(frozen=True)
class Axis:
    """One axis: the dilation, the extents of the data and the result, and the padding before each image."""

    dilation: int
    data: int
    result: int
    taps: int
    before: int

    @property
    def held(self) -> int:
        """The extent of an image; the last one may have a place that the data has not."""
        return -(-self.data // self.dilation)

    @property
    def after(self) -> int:
        """The padding after each image."""
        return max(0, -(-self.result // self.dilation) + self.taps - 1 - self.held - self.before)

    @property
    def made(self) -> int:
        """The extent of the result of an image."""
        return self.held + self.before + self.after - self.taps + 1


@dataclass(frozen=True)
class TapsApart:
    """A convolution with stride 1 along its axes."""

    axes: tuple[Axis, ...]

    @staticmethod
    def of(window: Window, data: Sequence[int], result: Sequence[int]) -> TapsApart | None:
        """That of a window on spatial axes of these extents; `None` where an image would begin within the padding."""
        before = zip(window.before, window.dilation, strict=True)
        if any(padding % dilation for padding, dilation in before):
            return None
        starts = [padding // dilation for padding, dilation in zip(window.before, window.dilation, strict=True)]
        return TapsApart(
            tuple(Axis(*each) for each in zip(window.dilation, data, result, window.kernel, starts, strict=True))
        )

    @property
    def images(self) -> int:
        """How many images one becomes."""
        rows, columns = self.axes
        return rows.dilation * columns.dilation

    @property
    def padding(self) -> list[int]:
        """Of each image: before the axes, and after them."""
        return [*(axis.before for axis in self.axes), *(axis.after for axis in self.axes)]

    def divide(self, blocks: Blocks, data: SSAValue, at: Operation) -> SSAValue:
        """The images of `data`, in `[N, C, H, W, c]`, as more images."""
        if self.images == 1:
            return data
        rows, columns = self.axes
        batch, channels, *_, block = shape_of(data)
        more = [axis.held * axis.dilation - axis.data for axis in self.axes]
        if any(more):
            zero = blocks.insert(_zero(data), at)
            widths = [0, 0, 0, 0, 0, more[0], 0, more[1], 0, 0]
            data = blocks.insert(PadOp(data, zero, pad_width=widths), at)
        apart = (batch, channels, rows.held, rows.dilation, columns.held, columns.dilation, block)
        value = blocks.insert(TransposeOp(blocks.reshape(data, apart, at), axes=[0, 3, 5, 1, 2, 4, 6]), at)
        return blocks.reshape(value, (batch * self.images, channels, rows.held, columns.held, block), at)

    def interleave(self, blocks: Blocks, result: SSAValue, at: Operation) -> Operation:
        """What puts the results of the images together, not inserted yet."""
        rows, columns = self.axes
        images, channels, height, width, block = shape_of(result)
        apart = (images // self.images, rows.dilation, columns.dilation, channels, height, width, block)
        value = blocks.insert(TransposeOp(blocks.reshape(result, apart, at), axes=[0, 3, 4, 1, 5, 2, 6]), at)
        whole = (images // self.images, channels, height * rows.dilation, width * columns.dilation, block)
        joined = ReshapeOp(value, newshape=whole)
        ends = [axis.result for axis in self.axes]
        if ends == list(whole[2:4]):
            return joined
        return StridedSliceOp(blocks.insert(joined, at), begin=[0, 0], end=ends, axes=[2, 3])


def _zero(like: SSAValue) -> Operation:
    import numpy as np

    from ....support.dtypes import numpy_dtype

    return ConstantOp.from_numpy(np.zeros((), numpy_dtype(tensor(like).element_type)), "zero")

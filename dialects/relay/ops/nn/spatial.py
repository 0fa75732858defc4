"""Operators that exchange space for channels or batch."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.operations import irdl_op_definition
from ...base import (
    DYNAMIC,
    ReshapeLike,
    int_list,
    integer,
    ints,
    is_told,
    real,
    shape_of,
    string,
    tensor,
)
from ...blocking import PLAIN, Blocks
from ...layout import Layout, unblocked
from ...nn_common import MovingOp, pad_stage
from ...reordering import Order, Reordered
from ...resample import one_of
from ..transform import ReshapeOp, TransposeOp

if TYPE_CHECKING:
    from ...base import NDArray
    from ...gradient import Gradient, Terms


@irdl_op_definition
class BatchFlattenOp(MovingOp):
    """All dimensions but the first as one.

    `y[n, k] = x[n, k // (d2*d3*..), ..]`, that is `x.reshape(n, -1)`

    ```mlir
    %y = relay.nn.batch_flatten %x : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
    ```
    """

    name = "relay.nn.batch_flatten"

    data = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(ReshapeLike())

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        shape = data.get_shape()
        if not shape:
            raise VerifyException("expected data of rank 1 or more, got a scalar")
        rest = DYNAMIC if DYNAMIC in shape[1:] else prod(shape[1:])
        return [TensorType(data.element_type, [shape[0], rest])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs

        def body(*i: te.IterVar) -> te.Expr:
            at = [(i[1] // prod(x.shape[d + 1 :])) % x.shape[d] for d in range(2, x.rank)]
            first = [i[1] // prod(x.shape[2:])] if x.rank > 1 else []
            return x[(i[0], *first, *at)]

        return te.compute((x.shape[0], prod(x.shape[1:])), body, "batch_flatten")

    def numpy(self, *inputs: NDArray) -> NDArray:
        (x,) = inputs
        return x.reshape(x.shape[0], -1 if x.size else prod(x.shape[1:]))

    def gradient(self, g: Gradient) -> Terms:
        g.static()
        return [g.grad.reshape(g.input.shape)]


class _BlockExchange(MovingOp, ABC):
    """What `depth_to_space` and `space_to_depth` share."""

    data = operand_def(TensorType)
    result = result_def(TensorType)
    block_size = integer()
    layout = string("NCHW")
    mode = string("DCR")

    def gradient(self, g: Gradient) -> Terms:
        return g.moved()

    def parsed_layout(self) -> Layout:
        return unblocked(self.layout.data, "NCHW", "layout")

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"layout": self.parsed_layout().reordered(order)})

    def exchanged(self, extents: dict[str, int], block: int) -> dict[str, int]:
        """The extents of the result."""
        raise NotImplementedError

    def infer(self) -> Sequence[Attribute]:
        data, layout, block = tensor(self.data), self.parsed_layout(), self.block_size.value.data
        layout.check(data.get_shape(), "the data")
        one_of(self.mode.data, ("DCR", "CRD", "CDR"), "mode")
        if block < 1:
            raise VerifyException(f"'block_size' must be at least 1, got {block}")
        return [TensorType(data.element_type, layout.shape(self.exchanged(layout.extents(data.get_shape()), block)))]

    def channel(self, c: te.Expr, row: te.Expr, column: te.Expr, channels: int) -> te.Expr:
        """The deep channel where element (`row`, `column`) of a block of channel `c` of `channels` stands."""
        block = self.block_size.value.data
        if self.mode.data == "DCR":
            return (row * block + column) * channels + c
        return c * (block * block) + row * block + column


def _whole(n: int, divisor: int, what: str) -> int:
    if is_told(n) and not te.at_most(n % divisor, 0):
        raise VerifyException(f"{what} {n} does not divide by {divisor}")
    return n // divisor if is_told(n) else n


@irdl_op_definition
class DepthToSpaceOp(_BlockExchange):
    """Turn channels into blocks of pixels.

    `y[n, c, h*b + i, w*b + j] = x[n, (i*b + j)*C + c, h, w]` in mode DCR, `x[n, c*b*b + i*b + j, h, w]` in mode CRD,
    which TVM calls CDR, too.

    ```mlir
    %y = relay.nn.depth_to_space %x {block_size = 2 : i64} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
    ```
    """

    name = "relay.nn.depth_to_space"

    def exchanged(self, extents: dict[str, int], block: int) -> dict[str, int]:
        spatial = {k: n if n == DYNAMIC else n * block for k, n in extents.items() if k in "HW"}
        return extents | spatial | {"C": _whole(extents["C"], block * block, "the number of channels")}

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        layout, block = self.parsed_layout(), self.block_size.value.data
        shape = layout.shape(self.exchanged(layout.extents(x.shape), block))

        def body(*indices: te.IterVar) -> te.Expr:
            out = layout.join(indices)
            h, w = out["H"], out["W"]
            deep = self.channel(out["C"], h % block, w % block, layout.extents(shape)["C"])
            return x[layout.arrange({"N": out["N"], "C": deep, "H": h // block, "W": w // block})]

        return te.compute(shape, body, "depth_to_space")

    def channel_block(self, blocks: Blocks) -> int:
        """Where a block of the data holds a block of the result: channels of one of the places that it goes to."""
        deep, channels = shape_of(self.data)[1], shape_of(self.result)[1]
        block = blocks.whole_block(channels)
        agreed = block == blocks.channel_block(channels) == blocks.channel_block(deep)
        known = DYNAMIC not in shape_of(self.data) and self.layout.data == "NCHW" and self.mode.data == "DCR"
        return block if agreed and known else PLAIN

    def to_blocks(self, blocks: Blocks, block: int) -> None:
        """The vectors of one place and the other brought together, as a transposition."""
        size, (batch, channels, height, width) = self.block_size.value.data, shape_of(self.result)
        outer, rows, columns = channels // block, height // size, width // size
        apart = blocks.reshape(
            blocks.get(self.data, block, self), (batch, size, size, outer, rows, columns, block), self
        )
        joined = blocks.insert(TransposeOp(apart, axes=[0, 3, 4, 1, 5, 2, 6]), self)
        blocks.replace(self, ReshapeOp(joined, newshape=(batch, outer, height, width, block)), block)


@irdl_op_definition
class SpaceToDepthOp(_BlockExchange):
    """Turn blocks of pixels into channels.

    `y[n, (i*b + j)*C + c, h, w] = x[n, c, h*b + i, w*b + j]` in mode DCR, `y[n, c*b*b + i*b + j, h, w]` in mode CRD

    ```mlir
    %y = relay.nn.space_to_depth %x {block_size = 2 : i64} : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
    ```
    """

    name = "relay.nn.space_to_depth"

    def exchanged(self, extents: dict[str, int], block: int) -> dict[str, int]:
        spatial = {k: _whole(n, block, f"extent of axis {k}") for k, n in extents.items() if k in "HW"}
        deep = extents["C"] if extents["C"] == DYNAMIC else extents["C"] * block * block
        return extents | spatial | {"C": deep}

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        layout, block = self.parsed_layout(), self.block_size.value.data
        channels = layout.extents(x.shape)["C"]

        def body(*indices: te.IterVar) -> te.Expr:
            out = layout.join(indices)
            deep = out["C"]
            if self.mode.data == "DCR":
                c, place = deep % channels, deep // channels
            else:
                c, place = deep // (block * block), deep % (block * block)
            h, w = out["H"] * block + place // block, out["W"] * block + place % block
            return x[layout.arrange({"N": out["N"], "C": c, "H": h, "W": w})]

        return te.compute(layout.shape(self.exchanged(layout.extents(x.shape), block)), body, "space_to_depth")


def _check_blocks(shape: Sequence[int], blocks: Sequence[int], pairs: Sequence[int], what: str) -> None:
    if not blocks or len(blocks) >= len(shape) or min(blocks) < 1:
        raise VerifyException(f"'block_shape' {list(blocks)} does not fit data of rank {len(shape)}")
    if len(pairs) not in (0, 2 * len(blocks)) or any(p < 0 for p in pairs):
        raise VerifyException(f"'{what}' must be {2 * len(blocks)} values of at least 0, got {list(pairs)}")


@irdl_op_definition
class SpaceToBatchNdOp(MovingOp):
    """Turn blocks of the dimensions after the first into elements of the batch.

    `y[(i*bw + j)*N + n, h, w, ..] = pad(x)[n, h*bh + i, w*bw + j, ..]`; `paddings` holds (before, after) for each block
    dimension.

    ```mlir
    %y = relay.nn.space_to_batch_nd %x {block_shape = array<i64: 2, 2>} : (tensor<1x4x4x3xf32>) -> tensor<4x2x2x3xf32>
    ```
    """

    name = "relay.nn.space_to_batch_nd"

    data = operand_def(TensorType)
    result = result_def(TensorType)
    block_shape = int_list()
    paddings = int_list([])
    pad_value = real(0.0)

    def infer(self) -> Sequence[Attribute]:
        data, blocks, pads = tensor(self.data), ints(self.block_shape), ints(self.paddings)
        _check_blocks(data.get_shape(), blocks, pads, "paddings")
        return [TensorType(data.element_type, self.exchanged(data.get_shape()))]

    def exchanged(self, extents: Sequence[int]) -> list[int]:
        """The shape of the result for that of the data."""
        shape, blocks = list(extents), ints(self.block_shape)
        pads = ints(self.paddings) or (0,) * (2 * len(blocks))
        for d, block in enumerate(blocks, 1):
            if shape[d] != DYNAMIC:
                shape[d] = _whole(shape[d] + pads[2 * d - 2] + pads[2 * d - 1], block, f"the padded dimension {d},")
        shape[0] = DYNAMIC if shape[0] == DYNAMIC else shape[0] * prod(blocks)
        return shape

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        blocks, pads = ints(self.block_shape), ints(self.paddings)
        before = {d + 1: p for d, p in enumerate(pads[::2])}
        after = {d + 1: p for d, p in enumerate(pads[1::2])}
        padded = pad_stage(x, before, after, self.pad_value.value.data)

        def body(*i: te.IterVar) -> te.Expr:
            place = i[0] // x.shape[0]
            at = [i[d] * block + place // prod(blocks[d:]) % block for d, block in enumerate(blocks, 1)]
            return padded[(i[0] % x.shape[0], *at, *i[len(blocks) + 1 :])]

        return te.compute(self.exchanged(x.shape), body, "space_to_batch_nd")

    def gradient(self, g: Gradient) -> Terms:
        return g.moved(pad_value=0.0)


@irdl_op_definition
class BatchToSpaceNdOp(MovingOp):
    """Turn elements of the batch into blocks of the dimensions after the first: the inverse of `space_to_batch_nd`.

    `y[n, h*bh + i - crop, w*bw + j - crop, ..] = x[(i*bw + j)*N + n, h, w, ..]`; `crops` holds (begin, end) for each
    block dimension.

    ```mlir
    %y = relay.nn.batch_to_space_nd %x {block_shape = array<i64: 2, 2>} : (tensor<4x2x2x3xf32>) -> tensor<1x4x4x3xf32>
    ```
    """

    name = "relay.nn.batch_to_space_nd"

    data = operand_def(TensorType)
    result = result_def(TensorType)
    block_shape = int_list()
    crops = int_list([])

    def infer(self) -> Sequence[Attribute]:
        data, blocks, crops = tensor(self.data), ints(self.block_shape), ints(self.crops)
        _check_blocks(data.get_shape(), blocks, crops, "crops")
        return [TensorType(data.element_type, self.exchanged(data.get_shape()))]

    def exchanged(self, extents: Sequence[int]) -> list[int]:
        """The shape of the result for that of the data."""
        shape, blocks = list(extents), ints(self.block_shape)
        crops = ints(self.crops) or (0,) * (2 * len(blocks))
        for d, block in enumerate(blocks, 1):
            if shape[d] != DYNAMIC:
                cut = crops[2 * d - 2] + crops[2 * d - 1]
                if not te.at_most(cut, shape[d] * block):
                    raise VerifyException(f"'crops' cut off more than dimension {d} has")
                shape[d] = shape[d] * block - cut
        shape[0] = _whole(shape[0], prod(blocks), "the batch")
        return shape

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        shape, blocks = self.exchanged(x.shape), ints(self.block_shape)
        begins = ints(self.crops)[::2] or (0,) * len(blocks)

        def body(*i: te.IterVar) -> te.Expr:
            place: te.Expr = te.const(0, te.index)
            at: list[te.Expr] = []
            for d, block in enumerate(blocks, 1):
                position = i[d] + begins[d - 1]
                place = place * block + position % block
                at.append(position // block)
            return x[(place * shape[0] + i[0], *at, *i[len(blocks) + 1 :])]

        return te.compute(shape, body, "batch_to_space_nd")

    def gradient(self, g: Gradient) -> Terms:
        return g.moved()


OPS: list[type[Operation]] = [BatchFlattenOp, DepthToSpaceOp, SpaceToDepthOp, SpaceToBatchNdOp, BatchToSpaceNdOp]
"""The operators that move elements between dimensions."""

"""Operators that move elements about: padding, upsampling, and exchanging space for channels or batch."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import DenseArrayBase, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.arguments import ArgumentError
from ....support.operations import irdl_op_definition
from ...base import (
    DYNAMIC,
    Fusion,
    FusionPattern,
    Moves,
    RelayOp,
    ReshapeLike,
    flag,
    int_list,
    integer,
    ints,
    is_true,
    real,
    shape_of,
    string,
    tensor,
)
from ...blocking import PLAIN, Blocks
from ...layout import Layout, unblocked, with_whole
from ...nn_common import ToldLayoutOp, narrow, pad_stage
from ...precision import Accuracy
from ...reordering import Order, Reordered, reordered_pairs
from ...resample import Sampling, one_of, resample
from ..transform import ReshapeOp, TransposeOp

if TYPE_CHECKING:
    from ...base import NDArray
    from ...gradient import Gradient, Terms


class _SpatialOp(RelayOp, ABC):
    """What the operators of this file share: injective maps of indices."""

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE), Moves())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"


def pad_pairs(pad_width: Sequence[int], shape: Sequence[int]) -> list[tuple[int, int]]:
    """`pad_width` as (before, after) for each dimension.

    Raises:
        VerifyException: there are not two values for each dimension, or more is cut off than there is.
    """
    if len(pad_width) != 2 * len(shape):
        raise VerifyException(
            f"'pad_width' has {len(pad_width)} values for rank {len(shape)}; expected two a dimension"
        )
    pairs = list(zip(pad_width[::2], pad_width[1::2], strict=True))
    for d, ((before, after), n) in enumerate(zip(pairs, shape, strict=True)):
        if n != DYNAMIC and n + before + after < 0:
            raise VerifyException(f"'pad_width' cuts off more than the {n} elements of dimension {d}")
    return pairs


def padded_shape(shape: Sequence[int], pairs: Sequence[tuple[int, int]]) -> list[int]:
    """The shape after padding; dynamic dimensions stay dynamic, but for those padded by nothing."""
    return [n if n == DYNAMIC else n + before + after for n, (before, after) in zip(shape, pairs, strict=True)]


def mirrored(i: te.Expr, extent: int, edge_twice: bool) -> te.Expr:
    """The index `i`, at most one extent outside of an axis, mirrored into it."""
    if edge_twice:
        return te.minimum(te.maximum(i, te.const(-1, te.index) - i), te.const(2 * extent - 1, te.index) - i)
    away = te.maximum(i, te.const(0, te.index) - i)
    return te.minimum(away, te.const(2 * (extent - 1), te.index) - away)


def mirror_stage(x: te.Tensor, pairs: Sequence[tuple[int, int]], edge_twice: bool) -> te.Tensor:
    """`x` with its mirror images around it."""

    def body(*i: te.IterVar) -> te.Expr:
        return x[
            tuple(
                mirrored(i[d] - before, x.shape[d], edge_twice) if before > 0 or after > 0 else i[d] - before
                for d, (before, after) in enumerate(pairs)
            )
        ]

    return te.compute(padded_shape(x.shape, pairs), body, "mirror_pad")


def _check_mirror(shape: Sequence[int], pairs: Sequence[tuple[int, int]], edge_twice: bool) -> None:
    for d, (n, pair) in enumerate(zip(shape, pairs, strict=True)):
        room = n if edge_twice else n - 1
        if n != DYNAMIC and max(pair) > room:
            raise VerifyException(f"dimension {d} of {n} elements has no mirror image of {max(pair)}")


@irdl_op_definition
class PadOp(_SpatialOp):
    """Put a value, the edge, or a mirror image around a tensor; negative widths cut off.

    `pad_width` holds (before, after) for each dimension, one after the other.

    `y[i0, ..] = x[i0 - before0, ..]` inside, and outside the value, or `x` at the nearest (edge) or mirrored index

    ```mlir
    %y = relay.nn.pad %x, %v {pad_width = array<i64: 0, 0, 1, 2>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x6xf32>
    ```
    """

    name = "relay.nn.pad"

    data = operand_def(TensorType)
    pad_value = operand_def(TensorType)
    result = result_def(TensorType)
    pad_width = int_list()
    pad_mode = string("constant")

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"pad_width": reordered_pairs(ints(self.pad_width), order)})

    def infer(self) -> Sequence[Attribute]:
        data, value = tensor(self.data), tensor(self.pad_value)
        pairs = pad_pairs(ints(self.pad_width), data.get_shape())
        mode = one_of(self.pad_mode.data, ("constant", "edge", "reflect"), "pad_mode")
        if value.element_type != data.element_type or value.get_shape() not in ((), (1,)):
            raise VerifyException(f"expected a pad value of type tensor<{data.element_type}>, got {value}")
        if mode == "reflect":
            _check_mirror(data.get_shape(), pairs, False)
        return [TensorType(data.element_type, padded_shape(data.get_shape(), pairs))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, value = inputs
        pairs = pad_pairs(ints(self.pad_width), x.shape)
        if self.pad_mode.data == "reflect":
            return mirror_stage(x, pairs, False)

        def body(*i: te.IterVar) -> te.Expr:
            at = [i[d] - before for d, (before, _) in enumerate(pairs)]
            if self.pad_mode.data == "edge":
                return x[tuple(te.minimum(te.maximum(a, 0), n - 1) for a, n in zip(at, x.shape, strict=True))]
            inside = [at[d] >= 0 for d, (before, _) in enumerate(pairs) if before > 0]
            inside += [at[d] < x.shape[d] for d, (_, after) in enumerate(pairs) if after > 0]
            if not inside:
                return x[tuple(at)]
            return te.select(te.all_of(inside), x[tuple(at)], value[(0,) * value.rank])

        return te.compute(padded_shape(x.shape, pairs), body, "pad")

    def channel_block(self, blocks: Blocks) -> int:
        shape = shape_of(self.data)
        return blocks.channel_block(shape[1]) if len(shape) == 4 and not any(ints(self.pad_width)[2:4]) else PLAIN

    def to_blocks(self, blocks: Blocks, block: int) -> None:
        widths = DenseArrayBase.from_list(self.pad_width.elt_type, [*ints(self.pad_width), 0, 0])
        properties = {**self.properties, "pad_width": widths}
        blocks.replace(self, PadOp(blocks.get(self.data, block, self), self.pad_value, **properties), block)

    def gradient(self, g: Gradient) -> Terms:
        widths = ints(self.pad_width)
        if self.pad_mode.data != "constant" or min(widths, default=0) < 0:
            return g.moved((0, 1))
        g.static()
        starts = widths[::2]
        inner = g.grad.slice(starts, [start + n for start, n in zip(starts, g.input.shape, strict=True)])
        outside = g.grad.sum(range(len(starts))) - inner.sum(range(len(starts)))
        return [inner, outside.reshape(g.inputs[1].shape)]


@irdl_op_definition
class MirrorPadOp(_SpatialOp):
    """Put mirror images around a tensor; SYMMETRIC repeats the edge, REFLECT does not.

    `pad_width` holds (before, after) for each dimension, one after the other.

    `y[i] = x[mirror(i - before)]`

    ```mlir
    %y = relay.nn.mirror_pad %x {pad_width = array<i64: 0, 0, 2, 1>, mode = "REFLECT"} : (tensor<2x3xf32>) -> tensor<2x6xf32>
    ```
    """  # noqa: E501

    name = "relay.nn.mirror_pad"

    data = operand_def(TensorType)
    result = result_def(TensorType)
    pad_width = int_list()
    mode = string("SYMMETRIC")

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"pad_width": reordered_pairs(ints(self.pad_width), order)})

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        pairs = pad_pairs(ints(self.pad_width), data.get_shape())
        mode = one_of(self.mode.data, ("SYMMETRIC", "REFLECT"), "mode")
        _check_mirror(data.get_shape(), pairs, mode == "SYMMETRIC")
        return [TensorType(data.element_type, padded_shape(data.get_shape(), pairs))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        return mirror_stage(x, pad_pairs(ints(self.pad_width), x.shape), self.mode.data == "SYMMETRIC")

    def gradient(self, g: Gradient) -> Terms:
        return g.moved()


@irdl_op_definition
class DilateOp(_SpatialOp):
    """Spread the elements of every dimension out to its stride.

    `y[i0 * strides0, i1 * strides1, ..] = x[i0, i1, ..]`, elsewhere `dilation_value`

    ```mlir
    %y = relay.nn.dilate %x {strides = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<2x5xf32>
    ```
    """

    name = "relay.nn.dilate"

    data = operand_def(TensorType)
    result = result_def(TensorType)
    strides = int_list()
    dilation_value = real(0.0)

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"strides": [ints(self.strides)[axis] for axis in order]})

    def infer(self) -> Sequence[Attribute]:
        data, strides = tensor(self.data), ints(self.strides)
        shape = data.get_shape()
        if len(strides) != len(shape) or min(strides, default=1) < 1:
            raise VerifyException(f"'strides' must be {len(shape)} values of at least 1, got {list(strides)}")
        try:
            te.const(self.dilation_value.value.data, data.element_type)
        except ArgumentError as error:
            raise VerifyException(f"'dilation_value' is not of the type of the elements: {error.message}") from error
        spread = [n if n == DYNAMIC else max(0, (n - 1) * s + 1) for n, s in zip(shape, strides, strict=True)]
        return [TensorType(data.element_type, spread)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        strides = ints(self.strides)

        def body(*i: te.IterVar) -> te.Expr:
            hit = te.all_of([(i[d] % s).equal(0) for d, s in enumerate(strides) if s > 1])
            value = x[tuple(i[d] // s for d, s in enumerate(strides))]
            return value if max(strides, default=1) == 1 else te.select(hit, value, self.dilation_value.value.data)

        return te.compute(tensor(self.result).get_shape(), body, "dilate")

    def gradient(self, g: Gradient) -> Terms:
        return g.moved(dilation_value=0.0)


class _Upsampling(ToldLayoutOp, _SpatialOp, ABC):
    """What the upsampling operators share: `scales` gives the factor of each axis in `SPATIAL`."""

    SPATIAL: ClassVar[str] = "HW"

    result = result_def(TensorType)
    method = string("nearest_neighbor")

    def layout_and_scales(self) -> tuple[Layout, Sequence[float]]:
        raise NotImplementedError

    def sampling(self) -> Sampling:
        raise NotImplementedError

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        layout, scales = self.layout_and_scales()
        layout.check(data.get_shape(), "the data")
        self.sampling().check()
        extents = layout.extents(data.get_shape())
        for letter, scale in zip(self.SPATIAL, scales, strict=True):
            n = extents[letter]
            extents[letter] = n if n == DYNAMIC else round(n * scale)
            if scale <= 0 or extents[letter] == 0:
                raise VerifyException(f"a scale of {scale} leaves nothing of axis {letter}")
        return [TensorType(data.element_type, layout.shape(extents))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        element, layout, shape = x.element_type, self.layout_and_scales()[0], tensor(self.result).get_shape()
        for letter in self.SPATIAL:
            position = layout.position(letter)
            x = resample(x, position, shape[position], self.sampling())
        return narrow(x, element)

    def gradient(self, g: Gradient) -> Terms:
        layout = self.layout_and_scales()[0]
        return g.separable([layout.position(letter) for letter in self.SPATIAL])


_UPSAMPLING_METHODS = {"nearest_neighbor": "nearest_neighbor", "bilinear": "linear", "bicubic": "cubic"}


@irdl_op_definition
class UpsamplingOp(_Upsampling):
    """Enlarge two spatial axes: nearest neighbour, bilinear or bicubic.

    `y[n, c, h, w] = x[n, c]` at `(h / scale_h, w / scale_w)`; with `align_corners`, the corners stay corners

    ```mlir
    %y = relay.nn.upsampling %x {scale_h = 2.0 : f64, scale_w = 2.0 : f64}
       : (tensor<1x2x3x3xf32>) -> tensor<1x2x6x6xf32>
    ```
    """

    name = "relay.nn.upsampling"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.PLACED

    scale_h = real(1.0)
    scale_w = real(1.0)
    align_corners = flag(False)

    def layout_and_scales(self) -> tuple[Layout, Sequence[float]]:
        layout = with_whole(self.layout.data, self.SPATIAL)
        return layout, (self.scale_h.value.data, self.scale_w.value.data)

    def sampling(self) -> Sampling:
        method = one_of(self.method.data, tuple(_UPSAMPLING_METHODS), "method")
        coordinates = "align_corners" if is_true(self.align_corners) else "asymmetric"
        return Sampling(_UPSAMPLING_METHODS[method], coordinates)


@irdl_op_definition
class Upsampling3dOp(_Upsampling):
    """Enlarge three spatial axes: nearest neighbour or trilinear.

    `y[n, c, d, h, w] = x[n, c]` interpolated at `coordinate_transformation_mode(d, h, w)`

    ```mlir
    %y = relay.nn.upsampling3d %x {scale_d = 2.0 : f64} : (tensor<1x1x2x2x2xf32>) -> tensor<1x1x4x2x2xf32>
    ```
    """

    name = "relay.nn.upsampling3d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.PLACED
    SPATIAL: ClassVar[str] = "DHW"

    scale_d = real(1.0)
    scale_h = real(1.0)
    scale_w = real(1.0)
    layout = string("NCDHW")
    coordinate_transformation_mode = string("half_pixel")

    def layout_and_scales(self) -> tuple[Layout, Sequence[float]]:
        layout = with_whole(self.layout.data, self.SPATIAL)
        return layout, (self.scale_d.value.data, self.scale_h.value.data, self.scale_w.value.data)

    def sampling(self) -> Sampling:
        method = one_of(self.method.data, ("nearest_neighbor", "trilinear"), "method")
        return Sampling("linear" if method == "trilinear" else method, self.coordinate_transformation_mode.data)


@irdl_op_definition
class BatchFlattenOp(_SpatialOp):
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


class _BlockExchange(_SpatialOp, ABC):
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
        one_of(self.mode.data, ("DCR", "CRD"), "mode")
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
    if n != DYNAMIC and n % divisor:
        raise VerifyException(f"{what} {n} does not divide by {divisor}")
    return n if n == DYNAMIC else n // divisor


@irdl_op_definition
class DepthToSpaceOp(_BlockExchange):
    """Turn channels into blocks of pixels.

    `y[n, c, h*b + i, w*b + j] = x[n, (i*b + j)*C + c, h, w]` in mode DCR, `x[n, c*b*b + i*b + j, h, w]` in mode CRD

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
        layout, block, shape = self.parsed_layout(), self.block_size.value.data, tensor(self.result).get_shape()

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

        return te.compute(tensor(self.result).get_shape(), body, "space_to_depth")


def _check_blocks(shape: Sequence[int], blocks: Sequence[int], pairs: Sequence[int], what: str) -> None:
    if not blocks or len(blocks) >= len(shape) or min(blocks) < 1:
        raise VerifyException(f"'block_shape' {list(blocks)} does not fit data of rank {len(shape)}")
    if len(pairs) not in (0, 2 * len(blocks)) or any(p < 0 for p in pairs):
        raise VerifyException(f"'{what}' must be {2 * len(blocks)} values of at least 0, got {list(pairs)}")


@irdl_op_definition
class SpaceToBatchNdOp(_SpatialOp):
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
        shape = list(data.get_shape())
        _check_blocks(shape, blocks, pads, "paddings")
        pads = pads or (0,) * (2 * len(blocks))
        for d, block in enumerate(blocks, 1):
            if shape[d] != DYNAMIC:
                shape[d] = _whole(shape[d] + pads[2 * d - 2] + pads[2 * d - 1], block, f"the padded dimension {d},")
        shape[0] = DYNAMIC if shape[0] == DYNAMIC else shape[0] * prod(blocks)
        return [TensorType(data.element_type, shape)]

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

        return te.compute(tensor(self.result).get_shape(), body, "space_to_batch_nd")

    def gradient(self, g: Gradient) -> Terms:
        return g.moved(pad_value=0.0)


@irdl_op_definition
class BatchToSpaceNdOp(_SpatialOp):
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
        shape = list(data.get_shape())
        _check_blocks(shape, blocks, crops, "crops")
        crops = crops or (0,) * (2 * len(blocks))
        for d, block in enumerate(blocks, 1):
            if shape[d] != DYNAMIC:
                shape[d] = shape[d] * block - crops[2 * d - 2] - crops[2 * d - 1]
                if shape[d] < 0:
                    raise VerifyException(f"'crops' cut off more than dimension {d} has")
        shape[0] = _whole(shape[0], prod(blocks), "the batch")
        return [TensorType(data.element_type, shape)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        shape, blocks = shape_of(self.result), ints(self.block_shape)
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


OPS: list[type[Operation]] = [
    PadOp, MirrorPadOp, DilateOp, UpsamplingOp, Upsampling3dOp, BatchFlattenOp,
    DepthToSpaceOp, SpaceToDepthOp, SpaceToBatchNdOp, BatchToSpaceNdOp,
]  # fmt: skip
"""The operators that move elements about."""

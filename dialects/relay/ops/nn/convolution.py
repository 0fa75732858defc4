"""Convolutions: `relay.nn.conv1d/2d/3d`, and the two that work on blocked channels."""

from __future__ import annotations

from abc import ABC
from collections.abc import Collection, Sequence
from functools import partial
from math import gcd, prod
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import AnyFloat, IntegerAttr, f32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.dtypes import numpy_dtype
from ....support.operations import irdl_op_definition
from ...base import DYNAMIC, RelayOp, as_attribute, int_list, ints, shape_of, string, tensor
from ...blocking import PLAIN, TILE_BYTES, Blocks, Wish, layout_text
from ...core import ConstantOp
from ...layout import Layout, LayoutTransformOp, parse_layout
from ...planes import Planes
from ...winograd import TAPS, Convolution3x3, Filtering
from ..broadcast import MultiplyOp
from .byte_products import STEPS, are_bytes, filled_up
from .convolution_base import Convolution
from .planes import SeePlanesOp
from .split_channels import SplitChannels
from .taps_apart import TapsApart
from .winograd import WinogradConv2dOp, WinogradWeightTransformOp

if TYPE_CHECKING:
    from ...base import NDArray

MAX_TOGETHER = 4
"""So many groups may share a vector of channels, of which each then multiplies the other's data by zero."""

TYPICAL_IMAGES, TYPICAL_PIXELS = 4, 32
"""What an open number of images, and an open height or width, are taken for where an algorithm is chosen."""


@irdl_op_definition
class Conv1dOp(Convolution):
    """Convolution along one spatial axis.

    `y[n, o, w] = sum_{i, k} x[n, i, w*strides + k*dilation - padding] * weight[o, i, k]`

    ```mlir
    %y = relay.nn.conv1d %x, %w {padding = array<i64: 1>} : (tensor<1x2x6xf32>, tensor<3x2x3xf32>) -> tensor<1x3x6xf32>
    ```
    """

    name = "relay.nn.conv1d"
    SPATIAL: ClassVar[str] = "W"

    strides = int_list([1])
    padding = int_list([0])
    dilation = int_list([1])
    data_layout = string("NCW")
    kernel_layout = string("OIW")


@irdl_op_definition
class Conv2dOp(SplitChannels):
    """Convolution along two spatial axes; grouped, depthwise and dilated ones too.

    Layouts may hold channels in blocks (`NCHW16c`, `OIHW4i8o`), which say where a channel stands and nothing else.

    `y[n, o, h, w] = sum_{i, kh, kw} x[n, i, h*sh + kh*dh - ph, w*sw + kw*dw - pw] * weight[o, i, kh, kw]`

    ```mlir
    %y = relay.nn.conv2d %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>, groups = 2 : i64}
       : (tensor<1x4x5x5xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x3x3xf32>
    ```
    """

    name = "relay.nn.conv2d"

    def is_depthwise(self) -> bool:
        """Whether each channel is convolved by itself."""
        channels = shape_of(self.data)[1]
        return self.group_count() == channels > 1 and shape_of(self.weight)[:2] == (channels, 1)

    def layout_sources(self) -> Sequence[SSAValue]:
        return [self.data if (volumes := self.volumes()) is None else volumes.data]

    def volumes(self) -> SeePlanesOp | None:
        """What shows this convolution planes, where it can see them by itself in blocks of channels."""
        maker = self.data.owner
        return maker if isinstance(maker, SeePlanesOp) and self.group_count() == 1 else None

    def sums_bytes_by(self, matrix: Collection[str]) -> bool:
        """Whether a matrix unit that multiplies what `matrix` names pays for this: what is read serves enough."""
        together = self.group_count() == 1 and self.volumes() is None
        return (
            "int8" in matrix
            and together
            and are_bytes(self)
            and prod(shape_of(self.weight)) >= TILE_BYTES * shape_of(self.weight)[1]
        )

    def wish(self) -> Wish:
        return Wish.DEPTHWISE if self.is_depthwise() else Wish.ALWAYS

    def channel_block(self, blocks: Blocks) -> int:
        layouts = tuple(layout.text for layout in self.layouts())
        data, weight = shape_of(self.data), shape_of(self.weight)
        block, obstacle, hint = PLAIN, None, None
        if layouts != ("NCHW", "OIHW", "NCHW"):
            obstacle, hint = f"its layouts are {', '.join(layouts)}", "convert it to NCHW and OIHW"
        elif not isinstance(self.weight.owner, ConstantOp):
            obstacle, hint = "its weight is not a constant", "bind the parameters"
        elif not isinstance(tensor(self.data).element_type, AnyFloat) and not are_bytes(self):
            obstacle = f"its elements are {tensor(self.data).element_type}, neither floats nor bytes"
        elif DYNAMIC in (data[1], *weight):
            obstacle, hint = "its number of channels is dynamic", "give it a static one"
        elif (groups := self.group_count()) != 1 and not self.is_depthwise():
            if not (block := group_block(weight[0] // groups, groups, blocks.lanes)):
                obstacle = f"its groups of {weight[0] // groups} channels do not fill vectors of {blocks.lanes}"
        elif not (block := blocks.channel_block(weight[0])):
            obstacle = f"{weight[0]} output channels do not fill vectors of {blocks.lanes}"
        if obstacle is not None:
            blocks.missed(self, obstacle, hint)
        return block

    def to_blocks(self, blocks: Blocks, block: int) -> None:
        """`contrib_conv2d_NCHWc`, or the depthwise one; the weight is transformed, to be folded"""
        kept = {name: value for name, value in self.properties.items() if not name.endswith("_layout")}
        weight, apart, volumes = self.weight, None, self.volumes()
        read = self.data if volumes is None else volumes.data
        if volumes is not None:
            kept["planes"] = volumes.planes
        if self.is_depthwise():
            new_type, in_block, kernel = DepthwiseConv2dNCHWcOp, block, f"OIHW1i{block}o"
        else:
            channels, groups = shape_of(read)[1], self.group_count()
            in_block = blocks.block_of(read) or blocks.whole_block(channels) or 1  # plain data: blocks of one
            if channels % TILE_BYTES == 0 and self.sums_bytes_by(blocks.matrix):
                in_block = TILE_BYTES
            if (together := block // gcd(block, shape_of(weight)[0] // groups)) > 1 and groups > 1:
                weight, groups = _merged(self, together, blocks), groups // together
                kept["groups"] = IntegerAttr(groups, i64)
            sums = are_bytes(self) and blocks.dot is not None
            if sums and (in_block, groups, volumes) == (1, 1, None):  # an image of three colours, say
                insert = partial(blocks.insert, at=self)
                read, weight = (filled_up(each, 1, STEPS, insert) for each in (read, weight))
                channels, in_block = shape_of(read)[1], STEPS
            held = gcd(channels // groups, in_block)
            new_type, kernel = Conv2dNCHWcOp, f"OIHW{held}i{block}o"
            if sums and held % STEPS == 0:
                kernel = f"OIHW{held // STEPS}i{block}o{STEPS}i"  # products that one instruction sums
        if not self.is_depthwise() and (found := self.minimal_filtering(blocks, block)) is not None:
            by, apart = found
            weight = blocks.insert(WinogradWeightTransformOp(weight, tile_size=by.tile), self)
            new_type, kernel = WinogradConv2dOp, kernel.replace("OIHW", "HWOI")
            kept["tile_size"] = IntegerAttr(by.tile, i64)
        source = kernel.rstrip("0123456789io")
        packed = blocks.insert(LayoutTransformOp(weight, src_layout=source, dst_layout=kernel), self)
        packed.name_hint = self.weight.name_hint
        layouts = {"data_layout": layout_text(in_block), "kernel_layout": kernel, "out_layout": layout_text(block)}
        blocks.passed(self, f"{layout_text(in_block)} -> {layout_text(block)}")
        data = blocks.get(read, in_block, self)
        if apart is None or apart.images == 1:
            blocks.replace(self, new_type(data, packed, **kept, **layouts), block)
            return
        kept["padding"], kept["dilation"] = as_attribute(apart.padding), as_attribute([1, 1])
        each = blocks.insert(new_type(apart.divide(blocks, data, self), packed, **kept, **layouts), self)
        blocks.replace(self, apart.interleave(blocks, each, self), block)

    def pack(self, blocks: Blocks) -> bool:
        """`contrib_conv2d_NCHWc`, where the layouts are ones that it has."""
        data, kernel, out = self.layouts()
        both = (self.data, self.weight)
        if not self.has_blocks() or self.group_count() > 1 or any(DYNAMIC in shape_of(each) for each in both):
            return False
        if [data.names, out.names] != [tuple("NCHWc")] * 2 or kernel.names != tuple("OIHWio"):
            return False
        if data.block("C") % kernel.block("I") or kernel.block("O") != out.block("C"):
            return False
        texts = {"data_layout": data.text, "kernel_layout": kernel.text, "out_layout": out.text}
        operands = [blocks.get(each, PLAIN, self) for each in both]
        new = Conv2dNCHWcOp(*operands, **{**self.properties, **texts})
        blocks.replace_plain(self, blocks.insert(new, self))
        return True

    def minimal_filtering(self, blocks: Blocks, block: int) -> tuple[Filtering, TapsApart] | None:
        """The filtering by which this convolution, its channels in blocks, takes clearly less, and how it becomes one
        of neighbouring taps; `None` if none does."""
        data, out = tensor(self.data), shape_of(self.result)
        window = self.window(shape_of(self.weight))
        steps = {*window.strides, self.group_count()}
        plain = data.element_type == f32 == tensor(self.result).element_type
        known = DYNAMIC not in (data.get_shape()[1], out[1])
        if not blocks.winograd or not plain or window.kernel != (TAPS, TAPS) or steps != {1} or not known:
            return None
        images, channels, *extents = data.get_shape()
        source = self.data if (volumes := self.volumes()) is None else volumes.data
        if 2 * (blocks.block_of(source) or blocks.whole_block(shape_of(source)[1])) < blocks.lanes:
            return None  # transformed in vectors of channels, most of which would stay empty
        places = [TYPICAL_PIXELS if n == DYNAMIC else n for n in extents]
        made = places if DYNAMIC in extents else out[2:]
        if (apart := TapsApart.of(window, places, made)) is None:
            return None
        if apart.images > 1 and (volumes is not None or DYNAMIC in (images, *extents)):
            return None
        if volumes is not None and DYNAMIC in extents:
            return None
        images = TYPICAL_IMAGES if images == DYNAMIC else images
        outputs = -(-out[1] // block) * block
        rows, columns = apart.axes
        both = (channels, outputs, block, blocks.machine, None if volumes is None else volumes.seeing())
        each = Convolution3x3(images * apart.images, rows.made, columns.made, *both)
        whole = Convolution3x3(images, made[0], made[1], *both)
        moved = 2 * each.bytes if apart.images > 1 else 0
        by = each.best(blocks.winograd, whole.direct(), moved)
        return None if by is None else (by, apart)


@irdl_op_definition
class Conv3dOp(SplitChannels):
    """Convolution along three spatial axes. Layouts may hold channels in blocks, as those of `nn.conv2d`.

    `y[n, o, d, h, w] = sum_{i, kd, kh, kw} x[n, i, d*sd + kd*dd - pd, ...] * weight[o, i, kd, kh, kw]`

    ```mlir
    %y = relay.nn.conv3d %x, %w : (tensor<1x2x3x4x4xf32>, tensor<2x2x2x3x3xf32>) -> tensor<1x2x2x2x2xf32>
    ```
    """

    name = "relay.nn.conv3d"
    SPATIAL: ClassVar[str] = "DHW"

    strides = int_list([1, 1, 1])
    padding = int_list([0, 0, 0])
    dilation = int_list([1, 1, 1])
    data_layout = string("NCDHW")
    kernel_layout = string("OIDHW")


class _BlockedConvolution(Convolution, ABC):
    """A convolution whose channels stand in blocks; the layouts must be given."""

    data_layout = string()
    kernel_layout = string()

    gradient = RelayOp.gradient  # taken before channels are put into blocks

    def layouts(self) -> tuple[Layout, Layout, Layout]:
        data, kernel = parse_layout(self.data_layout.data), parse_layout(self.kernel_layout.data)
        out = parse_layout(self.out_layout.data or f"NCHW{kernel.block('O')}c")
        for layout, axes, what in ((data, "NCHW", "data"), (kernel, "OIHW", "kernel"), (out, "NCHW", "out")):
            once = [name for name in layout.names if layout is not kernel or name != "i"]
            if layout.letters != axes or len(set(once)) != len(once) or layout.names.count("i") > 2:
                raise VerifyException(f"{what}_layout {layout.text} is not {axes} with one block of channels")
        return data, kernel, out


@irdl_op_definition
class Conv2dNCHWcOp(_BlockedConvolution):
    """Two-dimensional convolution with data, weights and result in channel blocks, for vector units.

    Channels beyond the last one are part of the last block; zero weights keep them out of the result. Where they may
    hold anything, infinities too, the weight's input channels stand in smaller blocks, which end with the last channel:
    24 channels in `NCHW16c` with a weight in `OIHW8i16o`. Those of bytes may stand in two parts, `OIHW4i16o4i`, of
    which the inner one is what an instruction sums at once. With `planes` the images are planes of volumes, of which
    each one of the result sees several: the weight's channels are those that `contrib_see_planes` makes of the data.

    `y[n, O, h, w, o] = sum_{I, kh, kw, i} x[n, I, h*sh + kh*dh - ph, w*sw + kw*dw - pw, i] * w[O, I, kh, kw, i, o]`

    ```mlir
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w
       {data_layout = "NCHW2c", kernel_layout = "OIHW2i4o", out_layout = "NCHW4c", padding = array<i64: 1, 1>}
       : (tensor<1x2x4x4x2xf32>, tensor<2x2x3x3x2x4xf32>) -> tensor<1x2x4x4x4xf32>
    ```
    """

    name = "relay.nn.contrib_conv2d_NCHWc"

    planes = int_list([])

    def seeing(self) -> Planes | None:
        return Planes.of(ints(self.planes))


@irdl_op_definition
class DepthwiseConv2dNCHWcOp(_BlockedConvolution):
    """Depthwise convolution in channel blocks: one input channel for each output channel.

    `groups` is the true number of channels; the rest of the last block is padding.

    `y[n, O, h, w, o] = sum_{kh, kw} x[n, O, h*sh + kh*dh - ph, w*sw + kw*dw - pw, o] * weight[O, 0, kh, kw, 0, o]`

    ```mlir
    %y = relay.nn.contrib_depthwise_conv2d_NCHWc %x, %w
       {data_layout = "NCHW4c", kernel_layout = "OIHW1i4o", groups = 8 : i64, padding = array<i64: 1, 1>}
       : (tensor<1x2x4x4x4xf32>, tensor<2x1x3x3x1x4xf32>) -> tensor<1x2x4x4x4xf32>
    ```
    """

    name = "relay.nn.contrib_depthwise_conv2d_NCHWc"

    def check_channels(self, data: Sequence[int], weight: Sequence[int]) -> None:
        layout, kernel, _ = self.layouts()
        if kernel.block("I") != 1 or weight[kernel.position("I")] not in (1, DYNAMIC):
            raise VerifyException(f"a depthwise weight has one input channel, not {list(weight)} ({kernel.text})")
        if layout.block("C") != kernel.block("O"):
            raise VerifyException(f"the blocks of channels differ: {layout.text} and {kernel.text}")
        blocks, kernels = data[layout.position("C")], weight[kernel.position("O")]
        if DYNAMIC not in (blocks, kernels) and blocks != kernels:
            raise VerifyException(f"the data has {blocks} blocks of channels, but the weight has {kernels}")
        if blocks not in (DYNAMIC, -(-self.group_count() // layout.block("C"))):
            raise VerifyException(f"'groups' is {self.group_count()}, but the data has {blocks} blocks of channels")

    def source_channel(
        self, out: dict[str, te.Expr], ic: te.Expr, ic_inner: te.Expr, data: te.Tensor, weight: te.Tensor
    ) -> dict[str, te.Expr]:
        return {"C": out["C"], "c": out.get("c", ic_inner)}

    def array_groups(self, plain: NDArray) -> int:
        return plain.shape[1]


def group_block(outputs: int, groups: int, lanes: int) -> int:
    """The block for `groups` of so many channels each: a whole one, whose last vector is half full, a part of one, or
    as many as fill a vector. `PLAIN` where vectors would be less than half full, or more than a quarter of what fills
    them up would be multiplied by zero."""
    part = gcd(outputs, lanes)
    if part == outputs and groups % (lanes // part) == 0 and lanes <= MAX_TOGETHER * part:
        return lanes
    if lanes == 1 or 2 * part < lanes:
        return PLAIN
    return outputs if part < lanes < outputs else part


def _merged(op: Conv2dOp, together: int, blocks: Blocks) -> SSAValue:
    """The weight of a convolution of fewer groups, `together` of the old ones in each, with zeros between them."""
    import numpy as np

    outputs, inputs, *taps = shape_of(op.weight)
    own = np.arange(outputs) // (outputs // op.group_count()) % together
    chosen = (own[:, None] == np.arange(together))[:, :, None].astype(numpy_dtype(tensor(op.weight).element_type))
    mask = blocks.insert(ConstantOp.from_numpy(chosen, "groups"), op)
    rows = blocks.reshape(op.weight, (outputs, 1, inputs * prod(taps)), op)
    return blocks.reshape(blocks.insert(MultiplyOp(rows, mask), op), (outputs, together * inputs, *taps), op)


OPS: list[type[Operation]] = [Conv1dOp, Conv2dOp, Conv3dOp, Conv2dNCHWcOp, DepthwiseConv2dNCHWcOp]
"""The convolutions."""

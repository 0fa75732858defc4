"""3x3 convolutions by Winograd's minimal filtering (`../../winograd.py`): one operator transforms the weight, which is
done when the model is compiled, the other computes the convolution with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.operations import irdl_op_definition
from ....te.factors import equal_parts
from ...base import DYNAMIC, Fusion, FusionPattern, RelayOp, int_list, integer, ints, shape_of, string, tensor
from ...inference import by_types
from ...layout import Layout, parse_layout
from ...nn_common import accumulator, narrow, pad_stage
from ...planes import Planes
from ...shapes import check_extents
from ...winograd import FILTERINGS, TAPS, Filtering, combined
from .convolution_base import Convolution

if TYPE_CHECKING:
    from ...base import NDArray


def filtering(tile: int) -> Filtering:
    """
    Raises:
        VerifyException: there is none for tiles of that extent.
    """
    if tile not in FILTERINGS:
        raise VerifyException(f"'tile_size' is {tile}; it can be {' or '.join(map(str, FILTERINGS))}")
    return FILTERINGS[tile]


@irdl_op_definition
class WinogradWeightTransformOp(RelayOp):
    """The weight that `contrib_conv2d_winograd_without_weight_transform` takes, from that of `conv2d` in `OIHW`.

    `y[p, q, o, i] = sum_{r, s} G[p, r] * weight[o, i, r, s] * G[q, s]`, of extent `tile_size + 2` along p and q.

    ```mlir
    %u = relay.nn.contrib_conv2d_winograd_weight_transform %w {tile_size = 2 : i64}
       : (tensor<3x2x3x3xf32>) -> tensor<4x4x3x2xf32>
    ```
    """

    name = "relay.nn.contrib_conv2d_winograd_weight_transform"

    weight = operand_def(TensorType)
    result = result_def(TensorType)
    tile_size = integer()

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"
    gradient = RelayOp.gradient  # taken before

    @by_types
    def infer(self) -> Sequence[Attribute]:
        weight, points = tensor(self.weight), filtering(self.tile_size.value.data).points
        shape = weight.get_shape()
        if len(shape) != 4 or any(n not in (TAPS, DYNAMIC) for n in shape[2:]):
            raise VerifyException(f"expected a weight of {TAPS}x{TAPS} taps in OIHW, got {list(shape)}")
        if not isinstance(weight.element_type, AnyFloat):
            raise VerifyException(f"its elements are {weight.element_type}, not floats")
        return [TensorType(weight.element_type, [points, points, *shape[:2]])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (weight,) = inputs
        by = filtering(self.tile_size.value.data)
        element = tensor(self.result).element_type
        sum_type = accumulator(element)
        outputs, channels, *taps = weight.shape
        check_extents("a weight's taps", taps, (TAPS, TAPS))

        def rows(p: te.IterVar, o: te.IterVar, i: te.IterVar, s: te.IterVar) -> te.Expr:
            return combined(by.weight, p, lambda r: te.cast(weight[o, i, r, s], sum_type))

        half = te.compute((by.points, outputs, channels, TAPS), rows, "winograd_weight_rows")

        def columns(p: te.IterVar, q: te.IterVar, o: te.IterVar, i: te.IterVar) -> te.Expr:
            return combined(by.weight, q, lambda s: half[p, o, i, s])

        whole = te.compute((by.points, by.points, outputs, channels), columns, "winograd_weight")
        return narrow(whole, element)

    def numpy(self, *inputs: NDArray) -> NDArray | None:
        import numpy as np

        (weight,) = inputs
        if not np.isfinite(weight).all():
            return None  # a product with a factor of 0 would be no number, where `compute` has no such term
        return filtering(self.tile_size.value.data).transform_weight(weight)


@irdl_op_definition
class WinogradConv2dOp(Convolution):
    """Two-dimensional convolution of 3x3 taps by Winograd's minimal filtering, of a weight that is transformed already.

    The weight is `G w G^T` in `HWOI`, or with channels in blocks (`HWOI16i16o`), of extent `tile_size + 2` along H and
    W. The result is that of `conv2d`, but for rounding: sums are formed of other, larger terms, so that the error is
    some units more for `tile_size` 2, and about a decimal digit more for 4.

    `y = A^T [sum_i weight[:, :, o, i] * (B^T d_i B)] A` for each tile of `tile_size x tile_size` results, where `d_i` is
    the tile of data of channel i that they see.

    ```mlir
    %y = relay.nn.contrib_conv2d_winograd_without_weight_transform %x, %u {tile_size = 2 : i64, padding = array<i64: 1, 1>}
       : (tensor<1x2x5x5xf32>, tensor<4x4x3x2xf32>) -> tensor<1x3x5x5xf32>
    ```
    """  # noqa: E501

    name = "relay.nn.contrib_conv2d_winograd_without_weight_transform"

    tile_size = integer()
    kernel_layout = string("HWOI")
    planes = int_list([])

    gradient = RelayOp.gradient  # taken before channels are put into blocks

    def seeing(self) -> Planes | None:
        return Planes.of(ints(self.planes))

    def layouts(self) -> tuple[Layout, Layout, Layout]:
        data, kernel = parse_layout(self.data_layout.data), parse_layout(self.kernel_layout.data)
        block = kernel.block("O")
        out = parse_layout(self.out_layout.data or ("NCHW" if block == 1 else f"NCHW{block}c"))
        for layout, axes, what in ((data, "NCHW", "data"), (kernel, "HWOI", "kernel"), (out, "NCHW", "out")):
            if layout.letters != axes or any(layout.names.count(name) > 1 for name in layout.names):
                raise VerifyException(f"{what}_layout {layout.text} is not {axes}, or that with one block of channels")
        return data, kernel, out

    def filtering(self) -> Filtering:
        """
        Raises:
            VerifyException: there is none for tiles of that extent.
        """
        return filtering(self.tile_size.value.data)

    def taps(self, weight_shape: Sequence[int]) -> tuple[int, ...]:
        return (TAPS, TAPS)

    @by_types
    def infer(self) -> Sequence[Attribute]:
        data, kernel, _ = self.layouts()
        points, shape = self.filtering().points, shape_of(self.weight)
        kernel.check(shape, "the weight")
        if any(shape[kernel.position(letter)] not in (points, DYNAMIC) for letter in self.SPATIAL):
            raise VerifyException(
                f"'tile_size' {points - TAPS + 1} needs {points}x{points} points, the weight has {list(shape)}"
            )
        window = self.window(shape)
        if {*window.strides, *window.dilation, self.group_count()} != {1}:
            raise VerifyException("strides, dilation and groups must be 1")
        data.check(shape_of(self.data), "the data")
        held = data.extents(shape_of(self.data))
        if DYNAMIC in (held["C"], *shape):
            raise VerifyException("the channels and taps of its operands must be known")
        if not isinstance(tensor(self.data).element_type, AnyFloat):
            raise VerifyException(f"its elements are {tensor(self.data).element_type}, not floats")
        return super().infer()

    def tiles(self, result: Sequence[int]) -> tuple[int, int, int]:
        """How many tiles there are for a shape of the result: for each image, along H, and along W."""
        out, tile = self.layouts()[2].extents(result), self.tile_size.value.data
        return out["N"], (out["H"] + tile - 1) // tile, (out["W"] + tile - 1) // tile

    def macs(self) -> int:
        """Those of the products of matrices, one for each point.

        Raises:
            Diagnostic: an extent is not known.
        """
        result = shape_of(self.result)
        self.mac_product(*result)
        return self.mac_product(*self.tiles(result), *shape_of(self.weight))

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        data, weight = inputs
        layout, kernel, out_layout = self.layouts()
        by, result = self.filtering(), tensor(self.result)
        sum_type = accumulator(result.element_type)
        shape = list(self.result_extents(data, weight))
        _, high, wide = self.tiles(shape)
        at_image, seeing = layout.position("N"), self.seeing()
        images = held_images = data.shape[at_image]
        tile, points = by.tile, by.points
        # Up to where the last tile reaches.
        positions, held = [layout.position(letter) for letter in self.SPATIAL], layout.extents(data.shape)
        before = dict(zip(positions, self.window(weight.shape).before, strict=True))
        reach = {"H": high * tile + TAPS - 1, "W": wide * tile + TAPS - 1}
        after = {p: reach[name] - held[name] - before[p] for p, name in zip(positions, self.SPATIAL, strict=True)}
        channels, step = weight.shape[kernel.position("I")], kernel.block("I")
        if seeing is None:
            padded, volumes = pad_stage(data, before, after), 1
        else:
            padded, volumes = seeing.pad_stage(data, at_image, before, after), seeing.volumes(images)
            images, held_images, channels = volumes * seeing.made, volumes * seeing.padded, channels // seeing.seen
        places, held_places = (images, high, wide), (held_images, high, wide)
        numbering = _Numbering(images, high, wide) if seeing else _in_strips(images, high, wide)
        # Tiles are transformed in the data's blocks, whole vectors, however few of the last one's channels are summed.
        parts = max(1, layout.block("C") // step)
        transformed = -(-channels // parts)
        inner = [parts * step] if parts > 1 or "i" in kernel.names else []
        outputs = weight.shape[kernel.position("O")]
        lanes = [kernel.block("O")] if "o" in kernel.names else []

        def rows(*at: te.IterVar) -> te.Expr:
            c, n, y, x, p, s, *i = at
            channel = c if "c" in layout.names or not i else c * inner[0] + i[0]
            place = {"N": n, "C": channel, "c": i[0] if i else te.const(0, te.index), "W": x * tile + s}
            return combined(
                by.data, p, lambda r: te.cast(padded[layout.arrange({**place, "H": y * tile + r})], sum_type)
            )

        half = te.compute((transformed, *held_places, points, points, *inner), rows, "winograd_rows")

        strip = [numbering.strips] if numbering.strips > 1 else []
        strip_places = (numbering.images, numbering.high, wide) if strip else held_places

        def columns(*at: te.IterVar) -> te.Expr:
            which, (p, q, c, n, y, x, *i) = at[: len(strip)], at[len(strip) :]
            place = numbering.in_image(which[0], n, y, x) if which else (n, y, x)
            return combined(by.data, q, lambda s: half[(c, *place, p, s, *i)])

        tiles = te.compute((*strip, points, points, transformed, *strip_places, *inner), columns, "winograd_data")
        axes = [
            te.reduce_axis(channels, "ic_outer"),
            *([te.reduce_axis(step, "ic_inner")] if "i" in kernel.names else []),
        ]
        planes = [] if seeing is None else [te.reduce_axis(seeing.seen, "plane")]

        def product(*at: te.IterVar) -> te.Expr:
            which, (point, o, *rest) = at[: len(strip)], at[len(strip) :]
            p, q = point // points, point % points
            image, y, x = numbering.place(rest[: numbering.rank])
            lane, channel = rest[numbering.rank :], axes[0]
            if seeing is not None:
                image, channel = seeing.place(volumes, image, planes[0]), planes[0] * channels + channel
            weights = {"H": p, "W": q, "O": o, "I": channel, "i": axes[-1], "o": lane[0] if lane else o}
            taken = te.cast(weight[kernel.arrange(weights)], sum_type)
            block, within = axes[0], axes[1:]
            if parts > 1:
                block, within = axes[0] // parts, [axes[0] % parts * step + (axes[1] if axes[1:] else 0)]
            return te.sum(tiles[(*which, p, q, block, image, y, x, *within)] * taken, [*planes, *axes])

        sums = te.compute((*strip, points * points, outputs, *numbering.extents, *lanes), product, "winograd_product")

        def result_rows(*at: te.IterVar) -> te.Expr:
            o, n, y, x, i, q, *lane = at
            *which, number = (*numbering.strip_of(n, y), numbering.number(n, y, x))
            return combined(by.result, i, lambda p: sums[(*which, q + p * points, o, *number, *lane)])

        upper = te.compute((outputs, *places, tile, points, *lanes), result_rows, "winograd_result_rows")

        def result_columns(*at: te.IterVar) -> te.Expr:
            o, n, y, x, i, j, *lane = at
            return combined(by.result, j, lambda q: upper[(o, n, y, x, i, q, *lane)])

        done = te.compute((outputs, *places, tile, tile, *lanes), result_columns, "winograd_result")

        def placed(*at: te.IterVar) -> te.Expr:
            out = dict(zip(out_layout.names, at, strict=True))
            y, x = out["H"], out["W"]
            lane = [out["c"]] if lanes else []
            place = (out["N"], y // tile, x // tile, y % tile, x % tile)
            return te.cast(done[(out["C"], *place, *lane)], result.element_type)

        return te.compute(shape, placed, "conv2d_winograd")

    def numpy(self, *inputs: NDArray) -> NDArray | None:
        return None  # the taps are not known any more


MIN_TILES, MIN_TILES_OF_IMAGES = 7, 28
"""Tiles that a strip of lines has at least, or one of images: with fewer, a product of matrices could not take as many
rows at once as it does without strips."""


@dataclass(frozen=True)
class _Numbering:
    """The tiles of all images, or of one strip of them, as rows of one matrix; where their number is a product of
    symbols, each by its image and its place there."""

    images: te.Dim
    high: te.Dim
    wide: te.Dim
    strips: int = 1
    """Parts of all tiles in which these lie together; the extents above are those of one."""
    of_lines: bool = False
    """Whether a strip is some lines of tiles of the only image; some of the images otherwise."""

    def in_image(self, strip: te.Expr, image: te.Expr, y: te.Expr, x: te.Expr) -> tuple[te.Expr, te.Expr, te.Expr]:
        """The image, and the place there, of a tile at a place of a strip."""
        return (image, strip * self.high + y, x) if self.of_lines else (strip * self.images + image, y, x)

    def strip_of(self, image: te.Expr, y: te.Expr) -> tuple[te.Expr, ...]:
        """The strip that a tile is in, if there are several."""
        if self.strips == 1:
            return ()
        return (y // self.high,) if self.of_lines else (image // self.images,)

    @property
    def is_product(self) -> bool:
        """Whether how many there are is a product of symbols, or a line of an open extent ends where numbers go on."""
        return not isinstance(self.wide, int) or not (isinstance(self.high, int) or self.images == 1)

    @property
    def extents(self) -> tuple[te.Dim, ...]:
        each = (self.images, self.high, self.wide)
        return each if self.is_product else (prod(each),)

    @property
    def rank(self) -> int:
        return len(self.extents)

    def number(self, image: te.Expr, y: te.Expr, x: te.Expr) -> tuple[te.Expr, ...]:
        """What a tile is called by, in its strip."""
        if self.strips > 1:
            image, y = (image, y % self.high) if self.of_lines else (image % self.images, y)
        return (image, y, x) if self.is_product else ((image * self.high + y) * self.wide + x,)

    def place(self, number: Sequence[te.Expr]) -> tuple[te.Expr, te.Expr, te.Expr]:
        """The image, and the place there, of a tile."""
        if self.is_product:
            image, y, x = number
            return image, y, x
        (t,) = number
        if not isinstance(self.high, int):
            return te.const(0, te.index), t // self.wide, t % self.wide
        return t // (self.high * self.wide), t // self.wide % self.high, t % self.wide


def _in_strips(images: te.Dim, high: te.Dim, wide: te.Dim) -> _Numbering:
    """Tiles in as few equal parts as there can be, at least two: of some images each or, of one, of some lines.

    A thread that goes on with tiles that it has transformed then reads and writes where no other does. Processors fetch
    ahead of what is read in order, and where the parts of threads lie among each other that is what another thread has
    written: it comes from the caches of another processor, and has to be fetched back from there.
    """
    if not (isinstance(images, int) and isinstance(high, int) and isinstance(wide, int)):
        return _Numbering(images, high, wide)
    whole, rest, least = (high, wide, MIN_TILES) if images == 1 else (images, high * wide, MIN_TILES_OF_IMAGES)
    for strips in equal_parts(whole):
        if (part := whole // strips) * rest >= least:
            extents = (images, part) if images == 1 else (part, high)
            return _Numbering(*extents, wide, strips, of_lines=images == 1)
    return _Numbering(images, high, wide)


OPS: list[type[Operation]] = [WinogradWeightTransformOp, WinogradConv2dOp]
"""The operators of Winograd convolutions."""

"""Operators on images: resizing, cropping, sampling at computed places."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import AnyFloat, StringAttr, TensorType, f32
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import (
    DYNAMIC,
    Fusion,
    FusionPattern,
    RelayOp,
    flag,
    int_list,
    ints,
    is_true,
    real,
    real_list,
    shape_of,
    string,
    tensor,
)
from ..blocking import PLAIN, Blocks, layout_text
from ..indexing import unless_empty
from ..layout import Layout, unblocked, with_whole
from ..nn_common import accumulator, narrow, result_element
from ..precision import Accuracy, Precision
from ..reordering import Form, Order, Reordered
from ..resample import Axis, Sampling, cubic_weights, one_of, resampled
from ..sampling import Image, both, clipped, cubic_term_weights, interpolated
from ..shapes import check_extents

if TYPE_CHECKING:
    from ..gradient import Gradient, Term, Terms


class _Resize(RelayOp, ABC):
    """What the resizing operators share. `SPATIAL` are the letters of the axes that change."""

    PRECISION: ClassVar[Precision | None] = Precision.FOLLOW
    SPATIAL: ClassVar[str] = "HW"

    data = operand_def(TensorType)
    result = result_def(TensorType)
    size = int_list()
    roi = real_list([])
    layout = string("NCHW")
    method = string("linear")
    coordinate_transformation_mode = string("half_pixel")
    rounding_method = string("")
    cubic_alpha = real(-0.5)
    cubic_exclude = flag(False)
    extrapolation_value = real(0.0)
    out_dtype = string("")

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def parsed_layout(self) -> Layout:
        """
        Raises:
            VerifyException: the layout has other axes, or a spatial one of them in blocks.
        """
        layout = with_whole(self.layout.data, self.SPATIAL)
        if sorted(layout.letters) != sorted("NC" + self.SPATIAL):
            raise VerifyException(f"layout {layout.text} is not an order of the axes NC{self.SPATIAL}")
        return layout

    LAYOUTS: ClassVar[tuple[str, ...]] = ("layout",)

    def reordered(self, order: Order) -> Reordered:
        return self.reblocked(order)

    def reblocked(self, form: Form) -> Reordered:
        return Reordered([form], {"layout": self.parsed_layout().reordered(form)})

    def sampling(self) -> Sampling:
        return Sampling(
            self.method.data,
            self.coordinate_transformation_mode.data,
            self.rounding_method.data,
            self.cubic_alpha.value.data,
            is_true(self.cubic_exclude),
            self.extrapolation_value.value.data,
        )

    def infer(self) -> Sequence[Attribute]:
        data, layout, rank = tensor(self.data), self.parsed_layout(), len(self.SPATIAL)
        layout.check(data.get_shape(), "the data")
        self.sampling().check()
        if len(self.size) != rank or min(ints(self.size)) < 1:
            raise VerifyException(f"'size' must have {rank} positive values, got {list(ints(self.size))}")
        if len(self.roi) not in (0, 2 * rank):
            raise VerifyException(f"'roi' has {len(self.roi)} values; expected {rank} begins and {rank} ends")
        given = layout.extents(data.get_shape())
        if 0 in (given[letter] for letter in self.SPATIAL):
            raise VerifyException(f"cannot resize images without elements, got {data}")
        extents = given | dict(zip(self.SPATIAL, ints(self.size), strict=True))
        return [TensorType(result_element(data.element_type, self.out_dtype.data), layout.shape(extents))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        return self.resampled(x, ints(self.size), [float(v) for v in self.roi.get_values()])

    def resampled(self, x: te.Tensor, size: Sequence[te.Dim], roi: Sequence[float]) -> te.Tensor:
        """`x` with its spatial axes resampled to `size`, which may be symbols."""
        layout, rank = self.parsed_layout(), len(self.SPATIAL)
        roi = roi or [0.0] * rank + [1.0] * rank
        axes = [
            Axis(layout.position(letter), size[axis], (roi[axis], roi[axis + rank]))
            for axis, letter in enumerate(self.SPATIAL)
        ]
        return resampled(x, axes, self.sampling(), tensor(self.result).element_type)

    def gradient(self, g: Gradient) -> Terms:
        layout = self.parsed_layout()
        positions = [layout.position(letter) for letter in self.SPATIAL]
        return g.separable(positions, extrapolation_value=0.0, out_dtype="")


@irdl_op_definition
class Resize1dOp(_Resize):
    """Resample one spatial axis to `size`.

    `y[n, c, w] = x[n, c, :]` interpolated at `coordinate_transformation_mode(w)`

    ```mlir
    %y = relay.image.resize1d %x {size = array<i64: 8>} : (tensor<1x2x4xf32>) -> tensor<1x2x8xf32>
    ```
    """

    name = "relay.image.resize1d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.PLACED
    SPATIAL: ClassVar[str] = "W"
    layout = string("NCW")


@irdl_op_definition
class Resize2dOp(_Resize):
    """Resample two spatial axes to `size`: nearest neighbour, linear or cubic.

    `y[n, c, h, w] = x[n, c, :, :]` interpolated at `coordinate_transformation_mode(h, w)`

    ```mlir
    %y = relay.image.resize2d %x {size = array<i64: 6, 8>} : (tensor<1x2x3x4xf32>) -> tensor<1x2x6x8xf32>
    ```
    """

    name = "relay.image.resize2d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.PLACED

    def channel_block(self, blocks: Blocks) -> int:
        return blocks.channel_block(shape_of(self.data)[1]) if self.layout.data == "NCHW" else PLAIN

    def in_any_block(self) -> bool:
        return True

    def to_blocks(self, blocks: Blocks, block: int) -> None:
        properties = {**self.properties, "layout": StringAttr(layout_text(block))}
        blocks.replace(self, Resize2dOp(blocks.get(self.data, block, self), **properties), block)


@irdl_op_definition
class Resize3dOp(_Resize):
    """Resample three spatial axes to `size`.

    `y[n, c, d, h, w] = x[n, c, :, :, :]` interpolated at `coordinate_transformation_mode(d, h, w)`

    ```mlir
    %y = relay.image.resize3d %x {size = array<i64: 4, 4, 4>} : (tensor<1x1x2x2x2xf32>) -> tensor<1x1x4x4x4xf32>
    ```
    """

    name = "relay.image.resize3d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.PLACED
    SPATIAL: ClassVar[str] = "DHW"
    layout = string("NCDHW")


def _real(dim: te.Dim) -> te.Expr | float:
    """An extent as a position."""
    return float(dim) if isinstance(dim, int) else te.cast(dim, f32)


def real_extent(extent: te.Dim) -> te.ExprLike:
    """An extent as an f32."""
    return float(extent) if isinstance(extent, int) else te.cast(extent, f32)


def clamped_index(i: te.Expr, extent: int) -> te.Expr:
    """The index `i` brought into an axis of `extent`."""
    return te.minimum(te.maximum(i, 0), extent - 1)


def weighted(
    read: Callable[..., te.Expr],
    positions: Sequence[te.Expr],
    weights: Callable[[te.Expr], Sequence[te.Expr]],
    first: int,
) -> Iterator[te.Expr]:
    """`read` at each of the elements around the f32 `positions`, times its axes' weights.

    `weights` gives those of the elements from `first` on (counted from the one at or below the position) for the
    distance from the latter.
    """
    lows = [te.floor(p) for p in positions]
    steps = [list(enumerate(weights(p - low), first)) for p, low in zip(positions, lows, strict=True)]
    for taps in product(*steps):
        at = [low + float(step) for low, (step, _) in zip(lows, taps, strict=True)]
        value = read(*at)
        for _, weight in taps:
            value = value * weight
        yield value


def interpolate(
    read: Callable[..., te.Expr],
    positions: Sequence[te.Expr],
    weights: Callable[[te.Expr], Sequence[te.Expr]],
    first: int,
) -> te.Expr:
    """The sum of the elements around the f32 `positions`, each `weighted`."""
    total: te.Expr = te.const(0, f32)
    for value in weighted(read, positions, weights, first):
        total = total + value
    return total


def linear_weights(t: te.Expr) -> tuple[te.Expr, ...]:
    """The weights of the two elements around a position `t` above the first."""
    return te.const(1, t.type) - t, t


@irdl_op_definition
class CropAndResizeOp(RelayOp):
    """Cut boxes out of images and resize each to `crop_size`.

    A box is (y1, x1, y2, x2), from 0 to 1 over the image; `box_indices` says from which image it is cut.

    `y[b, c, i, j] = x[box_indices[b], c]` interpolated at `y1*(H-1) + i * (y2-y1)*(H-1) / (crop_h-1)`, and so for x

    ```mlir
    %y = relay.image.crop_and_resize %x, %boxes, %which {crop_size = array<i64: 2, 2>}
       : (tensor<2x3x4x4xf32>, tensor<3x4xf32>, tensor<3xi32>) -> tensor<3x3x2x2xf32>
    ```
    """

    name = "relay.image.crop_and_resize"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.PLACED

    data = operand_def(TensorType)
    boxes = operand_def(TensorType)
    box_indices = operand_def(TensorType)
    result = result_def(TensorType)
    crop_size = int_list()
    layout = string("NCHW")
    method = string("bilinear")
    extrapolation_value = real(0.0)
    out_dtype = string("")

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        data, boxes, which = tensor(self.data), shape_of(self.boxes), shape_of(self.box_indices)
        layout = unblocked(self.layout.data, "NCHW", "layout")
        layout.check(data.get_shape(), "the data")
        one_of(self.method.data, ("bilinear", "nearest_neighbor"), "method")
        if len(boxes) != 2 or boxes[1] not in (4, DYNAMIC) or len(which) != 1:
            raise VerifyException(f"expected boxes [n, 4] and box indices [n], got {list(boxes)} and {list(which)}")
        if len(self.crop_size) != 2:
            raise VerifyException(f"'crop_size' must have 2 values, got {list(ints(self.crop_size))}")
        extents = layout.extents(data.get_shape()) | {"N": boxes[0]}
        extents |= dict(zip("HW", ints(self.crop_size), strict=True))
        return [TensorType(result_element(data.element_type, self.out_dtype.data), layout.shape(extents))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, boxes, which = inputs
        layout = unblocked(self.layout.data, "NCHW", "layout")
        extents, crop = layout.extents(x.shape), dict(zip("HW", ints(self.crop_size), strict=True))
        if not te.agree(boxes.shape[0], which.shape[0]):
            raise TypeError(f"te: there are {boxes.shape[0]} boxes, and numbers of images for {which.shape[0]}")
        check_extents("a box", boxes.shape[1:], [4])

        def position(letter: str, box: te.Expr, i: te.Expr) -> te.Expr:
            side = "HW".index(letter)
            begin, end = (te.cast(boxes[box, side + k], f32) for k in (0, 2))
            last = real_extent(extents[letter] - 1)
            if crop[letter] == 1:
                return (begin * last + end * last) * 0.5
            # in the order of TVM: rounding decides whether what lies on the border of the image is within it
            return begin * last + te.cast(i, f32) * ((end - begin) * last / float(crop[letter] - 1))

        def body(*indices: te.IterVar) -> te.Expr:
            out = dict(zip(layout.names, indices, strict=True))
            places = [position(letter, out["N"], out[letter]) for letter in "HW"]
            bounds = [real_extent(extents[letter] - 1) for letter in "HW"]
            inside = te.all_of([c for p, bound in zip(places, bounds, strict=True) for c in (p >= 0, p <= bound)])

            def read(*at: te.Expr) -> te.Expr:
                h, w = (clamped_index(te.cast(p, te.index), extents[k]) for k, p in zip("HW", at, strict=True))
                image = clamped_index(te.cast(which[out["N"]], te.index), extents["N"])
                pixel = x[layout.arrange({"N": image, "C": out["C"], "H": h, "W": w})]
                return te.cast(unless_empty(x, pixel, [extents["C"]]), f32)

            if self.method.data == "nearest_neighbor":
                value = read(*(te.floor(p + 0.5) for p in places))
            else:
                value = interpolate(read, places, linear_weights, 0)
            return te.select(inside, value, self.extrapolation_value.value.data)

        shape = layout.shape(extents | {"N": boxes.shape[0], **crop})
        return narrow(te.compute(shape, body, "crop_and_resize"), tensor(self.result).element_type)

    def gradient(self, g: Gradient) -> Terms:
        """By the data and by the boxes, of the same written with operators."""
        g.static()
        data, boxes, which = g.inputs
        image = Image(data, unblocked(self.layout.data, "NCHW", "layout"))
        extents, crop = image.extents, dict(zip("HW", ints(self.crop_size), strict=True))

        def position(letter: str) -> Term:
            begin, end = (
                image.along("N", boxes.slice_along(1, side, side + 1).reshape(boxes.shape[:1])).cast(f32)
                * float(extents[letter] - 1)
                for side in ("HW".index(letter), "HW".index(letter) + 2)
            )
            if crop[letter] == 1:
                return (begin + end) * 0.5
            return begin + image.numbers(letter, crop[letter]).cast(f32) * ((end - begin) * (1.0 / (crop[letter] - 1)))

        places = {letter: position(letter) for letter in "HW"}
        others = {"N": image.along("N", which), "C": image.numbers("C", extents["C"])}

        def read(h: Term, w: Term) -> Term:
            return image.read({**others, "H": h, "W": w})

        if self.method.data == "nearest_neighbor":
            value = read(*((p + 0.5).op("floor") for p in places.values()))
        else:
            value = interpolated(read, list(places.values()))
        inside = both([c for k, p in places.items() for c in (p >= 0, p <= float(extents[k] - 1))])
        value = value.where(inside, self.extrapolation_value.value.data)
        return g.through(value.cast(g.output.type.element_type))


@irdl_op_definition
class AffineGridOp(RelayOp):
    """The places that an affine map gives to the points of an even grid from -1 to 1, for `image.grid_sample`.

    `y[n, d, i, j] = data[n, d, 0] * (2*j / (W-1) - 1) + data[n, d, 1] * (2*i / (H-1) - 1) + data[n, d, 2]`

    ```mlir
    %y = relay.image.affine_grid %x {target_shape = array<i64: 4, 3>} : (tensor<1x2x3xf32>) -> tensor<1x2x4x3xf32>
    ```
    """

    name = "relay.image.affine_grid"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED

    data = operand_def(TensorType)
    result = result_def(TensorType)
    target_shape = int_list()

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        shape = data.get_shape()
        if len(shape) != 3 or shape[1:] != (2, 3) or not isinstance(data.element_type, AnyFloat):
            raise VerifyException(f"expected matrices [n, 2, 3] of floats, got {data}")
        if len(self.target_shape) != 2 or min(ints(self.target_shape)) < 2:
            raise VerifyException(
                f"'target_shape' must be two extents of at least 2, got {list(ints(self.target_shape))}"
            )
        return [TensorType(data.element_type, [shape[0], 2, *ints(self.target_shape)])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        height, width = ints(self.target_shape)
        wide = accumulator(x.element_type)

        def body(n: te.IterVar, d: te.IterVar, i: te.IterVar, j: te.IterVar) -> te.Expr:
            a, b, c = (te.cast(x[n, d, k], wide) for k in range(3))
            across = te.cast(j, wide) * (2.0 / (width - 1)) - 1
            down = te.cast(i, wide) * (2.0 / (height - 1)) - 1
            return a * across + b * down + c

        return narrow(te.compute([x.shape[0], 2, height, width], body, "affine_grid"), x.element_type)

    def gradient(self, g: Gradient) -> Terms:
        return g.linear()


@irdl_op_definition
class GridSampleOp(RelayOp):
    """Sample images at the places that a grid names: (x, y) from -1 to 1 over the image.

    `y[n, c, i, j] = data[n, c]` interpolated at `(grid[n, :, i, j] + 1) * (extent-1) / 2`; without `align_corners`, at
    `((grid[n, :, i, j] + 1) * extent - 1) / 2`. Outside the image is zero, its border, or its reflection. Images of
    depth (NCDHW) are sampled at (x, y, z), not bicubically.

    ```mlir
    %y = relay.image.grid_sample %x, %grid : (tensor<1x2x4x4xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
    ```
    """

    name = "relay.image.grid_sample"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.PLACED

    data = operand_def(TensorType)
    grid = operand_def(TensorType)
    result = result_def(TensorType)
    method = string("bilinear")
    layout = string("NCHW")
    padding_mode = string("zeros")
    align_corners = flag(True)

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        data, grid = tensor(self.data), shape_of(self.grid)
        layout, spatial = self.parsed_layout()
        layout.check(data.get_shape(), "the data")
        one_of(
            self.method.data,
            ("bilinear", "nearest", "bicubic") if len(spatial) == 2 else ("bilinear", "nearest"),
            "method",
        )
        one_of(self.padding_mode.data, ("zeros", "border", "reflection"), "padding_mode")
        rank = len(spatial)
        if len(grid) != rank + 2 or grid[1] not in (rank, DYNAMIC):
            shape = "[n, 2, height, width]" if rank == 2 else "[n, 3, depth, height, width]"
            raise VerifyException(f"expected a grid {shape}, got {list(grid)}")
        extents = layout.extents(data.get_shape())
        if DYNAMIC not in (extents["N"], grid[0]) and extents["N"] != grid[0]:
            raise VerifyException(f"there are {extents['N']} images, but {grid[0]} grids")
        return [TensorType(data.element_type, layout.shape(extents | dict(zip(spatial, grid[2:], strict=True))))]

    def parsed_layout(self) -> tuple[Layout, str]:
        """The layout, and the letters of the axes that are sampled along."""
        spatial = "DHW" if "D" in self.layout.data else "HW"
        return unblocked(self.layout.data, "NC" + spatial, "layout"), spatial

    def _reflected(self, p: te.Expr, extent: te.Dim) -> te.Expr:
        """A position brought into the axis by mirrors at its ends. What is one element long is all at its place: the
        ends, which `_inside` keeps to, are the same."""
        low, span = (0.0, extent - 1) if is_true(self.align_corners) else (-0.5, extent)
        if isinstance(span, int) and span == 0:
            return p * 0.0
        wide = _real(span)
        away = te.abs(p - low)
        turns = te.floor(away / (te.maximum(wide, 1) if isinstance(wide, te.Expr) else wide))
        rest = away - turns * wide
        even = (turns - te.floor(turns * 0.5) * 2.0).equal(0)
        return te.select(even, rest, wide - rest) + low

    def _inside(self, p: te.Expr, extent: te.Dim) -> te.Expr:
        """A position brought into the axis by the padding mode; `zeros` leaves it where it is."""
        if self.padding_mode.data == "zeros":
            return p
        if self.padding_mode.data == "reflection":
            p = self._reflected(p, extent)
        return te.minimum(te.maximum(p, 0), _real(extent - 1))

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, grid = inputs
        layout, spatial = self.parsed_layout()
        extents = layout.extents(x.shape)
        if not te.agree(extents["N"], grid.dims[0]):
            raise TypeError("te: it is not known whether there are as many grids as images")
        check_extents("a place of the grid", [grid.shape[1]], [len(spatial)])
        shape = layout.shape(extents | dict(zip(spatial, grid.shape[2:], strict=True)))

        def position(letter: str, at: te.Expr) -> te.Expr:
            if is_true(self.align_corners):
                return (at + 1) * (_real(extents[letter] - 1) * 0.5)
            return (at + 1) * (_real(extents[letter]) * 0.5) - 0.5

        def body(*indices: te.IterVar) -> te.Expr:
            out = dict(zip(layout.names, indices, strict=True))
            places = [
                position(
                    letter, te.cast(grid[(out["N"], spatial[::-1].index(letter), *(out[k] for k in spatial))], f32)
                )
                for letter in spatial
            ]

            def read(*at: te.Expr) -> te.Expr:
                at = tuple(self._inside(p, extents[k]) for k, p in zip(spatial, at, strict=True))
                inner = {k: clamped_index(te.cast(p, te.index), extents[k]) for k, p in zip(spatial, at, strict=True)}
                pixel = x[layout.arrange({"N": out["N"], "C": out["C"], **inner})]
                value = te.cast(unless_empty(x, pixel, shape), f32)
                if self.padding_mode.data != "zeros":
                    return value
                ends = [c for k, p in zip(spatial, at, strict=True) for c in (p >= 0, p <= _real(extents[k] - 1))]
                return te.select(te.all_of(ends), value, 0)

            if self.method.data == "bicubic":
                return interpolate(read, places, lambda t: cubic_weights(t, -0.75), -1)
            places = [self._inside(p, extents[k]) for k, p in zip(spatial, places, strict=True)]
            if self.method.data == "nearest":
                return read(*(te.round(p) for p in places))
            return interpolate(read, places, linear_weights, 0)

        return narrow(te.compute(shape, body, "grid_sample"), x.element_type)

    def gradient(self, g: Gradient) -> Terms:
        """By the data and by the grid, of the same written with operators."""
        g.static()
        data, grid = g.inputs
        layout, spatial = self.parsed_layout()
        image = Image(data, layout)
        extents = image.extents

        def position(letter: str) -> Term:
            number = spatial[::-1].index(letter)
            at = grid.slice_along(1, number, number + 1).relaid("NC" + spatial, layout.text).cast(f32) + 1.0
            extent = extents[letter]
            return at * ((extent - 1) / 2) if is_true(self.align_corners) else at * (extent / 2) - 0.5

        def inside(p: Term, extent: int) -> Term:
            if self.padding_mode.data == "zeros":
                return p
            return clipped(self._mirrored(p, extent) if self.padding_mode.data == "reflection" else p, 0, extent - 1)

        others = {"N": image.numbers("N", extents["N"]), "C": image.numbers("C", extents["C"])}

        def read(*at: Term) -> Term:
            at = tuple(inside(p, extents[k]) for k, p in zip(spatial, at, strict=True))
            value = image.read({**others, **dict(zip(spatial, at, strict=True))})
            if self.padding_mode.data != "zeros":
                return value
            ends = [c for k, p in zip(spatial, at, strict=True) for c in (p >= 0, p <= float(extents[k] - 1))]
            return value.where(both(ends))

        places = [position(letter) for letter in spatial]
        if self.method.data == "bicubic":
            value = interpolated(read, places, lambda t: cubic_term_weights(t, -0.75), -1)
        else:
            places = [inside(p, extents[k]) for k, p in zip(spatial, places, strict=True)]
            nearest = self.method.data == "nearest"
            value = read(*(p.op("round") for p in places)) if nearest else interpolated(read, places)
        return g.through(value.cast(g.output.type.element_type))

    def _mirrored(self, p: Term, extent: int) -> Term:
        """`_reflected`, of a term."""
        low, span = (0.0, extent - 1) if is_true(self.align_corners) else (-0.5, extent)
        if span == 0:
            return p * 0.0
        away = (p - low).op("abs")
        turns = (away / float(span)).op("floor")
        rest = away - turns * float(span)
        even = (turns - (turns * 0.5).op("floor") * 2.0).equals(0)
        return rest.where(even, float(span) - rest) + low


OPS: list[type[Operation]] = [
    Resize1dOp, Resize2dOp, Resize3dOp, CropAndResizeOp, AffineGridOp, GridSampleOp,
]  # fmt: skip
"""The operators on images."""

"""Operators of object detection: features pooled over regions of interest."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import AnyFloat, TensorType, f32, i32
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import DYNAMIC, Fusion, FusionPattern, RelayOp, flag, int_list, integer, ints, is_true, real, string, tensor
from ..indexing import unless_empty
from ..layout import unblocked
from ..nn_common import narrow
from ..precision import Accuracy
from ..resample import one_of
from ..sampling import Image, both, clipped, interpolated
from ..shapes import check_extents
from .image import clamped_index, interpolate, linear_weights, real_extent, weighted

if TYPE_CHECKING:
    from ..gradient import Gradient, Term, Terms


class _RegionPool(RelayOp, ABC):
    """What the two share: images `[n, c, h, w]`, or as `layout` says, and regions `[r, 5]`: (image, x1, y1, x2, y2)."""

    data = operand_def(TensorType)
    rois = operand_def(TensorType)
    result = result_def(TensorType)
    pooled_size = int_list()
    spatial_scale = real()
    layout = string("NCHW")

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    LAYOUTS: ClassVar[tuple[str, ...]] = ("layout",)

    def infer(self) -> Sequence[Attribute]:
        data, rois, pooled = tensor(self.data), tensor(self.rois), ints(self.pooled_size)
        layout = unblocked(self.layout.data, "NCHW", "layout")
        if len(data.get_shape()) != 4 or not isinstance(data.element_type, AnyFloat):
            raise VerifyException(f"expected images [n, c, h, w] of floats, got {data}")
        if len(rois.get_shape()) != 2 or rois.get_shape()[1] not in (5, DYNAMIC):
            raise VerifyException(f"expected regions [r, 5], got {rois}")
        if len(pooled) != 2 or min(pooled) < 1:
            raise VerifyException(f"'pooled_size' must be two positive values, got {list(pooled)}")
        extents = layout.extents(data.get_shape()) | dict(zip("NHW", (rois.get_shape()[0], *pooled), strict=True))
        return [TensorType(data.element_type, layout.shape(extents))]

    def pooled_shape(self, x: te.Tensor, rois: te.Tensor) -> tuple[int, ...]:
        """The shape of the result."""
        check_extents("a region", rois.shape[1:], [5])
        layout = unblocked(self.layout.data, "NCHW", "layout")
        pooled = dict(zip("NHW", (rois.shape[0], *ints(self.pooled_size)), strict=True))
        return layout.shape(layout.extents(x.shape) | pooled)

    def images(self, x: te.Tensor) -> tuple[int, list[int], Callable[..., te.Expr]]:
        """How many images there are, their height and width, and a pixel by image, channel and place."""
        layout = unblocked(self.layout.data, "NCHW", "layout")
        extents = layout.extents(x.shape)

        def pixel(*at: te.Expr) -> te.Expr:
            return unless_empty(x, x[layout.arrange(dict(zip("NCHW", at, strict=True)))], [extents["C"]])

        return extents["N"], [extents["H"], extents["W"]], pixel

    def each(self, body: Callable[..., te.Expr]) -> Callable[..., te.Expr]:
        """What computes an element of the result, from what does by region, channel and bin."""
        names = unblocked(self.layout.data, "NCHW", "layout").names
        return lambda *i: body(*(i[names.index(letter)] for letter in "NCHW"))

    def image_of(self, rois: te.Tensor, r: te.Expr, images: int) -> te.Expr:
        """The image that region `r` lies in."""
        return clamped_index(te.cast(te.cast(rois[r, 0], f32), te.index), images)

    def scaled(self, rois: te.Tensor, r: te.Expr, side: int) -> te.Expr:
        """One side of region `r` (0 to 3: x1, y1, x2, y2) in the images' pixels, as an f32."""
        return te.cast(rois[r, side + 1], f32) * self.spatial_scale.value.data

    def side(self, rois: Term, side: int, *, scaled: bool = True) -> Term:
        """One side of every region (0 to 3: x1, y1, x2, y2; -1: its image) along the first of six axes."""
        column = rois.slice_along(1, side + 1, side + 2).reshape([rois.shape[0], 1, 1, 1, 1, 1]).cast(f32)
        return column * self.spatial_scale.value.data if scaled else column


REACHED = 4
"""How many more points of a bin may lie in the image than it has pixels: there are `ceil(b)` along `b` pixels, two more
within one pixel of the image, and one on either side for what division rounds."""


@irdl_op_definition
class RoiAlignOp(_RegionPool):
    """Divide each region into `pooled_size` bins and take the mean (or maximum) of points interpolated in each.

    With the mode "max_corner", as ONNX has it, the maximum is that of the four pixels around each point, times their
    weights.

    An `aligned` region has its corners at the middle of pixels, and may be smaller than a pixel.

    Without `sample_ratio` a bin of `b` pixels has `ceil(b)` points along an axis; an empty one gives zero. Points more
    than one pixel outside of the image count as zero. (Gradients take no more points than regions of the image's size
    have.)

    `y[r, c, i, j] = mean_{u, v} x[image(r), c]` interpolated at `y1 + (i + (u + 0.5) / points) * (y2 - y1) / bins`, ...

    ```mlir
    %y = relay.vision.roi_align %x, %rois {pooled_size = array<i64: 2, 2>, spatial_scale = 1.0 : f64, sample_ratio = 2 : i64}
       : (tensor<1x2x6x6xf32>, tensor<3x5xf32>) -> tensor<3x2x2x2xf32>
    ```
    """  # noqa: E501

    name = "relay.vision.roi_align"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.PLACED

    sample_ratio = integer(-1)
    mode = string("avg")
    aligned = flag(False)

    def scaled(self, rois: te.Tensor, r: te.Expr, side: int) -> te.Expr:
        place = super().scaled(rois, r, side)
        return place - 0.5 if is_true(self.aligned) else place

    def infer(self) -> Sequence[Attribute]:
        one_of(self.mode.data, ("avg", "max", "max_corner"), "mode")
        return super().infer()

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, rois = inputs
        images, extents, pixel = self.images(x)
        pooled, ratio = ints(self.pooled_size), self.sample_ratio.value.data
        kind: te.ReduceKind = "sum" if self.mode.data == "avg" else "max"

        def bin_size(r: te.Expr, axis: int) -> te.Expr:
            begin, end = self.scaled(rois, r, 1 - axis), self.scaled(rois, r, 3 - axis)
            size = end - begin if is_true(self.aligned) else te.maximum(end - begin, 1)
            return size * (1.0 / pooled[axis])

        def points(r: te.Expr, axis: int) -> te.Expr:
            """How many points a bin has along an axis; none if it is empty."""
            return te.const(ratio, f32) if ratio > 0 else te.maximum(te.ceil(bin_size(r, axis)), 0)

        def place(r: te.Expr, axis: int, number: te.Expr, tap: te.Expr) -> te.Expr:
            """Where a point of a bin stands; both are numbered as f32."""
            bin = bin_size(r, axis)
            return self.scaled(rois, r, 1 - axis) + number * bin + (tap + 0.5) * bin / points(r, axis)

        def is_near(places: Sequence[te.Expr]) -> te.Expr:
            """Whether a point lies within one pixel of the image."""
            sides = [(at >= -1.0, at <= real_extent(extent)) for at, extent in zip(places, extents, strict=True)]
            return te.all_of([condition for side in sides for condition in side])

        def value(image: te.Expr, c: te.Expr, places: Sequence[te.Expr]) -> te.Expr:
            """What stands at a point of an image."""
            inside = [te.minimum(te.maximum(at, 0), real_extent(n - 1)) for at, n in zip(places, extents, strict=True)]

            def read(*at: te.Expr) -> te.Expr:
                h, w = (clamped_index(te.cast(p, te.index), n) for p, n in zip(at, extents, strict=True))
                return te.cast(pixel(image, c, h, w), f32)

            if self.mode.data == "max_corner":
                return reduce(te.maximum, weighted(read, inside, linear_weights, 0))
            return interpolate(read, inside, linear_weights, 0)

        def of_known_points(r: te.IterVar, c: te.IterVar, *bins: te.IterVar) -> te.Expr:
            taps = [te.reduce_axis(ratio, name) for name in ("kh", "kw")]
            numbers = [(te.cast(i, f32), te.cast(tap, f32)) for i, tap in zip(bins, taps, strict=True)]
            places = [place(r, axis, *pair) for axis, pair in enumerate(numbers)]
            found = value(self.image_of(rois, r, images), c, places)
            return te.reduce(kind, te.select(is_near(places), found, 0), taps)

        def skipped(r: te.Expr, axis: int, number: te.Expr) -> te.Expr:
            """How many points of a bin that has more of them than fit into the image lie before it."""
            steps = (-1.0 - self.scaled(rois, r, 1 - axis)) / bin_size(r, axis) - number
            before = te.floor(steps * points(r, axis) - 0.5)
            before = te.minimum(te.maximum(before, 0), points(r, axis) - 1)
            return te.select(points(r, axis) > real_extent(extents[axis] + REACHED), before, 0)

        def fill(do: te.Steps, result: te.Tensor) -> None:
            r, *bins = do.axes
            channels = te.dim_expr(shape[names.index("C")])
            numbers = [te.cast(i, f32) for i in bins]
            first = [do.let(skipped(r, axis, number), "first") for axis, number in enumerate(numbers)]
            counts = [
                do.let(te.minimum(te.cast(points(r, axis) - first[axis], te.index), extent + REACHED), "count")
                for axis, extent in enumerate(extents)
            ]

            def element(c: te.Expr) -> te.Read:
                return result[layout.arrange(dict(zip("NCHW", (r, c, *bins), strict=True)))]

            image = do.let(self.image_of(rois, r, images), "image")
            if kind == "max":
                with do.when((counts[0] > 0) & (counts[1] > 0)), do.loop(channels, "c") as c:
                    do.store(element(c), te.reduce_identity(kind, f32))
            with do.loop(counts[0], "kh") as row, do.loop(counts[1], "kw") as column:
                taps = [te.cast(tap, f32) + before for tap, before in zip((row, column), first, strict=True)]
                pairs = enumerate(zip(numbers, taps, strict=True))
                places = [do.let(place(r, axis, *pair), "place") for axis, pair in pairs]
                near = do.let(is_near(places), "near")
                with do.loop(channels, "c") as c:
                    found = te.select(near, value(image, c, places), 0)
                    do.store(element(c), te.binary(te.COMBINER[kind], element(c), found))

        shape, layout = self.pooled_shape(x, rois), unblocked(self.layout.data, "NCHW", "layout")
        names = layout.names
        if ratio > 0:
            reduced = te.compute(shape, self.each(of_known_points), f"roi_{kind}")
        else:
            (reduced,) = te.procedure(
                [(shape, f32, f"roi_{kind}")], fill, over=[shape[names.index(letter)] for letter in "NHW"]
            )
        if kind == "sum":
            total, first = reduced, names.index("N")
            reduced = te.compute(
                total.shape,
                lambda *i: total[i] / te.maximum(points(i[first], 0) * points(i[first], 1), 1),
                "roi_mean",
            )
        return narrow(reduced, x.element_type)

    def gradient(self, g: Gradient) -> Terms:
        """By the data and by the regions, of the same written with operators: `[r, c, bin, bin, point, point]`."""
        g.static()
        x, regions = g.inputs
        image = Image(x, unblocked(self.layout.data, "NCHW", "layout"))
        pooled, ratio, kind = ints(self.pooled_size), self.sample_ratio.value.data, self.mode.data
        counts = [ratio if ratio > 0 else -(-image.extents[k] // bins) for k, bins in zip("HW", pooled, strict=True)]
        shift = -0.5 if is_true(self.aligned) else 0.0
        places: list[Term] = []
        conditions: list[Term] = []
        used: list[Term] = []
        total: Term | None = None
        for axis, (letter, bins, count) in enumerate(zip("HW", pooled, counts, strict=True)):
            extent = image.extents[letter]
            begin, end = (self.side(regions, side - axis) + shift for side in (1, 3))
            size = end - begin if is_true(self.aligned) else (end - begin).op("maximum", 1)
            step = size * (1.0 / bins)
            points = step.filled(ratio, step.shape) if ratio > 0 else clipped(step.op("ceil"), 1, count)
            tap = numbers_along(x, 4 + axis, count)
            at = begin + (numbers_along(x, 2 + axis, bins) + (tap + 0.5) / points) * step
            conditions += [at >= -1.0, at <= float(extent)]
            used += [tap < points] if ratio <= 0 else []
            places.append(clipped(at, 0, extent - 1))
            total = points if total is None else total * points
        others = {"N": self.side(regions, -1, scaled=False), "C": numbers_along(x, 1, image.extents["C"])}

        def read(h: Term, w: Term) -> Term:
            return image.read({**others, "H": h, "W": w})

        value = interpolated(read, places, how="max" if kind == "max_corner" else "sum").where(both(conditions))
        if used:
            value = value.where(both(used), 0 if kind == "avg" else te.reduce_identity("max", f32).value)
        assert total is not None
        if kind == "avg":
            value = value.sum([4, 5]) / total.reshape([total.shape[0], 1, 1, 1])
        else:
            value = value.op("max", axis=[4, 5])
        return g.through(value.relaid("NCHW", self.layout.data).cast(g.output.type.element_type))


def numbers_along(like: Term, axis: int, count: int) -> Term:
    """0, 1, ... as f32 along one of the six axes: region, channel, the bin and then the tap by row and column."""
    import numpy as np

    return like.constant(np.arange(count).reshape([count if d == axis else 1 for d in range(6)]), f32)


def to_pixel(at: te.Expr) -> te.Expr:
    """The whole number next to `at`; halves go away from zero."""
    return te.select(at < 0, te.ceil(at - 0.5), te.floor(at + 0.5))


@irdl_op_definition
class RoiPoolOp(_RegionPool):
    """Divide each region, rounded to whole pixels, into `pooled_size` bins and take the maximum of each.

    `y[r, c, i, j] = max(x[image(r), c, y1 + floor(i*h / bins) : y1 + ceil((i+1)*h / bins), ...])`, 0 for an empty bin

    ```mlir
    %y = relay.vision.roi_pool %x, %rois {pooled_size = array<i64: 2, 2>, spatial_scale = 1.0 : f64}
       : (tensor<1x2x6x6xf32>, tensor<3x5xf32>) -> tensor<3x2x2x2xf32>
    ```
    """

    name = "relay.vision.roi_pool"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, rois = inputs
        images, extents, pixel = self.images(x)
        shape, layout = self.pooled_shape(x, rois), unblocked(self.layout.data, "NCHW", "layout")

        def covered(r: te.Expr, place: te.Expr, axis: int) -> tuple[te.Expr, te.Expr]:
            """The first pixel of the image in a bin, and how many there are, as f32."""
            begin, end = (to_pixel(self.scaled(rois, r, side - axis)) for side in (1, 3))
            size = te.maximum(end - begin + 1.0, 1) / float(ints(self.pooled_size)[axis])
            at = te.cast(place, f32)
            first = te.maximum(te.floor(at * size) + begin, 0)
            behind = te.minimum(te.ceil((at + 1) * size) + begin, real_extent(extents[axis]))
            return first, te.select(first < behind, behind - first, 0)

        def fill(do: te.Steps, result: te.Tensor) -> None:
            r, *bins = do.axes
            found = [[te.cast(n, te.index) for n in covered(r, place, axis)] for axis, place in enumerate(bins)]
            first = [do.let(begin, "first") for begin, _ in found]
            counts = [do.let(te.minimum(n, extent), "count") for (_, n), extent in zip(found, extents, strict=True)]
            image = do.let(self.image_of(rois, r, images), "image")
            channels = te.dim_expr(shape[layout.names.index("C")])
            with do.when((counts[0] > 0) & (counts[1] > 0)), do.loop(channels, "c") as c:
                element = result[layout.arrange(dict(zip("NCHW", (r, c, *bins), strict=True)))]
                do.store(element, te.reduce_identity("max", x.element_type))
                with do.loop(counts[0], "kh") as row, do.loop(counts[1], "kw") as column:
                    at = [
                        clamped_index(begin + tap, n)
                        for begin, tap, n in zip(first, (row, column), extents, strict=True)
                    ]
                    do.store(element, te.binary(te.COMBINER["max"], element, pixel(image, c, *at)))

        over = [shape[layout.names.index(letter)] for letter in "NHW"]
        (largest,) = te.procedure([(shape, x.element_type, "roi_pool")], fill, over=over)
        return largest

    def gradient(self, g: Gradient) -> Terms:
        """By the data: of maxima over the rows of bins, of maxima over their columns. Regions are whole pixels."""
        g.static()
        x, regions = g.inputs
        lowest = te.reduce_identity("max", x.type.element_type).value
        data = x.relaid(self.layout.data, "NCHW")
        images, channels, *extents = data.shape
        which = clipped(self.side(regions, -1, scaled=False).reshape([regions.shape[0]]), 0, images - 1).cast(i32)
        count = regions.shape[0]
        value = data.op("take", which, axis=0).reshape([count, channels, 1, 1, *extents])
        filled: list[Term] = []
        for axis in (1, 0):
            bins = ints(self.pooled_size)[axis]
            begin, end = (self.to_pixels(self.side(regions, side - axis)) for side in (1, 3))
            size = (end - begin + 1.0).op("maximum", 1) / float(bins)
            at = numbers_along(x, 2 + axis, bins)
            first, last = (at * size).op("floor") + begin, ((at + 1.0) * size).op("ceil") + begin
            tap = numbers_along(x, 4 + axis, extents[axis])
            value = value.where(both([tap >= first, tap < last]), lowest).op("max", axis=[4 + axis], keepdims=True)
            filled.append(first.op("maximum", 0) < last.op("minimum", float(extents[axis])))
        value = value.where(both(filled)).reshape([count, channels, *ints(self.pooled_size)])
        return g.through(value.relaid("NCHW", self.layout.data))

    @staticmethod
    def to_pixels(at: Term) -> Term:
        """`to_pixel`, of a term."""
        return (at - 0.5).op("ceil").where(at < 0, (at + 0.5).op("floor"))


OPS: list[type[Operation]] = [RoiAlignOp, RoiPoolOp]
"""The operators of object detection."""

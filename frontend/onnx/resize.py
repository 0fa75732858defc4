"""Resize and Upsample.

Images whose sizes follow from their scales are resampled by `image.resize*`. All else, scales that reach no whole size,
regions, antialias, other axes, axes beside open ones, goes axis by axis: where an element of the result stands, and so
which elements it is made of and how much of each, is known at import. Positions are fractions, so that none falls on
the wrong side of a half.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm, prod
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import AnyFloat, IntegerType, f32, f64, i64
from xdsl.ir import Attribute, SSAValue

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, shape_of, tensor
from ...dialects.support.advice import give_shapes
from ...dialects.support.dtypes import byte_width, numpy_dtype
from ...dialects.support.hints import isa
from .errors import Malformed, Unsupported
from .node import Node, T, Versions, rank_of
from .resize_told import by_scales, by_sizes
from .told import Told, vector

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_METHODS = {"nearest": "nearest_neighbor", "linear": "linear", "cubic": "cubic"}
_BY_OPERATOR = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
_BY_TAPS = ("half_pixel_symmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn")
_POLICIES = ("stretch", "not_larger", "not_smaller")
_ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
_LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}

Weights: TypeAlias = "Callable[[float], Sequence[float]]"
"""The weights of the elements around a position that lies so far above one of them."""


@dataclass(frozen=True)
class Axis:
    """An axis of `extent` elements, resampled to `size` by `scale`; `region` is the part of it that is taken."""

    axis: int
    extent: int
    size: int
    scale: Fraction
    region: tuple[float, float]

    @property
    def is_whole(self) -> bool:
        """Whether the scale follows from the sizes."""
        return self.scale == Fraction(self.size, self.extent)

    def positions(self, coordinates: str) -> list[Fraction]:
        """Where the elements of the result stand among those of the axis."""
        half, wide = Fraction(1, 2), self.scale * self.extent
        match coordinates:
            case "align_corners":
                step, start = (Fraction(self.extent - 1) / (wide - 1) if wide != 1 else Fraction(0)), Fraction(0)
            case "asymmetric":
                step, start = 1 / self.scale, Fraction(0)
            case "tf_crop_and_resize":
                low, high = (Fraction(bound).limit_denominator(1 << 16) * (self.extent - 1) for bound in self.region)
                step = (high - low) / (wide - 1) if wide != 1 else Fraction(0)
                start = low if wide != 1 else (low + high) / 2
            case "pytorch_half_pixel" if self.size == 1:
                step, start = Fraction(0), Fraction(0)
            case "tf_half_pixel_for_nn":
                step, start = 1 / self.scale, half / self.scale
            case "half_pixel_symmetric":
                step = 1 / self.scale
                start = Fraction(self.extent, 2) * (1 - self.size / wide) + half / self.scale - half
            case _:
                step, start = 1 / self.scale, half / self.scale - half
        return [start + step * i for i in range(self.size)]


def as_fraction(scale: float) -> Fraction:
    """The simplest fraction that is this f32: 0.6 means three fifths."""
    import numpy as np

    simple = Fraction(scale).limit_denominator(1000)
    return simple if np.float32(float(simple)) == np.float32(scale) else Fraction(scale)


def of_scales(node: Node, x: SSAValue, axes: Sequence[int], scales: Sequence[float]) -> list[Axis]:
    """The axes with the sizes that scales give: rounded down, as products of f32 are; it may be nothing that is left.

    Raises:
        Malformed: a scale is not positive.
    """
    import numpy as np

    shape = extents_of(node, x, axes)
    if any(scale <= 0 for scale in scales):
        raise Malformed(f"scales {list(scales)}, which must be positive")
    sizes = [floor(float(np.float32(shape[a]) * np.float32(s))) for a, s in zip(axes, scales, strict=True)]
    return in_order(shape, axes, sizes, [as_fraction(scale) for scale in scales])


def of_sizes(node: Node, x: SSAValue, axes: Sequence[int], sizes: Sequence[int], policy: str) -> list[Axis]:
    """The axes with the sizes that are asked for; those that keep the aspect ratio are scaled by one number."""
    shape = extents_of(node, x, axes)
    if 0 in shape or min(sizes, default=1) < 1:
        raise Malformed(f"a tensor of shape {list(shape)} cannot be resampled to the sizes {list(sizes)}")
    scales = [Fraction(n, shape[axis]) for axis, n in zip(axes, sizes, strict=True)]
    if policy == "stretch":
        return in_order(shape, axes, sizes, scales)
    scale = min(scales) if policy == "not_larger" else max(scales)
    sizes = [floor(scale * shape[axis] + Fraction(1, 2)) for axis in axes]
    return in_order(shape, axes, sizes, [scale] * len(axes))


def extents_of(node: Node, x: SSAValue, axes: Sequence[int]) -> tuple[int, ...]:
    """The shape of `x`, in which these axes have to be known.

    Raises:
        Unsupported: one of them is not.
    """
    shape = shape_of(x)
    return node.static_shape(x) if any(shape[axis] == DYNAMIC for axis in axes) else shape


def in_order(shape: Sequence[int], axes: Sequence[int], sizes: Sequence[int], scales: Sequence[Fraction]) -> list[Axis]:
    """The axes of a tensor of this shape that change, in order."""
    found = [
        Axis(axis, shape[axis], size, scale, (0.0, 1.0)) for axis, size, scale in zip(axes, sizes, scales, strict=True)
    ]
    return sorted(found, key=lambda each: each.axis)


def matching(given: Sequence[T], axes: Sequence[int]) -> list[T]:
    """`given`, one for each axis."""
    if len(given) != len(axes):
        raise Malformed(f"{len(given)} sizes or scales for {len(axes)} dimensions")
    return list(given)


def upsample(node: Node) -> SSAValue:
    """Deprecated by Resize; its coordinates are asymmetric and rounded down."""
    x = node.input(0)
    if node.version < 9:
        scales = list(node.attributes["scales"].floats) if "scales" in node.attributes else []
    else:
        if not node.is_known(1):
            return by_scales(node, x, range(rank_of(x)), 1, "asymmetric", "floor")
        scales = [float(v) for v in node.static(1).reshape(-1)]
    return resize_by(node, x, scales)


def resize_by_scales(node: Node) -> SSAValue:
    """The first revision: Upsample's coordinates, but rounded up along an axis that becomes shorter."""
    x = node.input(0)
    if not node.is_known(1):
        return by_scales(node, x, range(rank_of(x)), 1, "asymmetric", "ceil where shorter")
    scales = [float(v) for v in node.static(1).reshape(-1)]
    if node.string("mode", "nearest") != "nearest":
        return resize_by(node, x, scales)
    axes, scales = that_change(x, range(rank_of(x)), matching(scales, range(rank_of(x))))
    found = of_scales(node, x, axes, scales)
    shorter = [each for each in found if each.scale < 1]
    if len(shorter) < len(found):
        x = resampled(node, x, [each for each in found if each not in shorter], "asymmetric", "floor")
    return resampled(node, x, shorter, "asymmetric", "ceil") if shorter else x


def resize_by(node: Node, x: SSAValue, scales: Sequence[float]) -> SSAValue:
    axes, scales = that_change(x, range(rank_of(x)), matching(scales, range(rank_of(x))))
    if any(shape_of(x)[axis] == DYNAMIC for axis in axes):
        if (size := scaled(node, x, axes, scales)) is None:
            raise Unsupported(f"scales {list(scales)} of open images", give_shapes())
        return of_open_images(node, x, axes, size, "asymmetric", "floor")
    return resampled(node, x, of_scales(node, x, axes, scales), "asymmetric", "floor")


def resize(node: Node) -> SSAValue:
    """By scales or to sizes, and with any of the modes."""
    x = node.input(0)
    coordinates = node.string("coordinate_transformation_mode", "half_pixel")
    if coordinates not in (*_BY_OPERATOR, *_BY_TAPS):
        raise Malformed(f"attribute 'coordinate_transformation_mode' is '{coordinates}'")
    rounding = node.choice("nearest_mode", {name: name for name in _ROUNDINGS}, "round_prefer_floor")
    axes = [node.axis(a, rank_of(x)) for a in node.integers("axes", range(rank_of(x)))]
    if len(set(axes)) != len(axes):
        raise Malformed(f"axes {axes} name a dimension twice")
    if node.optional(2) is not None and shape_of(node.input(2)) != (0,):
        return resize_to_scales(node, x, axes, coordinates, rounding)
    return resize_to_sizes(node, x, axes, coordinates, rounding)


def resize_to_scales(node: Node, x: SSAValue, given: Sequence[int], coordinates: str, rounding: str) -> SSAValue:
    """Along the axes that are given, by the scales that input 2 holds."""
    roi = 1 if coordinates == "tf_crop_and_resize" else None
    if not node.is_known(2) or (roi is not None and not node.is_known(roi)):
        return by_scales(node, x, given, 2, coordinates, rounding, roi)
    axes, scales = that_change(x, given, matching([float(v) for v in node.static(2).reshape(-1)], given))
    if any(shape_of(x)[axis] == DYNAMIC for axis in axes):
        if roi is not None or (size := scaled(node, x, axes, scales)) is None:
            return by_scales(node, x, given, 2, coordinates, rounding, roi)
        return of_open_images(node, x, axes, size, coordinates, rounding)
    return resampled(
        node, x, regions_of(node, of_scales(node, x, axes, scales), given, coordinates), coordinates, rounding
    )


def resize_to_sizes(node: Node, x: SSAValue, given: Sequence[int], coordinates: str, rounding: str) -> SSAValue:
    """Along the axes that are given, to the sizes that input 3 holds."""
    import numpy as np

    roi = 1 if coordinates == "tf_crop_and_resize" else None
    policy = node.choice("keep_aspect_ratio_policy", {name: name for name in _POLICIES}, "stretch")
    wanted = sizes_of(node)
    if wanted is None or (roi is not None and not node.is_known(roi)):
        return by_sizes(node, x, given, vector(node, 3), coordinates, rounding, policy, roi)
    matching(wanted, given)
    changed = list(range(len(given)))
    if DYNAMIC in shape_of(x) or any(not isinstance(size, int) for size in wanted):
        dims = node.dims(x)
        changed = [i for i, (n, axis) in enumerate(zip(wanted, given, strict=True)) if not is_same(n, dims[axis])]
    sizes = [size for number in changed if isinstance(size := wanted[number], int)]
    axes = [given[number] for number in changed]
    if len(sizes) != len(axes) or any(shape_of(x)[axis] == DYNAMIC for axis in axes):
        if policy != "stretch" or roi is not None:
            return by_sizes(node, x, given, vector(node, 3), coordinates, rounding, policy, roi)
        size = node.emit("take", vector(node, 3).value, node.constant(np.array(changed, np.int64)), axis=0)
        return of_open_images(node, x, axes, size, coordinates, rounding)
    found = of_sizes(node, x, axes, sizes, policy)
    return resampled(node, x, regions_of(node, found, given, coordinates), coordinates, rounding)


def regions_of(node: Node, found: Sequence[Axis], given: Sequence[int], coordinates: str) -> list[Axis]:
    """The axes with the regions that input 1 holds for those that are given, where `coordinates` ask for one.

    Raises:
        Malformed: it does not hold two bounds for each.
        Unsupported: it takes a part of an axis that stays as it is.
    """
    if coordinates != "tf_crop_and_resize":
        return list(found)
    bounds = [float(v) for v in node.static(1).reshape(-1)]
    if len(bounds) != 2 * len(given):
        raise Malformed(f"a region of {len(bounds)} bounds for {len(given)} dimensions")
    regions = {axis: (bounds[i], bounds[i + len(given)]) for i, axis in enumerate(given)}
    if any(regions[axis] != (0.0, 1.0) for axis in set(given) - {each.axis for each in found}):
        raise Unsupported("a region of an axis of open images", give_shapes())
    return [Axis(each.axis, each.extent, each.size, each.scale, regions[each.axis]) for each in found]


def sizes_of(node: Node) -> list[te.Dim | None] | None:
    """The sizes that are asked for; `None` for those that data decides, and for all, if it decides all."""
    held = None if node.emitter.evaluate(node.input(3)) is not None else node.emitter.contents(node.input(3))
    if held is None or all(size is None for size in held):
        found = node.symbolic_or_none(3)
        return None if found is None else [*found]
    return [None if isinstance(size, float) else size for size in held]


def is_same(size: te.Dim | None, extent: te.Dim) -> bool:
    """Whether a size is surely the extent that there is."""
    return size is not None and te.same(size, extent)


def that_change(x: SSAValue, axes: Sequence[int], scales: Sequence[float]) -> tuple[list[int], list[float]]:
    """The axes with their scales; where extents are open, those that change."""
    is_open = DYNAMIC in shape_of(x)
    pairs = [(a, s) for a, s in zip(axes, scales, strict=True) if s != 1 or not is_open]
    return [axis for axis, _ in pairs], [scale for _, scale in pairs]


def scaled(node: Node, x: SSAValue, axes: Sequence[int], scales: Sequence[float]) -> SSAValue | None:
    """The extents of `axes` of `x`, multiplied; `None` by what is no integer: then the places of elements do not follow
    from the extents."""
    import numpy as np

    if any(scale != int(scale) for scale in scales):
        return None
    shape = node.emit("shape_of", x, dtype="int64")
    taken = node.emit("take", shape, node.constant(np.array(axes, np.int64)), axis=0)
    return node.emit("multiply", taken, node.constant(np.array(scales, np.int64)))


def of_open_images(
    node: Node, x: SSAValue, axes: Sequence[int], size: SSAValue, coordinates: str, rounding: str
) -> SSAValue:
    """Images of open extents resampled to `size`; what has one axis is an image one element high."""
    import numpy as np

    method = _METHODS.get(node.string("mode", "nearest"))
    antialias = bool(node.integer("antialias", 0)) and method != "nearest_neighbor"
    if antialias or method is None or coordinates not in _BY_OPERATOR:
        return by_sizes(node, x, axes, Told(node, size), coordinates, rounding)
    if rank_of(x) == 4 and list(axes) in ([2], [3]):
        kept = node.reshape(node.extent(node.dims(x)[5 - axes[0]]), [1])
        size = node.emit("concatenate", node.emitter.tuple([size, kept][:: 1 if axes[0] == 2 else -1]), axis=0)
    elif rank_of(x) == 3 and list(axes) == [2]:
        size = node.emit("concatenate", node.emitter.tuple([node.constant(np.array([1])), size]), axis=0)
        high = node.emit("expand_dims", x, axis=2, num_newaxis=1)
        return node.emit("squeeze", resampled_images(node, high, size, method, coordinates, rounding), axis=[2])
    elif rank_of(x) != 4 or list(axes) != [2, 3]:
        return by_sizes(node, x, axes, Told(node, size), coordinates, rounding)
    return resampled_images(node, x, size, method, coordinates, rounding)


def resampled_images(node: Node, x: SSAValue, size: SSAValue, method: str, coordinates: str, rounding: str) -> SSAValue:
    """Images, `NCHW`, resampled to a height and a width that are computed."""
    import numpy as np

    return node.emit(
        "dyn.image.resize2d",
        x,
        size,
        node.constant(np.zeros(0, np.float32)),
        method=method,
        coordinate_transformation_mode=coordinates,
        rounding_method=rounding if method == "nearest_neighbor" else "",
        cubic_alpha=node.real("cubic_coeff_a", -0.75),
        cubic_exclude=bool(node.integer("exclude_outside", 0)),
    )


def resampled(node: Node, x: SSAValue, axes: Sequence[Axis], coordinates: str, rounding: str) -> SSAValue:
    """`x` with its `axes` resampled by the node's mode; where they stay as they are, `x` itself.

    Raises:
        Malformed: there is no such mode.
        Unsupported: integers with antialias, of which it is not said how they are rounded.
    """
    import numpy as np

    method = node.string("mode", "nearest")
    if method not in _METHODS:
        raise Malformed(f"attribute 'mode' is '{method}'")
    antialias = bool(node.integer("antialias", 0)) and method != "nearest"
    changed = [each for each in axes if each.size != each.extent or each.scale != 1 or each.region != (0.0, 1.0)]
    if not changed:
        return x
    if nothing := [each for each in changed if not each.size]:
        return without_elements(node, x, changed, nothing[0].axis)
    spatial = rank_of(x) - 2
    if (
        not antialias
        and coordinates in _BY_OPERATOR
        and spatial in _LAYOUTS
        and DYNAMIC not in shape_of(x)[2:]
        and all(each.is_whole and each.axis >= 2 for each in changed)
    ):
        size = list(shape_of(x)[2:])
        for each in changed:
            size[each.axis - 2] = each.size
        return node.emit(
            f"image.resize{spatial}d",
            x,
            size=size,
            layout=_LAYOUTS[spatial],
            method=_METHODS[method],
            coordinate_transformation_mode=coordinates,
            rounding_method=rounding if method == "nearest" else "",
            cubic_alpha=node.real("cubic_coeff_a", -0.75),
            cubic_exclude=bool(node.integer("exclude_outside", 0)),
        )
    element = tensor(x).element_type
    if method == "nearest":
        for each in changed:
            x = picked(node, x, each, coordinates, rounding)
        return x
    if antialias and not isinstance(element, AnyFloat):
        raise Unsupported(f"antialias of {element}")
    parts = whole_parts(node, element, changed, coordinates, method)
    x = node.cast(x, i64 if parts else f64 if element == f64 else f32)
    for each in with_least_work(changed):
        x = interpolated(node, x, each, coordinates, method, antialias)
    if parts:
        x = node.emit("divide", x, node.constant(np.array(parts, np.int64)))
    return node.cast(x, element)


def whole_parts(node: Node, element: Attribute, axes: Sequence[Axis], coordinates: str, method: str) -> int:
    """By what sums of integers with whole weights are divided, which come to what is interpolated linearly between them
    exactly; 0 where that is computed in floats."""
    by_floats = coordinates == "tf_crop_and_resize" or node.integer("exclude_outside", 0)
    if method != "linear" or by_floats or not isa(element, IntegerType):
        return 0
    parts = prod(parts_of(each.positions(coordinates)) for each in axes)
    return parts if 8 * byte_width(element) + parts.bit_length() < 64 else 0


def parts_of(positions: Sequence[Fraction]) -> int:
    """Into how many parts elements are divided where these positions are."""
    return lcm(*(at.denominator for at in positions))


def with_least_work(axes: Sequence[Axis]) -> list[Axis]:
    """The axes in the order in which least is computed element by element: what becomes shorter first, and the last
    axis, along which neighbours lie side by side, before the others become longer."""
    shorter = [each for each in axes if each.size < each.extent]
    return [*shorter, *(each for each in reversed(axes) if each not in shorter)]


def without_elements(node: Node, x: SSAValue, changed: Sequence[Axis], axis: int) -> SSAValue:
    """What is left where nothing is left along an axis, whatever stands along the others."""
    import numpy as np

    x = node.emit("strided_slice", x, begin=[0], end=[0], strides=[1], axes=[axis], slice_mode="end")
    for each in changed:
        if each.axis != axis:
            x = node.emit("take", x, node.constant(np.zeros(each.size, np.int64)), axis=each.axis, mode="clip")
    return x


def picked(node: Node, x: SSAValue, axis: Axis, coordinates: str, rounding: str) -> SSAValue:
    """The elements of `x` that are nearest to the positions along an axis."""
    import numpy as np

    half = Fraction(1, 2)
    rounded: dict[str, Callable[[Fraction], int]] = {
        "floor": floor,
        "ceil": ceil,
        "round_prefer_floor": lambda at: ceil(at - half),
        "round_prefer_ceil": lambda at: floor(at + half),
    }
    positions = axis.positions(coordinates)
    indices = np.array([min(max(rounded[rounding](at), 0), axis.extent - 1) for at in positions], np.int64)
    y = node.emit("take", x, node.constant(indices), axis=axis.axis)
    return extrapolated(node, y, axis, coordinates, positions)


def interpolated(node: Node, x: SSAValue, axis: Axis, coordinates: str, method: str, antialias: bool) -> SSAValue:
    """The sums of the elements around the positions along an axis, each with its weight."""
    import numpy as np

    scale = min(float(axis.scale), 1.0) if antialias else 1.0
    reach = {"linear": 1, "cubic": 2}[method] / scale
    first = floor(-reach) + 1
    steps = np.arange(first, 2 - first)
    kernel = linear_weight if method == "linear" else cubic_weight(node.real("cubic_coeff_a", -0.75))
    positions = axis.positions(coordinates)
    lows = [ceil(at) - 1 for at in positions]  # an element at the position counts as one above
    offsets = np.array([float(at - low) for at, low in zip(positions, lows, strict=True)])
    weights = kernel(np.abs(steps[None, :] - offsets[:, None]) * scale)
    indices = np.array(lows, np.int64)[:, None] + steps[None, :]
    if antialias:
        weights = weights / weights.sum(axis=1, keepdims=True)
    if node.integer("exclude_outside", 0):
        weights = np.where((indices >= 0) & (indices < axis.extent), weights, 0.0)
        weights = weights / weights.sum(axis=1, keepdims=True)
    indices = np.clip(indices, 0, axis.extent - 1)
    behind = rank_of(x) - axis.axis - 1
    dtype = numpy_dtype(tensor(x).element_type)
    if dtype.kind == "i":
        parts, places = parts_of(positions), zip(positions, lows, strict=True)
        weights = np.array([[max(0, 1 - abs(int(s) - at + low)) * parts for s in steps] for at, low in places])
    taps = node.emit("take", x, node.constant(indices), axis=axis.axis)
    factors = node.constant(weights.astype(dtype).reshape(*weights.shape, *[1] * behind))
    y = node.emit("sum", node.emit("multiply", taps, factors), axis=[axis.axis + 1])
    return extrapolated(node, y, axis, coordinates, positions)


def extrapolated(node: Node, y: SSAValue, axis: Axis, coordinates: str, positions: Sequence[Fraction]) -> SSAValue:
    """`y` with the extrapolation value where a position of `tf_crop_and_resize` is not on the axis."""
    import numpy as np

    inside = np.array([0 <= at <= axis.extent - 1 for at in positions])
    if coordinates != "tf_crop_and_resize" or inside.all():
        return y
    mask = node.constant(inside.reshape(-1, *[1] * (rank_of(y) - axis.axis - 1)))
    return node.emit("where", mask, y, node.scalar(node.real("extrapolation_value", 0.0), y))


def linear_weight(distance: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How much of an element at a distance from a position there is in a linear interpolation."""
    return (1 - distance).clip(0, 1)


def cubic_weight(alpha: float) -> Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]:
    """The same for a cubic one (Keys, Cubic convolution interpolation for digital image processing, 1981)."""
    import numpy as np

    def weight(d: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        near = ((alpha + 2) * d - (alpha + 3)) * d * d + 1
        far = ((alpha * d - 5 * alpha) * d + 8 * alpha) * d - 4 * alpha
        return np.where(d <= 1, near, np.where(d < 2, far, 0.0))

    return weight


CONVERTERS: dict[str, Versions] = {
    "Resize": {10: resize_by_scales, 11: resize},
    "Upsample": {7: upsample},
}

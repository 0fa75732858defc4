"""Resize and Upsample by sizes, scales or regions that are known when the graph runs only, or of open extents.

Axis by axis, as where all is known at import: where an element of the result stands, which elements it is made of, and
how much of each, is computed when the graph runs.

Sizes make the scale a ratio of two integers, of which positions are computed in f64, multiplied before they are
divided: one that is a whole number or a half is exactly that. Scales are computed with in f32, as ONNX Runtime does:
so 1.5 / 0.6 is 2.5, though the f32 nearest to 0.6 is above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import AnyFloat, f32, f64, i64
from xdsl.ir import SSAValue

from ...dialects.relay.base import DYNAMIC, shape_of, tensor
from ...dialects.relay.core import TupleOp
from ...dialects.relay.ops.slicing import ConcatenateOp
from .errors import Malformed, Unsupported
from .node import Node, rank_of
from .told import Told, count_of, of_either_sign, positions, up_to
from .told_shapes import extent

Region: TypeAlias = "tuple[Told, Told]"
"""Where the part of an axis that is taken begins and ends, of 1."""


@dataclass(frozen=True)
class ToldAxis:
    """An axis of `extent` elements, resampled to `size` by the ratio of two numbers; all are vectors of one."""

    axis: int
    extent: Told
    size: Told
    ratio: tuple[Told, Told]
    region: Region | None

    def positions(self, coordinates: str) -> Told:
        """Where the elements of the result stand among those of the axis, as floats of the ratio's type; an axis that
        stays as it is, is what it was, whatever the coordinates."""
        above, below = self.ratio
        i = as_floats(up_to(above.node, self.size), above)
        stays = above.equal(below).both(self.extent.equal(self.size))
        if self.region is not None:
            stays = stays.both(self.region[0].equal(0)).both(self.region[1].equal(1))
        return stays.where(i, self.moved(i, coordinates))

    def moved(self, i: Told, coordinates: str) -> Told:
        """The positions of elements of numbers `i`, where they are not those."""
        above, below = self.ratio
        extent, size = as_floats(self.extent, above), as_floats(self.size, above)
        middle = ((i * 2 + 1) * below).by("divide", above * 2)
        steps = above * extent - below  # one less than the scaled extent, times `below`
        has_steps, safe = steps.by("not_equal", 0), steps.equal(0).where(1, steps)
        match coordinates:
            case "align_corners":
                return has_steps.where((i * (extent - 1) * below).by("divide", safe), 0)
            case "asymmetric":
                return (i * below).by("divide", above)
            case "tf_crop_and_resize":
                assert self.region is not None
                low, high = ((as_floats(bound, above) * (extent - 1)) for bound in self.region)
                inner = (low * (steps - i * below) + high * i * below).by("divide", safe)
                return has_steps.where(inner, (low + high).by("divide", 2))
            case "tf_half_pixel_for_nn":
                return middle
            case "half_pixel_symmetric":
                return extent.by("divide", 2) - (size * below).by("divide", above * 2) + middle - 0.5
            case "pytorch_half_pixel":
                return size.equal(1).where(0, middle - 0.5)
            case _:
                return middle - 0.5


def as_floats(given: Told, like: Told) -> Told:
    """Numbers in the type of others."""
    return Told(given.node, given.node.cast(given.value, tensor(like.value).element_type))


def by_scales(
    node: Node, x: SSAValue, axes: Sequence[int], index: int, coordinates: str, rounding: str, roi: int | None = None
) -> SSAValue:
    """`x` resampled by scales, the input at `index`: sizes are rounded down, as products of f32 are, and may leave
    nothing. The run fails for a scale that is not positive."""
    scales = Told(node, node.cast(node.input(index, rank=1), f32))
    check_count(scales, axes)
    scales = scales.provided((scales * -1 < 0).all())
    found: list[ToldAxis] = []
    for number, axis in enumerate(axes):
        if roi is None and known_at(node, node.input(index), number) == 1:
            continue
        scale, length = scales.at([number]), extent(node, x, axis)
        size = Told(node, node.cast((as_floats(length, scale) * scale).value, i64))
        one = Told(node, node.scalar(1, scale.value))
        found.append(ToldAxis(axis, length, size, (scale, one), region(node, roi, number, len(axes))))
    return resampled_as_told(node, x, found, coordinates, rounding)


def known_at(node: Node, vector: SSAValue, place: int) -> float | None:
    """An element of a vector that is put together of some that are known, as `[1, 1, h, w]`, and others."""
    if (array := node.emitter.evaluate(vector)) is not None:
        return array.reshape(-1)[place].item()
    if isinstance(joined := vector.owner, ConcatenateOp) and isinstance(parts := joined.operands[0].owner, TupleOp):
        for part in parts.fields:
            count = shape_of(part)[0]
            if count == DYNAMIC:
                return None
            if place < count:
                return known_at(node, part, place)
            place -= count
    return None


def by_sizes(
    node: Node,
    x: SSAValue,
    axes: Sequence[int],
    sizes: Told,
    coordinates: str,
    rounding: str,
    policy: str = "stretch",
    roi: int | None = None,
) -> SSAValue:
    """`x` resampled to sizes; those that keep the aspect ratio are scaled by one number. The run fails for sizes that
    are not positive."""
    check_count(sizes, axes)
    lengths = [extent(node, x, axis) for axis in axes]
    wanted = [sizes.at([number]) for number in range(len(axes))]
    floats = [(as_f64(size), as_f64(length)) for size, length in zip(wanted, lengths, strict=True)]
    if policy != "stretch":
        ratio = floats[0]
        for other in floats[1:]:
            a, b = other[0] * ratio[1], ratio[0] * other[1]
            is_nearer = a < b if policy == "not_larger" else b < a
            ratio = (is_nearer.where(other[0], ratio[0]), is_nearer.where(other[1], ratio[1]))
        floats = [ratio] * len(axes)
        above, below = (Told(node, node.cast(each.value, i64)) for each in ratio)
        wanted = [(above * length * 2 + below) // (below * 2) for length in lengths]
    found = [
        ToldAxis(axis, length, checked(size, length), ratio, region(node, roi, number, len(axes)))
        for number, (axis, length, size, ratio) in enumerate(zip(axes, lengths, wanted, floats, strict=True))
    ]
    return resampled_as_told(node, x, found, coordinates, rounding)


def as_f64(given: Told) -> Told:
    return Told(given.node, given.node.cast(given.value, f64))


def check_count(given: Told, axes: Sequence[int]) -> None:
    """
    Raises:
        Malformed: there is not one number for each axis.
    """
    if count_of(given) != len(axes):
        raise Malformed(f"{count_of(given)} sizes or scales for {len(axes)} dimensions")


def checked(size: Told, length: Told) -> Told:
    """A size; the run fails where it is none, or where there are no elements."""
    return size.provided((size >= 1).both(length >= 1))


def region(node: Node, index: int | None, number: int, count: int) -> Region | None:
    """What the input at `index` says of the axis of a number.

    Raises:
        Malformed: it does not hold two bounds for each.
    """
    if index is None:
        return None
    bounds = Told(node, node.input(index, rank=1))
    if count_of(bounds) != 2 * count:
        raise Malformed(f"a region of {count_of(bounds)} bounds for {count} dimensions")
    return bounds.at([number]), bounds.at([number + count])


def resampled_as_told(node: Node, x: SSAValue, axes: Sequence[ToldAxis], coordinates: str, rounding: str) -> SSAValue:
    """`x` with its `axes` resampled by the node's mode.

    Raises:
        Malformed: there is no such mode.
        Unsupported: integers with antialias, of which it is not said how they are rounded.
    """
    method = node.string("mode", "nearest")
    element = tensor(x).element_type
    if method == "nearest":
        for each in axes:
            x = picked(node, x, each, coordinates, rounding)
        return x
    if method not in ("linear", "cubic"):
        raise Malformed(f"attribute 'mode' is '{method}'")
    antialias = bool(node.integer("antialias", 0))
    if antialias and not isinstance(element, AnyFloat):
        raise Unsupported(f"antialias of {element}")
    x = node.cast(x, f64 if element == f64 else f32)
    for each in axes:
        x = interpolated(node, x, each, coordinates, method, antialias)
    return node.cast(x, element)


def picked(node: Node, x: SSAValue, axis: ToldAxis, coordinates: str, rounding: str) -> SSAValue:
    """The elements of `x` that are nearest to the positions along an axis."""
    at = axis.positions(coordinates)
    match rounding:
        case "round_prefer_floor":
            nearest = (at - 0.5).by("ceil")
        case "round_prefer_ceil":
            nearest = (at + 0.5).by("floor")
        case "ceil where shorter":
            above, below = axis.ratio
            nearest = (above < below).where(at.by("ceil"), at.by("floor"))
        case _:
            nearest = at.by(rounding)
    place = Told(node, node.cast(nearest.value, i64)).at_least(0).at_most(axis.extent - 1)
    y = node.emit("take", x, place.value, axis=axis.axis, mode="clip")
    return extrapolated(node, y, axis, coordinates, at)


def interpolated(node: Node, x: SSAValue, axis: ToldAxis, coordinates: str, method: str, antialias: bool) -> SSAValue:
    """The sums of the elements around the positions along an axis, each with its weight."""
    at = axis.positions(coordinates)
    reach = {"linear": 1, "cubic": 2}[method]
    low = at.by("ceil") - 1  # an element at the position counts as one above
    if antialias:
        above, below = axis.ratio
        scale = above.by("divide", below).at_most(1)
        first = Told(node, node.cast((scale.by("divide", scale * scale) * -reach).by("floor").value, i64)) + 1
        step = up_to(node, of_either_sign(first * -2 + 2)) + first
    else:
        scale, step = None, Told(node, positions(node, 2 * reach)) - (reach - 1)
    offset = as_floats(step, at) - (at - low).column()
    distance = offset.by("abs") if scale is None else offset.by("abs") * scale
    weights = linear_weight(distance) if method == "linear" else cubic_weight(distance, cubic_alpha(node))
    places = Told(node, node.cast(low.value, i64)).column() + step
    if node.integer("exclude_outside", 0):
        weights = (places >= 0).both(places < axis.extent).where(weights, 0)
    if antialias or node.integer("exclude_outside", 0):
        total = Told(node, node.emit("sum", weights.value, axis=[1], keepdims=True))
        weights = weights.by("divide", total)
    places = places.at_least(0).at_most(axis.extent - 1)
    taps = node.emit("take", x, places.value, axis=axis.axis, mode="clip")
    factors = node.cast(weights.value, tensor(x).element_type)
    if behind := rank_of(x) - axis.axis - 1:
        factors = node.emit("expand_dims", factors, axis=2, num_newaxis=behind)
    # What counts for nothing may be infinite.
    parts = node.emit("where", node.emit("equal", factors, node.scalar(0, factors)), node.scalar(0, x), taps)
    y = node.emit("sum", node.emit("multiply", parts, factors), axis=[axis.axis + 1])
    return extrapolated(node, y, axis, coordinates, at)


def cubic_alpha(node: Node) -> float:
    return node.real("cubic_coeff_a", -0.75)


def linear_weight(distance: Told) -> Told:
    """How much of an element at a distance from a position there is in a linear interpolation."""
    return (distance * -1 + 1).at_least(0)


def cubic_weight(d: Told, alpha: float) -> Told:
    """The same for a cubic one (Keys, Cubic convolution interpolation for digital image processing, 1981)."""
    near = ((d * (alpha + 2) - (alpha + 3)) * d) * d + 1
    far = ((d * alpha - 5 * alpha) * d + 8 * alpha) * d - 4 * alpha
    return (d < 1.0).where(near, (d < 2.0).where(far, 0))


def extrapolated(node: Node, y: SSAValue, axis: ToldAxis, coordinates: str, at: Told) -> SSAValue:
    """`y` with the extrapolation value where a position of `tf_crop_and_resize` is not on the axis."""
    if coordinates != "tf_crop_and_resize":
        return y
    inside = (at >= 0).both(at.by("less_equal", as_floats(axis.extent - 1, at))).value
    if behind := rank_of(y) - axis.axis - 1:
        inside = node.emit("expand_dims", inside, axis=1, num_newaxis=behind)
    return node.emit("where", inside, y, node.scalar(node.real("extrapolation_value", 0.0), y))

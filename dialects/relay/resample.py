"""Resampling along one axis: what `image.resize*` and `nn.upsampling*` are made of.

Where an element of the result stands in the data is an affine function of its index with rational coefficients, so that
the neighbours and the distance to them are computed exactly, in integers. Axes are resampled one after the other, each
in a stage of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from xdsl.dialects.builtin import AnyFloat, IntegerType, f32, i32, i64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from .. import te
from ..support.dtypes import byte_width
from ..support.hints import isa
from .nn_common import accumulator, narrow

METHODS = ("nearest_neighbor", "linear", "cubic")
COORDINATES = (
    "half_pixel",
    "align_corners",
    "asymmetric",
    "pytorch_half_pixel",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)
ROUNDINGS = ("", "round", "floor", "ceil", "round_prefer_floor", "round_prefer_ceil")


def one_of(value: str, choices: Sequence[str], what: str) -> str:
    """`value`, which must be one of `choices`.

    Raises:
        VerifyException: it is another one.
    """
    if value not in choices:
        raise VerifyException(f"'{what}' is \"{value}\"; expected one of {', '.join(c for c in choices if c)}")
    return value


@dataclass(frozen=True)
class Sampling:
    """How to resample. `coordinates` is ONNX's (and TVM's) `coordinate_transformation_mode`.

    `cubic_exclude` leaves out what a cubic takes from outside the data, and scales up the rest. `extrapolation` is the
    value of what lies outside, with `tf_crop_and_resize`.
    """

    method: str = "linear"
    coordinates: str = "half_pixel"
    rounding: str = ""
    cubic_alpha: float = -0.5
    cubic_exclude: bool = False
    extrapolation: float = 0.0

    def check(self) -> None:
        """
        Raises:
            VerifyException: a name is not known.
        """
        one_of(self.method, METHODS, "method")
        one_of(self.coordinates, COORDINATES, "coordinate_transformation_mode")
        one_of(self.rounding, ROUNDINGS, "rounding_method")

    def source(self, size: int, wanted: int, roi: tuple[float, float]) -> tuple[Fraction, Fraction]:
        """(scale, offset) of `position = index * scale + offset` on an axis of `size` resampled to `wanted`."""
        ratio, zero = Fraction(size, wanted), Fraction(0)
        match self.coordinates:
            case "align_corners":
                return (Fraction(size - 1, wanted - 1) if wanted > 1 else zero), zero
            case "asymmetric":
                return ratio, zero
            case "pytorch_half_pixel" if wanted == 1:
                return zero, zero
            case "tf_half_pixel_for_nn":
                return ratio, ratio / 2
            case "tf_crop_and_resize":
                begin, end = (Fraction(bound).limit_denominator(1 << 16) * (size - 1) for bound in roi)
                return ((end - begin) / (wanted - 1), begin) if wanted > 1 else (zero, (begin + end) / 2)
            case _:
                return ratio, ratio / 2 - Fraction(1, 2)

    def line(self, size: te.Dim, wanted: te.Dim, roi: tuple[float, float]) -> _Line:
        """Where the elements of an axis of `size`, resampled to `wanted`, stand.

        Raises:
            TypeError: the extents are symbols, and it is not known how to say it for all their values.
        """
        if isinstance(size, int) and isinstance(wanted, int):
            return _Line.of(*self.source(size, wanted, roi))
        top, bottom = _proportion(size, wanted)
        match self.coordinates:
            case "align_corners":
                return _Line(size - 1, 0, te.extreme(te.BinaryKind.MAX, wanted - 1, 1))
            case "asymmetric":
                return _Line(top, 0, bottom)
            case "tf_half_pixel_for_nn":
                return _Line(2 * top, top, 2 * bottom)
            case "half_pixel":
                return _Line(2 * top, top - bottom, 2 * bottom)
            case "pytorch_half_pixel" if te.same(top, 1):  # one element of the result is one of one element
                return _Line(2 * top, top - bottom, 2 * bottom)
            case "pytorch_half_pixel":  # one element of the result is the first one
                are_several = te.extreme(te.BinaryKind.MIN, wanted - 1, 1)
                return _Line(2 * top, (top - bottom) * are_several, 2 * bottom)
            case _:
                raise TypeError(f"te: with {self.coordinates} it depends on the extents where elements stand")


def _proportion(size: te.Dim, wanted: te.Dim) -> tuple[te.Dim, te.Dim]:
    """Two extents in the proportion of these; numbers where one is a small multiple of the other."""
    for factor in range(1, 65):
        if te.same(size * factor, wanted):
            return 1, factor
        if te.same(size, wanted * factor):
            return factor, 1
    return size, wanted


@dataclass(frozen=True)
class _Line:
    """`(factor * index + start) / denominator`, in integers, which may be symbols."""

    factor: te.Dim
    start: te.Dim
    denominator: te.Dim

    @staticmethod
    def of(scale: Fraction, offset: Fraction) -> _Line:
        denominator = lcm(scale.denominator, offset.denominator)
        return _Line(int(scale * denominator), int(offset * denominator), denominator)

    def at(self, index: te.Dim) -> Fraction | None:
        """A position; `None` where it is not known."""
        numbers = self.factor, self.start, self.denominator
        if not isinstance(index, int) or not all(isinstance(n, int) for n in numbers):
            return None
        factor, start, denominator = (int(n) for n in numbers if isinstance(n, int))
        return Fraction(factor * index + start, denominator)

    def floor(self, index: te.Expr, plus: Fraction = Fraction(0), down: bool = False) -> te.Expr:
        """The largest integer not above the position of `index`, moved by `plus`; with `down`, what comes out even is
        taken for the integer below."""
        factor, start, bottom = self._moved(plus, down)
        return te.dim_expr((index * te.dim_expr(factor) + te.dim_expr(start)) // te.dim_expr(bottom))

    def floor_at(self, index: te.Dim, plus: Fraction = Fraction(0), down: bool = False) -> int | None:
        """The same of a known index; `None` where it is not known."""
        factor, start, bottom = self._moved(plus, down)
        if isinstance(index, int) and isinstance(factor, int) and isinstance(start, int) and isinstance(bottom, int):
            return (factor * index + start) // bottom
        return None

    def _moved(self, plus: Fraction, down: bool) -> tuple[te.Dim, te.Dim, te.Dim]:
        """Factor, start and denominator of what `floor` rounds; without a common divisor that rounding loses."""
        factor, bottom = self.factor * plus.denominator, self.denominator * plus.denominator
        start = self.start * plus.denominator + self.denominator * plus.numerator
        start = start - 1 if down else start
        if isinstance(factor, int) and isinstance(start, int) and isinstance(bottom, int):
            common = gcd(factor, bottom)
            return factor // common, start // common, bottom // common
        return factor, start, bottom

    def above(self, index: te.Expr) -> te.Expr:
        """How far the position lies above its floor, times the denominator."""
        return (index * te.dim_expr(self.factor) + te.dim_expr(self.start)) % te.dim_expr(self.denominator)

    def remainder(self, index: te.Expr) -> te.Expr:
        """How far the position lies above its floor, as an f32."""
        above = te.cast(self.above(index), f32)
        if isinstance(self.denominator, int):
            return above * (1.0 / self.denominator)
        return above / te.cast(te.dim_expr(self.denominator), f32)


@dataclass(frozen=True)
class Axis:
    """An axis to be resampled to `wanted` elements; of the part of it, from 0 to 1, that `tf_crop_and_resize` takes."""

    position: int
    wanted: te.Dim
    roi: tuple[float, float] = (0.0, 1.0)


def resampled(x: te.Tensor, axes: Sequence[Axis], how: Sampling, element: Attribute) -> te.Tensor:
    """`x` with `axes` resampled one after the other, as elements of type `element`.

    Integers that are interpolated linearly to integers are those of exact arithmetic, rounded towards zero, wherever
    the extents are known and 64 bits hold the sums; a value that is whole must not depend on how floats are rounded.
    """
    whole, parts = _in_whole_numbers(x, axes, how, element)
    for axis in axes:
        x = _resampled(x, axis, how, whole)
    if parts > 1:
        sums = x
        x = te.compute(x.shape, lambda *i: sums[i] / parts, "quotient")
    return narrow(x, element)


def _in_whole_numbers(
    x: te.Tensor, axes: Sequence[Axis], how: Sampling, element: Attribute
) -> tuple[IntegerType | None, int]:
    """The type in which integers are interpolated as whole numbers, and by what their sums are divided at the end;
    none and 1 where they are not."""
    are_integers = isa(x.element_type, IntegerType) and isa(element, IntegerType)
    if not are_integers or how.method != "linear" or how.coordinates == "tf_crop_and_resize":
        return None, 1
    parts = 1
    for axis in axes:
        size = x.shape[axis.position]
        if not te.is_number(size) or not isinstance(axis.wanted, int):
            return None, 1
        scale, offset = how.source(size, axis.wanted, axis.roi)
        parts *= lcm(scale.denominator, offset.denominator)
    bits = 8 * byte_width(x.element_type) + parts.bit_length()
    return (i32, parts) if bits < 32 else (i64, parts) if bits < 64 else (None, 1)


def _resampled(x: te.Tensor, along: Axis, how: Sampling, whole: IntegerType | None) -> te.Tensor:
    """`x` resampled along an axis. Interpolated integers come out as f32; so do f16 and bf16. With a `whole` type, they
    come out as that, times the line's denominator."""
    axis, wanted, roi = along.position, along.wanted, along.roi
    size: te.Dim = x.shape[axis]
    if isinstance(size, te.Expr) and not te.at_most(1, size):
        raise TypeError("te: an axis without elements cannot be resampled")
    line = how.line(size, wanted, roi)
    shape = (*x.shape[:axis], wanted, *x.shape[axis + 1 :])
    if te.same(size, wanted) and line.at(0) == 0 and line.at(1) == 1:
        return x
    wide = accumulator(x.element_type) if isinstance(x.element_type, AnyFloat) else f32
    first, last = line.at(0), line.at(wanted - 1)
    rounding = how.rounding or ("round" if how.coordinates == "align_corners" else "floor")
    rounded = (_ROUNDING[rounding], rounding in _DOWN) if how.method == "nearest_neighbor" else (Fraction(0), False)
    lowest, highest = (line.floor_at(end, *rounded) for end in (0, wanted - 1))
    if lowest is not None and highest is not None:
        lowest, highest = min(lowest, highest), max(lowest, highest)

    def clamped(at: te.Expr, step: int = 0) -> te.Expr:
        """The index `at`, rounded as is said, and `step` more, brought back into the axis where it may be outside."""
        i = at + step if step else at
        if lowest is None or lowest + step < 0:
            i = te.maximum(i, 0)
        return te.minimum(i, te.dim_expr(size - 1)) if highest is None or highest + step > size - 1 else i

    def nearest(*i: te.IterVar) -> te.Expr:
        at = line.floor(i[axis], *rounded)
        return outside(i, x[(*i[:axis], clamped(at), *i[axis + 1 :])])

    def linear(*i: te.IterVar) -> te.Expr:
        low = line.floor(i[axis])
        below, above = (te.cast(x[(*i[:axis], clamped(low, step), *i[axis + 1 :])], whole or wide) for step in (0, 1))
        if whole is not None:
            weight = te.cast(line.above(i[axis]), whole)
            return below * (te.cast(te.dim_expr(line.denominator), whole) - weight) + above * weight
        weight = te.cast(line.remainder(i[axis]), wide)
        return outside(i, below * (te.const(1, wide) - weight) + above * weight)

    def cubic(*i: te.IterVar) -> te.Expr:
        low, t = line.floor(i[axis]), te.cast(line.remainder(i[axis]), wide)
        total: te.Expr = te.const(0, wide)
        weights: te.Expr = te.const(0, wide)
        for step, weight in zip((-1, 0, 1, 2), cubic_weights(t, how.cubic_alpha), strict=True):
            at = low + step
            if how.cubic_exclude:
                weight = te.select((at >= 0) & (at < size), weight, 0)
                weights = weights + weight
            total = total + te.cast(x[(*i[:axis], clamped(low, step), *i[axis + 1 :])], wide) * weight
        return outside(i, total / weights if how.cubic_exclude else total)

    def outside(i: Sequence[te.Expr], value: te.Expr) -> te.Expr:
        """`value`, or the extrapolation where the position is not in the axis."""
        if how.coordinates != "tf_crop_and_resize" or first is None or last is None:
            return value
        if first >= 0 and last <= size - 1 and first <= last:
            return value
        position = i[axis] * line.factor + line.start
        return te.select((position >= 0) & (position <= (size - 1) * line.denominator), value, how.extrapolation)

    body = {"nearest_neighbor": nearest, "linear": linear, "cubic": cubic}[how.method]
    return te.compute(shape, body, f"resample_{axis}")


# What to add before rounding down. Of what is in _DOWN, the largest integer below the sum is meant, not the sum itself.
_ROUNDING = {
    "floor": Fraction(0),
    "ceil": Fraction(1),
    "round": Fraction(1, 2),
    "round_prefer_ceil": Fraction(1, 2),
    "round_prefer_floor": Fraction(1, 2),
}
_DOWN = ("ceil", "round_prefer_floor")


def cubic_weights(t: te.Expr, alpha: float) -> tuple[te.Expr, ...]:
    """The weights of the four elements around a position `t` above the second. Source: Keys, Cubic convolution
    interpolation for digital image processing, IEEE Trans. ASSP 29 (1981)."""

    def near(d: te.Expr) -> te.Expr:
        return (d * (alpha + 2) - (alpha + 3)) * d * d + 1

    def far(d: te.Expr) -> te.Expr:
        return ((d * alpha - 5 * alpha) * d + 8 * alpha) * d - 4 * alpha

    rest = te.const(1, t.type) - t
    return far(t + 1), near(t), near(rest), far(rest + 1)

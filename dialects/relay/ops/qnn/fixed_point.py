"""What operators on quantised tensors share: parameters, and the product of an integer and a ratio of scales.

A quantised number `q` stands for `(q - zero_point) * scale`.
"""

from __future__ import annotations

from abc import ABC
from functools import partial
from typing import ClassVar, Literal

from xdsl.dialects.builtin import IntegerType, f32, f64, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.dtypes import dtype_name
from ....support.hints import isa
from ...base import DYNAMIC, NonComputational, normalize_axis, shape_of, tensor
from ...core import ConstantOp
from ...decomposition import Emit, WrittenOut
from ...precision import Accuracy
from ..broadcast import (
    AddOp,
    BitwiseAndOp,
    DivideOp,
    LeftShiftOp,
    MultiplyOp,
    RightShiftOp,
    SubtractOp,
)
from ..elementwise import AbsOp, CastOp, ClipOp, FloorOp, RoundOp, SignOp
from ..reinterpret import ReinterpretOp
from ..transform import ReshapeOp

Rounding = Literal["UPWARD", "TONEAREST"]
ROUNDINGS = ("None", "UPWARD", "TONEAREST")


class QnnOp(WrittenOut, ABC):
    """An operator on quantised tensors, which is replaced before operators are fused."""

    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    traits = traits_def(Pure(), NonComputational())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"


def check_quantized(value: SSAValue, what: str) -> None:
    """
    Raises:
        VerifyException: a tensor is not of integers of 8 to 32 bits.
    """
    element = tensor(value).element_type
    if not isa(element, IntegerType) or element.width.data not in (8, 16, 32):
        raise VerifyException(f"{what} must be a tensor of integers, got {value.type}")


def check_parameters(scale: SSAValue, zero: SSAValue, extent: int | None, what: str) -> None:
    """A scale is an f32, a zero point an i32: one for all, or one for each of `extent`.

    Raises:
        VerifyException: they are not.
    """
    for value, element, name in ((scale, f32, "scale"), (zero, i32, "zero point")):
        shape = shape_of(value)
        if tensor(value).element_type != element:
            raise VerifyException(f"the {name} of {what} must be {element}, got {value.type}")
        fits = shape in ((), (1,)) or (extent is not None and len(shape) == 1 and extent in (shape[0], DYNAMIC))
        if not fits:
            raise VerifyException(f"the {name} of {what} is {value.type}, which is not one number for each slice")


def extent_along(data: SSAValue, axis: int, *parameters: SSAValue) -> int | None:
    """How many slices a tensor has along `axis`; none if it has no axes, or each parameter is one number for all, so
    that the axis says nothing, as in TVM."""
    shape = shape_of(data)
    if all(shape_of(each) in ((), (1,)) for each in parameters):
        return None
    return shape[normalize_axis(axis, len(shape))] if shape else None


def along(emit: Emit, parameter: SSAValue, data: SSAValue, axis: int) -> SSAValue:
    """A parameter in a shape that broadcasts: one number, or one for each slice of `data` along `axis`."""
    shape, rank = shape_of(parameter), len(shape_of(data))
    if shape in ((), (1,)):
        return parameter if not shape else emit(ReshapeOp(parameter, newshape=[]))
    behind = rank - 1 - normalize_axis(axis, rank)
    return emit(ReshapeOp(parameter, newshape=[shape[0], *[1] * behind])) if behind else parameter


def cast(emit: Emit, x: SSAValue, element: Attribute) -> SSAValue:
    """`x` with elements of another type."""
    return x if tensor(x).element_type == element else emit(CastOp(x, dtype=dtype_name(element)))


def are_same(a: SSAValue, b: SSAValue) -> bool:
    """Whether two values are one, or constants that are equal."""
    first, second = a.owner, b.owner
    return a is b or (isinstance(first, ConstantOp) and isinstance(second, ConstantOp) and first.value == second.value)


def centred(emit: Emit, x: SSAValue, zero: SSAValue) -> SSAValue:
    """`x - zero` in 32 bits."""
    return emit(SubtractOp(cast(emit, x, i32), zero))


def clipped(emit: Emit, x: SSAValue, element: Attribute) -> SSAValue:
    """`x` brought into the range of an integer type, and of that type."""
    least, greatest = integer_range(element)
    return cast(emit, emit(ClipOp(x, a_min=least, a_max=greatest)), element)


def times_ratio(emit: Emit, x: SSAValue, numerator: SSAValue, denominator: SSAValue, rounding: Rounding) -> SSAValue:
    """`x * numerator / denominator`, rounded, in 64 bits: `x` is of 32 bits, the ratio a fraction of 31 bits and a
    power of two, both read off the bits of an f64. Halves go up, or away from zero (`TONEAREST`).

    Source: Jacob et al., Quantization and training of neural networks for efficient integer-arithmetic-only inference,
    CVPR 2018.
    """
    ratio = emit(DivideOp(cast(emit, numerator, f64), cast(emit, denominator, f64)))
    bits = emit(ReinterpretOp(ratio, dtype="int64"))
    number = partial(emit.constant, type=i64)
    exponent = emit(BitwiseAndOp(emit(RightShiftOp(bits, number(52))), number(0x7FF)))
    # ratio = fraction * 2^(exponent - 1022), and fraction is from 1/2 to 1
    power = emit(LeftShiftOp(emit(SubtractOp(number(1022 + 31 + 1023), exponent)), number(52)))
    scaled = emit(MultiplyOp(ratio, emit(ReinterpretOp(power, dtype="float64"))))
    all_places = emit(SubtractOp(number(1022 + 31), exponent))
    places = emit(ClipOp(all_places, a_min=1.0, a_max=62.0))
    too_many = emit(ClipOp(emit(SubtractOp(all_places, places)), a_min=0.0, a_max=62.0))
    fraction = emit(RightShiftOp(cast(emit, emit(RoundOp(scaled)), i64), too_many))
    half = emit(LeftShiftOp(number(1), emit(SubtractOp(places, number(1)))))
    wide = cast(emit, x, i64)
    magnitude = emit(AbsOp(wide)) if rounding == "TONEAREST" else wide
    product = emit(RightShiftOp(emit(AddOp(emit(MultiplyOp(magnitude, fraction)), half)), places))
    return emit(MultiplyOp(product, emit(SignOp(wide)))) if rounding == "TONEAREST" else product


def requantized(
    emit: Emit,
    x: SSAValue,
    given: tuple[SSAValue, SSAValue],
    wanted: tuple[SSAValue, SSAValue],
    element: Attribute,
    axis: int = -1,
    rounding: Rounding = "UPWARD",
) -> SSAValue:
    """A number of one scale and zero point as one of others."""
    scale, zero = (along(emit, parameter, x, axis) for parameter in given)
    number = centred(emit, x, zero)
    if are_same(given[0], wanted[0]):
        wide = cast(emit, number, i64)
    else:
        wide = times_ratio(emit, number, scale, along(emit, wanted[0], x, axis), rounding)
    moved = emit(AddOp(wide, cast(emit, along(emit, wanted[1], x, axis), i64)))
    return clipped(emit, moved, element)


def requantized_in_floats(
    emit: Emit,
    x: SSAValue,
    given: tuple[SSAValue, SSAValue],
    wanted: tuple[SSAValue, SSAValue],
    element: Attribute,
    axis: int,
    rounding: Rounding,
    wide: Attribute,
) -> SSAValue:
    """A number of one scale and zero point as one of others, by a product of floats of the type `wide`. What is rounded
    has its zero point: halves go up, or away from zero (`TONEAREST`)."""
    scale, zero = (along(emit, parameter, x, axis) for parameter in given)
    ratio = emit(DivideOp(cast(emit, scale, f64), cast(emit, along(emit, wanted[0], x, axis), f64)))
    product = emit(MultiplyOp(cast(emit, centred(emit, x, zero), wide), cast(emit, ratio, wide)))
    moved = emit(AddOp(product, cast(emit, along(emit, wanted[1], x, axis), wide)))
    size = emit(AbsOp(moved)) if rounding == "TONEAREST" else moved
    rounded = emit(FloorOp(emit(AddOp(size, emit.constant(0.5, type=wide)))))
    whole = emit(MultiplyOp(rounded, emit(SignOp(moved)))) if rounding == "TONEAREST" else rounded
    return clipped(emit, cast(emit, whole, f64) if element == i32 else whole, element)


def quantized(emit: Emit, x: SSAValue, scale: SSAValue, zero: SSAValue, element: Attribute, axis: int) -> SSAValue:
    """`saturate(round(x / scale) + zero)`, halves rounded to even. Sums are of f32, or of f64, which holds all
    of 32 bits."""
    scaled = emit(RoundOp(emit(DivideOp(x, along(emit, scale, x, axis)))))
    wide = f64 if element == i32 else f32
    moved = emit(AddOp(cast(emit, scaled, wide), cast(emit, along(emit, zero, x, axis), wide)))
    return clipped(emit, moved, element)


def dequantized(emit: Emit, x: SSAValue, scale: SSAValue, zero: SSAValue, axis: int) -> SSAValue:
    """`(x - zero) * scale`."""
    return emit(MultiplyOp(cast(emit, centred(emit, x, along(emit, zero, x, axis)), f32), along(emit, scale, x, axis)))


def integer_range(element: Attribute) -> tuple[float, float]:
    """The least and the greatest number of an integer type."""
    least, greatest = (te.reduce_identity(kind, element).value for kind in ("max", "min"))
    return float(least), float(greatest)

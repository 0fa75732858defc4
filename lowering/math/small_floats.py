"""Floats of at most 8 bits to and from longer ones, in integer arithmetic: exact, without branches or tables.

    %y = arith.extf %x : vector<16xf8E4M3FN> to vector<16xf32>      # every number of these is one of f32
    %x = arith.truncf %y : vector<16xf32> to vector<16xf8E4M3FN>    # rounded once, halves to even

What a format is, xDSL's types say (`FloatSemantics`): widths, bias, how infinities and NaN are written. What is too
large becomes what the format has for it: an infinity, else NaN, else the greatest number. NaN becomes `-0` where there
is none.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    FloatNanEncoding,
    FloatNonfiniteBehavior,
    FloatSemantics,
    IntegerType,
    ReducedPrecisionFloatType,
    f32,
)
from xdsl.ir import Attribute

from ...dialects.support.vector_types import element_type
from .expression import Expr


def semantics_of(type: Attribute) -> FloatSemantics:
    """The format of a scalar or vector of small floats."""
    return cast(ReducedPrecisionFloatType, element_type(type)).SEMANTICS


def widened(x: Expr) -> Expr:
    """Small floats as f32."""
    form = semantics_of(x.type)
    bits = x.bits().extended(32)
    if not form.has_sign:  # a power of two, by its exponent alone
        power = bits.equals(0).select(bits.like(1 << 22), bits << 23)
        return bits.equals(form.max_exponent).select(bits.like(_NAN), power).as_float()
    width, mantissa = form.exponent_bits + form.mantissa_bits, form.mantissa_bits
    magnitude = bits & ((1 << width) - 1)
    normal = ((magnitude << (23 - mantissa)) + ((127 - form.exponent_bias) << 23)).as_float()
    denormal = magnitude.to_float(f32) * 2.0 ** (1 - form.exponent_bias - mantissa)
    number = (magnitude < 1 << mantissa).select(denormal, normal).bits()
    if form.nonfinite is FloatNonfiniteBehavior.IEEE:
        infinity = form.max_exponent << mantissa
        beyond = magnitude.equals(infinity).select(bits.like(0x7F800000), bits.like(_NAN))
        number = (magnitude > infinity - 1).select(beyond, number)
    elif form.nan_encoding is FloatNanEncoding.ALL_ONES and form.nonfinite is FloatNonfiniteBehavior.NAN_ONLY:
        number = magnitude.equals((1 << width) - 1).select(bits.like(_NAN), number)
    elif form.nan_encoding is FloatNanEncoding.NEGATIVE_ZERO:
        number = bits.equals(1 << width).select(bits.like(_NAN), number)
    sign = (bits >> width) << 31
    return (number | sign).as_float()


def narrowed(y: Expr, element: AnyFloat) -> Expr:
    """Numbers of f32 or f64 as the small floats `element`, rounded to the nearest, halves to even."""
    form = semantics_of(element)
    bits = y.bits()
    wide = cast(IntegerType, element_type(bits.type)).bitwidth
    wide_mantissa, wide_bias = (23, 127) if wide == 32 else (52, 1023)
    width, mantissa = form.exponent_bits + form.mantissa_bits, form.mantissa_bits
    magnitude = bits & ((1 << (wide - 1)) - 1)
    size = magnitude.as_float()

    lost = wide_mantissa - mantissa
    odd = (magnitude >> lost) & 1
    rounded = (magnitude + ((1 << (lost - 1)) - 1) + odd) >> lost
    normal = rounded - ((wide_bias - form.exponent_bias) << mantissa)
    # The last place of this number is that of the small denormals.
    anchor = size.like(2.0 ** (1 - form.exponent_bias - mantissa + wide_mantissa))
    denormal = size.exact_add(anchor).bits() - anchor.bits()
    number = (size < 2.0 ** (1 - form.exponent_bias)).select(denormal, normal)

    greatest, beyond, nan = _special_codes(form)
    number = (number > greatest).select(number.like(beyond), number)
    number = y.differs(y).select(number.like(nan), number)
    sign = ((bits >> (wide - 1)) & 1) << width
    if form.nan_encoding is FloatNanEncoding.NEGATIVE_ZERO:  # the sign belongs to numbers other than 0
        unsigned = number.equals(0).select(number, number | sign)
        number = (number > greatest).select(number, unsigned)
    else:
        number = number | sign
    if form.nonfinite is FloatNonfiniteBehavior.FINITE_ONLY:
        number = y.differs(y).select(number.like(1 << width), number)
    return number.truncated(form.bitwidth).as_bits_of(element)


_NAN = 0x7FC00000


def _special_codes(form: FloatSemantics) -> tuple[int, int, int]:
    """Without the sign: the greatest number, what stands for all beyond it, and NaN."""
    width = form.exponent_bits + form.mantissa_bits
    ones = (1 << width) - 1
    if form.nonfinite is FloatNonfiniteBehavior.IEEE:
        infinity = form.max_exponent << form.mantissa_bits
        return infinity - 1, infinity, infinity | 1 << (form.mantissa_bits - 1)
    if form.nonfinite is FloatNonfiniteBehavior.FINITE_ONLY:
        return ones, ones, 0
    if form.nan_encoding is FloatNanEncoding.NEGATIVE_ZERO:
        return ones, ones + 1, ones + 1
    return ones - 1, ones, ones

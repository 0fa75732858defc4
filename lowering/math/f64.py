"""exp, log, expm1 and tanh in double precision, and what is computed from them in single precision.

The single-precision functions here are rarer than those in `math_f32`. Computed in double precision, the textbook
formula is accurate enough for a result in single precision, if numbers near a zero of the function are handled apart,
and the whole range needs no care: nothing overflows on the way.

exp and log follow fdlibm's reductions (Sun Microsystems, 1993), with minimax coefficients computed anew by Remez's
algorithm in 60 digits. Sines are reduced by Payne and Hanek's idea: x * 2/pi modulo 4, with 2/pi in parts whose
products with a single-precision number are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.dialects.builtin import f32, f64

from .expression import Expr
from .f32 import LOG2_E, special_logarithms

ROUNDER = 6755399441055744.0
"""1.5 * 2^52: adding it rounds a number below 2^51 to an integer, which then stands in the low bits."""

LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10

_EXP = (
    0.5,
    0.16666666666666677,
    0.041666666666666505,
    0.008333333333321655,
    0.0013888888888962609,
    0.00019841269886072813,
    2.4801587172229626e-05,
    2.7557244254851086e-06,
    2.7557402771864755e-07,
    2.510902422774373e-08,
    2.0875330966299817e-09,
)
"""(exp(r) - 1 - r) / r^2 for |r| <= log(2)/2, to 2^-61 of exp(r) - 1."""

_LOG = (
    0.66666666666666660933,
    0.40000000000006287043,
    0.28571428569072982692,
    0.22222222648747639698,
    0.18181775508746000797,
    0.15387097641534202526,
    0.13249962229824234422,
    0.13252753031268423526,
)
"""(log((1 + s) / (1 - s)) / s - 2) / s^2 in s^2, for |s| <= 0.1716, to 2^-66."""


def _reduced(x: Expr) -> tuple[Expr, Expr, Expr]:
    """r and p = exp(r) - 1 with exp(x) = (1 + p) * 2^n; the low bits of the third value are n."""
    rounded = (x * LOG2_E).exact_add(ROUNDER)
    n = rounded.exact_sub(x.like(ROUNDER))
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    return r, (r * r) * r.polynomial(_EXP) + r, rounded.bits() - 0x4338000000000000


def _power_of_two(exponent: Expr) -> Expr:
    return ((exponent + 1023) << 52).as_float()


def exp(x: Expr) -> Expr:
    """Overflows to infinity, underflows through the denormal numbers to zero."""
    _, p, exponent = _reduced(x.at_most(710.0).at_least(-746.0))
    half = exponent >> 1
    return (p + 1.0) * _power_of_two(half) * _power_of_two(exponent - half)


def expm1(x: Expr) -> Expr:
    """exp(x) - 1."""
    _, p, exponent = _reduced(x.at_most(710.0).at_least(-40.0))
    scale = _power_of_two(exponent - 1)
    result = (scale * p + (scale - 0.5)) * 2.0
    return (x.abs() < 2.0**-54).select(x, result)


def tanh(x: Expr) -> Expr:
    """`expm1(2|x|) / (expm1(2|x|) + 2)`."""
    e = expm1(x.abs().at_most(22.0) * 2.0)
    return (e / (e + 2.0)).with_sign_of(x)


def log(x: Expr) -> Expr:
    """Minus infinity of zero, NaN of negative numbers; denormal numbers are scaled first."""
    denormal = x < 2.2250738585072014e-308
    bits = denormal.select(x * 18014398509481984.0, x).bits()
    above = bits - 0x3FE6A09E667F3BCD
    exponent = (above >> 52) - denormal.select(bits.like(54), bits.like(0))
    f = (bits - ((above >> 52) << 52)).as_float() - 1.0
    e, s, half_square = exponent.to_float(f64), f / (f + 2.0), f * f * 0.5
    z = s * s
    rest = z * z.polynomial(_LOG)
    result = e * LN2_HIGH - ((half_square - (s * (half_square + rest) + e * LN2_LOW)) - f)
    return special_logarithms(x, result)


# Single precision, computed in double. Arguments and results of what follows are doubles.


def exp2(x: Expr) -> Expr:
    return exp(x * math.log(2))


def log2(x: Expr) -> Expr:
    return log(x) * LOG2_E


def log10(x: Expr) -> Expr:
    return log(x) * math.log10(math.e)


def log1p(x: Expr) -> Expr:
    return (x.abs() < 2.0**-28).select(x, log(x + 1.0))


def sinh(x: Expr) -> Expr:
    """From exp, and near zero from the series to x^5."""
    e, z = exp(x), x * x
    return (x.abs() < 2.0**-6).select(x + x * z * z.polynomial((1 / 6, 1 / 120)), (e - 1.0 / e) * 0.5)


def cosh(x: Expr) -> Expr:
    e = exp(x)
    return (e + 1.0 / e) * 0.5


def asinh(x: Expr) -> Expr:
    """From log, and near zero from the series to x^3."""
    size = x.abs()
    large = log(size + (size * size + 1.0).sqrt())
    return (size < 2.0**-10).select(size - size * size * size * (1 / 6), large).with_sign_of(x)


def acosh(x: Expr) -> Expr:
    return (x < 1.0).select(x.like(math.nan), log(x + ((x - 1.0) * (x + 1.0)).sqrt()))


def atanh(x: Expr) -> Expr:
    """From log, and near zero from the series to x^3."""
    large = log((1.0 + x) / (1.0 - x)) * 0.5
    return (x.abs() < 2.0**-10).select(x + x * x * x * (1 / 3), large)


def cbrt(x: Expr) -> Expr:
    return exp(log(x.abs()) * (1 / 3)).with_sign_of(x)


def power(x: Expr, y: Expr) -> Expr:
    """exp(y log|x|), with the sign of an odd power and C's special cases (F.10.4.4)."""
    size = x.abs()
    magnitude = size.equals(1.0).select(x.like(1.0), exp(y * log(size)))
    whole, half = y.trunc(), y * 0.5
    is_odd = whole.equals(y) & half.trunc().differs(half)
    signed = ((x.bits() < 0) & is_odd).select(-magnitude, magnitude)
    has_no_value = (x < 0.0) & (x > -math.inf) & y.differs(whole)
    is_one = x.equals(1.0) | y.equals(0.0)
    return is_one.select(x.like(1.0), has_no_value.select(x.like(math.nan), signed))


_ATAN = (
    0.9999999999412406,
    -0.3333333157108422,
    0.19999912046879864,
    -0.14283980698532198,
    0.11093240839423459,
    -0.08980237385126903,
    0.07245713874922866,
    -0.05427903260033291,
    0.0342095260098578,
    -0.016111623676149593,
    0.004850911217198758,
    -0.0006847886053445573,
)
"""atan(t) / t in t^2, for 0 <= t <= 1, to 2^-34."""


def atan2(y: Expr, x: Expr) -> Expr:
    """The angle of the point (x, y): from the tangent or cotangent that is at most 1, moved to its octant."""
    rise, run = y.abs(), x.abs()
    steep = rise > run
    ratio = steep.select(run, rise) / steep.select(rise, run)
    ratio = rise.equals(run).select(rise.equals(0.0).select(rise, x.like(1.0)), ratio)
    angle = ratio * (ratio * ratio).polynomial(_ATAN)
    angle = steep.select(math.pi / 2 - angle, angle)
    angle = (x.bits() < 0).select(math.pi - angle, angle)
    return angle.with_sign_of(y)


def atan(x: Expr) -> Expr:
    return atan2(x, x.like(1.0))


_TWO_OVER_PI = tuple(
    map(
        float.fromhex,
        (
            "0x1.45f306d000000p-1",
            "0x1.9391054000000p-30",
            "0x1.4fe13ab000000p-59",
            "0x1.d1f534d000000p-88",
            "0x1.b81b6c5000000p-117",
            "0x1.5993c40000000p-148",
            "0x1.c820ff3000000p-175",
        ),
    )
)
"""2/pi to 203 bits, in parts of 29 bits: a part times a single-precision number is exact in double precision."""

_SIN = (
    1.5707963267948895,
    -0.6459640975042193,
    0.07969262615278809,
    -0.004681752557319902,
    0.00016042910427636501,
    -3.556121404540139e-06,
)
"""sin(pi/2 y) / y in y^2, for |y| <= 1/2, to 2^-47."""

_COS = (
    0.9999999999999999,
    -1.2337005501361487,
    0.25366950789973985,
    -0.02086348073281159,
    0.0009192599335126663,
    -2.5200076208454426e-05,
    4.6545042369755755e-07,
)
"""cos(pi/2 y) in y^2, for |y| <= 1/2, to 2^-53."""


_NEAR = 2.0**18
"""Up to here two parts of 2/pi leave a quarter turn's rest to 2^-34 of itself."""


def _quadrant(x: Expr) -> tuple[Expr, Expr]:
    """y and n with x = (y + n) pi/2 modulo 2 pi and |y| <= 1/2; x is a single-precision number."""
    if not x.is_vector:
        return _far_quadrant(x)
    y, n = (x.abs() < _NEAR).if_all(_near_quadrant, _far_quadrant, x)
    return y, n


def _near_quadrant(x: Expr) -> tuple[Expr, Expr]:
    """The product with the first part, and its distance from n, are exact."""
    first, *rest = _TWO_OVER_PI
    product = x * first
    rounded = product.exact_add(ROUNDER)
    return product - rounded.exact_sub(x.like(ROUNDER)) + x * sum(rest), rounded.bits()


def _far_quadrant(x: Expr) -> tuple[Expr, Expr]:
    """Each product of x with a part of 2/pi loses its multiples of 4, exactly; the sum is kept in two doubles, since y
    may be much smaller than its terms."""
    total, rest = x.like(0.0), x.like(0.0)
    for part in _TWO_OVER_PI:
        product = x * part
        term = product - (product * 0.25).rounded() * 4.0
        following = total.exact_add(term)
        added = following.exact_sub(total)
        lost = total.exact_sub(following.exact_sub(added)).exact_add(term.exact_sub(added))
        total, rest = following, rest.exact_add(lost)
    rounded = total.exact_add(ROUNDER)
    y = total.exact_sub(rounded.exact_sub(x.like(ROUNDER))).exact_add(rest)
    return x.equals(0.0).select(x, y), rounded.bits()


def _sine(y: Expr, quadrant: Expr) -> Expr:
    z = y * y
    value = (quadrant & 1).equals(0).select(y * z.polynomial(_SIN), z.polynomial(_COS))
    return (((quadrant & 2) << 62) ^ value.bits()).as_float()


def sin(x: Expr) -> Expr:
    return _sine(*_quadrant(x))


def cos(x: Expr) -> Expr:
    y, quadrant = _quadrant(x)
    return _sine(y, quadrant + 1)


def tan(x: Expr) -> Expr:
    y, quadrant = _quadrant(x)
    return _sine(y, quadrant) / _sine(y, quadrant + 1)


_MOST_TURNS = 2.0**22
"""Quotients in single precision below this are less than a half away from the exact ones."""


def remainder(x: Expr, y: Expr, otherwise: Callable[[Expr, Expr], Expr]) -> Expr:
    """C's fmod of single-precision numbers: what `x` leaves when `y` is taken off a whole number of times.

    The quotient is computed in single precision. Rounded up to a whole number, it is one too many, and the rest below
    zero; the rest itself is exact in double precision. `otherwise` computes what is not finite and large quotients.
    """
    quotient = (x / y).abs()
    is_ordinary = (quotient < _MOST_TURNS) & (y.abs() < math.inf)

    def of_ordinary(x: Expr, y: Expr, quotient: Expr) -> Expr:
        size = y.convert(f64).abs()
        rest = x.convert(f64).abs() - quotient.trunc().convert(f64) * size
        return (rest < 0.0).select(rest + size, rest).convert(f32).with_sign_of(x)

    def of_any(x: Expr, y: Expr, _: Expr) -> Expr:
        return otherwise(x, y)

    return is_ordinary.if_all(of_ordinary, of_any, x, y, quotient)[0]

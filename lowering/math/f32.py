"""exp, log, tanh, erf, asin and acos in single precision: the functions that models spend their time in.

Range reductions follow Cephes (S. Moshier, single-precision library), those of asin and acos too, and erf is one minus
the exponential of a polynomial, as beyond the first interval of N. Juffa's erff. All coefficients are minimax, computed
anew by the algorithms of Remez (in 60 digits) or Lawson for the interval given with each, and rounded to single
precision. Errors are at most 2 ulp over the whole range, tested in test/unit/test_expand_math.py.
"""

from __future__ import annotations

import math

from xdsl.dialects.builtin import f32 as _F32

from .expression import Expr

LOG2_E = 1.4426950408889634
ROUNDER = 12582912.0
"""1.5 * 2^23: adding it rounds a number below 2^22 to an integer, which then stands in the low bits."""

LN2_HIGH, LN2_LOW = 0.693359375, -2.12194440054690583e-4
"""log(2) in two parts; the first has 9 bits, so that its product with an exponent is exact."""

_EXP = (
    0.49999993372944926587,
    0.16666519524533577882,
    0.041668401133964631136,
    0.0083688510364169896441,
    0.0013814317441872542296,
)
"""(exp(r) - 1 - r) / r^2 for |r| <= log(2)/2, to 2^-28 of exp."""


def exp(x: Expr) -> Expr:
    """Overflows to infinity, underflows through the denormal numbers to zero; vectors do neither where no lane comes
    near."""
    if not x.is_vector:
        return _exp_of_any(x)
    return (x.abs() < 87.0).if_all(exp_of_small, _exp_of_any, x)[0]


def _exp_of_any(x: Expr) -> Expr:
    y, bits = _reduced_exp(x.at_most(89.0).at_least(-104.0))
    exponent = bits - 0x4B400000
    half = exponent >> 1
    return y * _power_of_two(half) * _power_of_two(exponent - half)


def _power_of_two(exponent: Expr) -> Expr:
    return ((exponent + 127) << 23).as_float()


def _reduced_exp(x: Expr) -> tuple[Expr, Expr]:
    """exp(x) = y * 2^n; the low bits of the second value are n."""
    rounded = x * LOG2_E + ROUNDER  # in one step or two: what follows holds for a neighbour of n, too
    n = rounded.exact_sub(x.like(ROUNDER))
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    return (r * r.polynomial(_EXP) + 1.0) * r + 1.0, rounded.bits()


def exp_of_small(x: Expr) -> Expr:
    """exp(x) for x from -87.34 to 88, where neither x nor the result is special; a NaN stays one. Below, anything."""
    y, bits = _reduced_exp(x)
    return y * ((bits << 23) + 0x3F800000).as_float()


_LOG = (
    0.33333312605139373997,
    -0.25000009603877009231,
    0.20002118588623031847,
    -0.16667995544062147892,
    0.14219553499770856804,
    -0.12405595156777377658,
    0.11888160490808635957,
    -0.11675614166993367596,
    0.067465984011070580234,
)
"""(log(1 + f) - f + f^2/2) / f^3 for sqrt(1/2) <= 1 + f <= sqrt(2), to 2^-30 of log."""


def log(x: Expr) -> Expr:
    """Minus infinity of zero, NaN of negative numbers; denormal numbers are scaled first."""
    denormal = x < 1.17549435e-38
    bits = denormal.select(x * 8388608.0, x).bits()
    above = bits - 0x3F3504F3
    exponent = (above >> 23) - denormal.select(bits.like(23), bits.like(0))
    f = (bits - ((above >> 23) << 23)).as_float() - 1.0
    e, z = exponent.to_float(_F32), f * f
    y = f * z * f.polynomial(_LOG) + e * LN2_LOW - z * 0.5
    return special_logarithms(x, f + y + e * LN2_HIGH)


def special_logarithms(x: Expr, result: Expr) -> Expr:
    """The logarithm where x is positive and finite is `result`."""
    finite = (x < math.inf).select(result, x)
    return (x > 0.0).select(finite, x.equals(0.0).select(x.like(-math.inf), x.like(math.nan)))


_EXPM1 = (
    0.49999998154045549,
    0.16666543618469713,
    0.041667199860499313,
    0.0083665205824669,
    0.0013882521533407309,
)
"""(exp(r) - 1 - r) / r^2 for |r| <= log(2)/2, to 2^-26 of exp(r) - 1."""

LN2 = 0.69314718055994531


def _expm1_of_small(x: Expr) -> Expr:
    """exp(x) - 1 for x from -87 to 88, of which nothing is lost near zero. What log(2) in one part leaves out counts
    for less and less in what it is for: the farther x is from zero, the less does the result move with it."""
    rounded = x * LOG2_E + ROUNDER
    r = x - rounded.exact_sub(x.like(ROUNDER)) * LN2
    power = ((rounded.bits() << 23) + 0x3F800000).as_float()
    return power * (r * (r * r.polynomial(_EXPM1)) + r) + (power - 1.0)


def tanh(x: Expr) -> Expr:
    """`q = t / (t + 2)` of `t = exp(-2|x|) - 1`, which is `t / 2 - t / 2 * q`: so what `q` lost counts for half, or
    less."""
    t = _expm1_of_small(x.abs().at_most(9.2) * -2.0)
    half = t * 0.5
    return (half - half * (t / (t + 2.0))).with_sign_of(x)


_ERFC = (
    -0.1283791720193226,
    -0.6366193710985222,
    -0.10277791272688226,
    0.019153334964701507,
    0.00015993617713217447,
    -0.0016665976151124975,
    0.000632614411212566,
    -0.00011758182527701842,
    0.000009249891786514344,
)
"""log(1 - erf(t)) / t + 1 for 0 <= t <= 3.92, to 2^-27 of erf."""


def erf(x: Expr) -> Expr:
    """`1 - exp(t * polynomial of t - t)` of `t = |x|`."""
    size = x.abs().at_most(3.92)
    return _expm1_of_small(size * size.polynomial(_ERFC) - size).with_sign_of(x)


_ASIN = (
    0.16666752476226485213,
    0.07495297893837715399,
    0.04547034384676446537,
    0.02417967338652694594,
    0.04216604226790822606,
)
"""(asin(s) / s - 1) / s^2 as a polynomial of s^2 for 0 <= s <= 1/2, to 2^-27 of asin."""

QUARTER_PI_HIGH, QUARTER_PI_LOW = 0.785398185253143310547, -2.18556941e-8
"""pi/4 in two parts: the nearest number of single precision, and what that leaves."""


def _reduced_asin(x: Expr) -> tuple[Expr, Expr, Expr]:
    """Whether |x| < 1/2, and asin(s) = s + t of s = |x|, or else of s = sqrt((1 - |x|) / 2), which is no number beyond
    1: asin(|x|) = pi/2 - 2 asin(s)."""
    size = x.abs()
    is_small = size < 0.5
    z = is_small.select(size * size, (1.0 - size) * 0.5)
    s = is_small.select(size, z.sqrt())
    return is_small, s, s * (z * z.polynomial(_ASIN))


def asin(x: Expr) -> Expr:
    """Beyond 1/2 what the difference of the large parts loses is added to that of the small ones (Fast2Sum: Dekker,
    1971)."""
    is_small, s, t = _reduced_asin(x)
    quarter = x.like(QUARTER_PI_HIGH)
    large = quarter.exact_sub(s)
    lost = quarter.exact_sub(large).exact_sub(s)
    half = large + (lost + (QUARTER_PI_LOW - t))
    return is_small.select(s + t, half + half).with_sign_of(x)


def acos(x: Expr) -> Expr:
    """`pi/2 - asin(x)`; above 1/2 twice asin(s), below -1/2 what that leaves of pi."""
    is_small, s, t = _reduced_asin(x)
    y = s + t
    twice = y + y
    return is_small.select(math.pi / 2 - y.with_sign_of(x), (x < 0.0).select(math.pi - twice, twice))

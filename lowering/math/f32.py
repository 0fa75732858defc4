"""exp, log, tanh and erf in single precision: the functions that models spend their time in.

Range reductions follow Cephes (S. Moshier, single-precision library) and, for erf, the two-interval scheme of N.
Juffa's erff; all coefficients are minimax, computed anew by Remez's algorithm in 60 digits for the interval given with
each and rounded to single precision. Errors are at most 2 ulp over the whole range, tested in
test/unit/test_expand_math.py.
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


_TANH = (
    -0.33333281942114325476,
    0.13331442200864337363,
    -0.053739715309801812399,
    0.020639087976318889672,
    -0.0057049878052279844221,
)
"""(tanh(x) / x - 1) / x^2 in x^2, for |x| <= 0.625, to 2^-27 of tanh."""


def tanh(x: Expr) -> Expr:
    """A polynomial near zero, `1 - 2 / (exp(2|x|) + 1)` beyond."""
    size, z = x.abs(), x * x
    small = size * z * z.polynomial(_TANH) + size
    large = 1.0 - 2.0 / (exp_of_small(size.at_most(9.2) * 2.0) + 1.0)
    return (size < 0.625).select(small, large).with_sign_of(x)


_ERF_SMALL = (
    0.1283791666343103394,
    -0.37612633705373621573,
    0.11283695038878742863,
    -0.026859373028943291513,
    0.0052009695879867994708,
    -0.0008141991354359632505,
    0.000083670797398524451085,
)
"""erf(x) / x - 1 in x^2, for |x| <= 0.921875, to 2^-31 of erf."""

_ERFC_LARGE = (
    0.00017587504832739973511,
    -1.1295208254165460214,
    -0.63333464938787108644,
    -0.1082939499095844797,
    0.025128626212947611658,
    -0.004174643434808907791,
    0.00043521892749222923835,
    -0.000021161906119588685116,
)
"""log(1 - erf(t)) for 0.92 <= t <= 4, to 2^-34 of erf."""


def erf(x: Expr) -> Expr:
    """A polynomial near zero, `1 - exp(polynomial of |x|)` beyond."""
    size = x.abs()
    small = x * (x * x).polynomial(_ERF_SMALL) + x
    large = 1.0 - exp_of_small(size.at_most(4.0).polynomial(_ERFC_LARGE))
    return (size < 0.921875).select(small, large.with_sign_of(x))

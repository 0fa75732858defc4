"""Elements of one type as those of another, where NumPy leaves open what floats become that an integer cannot hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    NDArray = npt.NDArray[np.generic]


def converted(x: NDArray, dtype: np.dtype[Any]) -> NDArray:
    """`x` as `dtype`: to truth values is `!= 0`; integers wrap; floats become integers towards zero, to the nearest of
    the type where it does not hold them, and 0 for NaN; numbers become bfloat16 by rounding once."""
    if dtype == np.bool_:
        return x != 0
    if dtype.name == "bfloat16" and (x.dtype == np.float64 or (x.dtype.kind in "iu" and x.dtype.itemsize >= 4)):
        return halfway_to_short(halfway_to_double(x)).astype(dtype)
    if not is_integral(dtype) or is_integral(x.dtype) or x.dtype == np.bool_:
        return x.astype(dtype)
    least, greatest = integer_limits(dtype)
    wide = x.astype(np.float64)
    low, high = wide <= least, wide >= greatest
    whole = np.where(low | high | np.isnan(wide), 0.0, wide).astype(np.uint64 if least == 0 else np.int64)
    result = whole.astype(dtype)
    result[low], result[high] = (np.array(limit).astype(dtype) for limit in (least, greatest))
    return result


def halfway_to_short(x: NDArray) -> NDArray:
    """float64 as float32 that rounds to 16 bits as they would: what float32 cannot hold sets its last bit.

    Source: Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd"
    (2008).
    """
    with np.errstate(over="ignore"):
        nearest = np.asarray(x, np.float32)
    lost = (nearest != x) & ~np.isnan(x)
    away = lost & (np.abs(nearest) > np.abs(x))
    bits = (nearest.view(np.int32) - away) | lost
    return bits.astype(np.int32).view(np.float32)


def halfway_to_double(x: NDArray) -> NDArray:
    """float64, or integers as float64, which round to 16 bits as they would: of large ones the last 12 bits become one,
    which says whether there were any."""
    if x.dtype.kind not in "iu" or x.dtype.itemsize < 8:
        return x.astype(np.float64)
    is_unsigned = x.dtype.kind == "u"
    bits = x.astype(np.int64)
    last = bits & 0xFFF
    odd = (bits - last) | ((last != 0).astype(np.int64) << 12)
    least = 0 if is_unsigned else 1 - (1 << 52)
    chosen = np.where((bits >= least) & (bits < 1 << 52), bits, odd)
    return (chosen.view(np.uint64) if is_unsigned else chosen).astype(np.float64)


def is_integral(dtype: np.dtype[Any]) -> bool:
    """Whether elements are integers, those of two and four bits among them."""
    return dtype.kind in "iu" or dtype.name in ("int2", "uint2", "int4", "uint4")


def integer_limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    bits = int(dtype.name.removeprefix("u").removeprefix("int"))
    return (0, (1 << bits) - 1) if dtype.name.startswith("u") else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)

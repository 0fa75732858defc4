"""Elements of one type as those of another, where NumPy leaves open what floats become that an integer cannot hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    NDArray = npt.NDArray[np.generic]


def converted(x: NDArray, dtype: np.dtype[Any]) -> NDArray:
    """`x` as `dtype`: to truth values is `!= 0`; integers wrap; floats become integers towards zero, to the nearest of
    the type where it does not hold them, and 0 for NaN."""
    if dtype == np.bool_:
        return x != 0
    if not is_integral(dtype) or is_integral(x.dtype) or x.dtype == np.bool_:
        return x.astype(dtype)
    least, greatest = integer_limits(dtype)
    wide = x.astype(np.float64)
    low, high = wide <= least, wide >= greatest
    whole = np.where(low | high | np.isnan(wide), 0.0, wide).astype(np.uint64 if least == 0 else np.int64)
    result = whole.astype(dtype)
    result[low], result[high] = (np.array(limit).astype(dtype) for limit in (least, greatest))
    return result


def is_integral(dtype: np.dtype[Any]) -> bool:
    """Whether elements are integers, those of two and four bits among them."""
    return dtype.kind in "iu" or dtype.name in ("int2", "uint2", "int4", "uint4")


def integer_limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    bits = int(dtype.name.removeprefix("u").removeprefix("int"))
    return (0, (1 << bits) - 1) if dtype.name.startswith("u") else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)

"""Whether a dtype holds the numbers of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray = npt.NDArray[np.generic]


def held_as(array: NDArray, dtype: np.dtype[np.generic]) -> NDArray:
    """An array in another dtype, if that holds its numbers: each integer as it is, and floats rounded. Itself if not.

    TVM's executors take NumPy's arrays so, but cut off whatever the dtype does not hold.
    """
    import numpy as np

    if array.dtype == dtype or array.dtype.kind not in "biuf":
        return array
    with np.errstate(over="ignore", invalid="ignore"):
        converted = array.astype(dtype)
        if array.dtype.kind == "f" and dtype.kind not in "biu":
            is_held = bool((np.isfinite(converted) | ~np.isfinite(array)).all())
        else:
            is_same = np.equal(converted.astype(array.dtype), array)
            is_held = bool((is_same & (np.less(converted, 0) == np.less(array, 0))).all())  # -1 is no 255
    return converted if is_held else array

"""Arrays in memory that machine code can take as it is, so that large weights are not copied once more for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .alignment import ALIGNMENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

SMALL = 1 << 14
"""Bytes of an array that is as well copied once more."""


def empty(shape: Sequence[int], dtype: np.dtype[np.generic]) -> NDArray:
    """An array without contents, which begins at a multiple of `ALIGNMENT` if it is large."""
    result = np.empty(shape, dtype)
    if result.nbytes < SMALL:
        return result
    memory = np.empty(result.nbytes + ALIGNMENT, np.uint8)  # of `result` no memory was touched
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + result.nbytes].view(dtype).reshape(result.shape)


def contiguous(array: NDArray) -> NDArray:
    """`array` where its elements follow each other in memory, else a copy where they do."""
    if array.flags.c_contiguous:
        return array
    copy = empty(array.shape, array.dtype)
    copy[...] = array
    return copy

"""Arrays in memory that machine code can take as it is, so that large weights are not copied once more for it."""

from __future__ import annotations

from math import prod
from mmap import mmap
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .alignment import ALIGNMENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

SMALL = 1 << 14
"""Bytes of an array that is as well copied once more."""

LINE = 64
"""Bytes of a cache line."""


def empty(shape: Sequence[int], dtype: np.dtype[np.generic]) -> NDArray:
    """An array without contents, which begins at a multiple of `ALIGNMENT` if it is large."""
    size = prod(shape) * dtype.itemsize
    if size < SMALL:
        return np.empty(shape, dtype)
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(tuple(shape))


def contiguous(array: NDArray) -> NDArray:
    """`array` where its elements follow each other in memory, else a copy where they do. A transposed matrix is copied
    in strips as wide as a cache line, several times faster than column by column."""
    if array.flags.c_contiguous:
        return array
    copy = empty(array.shape, array.dtype)
    if array.ndim == 2 and array.flags.f_contiguous:
        width = LINE // array.itemsize
        for column in range(0, array.shape[1], width):
            copy[:, column : column + width] = array[:, column : column + width]
    else:
        copy[...] = array
    return copy


def aligned(array: NDArray) -> NDArray:
    """`array` where machine code can take it as it is, or where that is no matter yet: it is small, or all its elements
    are one in memory. Else, and where it is in a file, which others may write to or cut off, a copy."""
    is_in_file = _is_in_file(array)
    if not is_in_file and (array.nbytes < SMALL or not any(array.strides)):
        return array
    if not is_in_file and array.flags.c_contiguous and array.ctypes.data % ALIGNMENT == 0:
        return array
    copy = empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def _is_in_file(array: NDArray) -> bool:
    """Whether the elements are those of a file that is mapped."""
    held: object = array
    while held is not None and not isinstance(held, np.memmap | mmap):
        held = getattr(held, "base", None)
    return held is not None

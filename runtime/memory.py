"""Memory for tensors: aligned arrays, and the address of an array in as little time as Python allows."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..dialects.support.diagnostics import Diagnostic
from ..lowering.abi import ALIGNMENT

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..lowering.abi import NDArray

    Bytes: TypeAlias = npt.NDArray[np.uint8]


class NotEnoughMemory(Diagnostic):
    """The system has not the memory that a graph needs."""


_HEADER_BYTES = object.__basicsize__
_word_at = ctypes.c_size_t.from_address


def _address_in_object(array: NDArray) -> int:
    """Read out of the array's C structure, whose first field after the object's header is the address: so NumPy's C
    API has it (`PyArrayObject_fields`), and extension modules are compiled with it."""
    return _word_at(id(array) + _HEADER_BYTES).value


def _address_by_attribute(array: NDArray) -> int:
    return array.ctypes.data


def _fastest_address() -> Callable[[NDArray], int]:
    """The quick way, several times as quick as NumPy's own, where objects are laid out as in CPython."""
    samples = [np.zeros(3), np.zeros((4, 4), np.int8)[1:, 2:], np.zeros(())]
    plain = sys.implementation.name == "cpython" and all(
        _address_in_object(sample) == sample.ctypes.data for sample in samples
    )
    return _address_in_object if plain else _address_by_attribute


address = _fastest_address()
"""Where the data of an array begins."""


def aligned_bytes(size: int) -> Bytes:
    """Uninitialised memory that starts at a multiple of `ALIGNMENT`.

    Raises:
        NotEnoughMemory: the system has not so much.
    """
    try:
        memory = np.empty(size + ALIGNMENT, np.uint8)
    except (MemoryError, ValueError):
        raise NotEnoughMemory(f"there is no memory for {size:,} bytes") from None
    start = -address(memory) % ALIGNMENT
    return memory[start : start + size]


def aligned_empty(shape: Sequence[int], dtype: np.dtype[np.generic]) -> NDArray:
    """An uninitialised array in aligned memory, as wide vectors like it."""
    size = dtype.itemsize
    for extent in shape:
        size *= extent
    return aligned_bytes(size).view(dtype).reshape(tuple(shape))


def aligned_copy(array: NDArray) -> NDArray:
    """A dense copy of `array` in aligned memory; the array itself where it already is."""
    if array.flags.c_contiguous and array.ctypes.data % ALIGNMENT == 0:
        return array
    copy = aligned_empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def overlaps_itself(array: NDArray) -> bool:
    """Whether elements of an array may share memory: along some axis it steps by less than what the axes of smaller
    steps take together."""
    if not array.size:
        return False
    taken = array.itemsize
    for step, extent in sorted((abs(step), extent) for step, extent in zip(array.strides, array.shape, strict=True)):
        if extent > 1:
            if step < taken:
                return True
            taken = step * (extent - 1) + taken
    return False

"""Large arrays that are made on the way are where machine code can take them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from weft.dialects.relay.layout import parse_layout, transform_array
from weft.dialects.support.aligned_arrays import SMALL, contiguous, empty
from weft.dialects.support.alignment import ALIGNMENT
from weft.runtime.memory import aligned_copy


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.bool_])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3), (SMALL, 3)])
def test_an_empty_array_is_what_it_is_asked_to_be(shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
    made = empty(shape, np.dtype(dtype))
    assert made.shape == shape and made.dtype == dtype and made.flags.c_contiguous and made.flags.writeable
    assert made.nbytes < SMALL or made.ctypes.data % ALIGNMENT == 0


def test_what_is_contiguous_is_not_copied() -> None:
    array = np.arange(SMALL, dtype=np.int64).reshape(2, -1)
    assert contiguous(array) is array
    assert np.array_equal(contiguous(array.T), array.T)


def test_a_large_weight_in_another_layout_is_not_copied_again() -> None:
    array = np.random.default_rng(0).random((64, 64, 3, 3), np.float32)
    made = transform_array(array, parse_layout("OIHW"), parse_layout("OIHW16i16o"))
    assert aligned_copy(made) is made
    assert made[1, 2, 0, 1, 3, 5] == array[16 + 5, 32 + 3, 0, 1]

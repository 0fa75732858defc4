"""Large arrays that are made on the way are where machine code can take them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from weft.dialects.relay.attributes import resource
from weft.dialects.relay.layout import parse_layout, seen_as, transform_array
from weft.dialects.support.aligned_arrays import SMALL, aligned, contiguous, empty
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


@pytest.mark.parametrize("shape", [(64, 64, 3, 3), (60, 64, 3, 3)])  # the second is padded
def test_a_weight_in_another_layout_is_made_when_somebody_asks(shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(0).random(shape, np.float32)
    layouts = parse_layout("OIHW"), parse_layout("OIHW16i16o")
    seen, made = seen_as(array, *layouts), transform_array(array, *layouts)
    assert np.shares_memory(seen, array) == (shape[0] == 64)
    weight = resource(seen, "w")
    assert weight.data.given is None
    assert weight == resource(made, "w")
    assert weight.data.array is not None and aligned_copy(weight.data.array) is weight.data.array
    np.testing.assert_array_equal(weight.data.array, made)


def test_a_large_array_that_lies_anywhere_is_copied_to_where_machine_code_takes_it() -> None:
    memory = empty([SMALL + ALIGNMENT], np.dtype(np.uint8))
    memory[...] = np.arange(memory.size)
    assert aligned(memory) is memory
    small, fill = memory[1:9], np.broadcast_to(memory[:1], memory.shape)
    assert aligned(small) is small and aligned(fill) is fill
    for array in (memory[1:], memory.reshape(-1, 64).T):
        made = aligned(array)
        assert made is not array and aligned_copy(made) is made
        np.testing.assert_array_equal(made, array)


@pytest.mark.parametrize("count", [4, SMALL])
def test_what_is_in_a_file_is_copied_out_of_it(count: int, tmp_path: Path) -> None:
    np.arange(count * 2, dtype=np.float32).tofile(tmp_path / "data")
    mapped = np.memmap(tmp_path / "data", np.float32, "r")
    for array in (mapped, np.asarray(mapped).reshape(2, -1).T, np.broadcast_to(np.asarray(mapped[:1]), (count,))):
        made = aligned(array)
        assert not np.shares_memory(made, mapped)
        np.testing.assert_array_equal(made, array)

"""The numbers that operators are tried with (`weft.testing`)."""

import numpy as np
from xdsl.dialects.builtin import TensorType, f32, i1, i8, i32

from weft.testing import random_array, special_array


def test_floats_have_both_signs_a_zero_and_in_special_arrays_what_is_no_number() -> None:
    usual = random_array(TensorType(f32, [64]), np.random.default_rng(0))
    assert usual.dtype == np.float32 and (usual > 0).any() and (usual < 0).any() and (usual == 0).sum() == 1
    special = special_array(TensorType(f32, [256]), np.random.default_rng(0))
    assert np.isnan(special).any() and np.isposinf(special).any() and np.isneginf(special).any()
    assert np.signbit(special[special == 0]).any() and not np.signbit(special[special == 0]).all()


def test_there_are_no_special_integers() -> None:
    for type in (i8, i32, i1):
        tensor = TensorType(type, [64])
        same = random_array(tensor, np.random.default_rng(3))
        np.testing.assert_array_equal(special_array(tensor, np.random.default_rng(3)), same)
        assert len(np.unique(same)) == (2 if type == i1 else 7)

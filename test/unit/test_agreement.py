"""What a graph tells of its own tolerance."""

from __future__ import annotations

import numpy as np
import pytest
from native import parse

from weft.testing.agreement import Expectation, Undetermined


def test_every_element_at_a_jump_may_fall_on_either_side_of_it() -> None:
    module = parse("""relay.func @main(%x: tensor<256xf16>) -> tensor<256xf16> {
  %0 = relay.ceil %x : tensor<256xf16>
  relay.return %0 : tensor<256xf16>
}""")
    expected = Expectation(module, [np.full(256, -1, np.float16)])
    assert expected.difference([np.full(256, -1, np.float16)]) is None
    assert expected.difference([np.zeros(256, np.float16)]) is None
    assert expected.difference([np.full(256, 20, np.float16)]) is not None


def test_a_transposed_convolution_of_infinities_is_not_determined() -> None:
    module = parse("""relay.func @main(%x: tensor<1x1x3x3xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<1x1x7x7xf32> {
  %0 = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 2>}
    : (tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x7x7xf32>
  relay.return %0 : tensor<1x1x7x7xf32>
}""")  # fmt: skip
    x, w = np.ones((2, 1, 1, 3, 3), np.float32)
    assert Expectation(module, [x, w]).difference([np.zeros((1, 1, 7, 7), np.float32)]) is not None
    x[..., 0] = np.inf
    with pytest.raises(Undetermined, match="conv2d_transpose of infinities"):
        Expectation(module, [x, w])


def test_integers_between_which_is_interpolated_may_fall_on_either_side_of_a_whole_number() -> None:
    """Two thirds of 3 and a third of 3 are 3, or a little less."""
    module = parse("""relay.func @main(%x: tensor<1x1x6xi8>) -> tensor<1x1x18xi8> {
  %0 = relay.image.resize1d %x {size = array<i64: 18>} : (tensor<1x1x6xi8>) -> tensor<1x1x18xi8>
  relay.return %0 : tensor<1x1x18xi8>
}""")
    expected = Expectation(module, [np.array([[[3, 3, 3, 0, 6, 90]]], np.int8)])
    (exact,) = expected.results
    less = exact.copy()
    less[0, 0, :8] = 2
    assert expected.difference([exact]) is None and expected.difference([less]) is None
    less[0, 0, 17] -= 40
    assert expected.difference([less]) is not None


def test_sums_of_what_is_exact_are_as_exact_as_the_largest_one() -> None:
    """Sides of boxes are a centre and half a width, of which no data says anything: one may be 0, or a rest of both."""
    module = parse("""relay.func @main(%x: tensor<1x2x3x3xf32>) -> tensor<1x18x4xf32> {
  %0 = relay.vision.multibox_prior %x {ratios = array<f64: 1.0, 2.0>} : (tensor<1x2x3x3xf32>) -> tensor<1x18x4xf32>
  relay.return %0 : tensor<1x18x4xf32>
}""")
    expected = Expectation(module, [np.ones((1, 2, 3, 3), np.float32)])
    (off,) = (each.copy() for each in expected.results)
    assert off[0, 2, 0] == 0
    off[0, 2, 0] = 2.0**-26
    assert expected.difference([off]) is None
    off[0, 2, 0] = 2.0**-12
    assert expected.difference([off]) is not None

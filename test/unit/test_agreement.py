"""What a graph tells of its own tolerance."""

from __future__ import annotations

import numpy as np
from native import parse

from weft.testing.agreement import Expectation


def test_every_element_at_a_jump_may_fall_on_either_side_of_it() -> None:
    module = parse("""relay.func @main(%x: tensor<256xf16>) -> tensor<256xf16> {
  %0 = relay.ceil %x : tensor<256xf16>
  relay.return %0 : tensor<256xf16>
}""")
    expected = Expectation(module, [np.full(256, -1, np.float16)])
    assert expected.difference([np.full(256, -1, np.float16)]) is None
    assert expected.difference([np.zeros(256, np.float16)]) is None
    assert expected.difference([np.full(256, 20, np.float16)]) is not None

"""Convolutions in blocks that are not told their weight's layout."""

from typing import Any

import numpy as np

from weft import relay

relay: Any = relay


def test_the_shape_of_a_weight_says_its_blocks() -> None:
    x, w = relay.var("x", shape=(1, 2, 5, 5, 4)), relay.var("w", shape=(2, 2, 3, 3, 4, 8))
    told = {"data_layout": "NCHW4c", "channels": 16, "kernel_size": (3, 3)}
    given = relay.nn.contrib_conv2d_nchwc(x, w, **told)
    named = relay.nn.contrib_conv2d_nchwc(x, w, kernel_layout="OIHW4i8o", **told)
    assert relay.structural_equal(given, named) and given.shape == (1, 2, 3, 3, 8)
    rng = np.random.default_rng(0)
    data = rng.standard_normal((1, 2, 5, 5, 4), np.float32)
    weight = rng.standard_normal((2, 2, 3, 3, 4, 8), np.float32)
    found = relay.create_executor("debug").evaluate(relay.Function([x, w], given))(data, weight)
    plain = data.transpose(0, 1, 4, 2, 3).reshape(1, 8, 5, 5)
    kernel = weight.transpose(0, 5, 1, 4, 2, 3).reshape(16, 8, 3, 3)
    product = relay.nn.conv2d(relay.const(plain), relay.const(kernel))
    wanted = relay.create_executor("debug").evaluate(product)
    assert np.allclose(np.asarray(found).transpose(0, 1, 4, 2, 3).reshape(1, 16, 3, 3), wanted, atol=1e-4)

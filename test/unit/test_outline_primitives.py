"""Layers that differ in scalars alone share a kernel, which takes those as arguments."""

from typing import Any, cast

import numpy as np
import pytest

import weft
from weft import relay
from weft.testing.operators import random_floats


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_layers_that_differ_in_scalars_share_a_kernel_and_compute_with_their_own(target: str):
    x, given = relay.var("x", shape=(4, 8)), random_floats(4, 8)
    y, weight = x, relay.const(random_floats(8, 8))
    for scale, zero in ((0.25, 3), (-1.5, -7), (0.125, 3)):
        y = relay.nn.dense(y, weight) / relay.const(np.float32(scale))
        y = relay.cast(relay.cast(y, "int32") - relay.const(np.int32(zero)), "float32")
    module = relay.IRModule.from_expr(relay.Function([x], y))
    exe = weft.compile(module, target)
    assert exe.ir["fuse"].count("relay.func private @") == 1
    wanted = cast(Any, relay.create_executor("debug", module).evaluate())(given)
    np.testing.assert_array_equal(np.asarray(exe(given)), wanted)

"""Pools along one axis after the other give what pools over whole windows do."""

from __future__ import annotations

import numpy as np
import pytest

from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.relay.ops.nn.pool import MaxPool2dOp
from weft.dialects.support.parser import parse_module
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.relay.separate_pools import SeparatePoolsPass

WINDOWS = {
    "overlapping": ("pool_size = array<i64: 5, 5>, padding = array<i64: 2, 2>", "15x14"),
    "dilated, with strides": (
        "pool_size = array<i64: 6, 5>, strides = array<i64: 1, 3>, dilation = array<i64: 2, 1>, "
        "padding = array<i64: 3, 1, 4, 2>",
        "12x5",
    ),
    "reaching over the edge": (
        "pool_size = array<i64: 7, 6>, strides = array<i64: 2, 2>, padding = array<i64: 3, 2, 1, 0>, ceil_mode = true",
        "7x6",
    ),
    "beyond the edges of one axis": (
        "pool_size = array<i64: 6, 7>, strides = array<i64: 1, 2>, padding = array<i64: 0, 3>",
        "10x7",
    ),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_the_maximum_is_the_same(name: str) -> None:
    window, places = WINDOWS[name]
    module = parse_module(
        f"""
        relay.func @main(%x: tensor<2x3x15x14xf32>) -> tensor<2x3x{places}xf32> {{
          %y = relay.nn.max_pool2d %x {{{window}}} : (tensor<2x3x15x14xf32>) -> tensor<2x3x{places}xf32>
          relay.return %y : tensor<2x3x{places}xf32>
        }}
        """,
        new_ir_context(),
    )
    main = module.body.block.first_op
    assert isinstance(main, FuncOp)
    data = np.random.default_rng(0).standard_normal((2, 3, 15, 14)).astype(np.float32)
    data[0, 1, 4, 5], data[1, 2, 0, 13] = np.nan, -np.inf
    (expected,) = evaluate_function(main, [data])
    SeparatePoolsPass().apply(new_ir_context(), module)
    assert sum(isinstance(op, MaxPool2dOp) for op in module.walk()) == 2
    (given,) = evaluate_function(main, [data])
    np.testing.assert_array_equal(given, expected)

"""`simplify-fc-transpose` changes what a function is given: the transposed array, for the same result."""

from __future__ import annotations

import numpy as np

from weft import relay
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.transforms.relay.simplify_fc_transpose import SimplifyFCTransposePass, transposed_weights


def test_the_transposed_weight_gives_the_same_result() -> None:
    x, w = relay.var("x", shape=(2, 4)), relay.var("w", shape=(4, 3))
    module = relay.IRModule.from_expr(relay.Function([x, w], relay.nn.dense(x, relay.transpose(w, [1, 0]))))
    (before,) = (op for op in module.ops if isinstance(op, FuncOp))
    assert [argument.name_hint for argument in transposed_weights(before)] == ["w"]
    (after,) = (op for op in SimplifyFCTransposePass(("w",))(module).ops if isinstance(op, FuncOp))
    rng = np.random.default_rng(0)
    data, weight = rng.normal(size=(2, 4)).astype(np.float32), rng.normal(size=(4, 3)).astype(np.float32)
    (expected,), (actual,) = evaluate_function(before, [data, weight]), evaluate_function(after, [data, weight.T])
    np.testing.assert_array_equal(actual, expected)

"""Variables made without a type: what an operator's other operands and properties say of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from weft import relay
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.relay.expr import Expr, Var

IMAGE, VOLUME, LINE = (2, 6, 8, 8), (1, 6, 4, 4, 4), (1, 6, 9)
SAID: dict[str, tuple[tuple[int, ...], Callable[[Expr, Var], Expr], tuple[int, ...], tuple[int, ...]]] = {
    "conv1d": (LINE, lambda x, w: relay.nn.conv1d(x, w, kernel_size=3, channels=4), (4, 6, 3), (1, 4, 7)),
    "conv2d": (IMAGE, lambda x, w: relay.nn.conv2d(x, w, kernel_size=(3, 1), channels=4), (4, 6, 3, 1), (2, 4, 6, 8)),
    "conv2d in groups": (
        IMAGE,
        lambda x, w: relay.nn.conv2d(x, w, kernel_size=(3, 3), channels=12, groups=6),
        (12, 1, 3, 3),
        (2, 12, 6, 6),
    ),
    "conv2d in NHWC": (
        (1, 8, 8, 3),
        lambda x, w: relay.nn.conv2d(
            x, w, kernel_size=(3, 3), channels=4, data_layout="NHWC", kernel_layout="HWIO", out_dtype="float64"
        ),
        (3, 3, 3, 4),
        (1, 6, 6, 4),
    ),
    "conv3d": (VOLUME, lambda x, w: relay.nn.conv3d(x, w, kernel_size=2, channels=4), (4, 6, 2, 2, 2), (1, 4, 3, 3, 3)),
    "conv2d_transpose": (
        IMAGE,
        lambda x, w: relay.nn.conv2d_transpose(x, w, kernel_size=(2, 2), channels=4, groups=2),
        (6, 2, 2, 2),
        (2, 4, 9, 9),
    ),
    "deformable_conv2d": (
        IMAGE,
        lambda x, w: relay.nn.deformable_conv2d(
            x, relay.var("o", shape=(2, 18, 8, 8)), w, padding=(1, 1), kernel_size=(3, 3), channels=4
        ),
        (4, 6, 3, 3),
        (2, 4, 8, 8),
    ),
    "dense": ((5, 3), lambda x, w: relay.nn.dense(x, w, units=4), (4, 3), (5, 4)),
    "matmul": ((3, 5), lambda x, w: relay.nn.matmul(x, w, units=4, transpose_a=True), (3, 4), (5, 4)),
    "bias_add": (IMAGE, lambda x, w: relay.nn.bias_add(x, w), (6,), IMAGE),
    "prelu": (IMAGE, lambda x, w: relay.nn.prelu(x, w, axis=-1), (8,), IMAGE),
    "batch_norm": (
        IMAGE,
        lambda x, w: relay.nn.batch_norm(x, w, relay.var("b"), relay.var("m"), relay.var("v"))[0],
        (6,),
        IMAGE,
    ),
    "layer_norm": (IMAGE, lambda x, w: relay.nn.layer_norm(x, w, relay.var("b")), (8,), IMAGE),
}


@pytest.mark.parametrize("name", SAID)
def test_a_weight_without_a_type_gets_the_one_that_the_operator_says(name: str) -> None:
    shape, call, weight, result = SAID[name]
    w = relay.var("w")
    made = call(relay.var("x", shape=shape), w)
    assert (w.shape, w.dtype, made.shape) == (weight, "float32", result)


def test_it_gets_it_when_the_data_gets_one() -> None:
    x, w = relay.var("x"), relay.var("w")
    product = relay.nn.dense(x, w, units=2)
    function = relay.Function([x, w], product)
    y = relay.var("y", shape=(1, 3), dtype="float64")
    whole = relay.Let(x, y, product)
    assert (whole.shape, w.shape, w.dtype) == ((1, 2), (2, 3), "float64")
    assert function.body.block.args[1].name_hint == "w"


def test_a_network_is_written_without_the_shapes_of_weights() -> None:
    x = relay.var("x", shape=(1, 2, 5, 5))
    y = relay.nn.conv2d(x, relay.var("w"), kernel_size=(3, 3), channels=4)
    y = relay.nn.relu(relay.nn.bias_add(y, relay.var("b")))
    y = relay.nn.dense(relay.nn.batch_flatten(y), relay.var("fc"), units=3)
    module = relay.IRModule.from_expr(y)
    module.verify()
    shapes = [(4, 2, 3, 3), (4,), (3, 36)]
    ones = {name: np.ones(s, np.float32) for name, s in zip(("w", "b", "fc"), shapes, strict=True)}
    found = relay.create_executor("debug", module, params=ones).evaluate()
    assert callable(found)
    np.testing.assert_array_equal(found(np.ones((1, 2, 5, 5), np.float32)), np.full((1, 3), 36 * 19.0))


def test_what_is_not_said_stays_open() -> None:
    x, w = relay.var("x", shape=IMAGE), relay.var("w")
    assert str(relay.nn.conv2d(x, w, channels=4).checked_type) == "!relay.incomplete"
    assert str(relay.nn.dense(x, w).checked_type) == "!relay.incomplete"
    assert str(w.checked_type) == "!relay.incomplete"


def test_an_axis_that_there_is_not_is_refused() -> None:
    with pytest.raises(Diagnostic, match=r"bias_add.*axis 9 is out of range"):
        relay.nn.bias_add(relay.var("x", shape=IMAGE), relay.var("b"), axis=9)


def test_the_condition_of_an_if_is_a_truth_value() -> None:
    b, x = relay.var("b"), relay.var("x", shape=(2,))
    module = relay.IRModule.from_expr(relay.Function([b, x], relay.If(b, x, x + x)))
    assert str(module["main"].checked_type) == "(tensor<i1>, tensor<2xf32>) -> tensor<2xf32>"

"""`relay.transform.recast`: operators in other element types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import relay
from weft.dialects.support.diagnostics import UsageError

relay: Any = relay
recast: Any = relay.transform.recast
X = relay.var("x", shape=(1, 2, 5, 5))
V, W = relay.var("v", shape=(2, 2, 3, 3)), relay.var("w", shape=(2, 2, 3, 3))


def conv(x: Any, w: Any) -> Any:
    return relay.nn.conv2d(x, w, padding=(1, 1), out_dtype="float32")


def in_bytes(x: Any, w: Any) -> Any:
    bytes = [each.astype("int8") for each in (x, w)]
    return relay.nn.conv2d(*bytes, padding=(1, 1), out_dtype="int32").astype("float32")


def function(body: Any) -> Any:
    return relay.Function([X, V, W], body)


CHAIN = function(conv(conv(X, V), W))


@pytest.mark.parametrize(
    ("skipped", "expected"),
    [
        ([], in_bytes(in_bytes(X, V), W)),
        ([0], in_bytes(conv(X, V), W)),
        ([-1], conv(in_bytes(X, V), W)),
        ([0, 1], conv(conv(X, V), W)),
        ([7], in_bytes(in_bytes(X, V), W)),
    ],
)
def test_convolutions_but_those_that_stay_are_recast(skipped: list[int], expected: Any) -> None:
    assert relay.structural_equal(recast(CHAIN, "int8", "int32", skip_layers=skipped), function(expected))
    assert relay.structural_equal(CHAIN, function(conv(conv(X, V), W))), "what is given stays"


def test_a_layer_is_where_the_longest_way_from_it_says() -> None:
    body = conv(conv(X, V), W) + conv(X, W)
    after = recast(function(body), "int8", "int32", skip_layers=[1])
    assert relay.structural_equal(after, function(conv(in_bytes(X, V), W) + conv(X, W)))


def test_other_operators_expressions_and_modules() -> None:
    joined = relay.concatenate([X, X], 1)
    halves = [X.astype("float16"), X.astype("float16")]
    expected = relay.concatenate(halves, 1).astype("float32")
    assert relay.structural_equal(recast(joined, "float16", "float16", ["concatenate"]), expected)
    module = relay.IRModule.from_expr(relay.Function([X], relay.nn.relu(X)))
    after = recast(module, "float16", "float16", ops=["nn.relu"])
    x = np.array(np.random.default_rng(0).normal(size=(1, 2, 5, 5)), np.float32)
    result = relay.create_executor("debug", after).evaluate()(x)
    np.testing.assert_array_equal(result, np.maximum(x.astype(np.float16), 0).astype(np.float32))


def test_what_cannot_be_recast_is_refused() -> None:
    with pytest.raises(UsageError, match=r"relay.split gives several results, and cannot be recast"):
        recast(relay.split(X, 2, 1), "int8", "int32", ["split"])
    with pytest.raises(AttributeError, match=r"relay has no operator 'nn.conv2e'"):
        recast(CHAIN, "int8", "int32", ["nn.conv2e"])
    with pytest.raises(UsageError, match=r"relay.nn.softmax is not computed of bool: "):
        recast(relay.nn.softmax(relay.var("m", shape=(2, 2))), "bool", "bool", ["nn.softmax"])

"""Patterns over data flow, on expressions and under TVM's names."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from weft import relay
from weft.dialects.support.diagnostics import UsageError
from weft.frontend.relay.dataflow_pattern import (
    DFPatternCallback,
    is_constant,
    is_expr,
    is_op,
    match,
    partition,
    rewrite,
    wildcard,
)  # fmt: skip

relay: Any = relay
rewrite: Any = rewrite
partition: Any = partition
X, Y = relay.var("x", shape=(3,)), relay.var("y", shape=(3,))


class Doubled(DFPatternCallback):
    """`x + x` as `2 * x`."""

    def __init__(self) -> None:
        super().__init__()
        self.x = wildcard()
        self.pattern = self.x + self.x
        self.factor = relay.const(2.0)

    def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
        return node_map[self.x][0] * self.factor


def test_patterns_match_expressions() -> None:
    assert relay.dataflow_pattern.is_op is is_op is importlib.import_module("weft.relay.dataflow_pattern").is_op
    pattern = is_op("nn.relu")(is_op("add")(wildcard(), is_constant()))
    assert pattern.match(relay.nn.relu(X + relay.const(1.0))) and match(pattern, relay.nn.relu(relay.const(1.0) + X))
    assert not pattern.match(relay.nn.relu(X + Y))
    assert is_expr(X).match(X) and not is_expr(X).match(Y)


def test_an_expression_is_rewritten_and_stays_as_it_was() -> None:
    before = relay.exp(X + X) + (Y + Y)
    two = relay.const(2.0)
    assert relay.structural_equal(rewrite(Doubled(), before), relay.exp(X * two) + (Y * two))
    assert relay.structural_equal(before, relay.exp(X + X) + (Y + Y))


def test_a_function_is_rewritten() -> None:
    after = Doubled().rewrite(relay.Function([X], X + X))
    assert relay.structural_equal(after, relay.Function([X], X * relay.const(2.0)))


def test_a_callback_may_leave_a_match_and_must_keep_its_type() -> None:
    class Left(Doubled):
        def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
            return post

    class Wrong(Doubled):
        def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
            return relay.expand_dims(post, 0)

    assert relay.structural_equal(rewrite(Left(), X + X), X + X)
    with pytest.raises(UsageError, match=r"Wrong.callback gives a tensor<1x3xf32> for a value of type tensor<3xf32>"):
        rewrite(Wrong(), X + X)


def test_what_matches_becomes_a_region_where_it_is_wanted() -> None:
    pattern = is_op("exp")(wildcard())
    text = str(partition(pattern, relay.Function([X], relay.exp(X)), {"Composite": "e"}))
    assert 'Composite = "e"' in text and "relay.primitive" in text

    def is_int8(found: Any) -> bool:
        return found.dtype == "int8"

    kept = partition(pattern, relay.exp(X), check=is_int8)
    assert relay.structural_equal(kept, relay.exp(X))

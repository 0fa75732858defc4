"""Patterns over data flow, on expressions and under TVM's names."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from weft import relay
from weft.dialects.support.diagnostics import UsageError
from weft.frontend.relay.dataflow_pattern import (
    DFPatternCallback,
    FunctionPattern,
    is_constant,
    is_expr,
    is_op,
    is_tuple_get_item,
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


def test_what_is_as_it_was_is_the_same_expression() -> None:
    pattern = is_op("exp")(wildcard())
    x = X + Y
    assert pattern.partition(x) is x and rewrite(Doubled(), x) is x
    overused = relay.exp(relay.nn.relu(X)) + relay.nn.relu(X + Y)
    assert is_op("exp")(is_op("abs")(wildcard())).partition(overused) == overused


def test_patterns_have_tvms_methods_and_fields() -> None:
    pattern = is_op("nn.relu")(is_op("add")(wildcard(), wildcard()))
    region = pattern.partition(relay.nn.relu(X + Y), {"Composite": "t"}, lambda found: found.args[0].op.name == "add")
    text = str(relay.Function([X, Y], region))
    assert 'PartitionedFromPattern = "add_nn.relu_"' in text and 'Composite = "t"' in text
    assert pattern.args is not None and pattern.args[0].root_ops == {"add", "relay.add"}
    assert wildcard().has_attr({"a": 1}).attrs == {"a": 1} and wildcard().has_dtype("int8").dtype == "int8"
    assert is_expr(X).expr == X
    field = is_tuple_get_item(is_op("nn.batch_norm")(*[wildcard() for _ in range(5)]), 0)
    m, v = relay.var("m", shape=(1, 3)), relay.var("v", shape=(3,))
    named = str(relay.Function([m, v], field.partition(relay.nn.batch_norm(m, v, v, v, v)[0])))
    assert 'PartitionedFromPattern = "nn.batch_norm_TupleGetItem0_"' in named


def test_functions_are_matched_as_values() -> None:
    w, v = wildcard(), wildcard()
    pattern = FunctionPattern([w, v], w + v)
    assert pattern.match(relay.Function([X, Y], X + Y)) and not pattern.match(relay.Function([X, Y], X - Y))


def test_calls_of_functions_are_rewritten_once_each() -> None:
    class Inlined(DFPatternCallback):
        def __init__(self) -> None:
            super().__init__()
            self.pattern = wildcard().has_attr({"Composite": "sum"})(wildcard(), wildcard())

        def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
            return post.args[0] + post.args[1]

    a, b = relay.var("a"), relay.var("b")
    called = relay.abs(relay.Call(relay.Function([X, Y], X + Y, attrs={"Composite": "sum"}), [a, b]))
    assert is_op("abs")(is_op("add")(wildcard(), wildcard())).match(rewrite(Inlined(), called))


def test_what_has_no_type_yet_may_become_what_has_one() -> None:
    class Nothing(DFPatternCallback):
        def __init__(self) -> None:
            super().__init__()
            self.zero = is_constant()
            self.pattern = wildcard() * self.zero

        def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
            return node_map[self.zero][0]

    assert rewrite(Nothing(), relay.var("a") * relay.const(0)).data == 0


def test_a_check_of_a_table_sees_the_expression() -> None:
    def is_first(found: Any) -> bool:
        return found.args[0].op.name == "add" and found[inner].name_hint == "x"

    inner = wildcard()
    table = [("t.relu", is_op("nn.relu")(is_op("add")(inner, wildcard())), is_first)]
    module = relay.IRModule.from_expr(relay.Function([X, Y], relay.nn.relu(X + Y) + relay.nn.relu(Y + Y)))
    assert str(relay.transform.MergeComposite(table)(module)).count("Composite") == 1


def test_no_pattern_is_one_of_a_let() -> None:
    with pytest.raises(UsageError, match="no pattern matches a Let"):
        relay.dataflow_pattern.is_let(wildcard(), wildcard(), wildcard())


def test_constants_that_match_as_expressions_are_copied_into_regions() -> None:
    two = relay.const(np.float32(2))
    for part, inputs in ((is_expr(two), 1), (is_constant(), 1), (wildcard(), 2)):
        found: Any = is_op("exp")(wildcard() * part).partition(relay.exp(X * two))
        assert len(found.args) == inputs
        assert found.op.attrs["PartitionedFromPattern"] == "multiply_exp_"


def test_functions_and_what_applies_them_are_partitioned_as_one() -> None:
    a, b, p = wildcard(), wildcard(), relay.var("p", shape=(3,))
    inner = relay.Function([p], relay.exp(p))
    pattern = FunctionPattern([a], is_op("exp")(a))(b) + wildcard()
    found: Any = pattern.partition(relay.nn.relu(inner(X) + Y))
    region = found.args[0]
    assert region.op.attrs["PartitionedFromPattern"] == "exp_FunctionCall_add_"
    assert region.args == [X, Y]
    with_region = relay.Function([X, Y], inner(X) + Y, attrs={"PartitionedFromPattern": "exp_FunctionCall_add_"})
    assert relay.structural_equal(found, relay.nn.relu(with_region(X, Y)))


def test_products_and_quotients_match_in_any_order_of_computing() -> None:
    a, b, c = (is_op(name)(wildcard()) for name in ("exp", "tanh", "abs"))
    x, y, z = relay.exp(X), relay.tanh(X), relay.abs(X)
    for pattern in (a * b / c, a * (b / c)):
        assert all(pattern.match(each) for each in (x * y / z, y * x / z, x * (y / z), (y / z) * x))
        assert not any(pattern.match(each) for each in (z * y / x, x * (z / y), x / (y * z), x * y * z))
    assert (a * b / c).match(y * (x / z)) and not (a * b * c).match(x * y / z)


def test_quotients_of_integers_are_matched_in_their_order_alone() -> None:
    given = relay.var("x", shape=(4,), dtype="int32")
    a, b, c = (is_op(name)(wildcard()) for name in ("negative", "sign", "abs"))
    x, y, z = relay.negative(given), relay.sign(given), relay.abs(given)
    assert (a * b / c).match(y * x / z) and (a * (b / c)).match((y / z) * x)
    assert not (a * b / c).match(x * (y / z)) and not (a * (b / c)).match(x * y / z)


def test_what_is_called_matches_the_pattern_of_its_name() -> None:
    add = relay.op.get("add")
    assert is_op("add").match(add) and (is_op("add") | is_op("subtract")).match(add) and wildcard().match(add)
    assert not is_op("subtract").match(add) and not is_op("add")(wildcard(), wildcard()).match(add)
    assert not is_constant().match(add)


@pytest.mark.parametrize("wrong", [5, "exp", None])
def test_what_is_no_expression_is_refused(wrong: Any) -> None:
    """It ended in a traceback."""
    with pytest.raises(UsageError, match="a pattern is matched against an expression, a function or an operator"):
        is_op("exp").match(wrong)

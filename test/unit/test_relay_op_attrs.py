"""Attributes of operators: `relay.register_op_attr`, `Op.get_attr`, and what passes hear of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from weft import cpu, relay, remove_backend
from weft.dialects.relay.devices import FREE
from weft.dialects.support.diagnostics import UsageError

relay: Any = relay
X = relay.var("x", shape=(3,))
RELU = relay.op.get("nn.relu")


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    yield
    for name in ("t", "FTVMLegalize", "FMine", "target.told"):
        RELU.reset_attr(name)
    remove_backend("told")


def test_an_attribute_is_had_by_its_operator_until_it_is_taken_away() -> None:
    @relay.register_op_attr("nn.relu", "t")
    def plus(x: int) -> int:
        return x + 1

    assert plus(1) == 2 and RELU.get_attr("t")(1) == 2 and RELU.has_attr("t")
    assert relay.op.get("tanh").get_attr("t") is None
    RELU.reset_attr("t")
    assert RELU.get_attr("t") is None and not RELU.has_attr("t")


def test_the_highest_level_counts_and_one_level_is_given_once() -> None:
    relay.register_op_attr("nn.relu", "t", 1, 5)
    relay.register_op_attr("nn.relu", "t", 2, 6)
    relay.register_op_attr("nn.relu", "t", 3, 4)
    assert RELU.get_attr("t") == 2
    with pytest.raises(UsageError, match=r"'nn\.relu' has the attribute 't' of level 6 already"):
        RELU.set_attr("t", 4, 6)
    with pytest.raises(UsageError, match="the level of an attribute is positive, not 0"):
        RELU.set_attr("t", 4, 0)
    with pytest.raises(AttributeError, match=r"relay has no operator 'nn\.rellu'"):
        relay.register_op_attr("nn.rellu", "t", 1)


def test_an_operator_says_what_it_is() -> None:
    levels = [relay.op.get(name).support_level for name in ("add", "nn.conv2d", "floor", "shape_of", "qnn.mul")]
    assert levels == [1, 2, 3, 10, 11]
    assert (RELU.num_inputs, relay.op.get("add").num_inputs, relay.op.get("std").num_inputs) == (1, 2, -1)
    assert RELU.get_attr("TOpPattern") == 0 and relay.op.get("nn.conv2d").get_attr("TOpPattern") == 4
    assert "max" in RELU.description and relay.op.get("std").get_attr("TOpPattern") is None


@pytest.mark.parametrize("name", ["FTVMLegalize", "FMine"])
def test_a_rule_that_is_an_attribute_legalizes(name: str) -> None:
    seen: list[Any] = []

    @relay.register_op_attr("nn.relu", name)
    def rule(attrs: Any, inputs: Any, types: Any) -> Any:
        seen.append((dict(attrs), inputs[0].dtype, [str(each) for each in types]))
        return relay.maximum(inputs[0], relay.const(0.0)) if inputs[0].dtype == "float32" else None

    assert rule is not None
    integers = relay.var("i", shape=(3,), dtype="int8")
    before = relay.Function([X, integers], relay.Tuple([relay.nn.relu(X), relay.nn.relu(integers)]))
    after = relay.transform.Legalize(name)(relay.IRModule.from_expr(before))["main"]
    expected = relay.Tuple([relay.maximum(X, relay.const(0.0)), relay.nn.relu(integers)])
    assert relay.structural_equal(after, relay.Function([X, integers], expected))
    assert ({}, "float32", ["tensor<3xf32>", "tensor<3xf32>"]) in seen
    RELU.reset_attr(name)
    assert relay.structural_equal(relay.transform.Legalize(name)(relay.IRModule.from_expr(before))["main"], before)


def test_an_attribute_says_what_a_backend_takes() -> None:
    def takes_floats(call: Any) -> bool:
        return call.args[0].dtype == "float32"

    relay.register_op_attr("nn.relu", "target.told", takes_floats)
    integers = relay.var("i", shape=(3,), dtype="int8")
    body = relay.Tuple([relay.nn.relu(relay.tanh(X)), relay.nn.relu(integers)])
    module = relay.IRModule.from_expr(relay.Function([X, integers], body))
    parts = relay.transform.partition_for(module, "told")
    regions = [str(each) for name, each in parts.functions.items() if name.name_hint != "main"]
    assert len(regions) == 1 and "relay.nn.relu" in regions[0] and "f32" in regions[0] and "tanh" not in regions[0]


def test_devices_among_attributes_have_tvms_names() -> None:
    x = relay.var("x", shape=(4,))
    copy = relay.device_copy(x, "cuda", cpu())
    source, target = copy.attrs.src_virtual_device, copy.attrs.dst_virtual_device
    assert (source.device_type_int, source.virtual_device_id, source.target) == (2, 0, None)
    assert (target.device_type_int, target.virtual_device_id) == (1, 0)
    assert relay.annotation.on_device(x, "cuda").attrs.virtual_device.device_type_int == 2
    assert FREE.virtual_device_id == -1


def test_a_function_says_what_is_computed_twice_all_the_same() -> None:
    x = relay.var("x", shape=(4,))
    graph = relay.Function([x], relay.exp(x) * relay.exp(x) + relay.tanh(x) * relay.tanh(x))
    module = relay.IRModule.from_expr(graph)

    def is_exp(expr: Any) -> bool:
        return expr.op.name == "exp"

    def counts(made: Any) -> tuple[int, int]:
        text = str(made(module))
        return text.count("relay.exp"), text.count("relay.tanh")

    once = relay.transform.EliminateCommonSubexpr
    assert counts(once()) == (1, 1)
    assert counts(once(is_exp)) == (2, 1)
    assert counts(once(skip=["relay.tanh"])) == (1, 2)
    with pytest.raises(UsageError, match="either a function says"):
        once(is_exp, skip=["relay.tanh"])

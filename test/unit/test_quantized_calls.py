"""Rules of users by which operators are computed with integers: `FTVMFakeQuantizationToInteger`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.transforms.relay.fake_quantization_to_integer import FakeQuantizationToIntegerPass

relay: Any = relay
ATTRIBUTE = "FTVMFakeQuantizationToInteger"
TensorAffineType = weft.ir.TensorAffineType
FLOATS = {"qnn.dequantize", "qnn.quantize"}


def number(value: float, dtype: str = "float32") -> Any:
    return relay.const(value, dtype)


def module(name: str, scale: float = 0.25) -> Any:
    x = relay.var("x", shape=(64,), dtype="int8")
    data = relay.qnn.dequantize(x, number(0.5), number(3, "int32"))
    y = getattr(relay, name)(relay.nn.relu(data))
    return relay.IRModule.from_expr(relay.qnn.quantize(y, number(scale), number(-7, "int32"), out_dtype="int8"))


def operators(module: Any) -> set[str]:
    return set(relay.analysis.list_op_freqs(module))


def results(module: Any) -> Any:
    x = np.arange(-32, 32, dtype=np.int8)
    return np.asarray(weft.compile(relay.IRModule.from_expr(module["main"]))(x)).astype(np.int32)


def by_table(call: Any, types: Any) -> list[Any]:
    """`ceil` by a table of what it gives for all bytes."""
    (data,), wanted, given = call.args, types[call], types[call.args[0]]
    scale, zero, step, place = (
        float(each.data.numpy()) for each in (given.scale, given.zero_point, wanted.scale, wanted.zero_point)
    )
    steps = np.round(np.ceil((np.arange(256) - 128 - zero) * scale) / step) + place
    table = relay.const(np.clip(steps, -128, 127).astype(np.int8))
    places = relay.cast(data, "int32") + relay.const(128, "int32")
    return [relay.take(table, places, axis=0), wanted]


def test_an_operator_without_a_rule_is_computed_by_one_that_is_given() -> None:
    before = module("ceil")
    assert operators(FakeQuantizationToIntegerPass()(before)) >= FLOATS
    with relay.testing.TempOpAttr("ceil", ATTRIBUTE, by_table):
        after = FakeQuantizationToIntegerPass(hard_fail=True)(before)
    assert not operators(after) & {*FLOATS, "ceil"} and "take" in operators(after)
    np.testing.assert_array_equal(results(after), results(before))
    assert operators(FakeQuantizationToIntegerPass()(before)) >= FLOATS  # the rule is gone


def test_a_rule_that_is_given_comes_before_that_which_is_there() -> None:
    def gives_nothing(call: Any, types: Any) -> list[Any]:
        raise NotImplementedError("not here")

    before = module("negative")
    assert not operators(FakeQuantizationToIntegerPass(hard_fail=True)(module("abs"))) & FLOATS
    with relay.testing.TempOpAttr("nn.relu", ATTRIBUTE, gives_nothing):
        assert weft.ir.structural_equal(FakeQuantizationToIntegerPass()(before), before)
        with pytest.raises(Diagnostic, match="its rule says that it cannot: not here"):
            FakeQuantizationToIntegerPass(hard_fail=True)(before)


def test_what_nobody_has_quantised_has_no_type() -> None:
    def asks(call: Any, types: Any) -> list[Any]:
        assert call.args[0] in types and len(types) == 1 and call.op.name == "nn.relu"
        return [call.args[0], types[call]]

    with relay.testing.TempOpAttr("nn.relu", ATTRIBUTE, asks):
        with pytest.raises(Diagnostic, match="that nobody has quantised"):
            FakeQuantizationToIntegerPass(hard_fail=True)(module("exp"))


def half_an_answer(call: Any, types: Any) -> list[Any]:
    return [call.args[0]]


def of_another_type(call: Any, types: Any) -> list[Any]:
    return [relay.cast(call.args[0], "int32"), types[call.args[0]]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (half_an_answer, "gives no expression and TensorAffineType"),
        (of_another_type, "says int8 of integers that are int32"),
    ],
)
def test_what_a_rule_must_not_give_is_refused(given: Any, message: str) -> None:
    with relay.testing.TempOpAttr("nn.relu", ATTRIBUTE, given), pytest.raises(UsageError, match=message):
        FakeQuantizationToIntegerPass()(module("abs"))


def test_rules_are_registered_under_tvms_name() -> None:
    register = relay.transform.fake_quantization_to_integer.register_fake_quantization_to_integer
    assert register is relay.transform.register_fake_quantization_to_integer
    try:
        assert register("ceil")(by_table) is by_table
        assert not operators(FakeQuantizationToIntegerPass(hard_fail=True)(module("ceil"))) & FLOATS
        with pytest.raises(UsageError):
            register("ceil", by_table)
    finally:
        relay.op.get("ceil").reset_attr(ATTRIBUTE)
    assert operators(FakeQuantizationToIntegerPass()(module("ceil"))) >= FLOATS

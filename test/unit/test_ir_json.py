"""Modules are the same after they were written as JSON and read again; what is no such JSON is refused."""

from __future__ import annotations

import base64
import json
from typing import Any, cast

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.relay.core import FuncOp
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.element_types import numpy_dtype_of


def layer() -> relay.IRModule:
    """A module with a constant that its text does not hold, a small one, an open extent and a second function."""
    weight = np.random.default_rng(0).standard_normal((64, 32)).astype(np.float32)
    x = relay.var("x", shape=(relay.Any(), 32))
    y = relay.nn.dense(x, relay.const(weight)) + relay.const(np.float32(0.5))
    z = relay.var("z", shape=(2,), dtype="bfloat16")
    other = relay.Function([z], z + relay.const(np.array([1, 2]), "bfloat16"))
    return relay.IRModule({"main": relay.Function([x], y), "other": other})


def test_a_module_is_the_same_after_it_was_written_and_read():
    module = layer()
    again = weft.ir.load_json(weft.ir.save_json(module))
    assert isinstance(again, relay.IRModule)
    relay.assert_structural_equal(module, again)
    before, after = (cast("Any", relay.create_executor("debug", mod=each).evaluate()) for each in (module, again))
    x = np.ones((3, 32), np.float32)
    np.testing.assert_array_equal(before(x), after(x))


def test_arrays_of_one_number_are_written_as_that():
    ones = np.broadcast_to(np.float32(1), (512, 512))
    x = relay.var("x", shape=(512, 512))
    text = weft.ir.save_json(relay.IRModule.from_expr(relay.Function([x], x + relay.const(ones))))
    assert len(text) < 10_000
    weft.ir.assert_structural_equal(weft.ir.load_json(text), weft.ir.load_json(text))


def test_a_function_is_one_again():
    x = relay.var("x", shape=(4,))
    function = relay.Function([x], relay.exp(x))
    again = weft.ir.load_json(weft.ir.save_json(function))
    assert isinstance(again, FuncOp)
    relay.assert_structural_equal(function, again)


def expressions() -> dict[str, relay.Expr]:
    x, y = relay.var("x", shape=(relay.Any(), 4)), relay.var("y", shape=(4,))
    weight = relay.const(np.random.default_rng(0).standard_normal((64, 4)).astype(np.float32))
    return {
        "var": y,
        "constant": weight,
        "call": relay.nn.dense(x, weight) + relay.const(1.0),
        "tuple": relay.Tuple([y, relay.exp(y), y]),
        "field": relay.split(y, 2)[1],
        "branches": relay.If(relay.const(True), y, relay.negative(y)),
        "function": relay.expr.Expr(relay.expr.as_value(relay.Function([y], relay.exp(y)))),
    }


@pytest.mark.parametrize("kind", ["var", "constant", "call", "tuple", "field", "branches", "function"])
def test_an_expression_is_one_again_of_variables_of_these_names(kind: str):
    expression = expressions()[kind]
    again: Any = weft.ir.load_json(weft.ir.save_json(expression))
    assert weft.ir.structural_equal(expression, again, map_free_vars=True)
    names = [[each.name_hint for each in relay.analysis.free_vars(one)] for one in (expression, again)]
    assert names[0] == names[1] and again.checked_type == expression.checked_type


def test_what_has_no_types_yet_is_refused_where_it_could_not_be_read():
    t = relay.Var("t")
    assert weft.ir.structural_equal(
        weft.ir.load_json(weft.ir.save_json(relay.Tuple([t, t]))), relay.Tuple([t, t]), True
    )
    for expression in (relay.nn.relu(t), relay.TupleGetItem(t, 2), t + relay.const(1.0)):
        with pytest.raises(Diagnostic, match="of no known type"):
            weft.ir.save_json(expression)


@pytest.mark.parametrize(
    "type",
    [
        relay.TensorType((1, relay.Any()), "float16"),
        relay.TensorType((), "bool"),
        relay.TupleType([relay.TensorType((2,)), relay.TupleType([])]),
        relay.FuncType([relay.TensorType((2,), "int8")], relay.TensorType((2,))),
        relay.RefType(relay.TensorType((2,))),
    ],
    ids=str,
)
def test_a_type_is_one_again(type: Any):
    assert weft.ir.structural_equal(weft.ir.load_json(weft.ir.save_json(type)), type)


def test_names_are_such_again():
    for name in (relay.op.get("nn.relu"), relay.GlobalVar("f")):
        assert weft.ir.load_json(weft.ir.save_json(name)) == name


def test_lists_and_dictionaries_of_numbers_arrays_and_nodes_are_such_again():
    x = relay.var("x", shape=(4,))
    array = weft.nd.array(np.array([[1.5, -0.0], [np.nan, 2.0]], np.float32))
    small = np.array([1, 2.5], numpy_dtype_of("bfloat16"))
    const: Any = weft.tir.const
    given: dict[str, Any] = {
        "numbers": [1, 2.5, True, None, "a\x01é", float("-inf")],
        "arrays": {"a": array, "b": [small, np.zeros((0, 3), np.int64)]},
        "constant": (const(float("inf"), "float32"), const(7, "int8")),
        "function": relay.Function([x], relay.exp(x)),
        "empty": [(), {}],
    }
    again: Any = weft.ir.load_json(weft.ir.save_json(given))
    assert list(again) == list(given) and again["numbers"] == given["numbers"] and again["empty"] == [[], {}]
    assert weft.ir.structural_equal(again["arrays"], given["arrays"])
    np.testing.assert_array_equal(again["arrays"]["a"].numpy(), array)
    assert again["arrays"]["b"][0].dtype == small.dtype
    weft.ir.assert_structural_equal(again["constant"], given["constant"])
    relay.assert_structural_equal(again["function"], given["function"])


def test_what_no_json_is_written_of_is_refused():
    endless: list[object] = []
    endless.append(endless)
    for given, message in (
        ({1: 2}, "a mapping from str to anything, and not {1: 2}"),
        ([{1: 2}], "a dictionary has strings for keys, and not 1"),
        ([object()], "no JSON is written of a thing of type object"),
        (endless, "nested too deep, or holds itself"),
    ):
        with pytest.raises(Diagnostic, match=message):
            weft.ir.save_json(cast("Any", given))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON"),
        ("[]", "is no module that Weft has saved"),
        ('{"kind": "weft.ir"}', "its text or its weights are missing"),
        ('{"kind": "weft.ir", "module": "relay.fun"}', "relay.fun"),
        ('{"kind": "weft.ir", "module": "module {}", "weights": "?"}', "holds no weights"),
        ('{"kind": "weft.ir", "module": "module {}", "weights": "é"}', "holds no weights"),
        ('{"kind": "weft.ir", "of": "operator", "name": "nn.rely"}', "did you mean 'nn.relu'"),
        ('{"kind": "weft.ir", "of": "type", "module": "module {}"}', "is nothing that Weft has saved: type"),
        ('{"kind": "weft.ir", "of": 5, "module": "module {}"}', "is nothing that Weft has saved: 5"),
        ('{"kind": "weft.ir", "of": "list", "items": [5]}', "is nothing that Weft has saved: 5"),
        ('{"kind": "weft.ir", "of": "value", "value": []}', "its text or its weights are missing"),
        ('{"kind": "weft.ir", "of": "array", "weights": "?"}', "holds no weights"),
        pytest.param("[" * 100_000, "is no JSON", id="nested"),
    ],
)
def test_what_is_no_saved_module_is_refused(text: str, message: str):
    with pytest.raises(Diagnostic) as error:
        weft.ir.load_json(text)
    assert message in str(error.value)


def test_weights_that_are_not_whole_or_missing_are_refused():
    said = json.loads(weft.ir.save_json(layer()))
    data = base64.b64decode(said["weights"])
    for weights in (data[: len(data) // 2], b"none"):
        with pytest.raises(Diagnostic, match="cannot be read as weights"):
            weft.ir.load_json(json.dumps({**said, "weights": base64.b64encode(weights).decode()}))
    del said["weights"]
    with pytest.raises(Diagnostic, match="was not loaded"):
        weft.ir.load_json(json.dumps(said))

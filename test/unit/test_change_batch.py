"""Another batch size for a graph that was written for one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.support.diagnostics import Diagnostic, UsageError

relay: Any = relay
compiled: Any = weft.compile


def test_a_network_runs_at_another_size() -> None:
    module, params = relay.testing.mlp.get_workload(batch_size=1)
    changed = relay.transform.ChangeBatch({module["main"].params[0]: 0}, batch_size=3)(module)
    assert changed["main"].checked_type.ret_type.shape[0] == 3
    assert module["main"].checked_type.ret_type.shape[0] == 1, "what is given stays as it is"
    images = np.random.default_rng(0).standard_normal((3, 1, 28, 28)).astype(np.float32)
    one, three = (compiled(each, params=params) for each in (module, changed))
    expected = np.concatenate([np.asarray(one(image[None])) for image in images])
    np.testing.assert_allclose(np.asarray(three(images)), expected, rtol=1e-5, atol=1e-6)


def test_what_does_not_fit_the_new_size_is_refused() -> None:
    x = relay.var("x", shape=(1, 8))
    module = relay.IRModule.from_expr(relay.reshape(x, (2, 4)))
    with pytest.raises(Diagnostic, match="reshape"):
        relay.transform.ChangeBatch({"x": 0}, 4)(module)
    for data, text in (({"z": 0}, "no input 'z'"), ({"x": 2}, "no axis 2")):
        with pytest.raises(UsageError, match=text):
            relay.transform.ChangeBatch(data, 4)(module)
    fused = relay.transform.FuseOps()(relay.IRModule.from_expr(relay.exp(x)))
    with pytest.raises(UsageError, match="fused already"):
        relay.transform.ChangeBatch({"x": 0}, 4)(fused)


def test_branches_are_of_the_new_size_too() -> None:
    condition, x = relay.var("condition", shape=(), dtype="bool"), relay.var("x", shape=(1, 8))
    module = relay.IRModule.from_expr(relay.Function([condition, x], relay.If(condition, relay.exp(x), relay.abs(x))))
    changed = relay.transform.ChangeBatch({"x": 0}, 4)(module)
    assert changed["main"].checked_type.ret_type.shape[0] == 4
    np.testing.assert_array_equal(np.asarray(compiled(changed)(np.array(False), -np.ones((4, 8), np.float32))), 1)


def test_a_function_that_is_called_has_to_take_the_new_size() -> None:
    x, y, double = relay.var("x", shape=(1, 8)), relay.var("y", shape=(1, 8)), relay.GlobalVar("double")
    module = relay.IRModule({double: relay.Function([y], y + y), "main": relay.Function([x], double(x))})
    with pytest.raises(Diagnostic, match="do not match the inputs of @double"):
        relay.transform.ChangeBatch({"x": 0}, 4)(module)
    relay.transform.ChangeBatch({"x": 0, "y": 0}, 4)(module)


def test_a_function_within_is_of_the_new_size_too() -> None:
    x, y = relay.var("x", shape=(1, 8)), relay.var("y", shape=(1, 8))
    double = relay.Function([y], y + y)
    changed = relay.transform.ChangeBatch({"x": 0}, 4)(relay.IRModule.from_expr(relay.Function([x], double(x) - x)))
    np.testing.assert_array_equal(np.asarray(compiled(changed)(np.ones((4, 8), np.float32))), np.ones((4, 8)))

"""Functions that nobody has given a name go with what calls them, from one module into another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr

from weft import relay

relay: Any = relay


def summing() -> tuple[Any, Any]:
    """A number, and an expression of the sum of the numbers up to it, by a function that calls itself."""
    n, x = (relay.var(name, shape=(), dtype="int32") for name in "nx")
    f = relay.var("f")
    body = relay.If(relay.equal(x, relay.const(0)), relay.const(0), x + f(x - relay.const(1)))
    return n, relay.Let(f, relay.Function([x], body), f(n))


def names(module: Any) -> list[str]:
    return [op.sym_name.data for op in module.ops]


@pytest.mark.parametrize("executor", ["debug", "vm"])
def test_an_expression_that_a_pass_gives_can_be_run(executor: str) -> None:
    n, total = summing()
    typed = relay.testing.run_infer_type(relay.testing.run_infer_type(total))
    for function in (
        relay.testing.run_infer_type(relay.Function([n], total)),
        relay.Function(relay.free_vars(typed), typed),
        typed,
    ):
        module = relay.IRModule.from_expr(function)
        module.verify()
        assert relay.create_executor(executor, module).evaluate()(np.int32(4)) == 10


def test_a_function_of_that_name_is_another_one() -> None:
    n, total = summing()
    first = relay.IRModule.from_expr(relay.Function([n], total))
    module = relay.IRModule({"f": relay.Function([n], n)})
    module["main"] = first["main"]
    module["again"] = first["main"]
    module.verify()
    assert names(module) == ["f", "main", "f_1", "again", "f_2"]
    assert module["f_1"].sym_visibility == StringAttr("private")
    assert relay.create_executor("debug", module).evaluate()(np.int32(4)) == 10


def test_what_is_there_already_is_not_brought_again() -> None:
    n, total = summing()
    module = relay.IRModule.from_expr(relay.Function([n], total))
    typed = relay.transform.InferType()(module)
    module["main"] = module["main"]
    module["main"] = typed["main"]
    module["other"] = typed["main"]
    assert names(module) == ["main", "f", "other"]


def test_functions_that_have_names_stay_where_they_are() -> None:
    x, double = relay.var("x", shape=(2,)), relay.GlobalVar("double")
    module = relay.IRModule({double: relay.Function([x], x + x), "main": relay.Function([x], double(x))})
    assert names(relay.IRModule.from_expr(module["main"])) == ["main"]


def test_what_was_lifted_goes_with_what_calls_it() -> None:
    x, free = relay.var("x", shape=(2,)), relay.var("free", shape=(2,))
    called = relay.Call(relay.Function([x], relay.exp(x) + free), [free])
    lifted = relay.transform.LambdaLift()(relay.IRModule.from_expr(relay.Function([free], called)))
    module = relay.IRModule.from_expr(lifted["main"])
    module.verify()
    assert names(module) == names(lifted) and len(names(module)) == 2
    found = relay.create_executor("debug", module).evaluate()(np.zeros(2, np.float32))
    np.testing.assert_allclose(found.numpy(), [1, 1])


def test_the_turns_of_a_scan_go_along() -> None:
    text = """
    relay.func private @turn(%x: tensor<4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relay.add %h, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relay.return %0 : tensor<4xf32>
    }
    relay.func @main(%x: tensor<9x4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relay.scan @turn() over(%x) from(%h) {turns = 9, gathered = array<i64>, directions = array<i64: 0>}
        : () over(tensor<9x4xf32>) from(tensor<4xf32>) -> tensor<4xf32>
      relay.return %0 : tensor<4xf32>
    }"""
    taken = relay.IRModule.from_expr(relay.fromtext(text)["main"])
    assert names(taken) == ["main", "turn"]
    taken.verify()

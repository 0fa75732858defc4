"""`relay.transform.Inline()`: functions that are marked, as TVM takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft import relay

relay: Any = relay
X = relay.var("x", shape=(3,))
F, G = relay.GlobalVar("f"), relay.GlobalVar("g")


def module(attrs: Any, main: Any) -> Any:
    made = relay.IRModule({F: relay.Function([X], relay.exp(X), attrs=attrs)})
    made["main"] = main
    return made


def names(made: Any) -> list[str]:
    return [name.name_hint for name in made.functions]


def test_a_marked_function_is_inlined_and_erased() -> None:
    after = relay.transform.Inline()(module({"Inline": 1}, relay.Function([X], F(X) + X)))
    assert names(after) == ["main"]
    assert relay.structural_equal(after["main"], relay.Function([X], relay.exp(X) + X))


def test_one_that_is_not_marked_or_is_marked_by_zero_stays_called() -> None:
    for attrs in ({}, {"Inline": 0}):
        before = module(attrs, relay.Function([X], F(X)))
        assert relay.structural_equal(relay.transform.Inline()(before), before)


def test_one_for_another_compiler_becomes_a_function_value() -> None:
    attrs = {"Inline": 1, "Compiler": "a"}
    after = relay.transform.Inline()(module(attrs, relay.Function([X], F(X))))
    value = relay.Function([X], relay.exp(X), attrs=attrs)
    assert names(after) == ["main"]
    assert relay.structural_equal(after["main"], relay.Function([X], relay.Call(value, [X])))
    apart = module({"Compiler": "a"}, relay.Function([X], F(X)))
    assert relay.structural_equal(relay.transform.Inline()(apart), apart)


def test_a_value_of_a_marked_function_is_written_where_it_is_used() -> None:
    condition = relay.var("c", "bool")
    typed = relay.GlobalVar("f", relay.FuncType([X.checked_type], X.checked_type))
    chosen = relay.If(condition, typed, relay.Function([X], X))
    before = module({"Inline": 1}, relay.Function([condition, X], relay.Call(chosen, [X])))
    after = relay.transform.Inline()(before)
    assert names(after) == ["main"]
    x = np.ones(3, np.float32)
    y = relay.create_executor("debug", after).evaluate()(np.array(True), x)
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)


def test_what_calls_itself_or_is_never_called_stays() -> None:
    n = relay.var("n", shape=(), dtype="int32")
    down = relay.If(relay.equal(n, relay.const(0)), n, G(n - relay.const(1)))
    before = module({"Inline": 1}, relay.Function([X], X))
    before[G] = relay.Function([n], down, relay.scalar_type("int32"), attrs={"Inline": 1})
    assert set(names(relay.transform.Inline()(before))) == {"f", "g", "main"}

"""The interpreter of the language: what `test/run/language.mlir` runs, and how deep and how long."""

from __future__ import annotations

import numpy as np
import pytest

from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import Closure, Data, RelayInterpreter, evaluate_function
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.mlir import parse_mlir

PEANO = """
relay.adt @nat {zero(), next(!relay.adt<@nat>)}
relay.func @double(%n: !relay.adt<@nat>) -> !relay.adt<@nat> {
  %y = relay.match %n : (!relay.adt<@nat>) -> !relay.adt<@nat>
  case zero() {
    relay.yield %n : !relay.adt<@nat>
  } case next(%m: !relay.adt<@nat>) {
    %d = relay.call @double(%m) : (!relay.adt<@nat>) -> !relay.adt<@nat>
    %e = relay.construct "next"(%d) : (!relay.adt<@nat>) -> !relay.adt<@nat>
    %f = relay.construct "next"(%e) : (!relay.adt<@nat>) -> !relay.adt<@nat>
    relay.yield %f : !relay.adt<@nat>
  }
  relay.return %y : !relay.adt<@nat>
}
relay.func @drop(%n: !relay.adt<@nat>) -> !relay.adt<@nat> {
  %y = relay.match %n : (!relay.adt<@nat>) -> !relay.adt<@nat>
  case zero() {
    relay.yield %n : !relay.adt<@nat>
  } case next(%m: !relay.adt<@nat>) {
    %d = relay.call @drop(%m) : (!relay.adt<@nat>) -> !relay.adt<@nat>
    relay.yield %d : !relay.adt<@nat>
  }
  relay.return %y : !relay.adt<@nat>
}
"""


def functions(text: str) -> dict[str, FuncOp]:
    return {op.sym_name.data: op for op in parse_mlir(text, "test").ops if isinstance(op, FuncOp)}


def number(value: object) -> int:
    count = 0
    while isinstance(value, Data) and value.constructor == "next":
        (value,), count = value.fields, count + 1
    return count


def peano(number: int) -> Data:
    value = Data("zero", ())
    for _ in range(number):
        value = Data("next", (value,))
    return value


def test_a_recursion_may_be_twenty_thousand_calls_deep():
    (value,) = RelayInterpreter().run(functions(PEANO)["double"], [peano(20_000)])
    assert number(value) == 40_000


def test_a_tail_call_takes_the_place_of_its_caller(monkeypatch: pytest.MonkeyPatch):
    deepest = 0
    enter = RelayInterpreter.enter

    def watched(stack: list[object], *others: object) -> None:
        nonlocal deepest
        enter(stack, *others)  # type: ignore[arg-type]
        deepest = max(deepest, len(stack))

    monkeypatch.setattr(RelayInterpreter, "enter", staticmethod(watched))
    (end,) = RelayInterpreter().run(functions(PEANO)["drop"], [peano(1000)])
    assert number(end) == 0
    assert deepest <= 2


def test_a_closure_keeps_what_it_saw_when_it_was_made():
    text = """
    relay.func @make(%x: tensor<2xf32>) -> ((tensor<2xf32>) -> tensor<2xf32>) {
      %f = relay.fn(%a: tensor<2xf32>) -> tensor<2xf32> {
        %0 = relay.subtract %a, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        relay.yield %0 : tensor<2xf32>
      }
      relay.return %f : (tensor<2xf32>) -> tensor<2xf32>
    }
    relay.func @use(%f: (tensor<2xf32>) -> tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
      %0 = relay.apply %f(%y) : (tensor<2xf32>) -> tensor<2xf32>
      relay.return %0 : tensor<2xf32>
    }
    """
    machine, each = RelayInterpreter(), functions(text)
    made = [machine.run(each["make"], [np.full(2, n, np.float32)])[0] for n in (1, 5)]
    assert all(isinstance(f, Closure) for f in made)
    results = [machine.run(each["use"], [f, np.array([10, 20], np.float32)])[0] for f in made]
    np.testing.assert_array_equal(results[0], [9, 19])
    np.testing.assert_array_equal(results[1], [5, 15])


def test_what_is_run_takes_and_gives_tensors():
    with pytest.raises(Diagnostic, match=r"@double takes !relay.adt<@nat>; what is run takes and gives tensors"):
        evaluate_function(functions(PEANO)["double"], [])


def test_a_result_for_which_there_is_no_memory_is_a_diagnostic_at_its_operator():
    text = """
    relay.func @main(%n: tensor<1xi64>) -> tensor<?xf32> {
      %y = relay.dyn.zeros %n {dtype = "float32"} : (tensor<1xi64>) -> tensor<?xf32>
      relay.return %y : tensor<?xf32>
    }
    """
    with pytest.raises(
        Diagnostic, match=r"'relay.dyn.zeros': there is not enough memory: .* \(1000000000000000,\)"
    ) as no:
        evaluate_function(functions(text)["main"], [np.array([10**15])])
    assert no.value.place is not None and no.value.place.line == 3


@pytest.mark.parametrize("type", ["tensor<2xf32>", "tuple<tensor<2xf32>, tensor<i1>>", "!relay.adt<@nat>"])
def test_what_is_noted_to_be_on_a_device_is_what_it_is(type: str):
    text = f"""{PEANO.splitlines()[1]}
relay.func @on(%x: {type}) -> {type} {{
  %y = relay.on_device %x {{virtual_device = #relay.virtual_device<cpu>}} : {type}
  relay.return %y : {type}
}}"""
    value = peano(3) if "adt" in type else np.ones(2, np.float32)
    given = (value, np.array(True)) if "i1" in type else value
    (found,) = RelayInterpreter().run(functions(text)["on"], [given])
    assert found is given

"""Recursion of which only a run tells where it ends: `partial-evaluate` stops, and what is left computes the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import relay
from weft.dialects.relay.core import CallOp
from weft.dialects.support.parser import parse_module
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.relay.partial_evaluate import PartialEvaluatePass

ON_DATA = """
relay.adt @box {box(tensor<f32>)}
relay.func private @grown(%b: !relay.adt<@box>, %n: tensor<i32>) -> tensor<f32> {
  %y = relay.match %b : (!relay.adt<@box>) -> tensor<f32>
  case box(%h: tensor<f32>) {
    %one = relay.constant dense<1> : tensor<i32>
    %c = relay.less %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %r = relay.if %c : (tensor<i1>) -> tensor<f32> {
      relay.yield %h : tensor<f32>
    } else {
      %m = relay.subtract %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %e = relay.tanh %h : tensor<f32>
      %k = relay.construct "box"(%e) : (tensor<f32>) -> !relay.adt<@box>
      %1 = relay.call @grown(%k, %m) : (!relay.adt<@box>, tensor<i32>) -> tensor<f32>
      %2 = SECOND
      %3 = relay.add %1, %2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
      relay.yield %3 : tensor<f32>
    }
    relay.yield %r : tensor<f32>
  }
  relay.return %y : tensor<f32>
}
relay.func @main(%x: tensor<f32>, %n: tensor<i32>) -> tensor<f32> {
  %b = relay.construct "box"(%x) : (tensor<f32>) -> !relay.adt<@box>
  %0 = relay.call @grown(%b, %n) : (!relay.adt<@box>, tensor<i32>) -> tensor<f32>
  relay.return %0 : tensor<f32>
}
"""
ONCE = ON_DATA.replace("SECOND", "relay.exp %h : tensor<f32>")
TWICE = ON_DATA.replace("SECOND", "relay.call @grown(%k, %m) : (!relay.adt<@box>, tensor<i32>) -> tensor<f32>")
BY_ITSELF = """
relay.adt @rec {mk((!relay.adt<@rec>, tensor<i32>) -> tensor<f32>)}
relay.func @main(%x: tensor<f32>, %n: tensor<i32>) -> tensor<f32> {
  %w = relay.fn(%s: !relay.adt<@rec>, %k: tensor<i32>) -> tensor<f32> {
    %one = relay.constant dense<1> : tensor<i32>
    %c = relay.less %k, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %r = relay.if %c : (tensor<i1>) -> tensor<f32> {
      relay.yield %x : tensor<f32>
    } else {
      %y = relay.match %s : (!relay.adt<@rec>) -> tensor<f32>
      case mk(%f: (!relay.adt<@rec>, tensor<i32>) -> tensor<f32>) {
        %m = relay.subtract %k, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %1 = relay.apply %f(%s, %m) : (!relay.adt<@rec>, tensor<i32>) -> tensor<f32>
        %2 = relay.tanh %1 : tensor<f32>
        relay.yield %2 : tensor<f32>
      }
      relay.yield %y : tensor<f32>
    }
    relay.yield %r : tensor<f32>
  }
  %d = relay.construct "mk"(%w) : ((!relay.adt<@rec>, tensor<i32>) -> tensor<f32>) -> !relay.adt<@rec>
  %0 = relay.apply %w(%d, %n) : (!relay.adt<@rec>, tensor<i32>) -> tensor<f32>
  relay.return %0 : tensor<f32>
}
"""
"""A function that is given itself."""


@pytest.mark.parametrize("text", [ONCE, TWICE, BY_ITSELF], ids=["once", "twice", "by_itself"])
def test_recursion_that_only_a_run_ends_is_not_followed_forever(text: str) -> None:
    module = parse_module(text, new_ir_context())
    evaluated = PartialEvaluatePass()(module.clone())
    if text is not BY_ITSELF:
        assert any(isinstance(op, CallOp) for op in evaluated.walk())
    for n in (0, 3, 40 if text is not TWICE else 10):
        given = np.float32(0.3), np.int32(n)
        functions: list[Any] = [relay.create_executor("debug", each).evaluate() for each in (module, evaluated)]
        results = [function(*given) for function in functions]
        np.testing.assert_allclose(*(np.asarray(each.numpy()) for each in results), rtol=1e-5)

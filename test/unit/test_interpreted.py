"""The executor `interpreter`: called, timed and profiled as what was compiled is."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.mlir import parse_mlir
from weft.interpreted import Interpreted
from weft.runtime.tensors import InputError

EXAMPLE = "examples/perceptron.mlir"
SUM_TO = """
relay.func @main(%n: tensor<i64>) -> tensor<i64> {
  %zero = relay.constant dense<0> : tensor<i64>
  %y = relay.call @loop(%n, %zero) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  relay.return %y : tensor<i64>
}
relay.func private @loop(%n: tensor<i64>, %sum: tensor<i64>) -> tensor<i64> {
  %zero = relay.constant dense<0> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %more = relay.greater %n, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %r = relay.if %more : (tensor<i1>) -> tensor<i64> {
    %s = relay.add %sum, %n : (tensor<i64>, tensor<i64>) -> tensor<i64> loc("total")
    %m = relay.subtract %n, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %z = relay.call @loop(%m, %s) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %z : tensor<i64>
  } else {
    relay.yield %sum : tensor<i64>
  }
  relay.return %r : tensor<i64>
}
"""


@pytest.fixture(scope="module")
def perceptron() -> Interpreted:
    return weft.compile(EXAMPLE, executor="interpreter")


def test_it_takes_and_gives_what_compiled_code_does(perceptron: Interpreted) -> None:
    exe: Any = weft.compile(EXAMPLE)
    assert perceptron.inputs == exe.inputs and perceptron.outputs == exe.outputs
    x = np.random.default_rng(0).standard_normal((1, 64)).astype(np.float32)
    found: Any = perceptron(x)
    np.testing.assert_allclose(found, exe(x), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(np.asarray(perceptron.run({"x": x})["out"], np.float32), found)
    for arrays, message in (((), "takes 1 input"), ((x[0],), "has shape"), ((x.astype("f8"),), "has dtype")):
        with pytest.raises(InputError, match=message):
            perceptron(*arrays)
    with pytest.raises(InputError, match="there is no input 'y'"):
        perceptron.run({"y": x})
    assert "weft.Interpreted" in repr(perceptron) and "tensor<1x64xf32>" in repr(perceptron)


def test_it_is_timed(perceptron: Interpreted) -> None:
    assert len(perceptron.benchmark(repeat=3).results) == 3
    profile = perceptron.profile(repeat=2)
    assert [step.kernel for step in profile.steps] == ["nn.dense", "nn.bias_add", "nn.relu", "nn.dense", "nn.softmax"]
    assert all(len(step.lasts) == 2 and step.us > 0 for step in profile.steps)
    assert profile.steps[0].bytes == 4 * (64 + 32 * 64 + 32)
    with pytest.raises(UsageError, match="0 repetitions"):
        perceptron.profile(repeat=0)


def test_what_is_computed_in_each_turn_is_an_event_for_each() -> None:
    exe = weft.compile(parse_mlir(SUM_TO, "loop.mlir"), executor="interpreter")
    assert int(np.asarray(exe(np.array(4)))) == 10
    profile = exe.profile(np.array(4))
    (adding,) = (step for step in profile.steps if step.kernel == "add")
    assert adding.layers == ("total",) and len(adding.last_spans) == 4
    events = [each["name"] for each in json.loads(profile.chrome_trace())["traceEvents"] if each["ph"] == "X"]
    assert events.count("total") == 4 and events.count("greater") == 5


def test_kernels_of_tir_are_interpreted() -> None:
    x = np.ones((1, 64), np.float32)
    expected: Any = weft.compile(EXAMPLE)(x)
    scheduled = weft.compile(EXAMPLE).ir.module("schedule")
    exe = weft.compile(scheduled, executor="interpreter")
    found: Any = exe(x)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert {step.kernel for step in exe.profile(x).steps} >= {"fused_nn_softmax"}
    with pytest.raises(UsageError, match="at the phase 'loops'"):
        weft.compile(weft.compile(EXAMPLE).ir.module("loops"), executor="interpreter")


def test_sizes_that_an_operator_does_not_take_are_refused_at_its_place() -> None:
    x = relay.var("x", shape=(relay.Any(), 2))
    halves = relay.split(x, indices_or_sections=2, axis=0)
    exe = weft.compile(relay.Function([x], halves[0]), executor="interpreter")
    assert np.asarray(exe(np.ones((4, 2), np.float32))).shape == (2, 2)
    with pytest.raises(Diagnostic, match=r"'relay.split': an axis of extent 3 cannot be split into 2 equal parts"):
        exe(np.ones((3, 2), np.float32))


def test_other_executors_are_named() -> None:
    with pytest.raises(UsageError, match="there is no executor 'interpretr'") as error:
        weft.compile(EXAMPLE, executor="interpretr")  # pyright: ignore
    assert error.value.hint == "did you mean 'interpreter'?"

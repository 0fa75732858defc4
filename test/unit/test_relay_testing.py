"""`relay.testing`: gradients by differences, passes on expressions, operators counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, TensorType, f32

import weft
from weft import relay
from weft.dialects.relay.gradient import Gradient, Terms
from weft.dialects.relay.ops.transcendental import TanhOp
from weft.dialects.support.diagnostics import UsageError

testing: Any = relay.testing
FastMath: Any = relay.transform.FastMath


def test_a_right_gradient_passes():
    x, y = (relay.var(name, shape=(2, 3), dtype="float64") for name in "xy")
    testing.check_grad(relay.Function([x, y], relay.tanh(x) * y))


def test_a_wrong_gradient_is_told(monkeypatch: pytest.MonkeyPatch):
    x = relay.var("x", shape=(2, 3), dtype="float64")

    def wrong(self: TanhOp, g: Gradient) -> Terms:
        return [g.grad]

    monkeypatch.setattr(TanhOp, "gradient", wrong)
    with pytest.raises(AssertionError, match="Mismatched elements: 6 / 6"):
        testing.check_grad(relay.Function([x], relay.tanh(x)), mean=0.5, scale=0.1)


def test_only_the_inputs_named_are_compared():
    x, i = relay.var("x", shape=(3, 2), dtype="float64"), relay.var("i", shape=(2,), dtype="int64")
    function = relay.Function([x, i], relay.take(x, i, axis=0))
    inputs = [np.ones((3, 2)), np.array([2, 0])]
    testing.check_grad(function, inputs, test_inputs=[inputs[0]])
    with pytest.raises(UsageError, match="none of the inputs is to be compared"):
        testing.check_grad(function, inputs, test_inputs=[inputs[0].copy()])


def test_the_inputs_stay_as_they_are():
    x = relay.var("x", shape=(2,), dtype="float64")
    given = np.array([0.3, 0.7])
    testing.check_grad(relay.Function([x], x * x), [given])
    assert given.tolist() == [0.3, 0.7]


def test_a_function_that_gives_truth_values_has_zeros():
    x = relay.var("x", shape=(3,))
    testing.check_grad(relay.Function([x], relay.less(x, relay.const(0.5))), [np.array([0, 1, 2], np.float32)])


def test_a_pass_on_an_expression_gives_one_and_on_a_function_a_function():
    x = relay.var("x", shape=(2,))
    assert testing.run_opt_pass(relay.exp(x), FastMath()).op.name == "fast_exp"
    function = testing.run_opt_pass(relay.Function([x], relay.exp(x)), FastMath())
    assert function.tree.op.name == "fast_exp"
    assert function.checked_type == FunctionType.from_lists([TensorType(f32, [2])], [TensorType(f32, [2])])


def test_types_that_were_not_known_are_found():
    x, w = relay.var("x", shape=(1, 3, 8, 8)), relay.var("w")
    y = testing.run_infer_type(relay.nn.conv2d(x, w, kernel_size=(3, 3), channels=4))
    assert y.checked_type.concrete_shape == (1, 4, 6, 6)


def test_calls_of_operators_are_counted():
    x = relay.var("x", shape=(2,))
    y = relay.exp(x)
    assert testing.count_ops(y + y + relay.const(1.0)) == {"add": 2, "exp": 1}


def test_random_numbers_have_the_shape_and_dtype_asked_for():
    drawn = testing.rand("float16", 2, 3)
    assert drawn.shape == (2, 3) and drawn.numpy().dtype == np.float16


def test_a_residual_network_has_the_layers_of_tvms():
    counts: Any = relay.analysis.list_op_freqs(testing.resnet.get_workload()[0])
    assert (counts["nn.batch_norm"], counts["nn.conv2d"], counts["nn.relu"], counts["nn.max_pool2d"]) == (19, 21, 18, 1)
    small: Any = relay.analysis.list_op_freqs(testing.resnet.get_workload(image_shape=(3, 32, 32))[0])
    assert (small["nn.batch_norm"], small["nn.conv2d"], "nn.max_pool2d" in small) == (18, 21, False)


def test_python_evaluates_data_functions_and_references():
    pair = testing.run_as_python(relay.Tuple([relay.const(1), relay.Tuple([])]))
    assert pair[0].numpy() == 1 and pair[1] == ()
    x = relay.var("x", shape=())
    assert testing.run_as_python(relay.Function([x], x + x))(np.float32(2)) == 4
    prelude: Any = relay.Prelude()
    _, cons, nil = prelude.mod.get_type("List")
    made = testing.run_as_python(cons(relay.const(3), nil()), prelude.mod)
    assert made.constructor == cons and made.fields[0] == 3
    with pytest.raises(UsageError, match="has variables that nothing is bound to: x"):
        testing.run_as_python(x + x)


def test_programs_are_tested_on_what_runs_here():
    assert ("llvm", weft.cpu(0)) in testing.enabled_targets()

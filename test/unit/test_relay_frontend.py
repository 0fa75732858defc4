"""`relay.frontend.from_onnx`: ONNX models by TVM's name and arguments."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import weft
from weft import relay as names
from weft.dialects.support.diagnostics import UsageError

relay: Any = names

WEIGHT = np.arange(12, dtype="float32").reshape(4, 3)
X = np.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)


def model(rows: int | str = 2, opset: int = 17) -> onnx.ModelProto:
    """`reshape(x @ w, [3, -1])`, whose shape is a weight too."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Reshape", ["h", "s"], ["y"])]
    weights = [numpy_helper.from_array(WEIGHT, "w"), numpy_helper.from_array(np.array([3, -1]), "s")]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, None])
    graph = helper.make_graph(nodes, "g", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def test_weights_are_constants_of_the_module_unless_they_are_asked_for():
    module, params = relay.frontend.from_onnx(model())
    assert isinstance(module, relay.IRModule) and params == {}
    assert [each.name_hint for each in module["main"].params] == ["x"]


def test_weights_that_are_asked_for_are_parameters_and_what_follows_from_them_is_known():
    module, params = relay.frontend.from_onnx(model(), {"x": (2, 4)}, freeze_params=False)
    assert [each.name_hint for each in module["main"].params] == ["x", "w"]
    assert list(params) == ["w"]
    np.testing.assert_array_equal(params["w"].numpy(), WEIGHT)
    assert tuple(module["main"].ret_type.get_shape()) == (3, 2)


@pytest.mark.parametrize("freeze", [True, False])
def test_what_is_imported_runs_on_every_executor(freeze: bool):
    module, params = relay.frontend.from_onnx(model(), freeze_params=freeze)
    expected = (X @ WEIGHT).reshape(3, 2)
    found = relay.create_executor("vm", mod=module, target="llvm").evaluate()(X, **params)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    graph, library, params = relay.build(module, "llvm", params=params)
    runner: Any = weft.graph_executor.create(graph, library, weft.cpu())
    runner.set_input("x", X)
    runner.set_input(**params)
    runner.run()
    np.testing.assert_allclose(runner.get_output(0).numpy(), expected, rtol=1e-6)


def test_weights_of_a_model_of_open_extents_are_parameters_beside_them():
    module, params = relay.frontend.from_onnx(model("rows"), freeze_params=False)
    run = relay.create_executor("vm", mod=module, target="llvm").evaluate()
    np.testing.assert_allclose(run(X[:1], **params), (X[:1] @ WEIGHT).reshape(3, 1), rtol=1e-6)


def test_extents_that_are_any_stay_open():
    module, _ = relay.frontend.from_onnx(model("rows"), {"x": (relay.Any(), 4)})
    assert str(module["main"].params[0].checked_type) == "tensor<?x4xf32>"


def test_another_opset_counts_where_it_is_given():
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 2])
    graph = helper.make_graph([helper.make_node("Softmax", ["x"], ["y"])], "g", [x], [y])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9)
    for opset, each in ((None, 1 / 2), (12, 1 / 4)):  # along the last axis, and over all behind the first
        module, _ = relay.frontend.from_onnx(made, opset=opset)
        found = relay.create_executor(mod=module).evaluate()(np.ones((1, 2, 2), np.float32))
        np.testing.assert_allclose(found, np.full((1, 2, 2), each), rtol=1e-6)
    assert made.opset_import[0].version == 13


def test_a_dtype_that_the_model_does_not_have_is_refused():
    relay.frontend.from_onnx(model(), dtype={"x": "float32"})
    with pytest.raises(UsageError, match="input 'x' of the model is float32, and not int8"):
        relay.frontend.from_onnx(model(), dtype={"x": "int8"})
    with pytest.raises(UsageError, match="no input 'z'"):
        relay.frontend.from_onnx(model(), dtype={"z": "int8"})


def test_a_configuration_that_is_none_is_refused():
    relay.frontend.from_onnx(model(), convert_config={"use_nt_batch_matmul": False})
    with pytest.raises(UsageError, match="no configuration 'use_nt_batchmatmul'"):
        relay.frontend.from_onnx(model(), convert_config={"use_nt_batchmatmul": False})


def test_an_extent_that_the_model_declares_is_open_where_it_is_said_to_be():
    module, _ = relay.frontend.from_onnx(model(), {"x": (relay.Any(), 4)})
    assert str(module["main"].params[0].checked_type) == "tensor<?x4xf32>"
    found = relay.create_executor("vm", mod=module, target="llvm").evaluate()(X[:1])
    np.testing.assert_allclose(found, (X[:1] @ WEIGHT).reshape(3, 1), rtol=1e-6)
    with pytest.raises(UsageError, match=r"shape \?x5 does not fit input 'x' of shape 2x4"):
        relay.frontend.from_onnx(model(), {"x": (relay.Any(), 5)})


def test_spans_are_there_whatever_the_context_says():
    texts = set[str]()
    for fill in (True, False):
        with weft.transform.PassContext(config={"relay.frontend.fill_span": fill}):
            texts.add(str(relay.frontend.from_onnx(model())[0]))
    assert len(texts) == 1

"""The ONNX importer: names and locations, weights, shapes, functions, and what of a model Weft has not."""

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, NameLoc, StringAttr
from xdsl.ir import Operation

onnx = pytest.importorskip("onnx")

from onnx import (
    AttributeProto,
    GraphProto,
    ModelProto,
    SparseTensorProto,
    TensorProto,
    helper,
    numpy_helper,
)
from onnx.reference import ReferenceEvaluator
from onnx_samples import NDArray, graph_of, main_of, model_of, random, run

from weft.dialects.relay.core import ConstantOp, FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.advice import on_a_command_line
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.onnx import from_onnx, supported_operators


def names_of(module: ModuleOp) -> list[str]:
    """The operations of @main, without constants and the return."""
    return [op.name.removeprefix("relay.") for op in operations(module)]


def operations(module: ModuleOp) -> list[Operation]:
    return [op for op in main_of(module).body.block.ops if op.name not in ("relay.constant", "relay.return")]


def check_against_onnx(model: ModelProto, *inputs: NDArray) -> ModuleOp:
    """Import `model`, and compare it with ONNX's reference evaluation."""
    module = from_onnx(model)
    names = [value.name for value in model.graph.input]
    expected: Any = ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))  # pyright: ignore[reportUnknownMemberType]
    for got, wanted in zip(run(module, *inputs), expected, strict=True):
        assert_close(got, wanted)
    return module


def assert_close(got: NDArray, wanted: NDArray) -> None:
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    np.testing.assert_allclose(got.astype(np.float64), wanted.astype(np.float64), rtol=1e-5, atol=1e-5)


# Names, locations, weights


def test_names_of_values_and_nodes_are_kept():
    nodes = [
        helper.make_node("Relu", ["gpu_0/data:0"], ["act"], name="layer1/relu"),
        helper.make_node("Exp", ["act"], ["y"]),
    ]
    function = main_of(from_onnx(model_of(graph_of(nodes, {"gpu_0/data:0": [2, 3]}))))
    assert function.attributes["input_names"] == ArrayAttr([StringAttr("gpu_0/data:0")])
    assert function.attributes["output_names"] == ArrayAttr([StringAttr("y")])
    relu, exp, _ = function.body.block.ops
    assert function.body.block.args[0].name_hint == "gpu_0_data"
    assert relu.results[0].name_hint == "act"
    assert isinstance(relu.location, NameLoc) and "layer1/relu" in str(relu.location)
    assert '"y"' in str(exp.location), "a node without a name is placed by its output"


def test_a_weight_used_twice_is_one_constant_and_an_unused_one_is_none():
    nodes = [helper.make_node("Add", ["x", "w"], ["a"]), helper.make_node("Mul", ["a", "w"], ["y"])]
    weights = {"w": random(4), "unused": random(5)}
    module = check_against_onnx(model_of(graph_of(nodes, {"x": [3, 4]}, weights=weights)), random(3, 4, seed=1))
    constants = [op for op in main_of(module).body.block.ops if isinstance(op, ConstantOp)]
    assert [c.result.name_hint for c in constants] == ["w"]


def test_weights_that_old_models_also_list_as_inputs_are_no_arguments():
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    graph = graph_of(nodes, {"x": [3, 4], "w": [4]}, weights={"w": random(4)})
    assert len(main_of(from_onnx(model_of(graph))).body.block.args) == 1


def test_a_large_fill_takes_no_memory():
    value = numpy_helper.from_array(np.array([0.5], np.float32))
    nodes = [
        helper.make_node("ConstantOfShape", ["s"], ["w"], value=value),
        helper.make_node("Add", ["x", "w"], ["y"]),
    ]
    graph = graph_of(nodes, {"x": [1 << 15, 1 << 15]}, weights={"s": np.array([1 << 15, 1 << 15])})
    [constant, _, _] = main_of(from_onnx(model_of(graph))).body.block.ops
    assert isinstance(constant, ConstantOp)
    array = constant.numpy()
    assert array is not None and array.shape == (1 << 15, 1 << 15) and not any(array.strides)


# Constants that shapes depend on


def test_shape_arithmetic_is_evaluated_on_import():
    """Shape -> Gather -> Unsqueeze -> Concat -> Reshape, as exporters write `x.view(x.shape[0], -1)`."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"], axis=0),
        helper.make_node("Unsqueeze", ["n", "axes"], ["n1"]),
        helper.make_node("Concat", ["n1", "rest"], ["shape"], axis=0),
        helper.make_node("Reshape", ["x", "shape"], ["y"]),
    ]
    weights = {"zero": np.array(0), "axes": np.array([0]), "rest": np.array([-1])}
    module = check_against_onnx(model_of(graph_of(nodes, {"x": [2, 3, 4]}, weights=weights)), random(2, 3, 4))
    assert names_of(module) == ["reshape"], "what only served to find the shape is gone"


def sparse(values: Any, places: Any, dims: list[int]) -> SparseTensorProto:
    weight, at = (numpy_helper.from_array(np.array(part), name) for part, name in ((values, "w"), (places, "at")))
    return helper.make_sparse_tensor(weight, at, dims)


def test_a_sparse_weight_is_one_with_zeros():
    two = np.array([5, 7], np.float32)
    wanted = np.array([[0, 5, 0], [0, 0, 7]], np.float32)
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    for places in ([1, 5], [[0, 1], [1, 2]]):
        model = model_of(graph_of(nodes, {"x": [2, 3]}))
        model.graph.sparse_initializer.append(sparse(two, places, [2, 3]))
        (function,) = from_onnx(model).body.ops
        assert isinstance(function, FuncOp)
        (y,) = evaluate_function(function, [np.ones((2, 3), np.float32)])
        np.testing.assert_array_equal(y, wanted + 1)
    for values, places, dims, message in (
        (two, [1, 6], [2, 3], "a place outside of the shape"),
        (two, [[0, 1], [1, 3]], [2, 3], "a place outside of the shape"),
        (two, [[0, 1], [-1, 2]], [2, 3], "a place outside of the shape"),
        (two, [1], [2, 3], "places of shape"),
        (two, [1, 2], [2, -3], "the shape"),
        (two, [1, 2], [1 << 40, 1 << 40], "memory"),
    ):
        model = model_of(graph_of(nodes, {"x": [2, 3]}))
        model.graph.sparse_initializer.append(sparse(values, places, dims))
        with pytest.raises(Diagnostic, match=message):
            from_onnx(model)


def test_a_shape_that_depends_on_data_is_reported_with_a_way_out():
    nodes = [
        helper.make_node("ArgMax", ["x"], ["s"], axis=1, keepdims=0),
        helper.make_node("Col2Im", ["x", "image", "s"], ["y"]),
    ]
    model = model_of(graph_of(nodes, {"x": ["N", 4]}, weights={"image": np.array([4, 4])}), opset=18)
    with pytest.raises(Diagnostic, match="known at import") as error:
        from_onnx(model)
    assert "weft.compile(..., shapes={'x': (1, 3, 224, 224)})" in str(error.value)
    with on_a_command_line(), pytest.raises(Diagnostic, match="--shape x=1x3x224x224"):
        from_onnx(model)


def test_a_shape_that_depends_on_open_extents_is_followed():
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Expand", ["one", "s"], ["ones"]),
        helper.make_node("Add", ["x", "ones"], ["y"]),
    ]
    model = model_of(graph_of(nodes, {"x": ["N", 4]}, weights={"one": np.ones(1, np.float32)}))
    assert "dyn.broadcast_to" in names_of(from_onnx(model))
    assert names_of(from_onnx(model, {"x": [2, 4]})) == ["broadcast_to", "add"]


def test_the_branch_of_an_if_with_a_known_condition_is_taken():
    def branch(operator: str) -> GraphProto:
        return graph_of([helper.make_node(operator, ["x"], ["r"])], {}, ["r"])

    node = helper.make_node("If", ["c"], ["y"], then_branch=branch("Exp"), else_branch=branch("Tanh"))
    for condition, operator in ((True, "exp"), (False, "tanh")):
        graph = graph_of([node], {"x": [3]}, weights={"c": np.array(condition)})
        assert names_of(check_against_onnx(model_of(graph), random(3))) == [operator]


# Input shapes


def test_symbolic_dimensions_become_dynamic_or_what_is_given():
    nodes = [helper.make_node("Add", ["a", "b"], ["y"])]
    model = model_of(graph_of(nodes, {"a": ["N", 4], "b": ["N", 4]}))
    assert "tensor<?x4xf32>" in str(main_of(from_onnx(model)).function_type)
    given = main_of(from_onnx(model, {"a": [2, 4]})).function_type
    assert str(given).count("tensor<2x4xf32>") == 3, "one symbol is one size in all inputs"


def test_an_output_that_nobody_reads_costs_nothing():
    """The mask of a Dropout would need a static shape."""
    nodes = [helper.make_node("Dropout", ["x"], ["y", "mask"])]
    model = model_of(graph_of(nodes, {"x": ["N", 4]}))
    assert names_of(from_onnx(model)) == ["nn.dropout", "tuple_get"]


def test_batched_products_take_a_dynamic_batch():
    nodes = [helper.make_node("MatMul", ["a", "b"], ["y"])]
    model = model_of(graph_of(nodes, {"a": ["N", 2, 3, 4], "b": ["N", 2, 4, 5]}))
    assert "-> tensor<?x2x3x5xf32>" in str(main_of(from_onnx(model)).function_type)


def test_a_shape_for_an_unknown_input_names_the_nearest_one():
    model = model_of(graph_of([helper.make_node("Exp", ["data"], ["y"])], {"data": ["N"]}))
    with pytest.raises(UsageError, match="no input 'dat'") as error:
        from_onnx(model, {"dat": [1]})
    assert "did you mean 'data'" in str(error.value)


def test_a_shape_that_contradicts_the_model_is_refused():
    model = model_of(graph_of([helper.make_node("Exp", ["x"], ["y"])], {"x": ["N", 3]}))
    with pytest.raises(UsageError, match="2x4 does not fit input 'x' of shape Nx3"):
        from_onnx(model, {"x": [2, 4]})


# Functions


def test_an_operator_that_the_model_defines_is_expanded():
    body = [
        helper.make_node("Constant", [], ["c"]),
        helper.make_node("Add", ["v", "c"], ["w"]),
        helper.make_node("Exp", ["w"], ["r"]),
    ]
    body[0].attribute.append(AttributeProto(name="value_float", ref_attr_name="shift", type=AttributeProto.FLOAT))
    function = helper.make_function("local", "Shifted", ["v"], ["r"], body, [helper.make_opsetid("", 17)], ["shift"])
    node = helper.make_node("Shifted", ["x"], ["y"], name="call", domain="local", shift=2.0)
    module = check_against_onnx(model_of(graph_of([node], {"x": [3]}), functions=[function]), random(3))
    assert names_of(module) == ["add", "exp"]
    assert all('"call"' in str(op.location) for op in operations(module)), "placed at the call"


def test_an_operator_that_onnx_defines_by_others_is_expanded():
    assert "NegativeLogLikelihoodLoss" not in supported_operators()
    node = helper.make_node("NegativeLogLikelihoodLoss", ["x", "t"], ["y"], reduction="sum")
    graph = graph_of([node], {"x": [3, 5]})
    graph.input.append(helper.make_tensor_value_info("t", TensorProto.INT64, [3]))
    x, t = random(3, 5), np.array([1, 0, 4])
    [loss] = run(from_onnx(model_of(graph)), x, t)
    assert_close(loss, -x[np.arange(3), t].sum())


# Reports


@pytest.mark.parametrize(("domain", "operator", "attributes", "hint"), [
    ("ai.onnx.ml", "ZipMap", {"classlabels_int64s": [0, 1]}, "options={'zipmap': False}"),
    ("com.microsoft.nchwc", "ReorderInput", {}, "ORT_ENABLE_EXTENDED"),
])  # fmt: skip
def test_how_to_have_a_model_without_an_operator_is_said(domain: str, operator: str, attributes: Any, hint: str):
    node = helper.make_node(operator, ["x"], ["y"], domain=domain, **attributes)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
    with pytest.raises(Diagnostic) as error:
        from_onnx(helper.make_model(graph_of([node], {"x": [3, 2]}), opset_imports=imports, ir_version=9))
    assert hint in str(error.value)


def test_all_unsupported_operators_are_reported_at_once_with_counts():
    nodes = [
        helper.make_node("RegexFullMatch", ["x"], ["a"], name="nz"),
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("RegexFullMatch", ["r"], ["b"], name="nz2"),
        helper.make_node("ImageDecoder", ["a"], ["c"], name="after_nz"),
        helper.make_node("Reluu", ["x"], ["d"], name="typo"),
    ]
    with pytest.raises(Diagnostic) as error:
        from_onnx(model_of(graph_of(nodes, {"x": [3]}, ["b", "c", "d"])))
    text = str(error.value)
    assert "cannot import 3 operators (4 nodes)" in text
    assert "RegexFullMatch, 2 nodes ('nz', 'nz2')" in text
    assert "ImageDecoder, 1 node ('after_nz')" in text, "what depends on something unsupported is looked at too"
    assert "did you mean 'Relu'" in text


def test_an_operator_that_is_newer_than_the_models_opset_is_reported_so():
    model = model_of(graph_of([helper.make_node("Gelu", ["x"], ["y"])], {"x": [3]}), opset=13)
    with pytest.raises(Diagnostic, match=r"opset 13 has no such operator \(newest revision: opset 20\)"):
        from_onnx(model)


def test_nodes_may_stand_in_any_order():
    """ONNX Runtime takes them so, and its converter to f16 writes them so."""
    nodes = [helper.make_node("Tanh", ["a"], ["y"]), helper.make_node("Exp", ["x"], ["a"])]
    text = str(from_onnx(model_of(graph_of(nodes, {"x": [3]}))))
    assert text.index("relay.exp") < text.index("relay.tanh")


def test_an_element_type_that_weft_lacks_is_named():
    graph = graph_of([helper.make_node("Identity", ["x"], ["y"])], {"x": [2]}, dtype=TensorProto.STRING)
    with pytest.raises(Diagnostic, match="input 'x': the element type STRING has no counterpart"):
        from_onnx(model_of(graph))


def test_a_dimension_of_minus_one_is_one_that_the_exporter_did_not_know():
    module = from_onnx(model_of(graph_of([helper.make_node("Exp", ["x"], ["y"])], {"x": [-1, 2]})), {"x": [3, 2]})
    assert str(main_of(module).body.block.args[0].type) == "tensor<3x2xf32>"


def test_shape_arithmetic_over_a_huge_fill_does_not_compute_it():
    """The sum of a fill of 2^40 elements would take hours."""
    nodes = [
        helper.make_node("ConstantOfShape", ["s"], ["w"]),
        helper.make_node("ReduceSum", ["w"], ["t"], keepdims=0),
        helper.make_node("Cast", ["t"], ["k"], to=TensorProto.INT64),
        helper.make_node("Unsqueeze", ["k", "zero"], ["shape"]),
        helper.make_node("Reshape", ["x", "shape"], ["y"]),
    ]
    graph = graph_of(nodes, {"x": [4]}, weights={"s": np.array([1 << 20, 1 << 20]), "zero": np.array([0])})
    assert "dyn.reshape" in names_of(from_onnx(model_of(graph)))


def test_an_open_dimension_can_be_given_by_its_name():
    nodes = [helper.make_node("Add", ["x", "z"], ["y"])]
    graph = graph_of(nodes, {"x": ["batch", 3], "z": ["batch", "n"]})
    module = from_onnx(model_of(graph), {"batch": [4], "n": [3]})
    assert [str(a.type) for a in main_of(module).body.block.args] == ["tensor<4x3xf32>"] * 2
    with pytest.raises(UsageError, match="no input 'bach'") as error:
        from_onnx(model_of(graph), {"bach": [4]})
    assert error.value.hint == "did you mean 'batch'?"
    with pytest.raises(UsageError, match="'batch' is a dimension"):
        from_onnx(model_of(graph), {"batch": [4, 3]})
    with pytest.raises(UsageError, match="'batch' is 4 in one input and 5 in 'x'"):
        from_onnx(model_of(graph), {"batch": [4], "x": [5, 3]})
    module = from_onnx(model_of(graph), {"x": [-1, 3], "z": [4, 3]})
    assert [str(a.type) for a in main_of(module).body.block.args] == ["tensor<4x3xf32>"] * 2
    with pytest.raises(UsageError, match=r"input 'x' cannot have the shape \[-3, 3\]"):
        from_onnx(model_of(graph), {"x": [-3, 3]})

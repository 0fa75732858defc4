"""The ONNX importer: names and locations, weights, shapes, functions, and what it says about models it cannot take."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, NameLoc, StringAttr
from xdsl.ir import Operation

onnx = pytest.importorskip("onnx")

from onnx import (  # noqa: E402
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    SparseTensorProto,
    TensorProto,
    helper,
    numpy_helper,
)
from onnx.reference import ReferenceEvaluator  # noqa: E402

import weft  # noqa: E402
from weft.dialects.relay.core import ConstantOp, FuncOp  # noqa: E402
from weft.dialects.relay.interpreter import evaluate_function  # noqa: E402
from weft.dialects.support.advice import on_a_command_line  # noqa: E402
from weft.dialects.support.diagnostics import Diagnostic, UsageError  # noqa: E402
from weft.frontend.onnx import from_onnx, supported_operators  # noqa: E402

NDArray = npt.NDArray[np.generic]
Dims = Sequence[int | str | None]


def random(*shape: int, seed: int = 0) -> npt.NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def graph_of(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, Dims],
    outputs: Sequence[str] = ("y",),
    weights: Mapping[str, NDArray] | None = None,
    dtype: int = TensorProto.FLOAT,
) -> GraphProto:
    return helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, dtype, list(shape)) for name, shape in inputs.items()],
        [helper.make_value_info(name, onnx.TypeProto()) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()],
    )


def model_of(graph: GraphProto, opset: int = 17, **more: object) -> ModelProto:
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8, **more)


def main_of(module: ModuleOp) -> FuncOp:
    module.verify()
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    return function


def names_of(module: ModuleOp) -> list[str]:
    """The operations of @main, without constants and the return."""
    return [op.name.removeprefix("relay.") for op in operations(module)]


def operations(module: ModuleOp) -> list[Operation]:
    return [op for op in main_of(module).body.block.ops if op.name not in ("relay.constant", "relay.return")]


def run(module: ModuleOp, *inputs: NDArray) -> list[NDArray]:
    return evaluate_function(main_of(module), inputs)


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


def test_weights_in_a_file_beside_the_model_are_mapped(tmp_path: Path):
    weight = random(64, 64)
    graph = graph_of([helper.make_node("Add", ["x", "w"], ["y"])], {"x": [64, 64]}, weights={"w": weight})
    path = tmp_path / "m.onnx"
    onnx.save_model(model_of(graph), str(path), save_as_external_data=True, location="m.bin", size_threshold=16)
    assert (tmp_path / "m.bin").exists()
    x = random(64, 64, seed=1)
    np.testing.assert_array_equal(run(from_onnx(path), x)[0], x + weight)


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("size", [8, 64])
def test_a_program_does_not_depend_on_the_file_beside_its_model(target: str, size: int, tmp_path: Path):
    weight, x = random(size, size), random(size, size, seed=1)
    graph = graph_of([helper.make_node("Add", ["x", "w"], ["y"])], {"x": [size, size]}, weights={"w": weight})
    path = tmp_path / "m.onnx"
    onnx.save_model(model_of(graph), str(path), save_as_external_data=True, location="m.bin", size_threshold=0)
    exe = weft.compile(path, target, threads=1)
    with open(tmp_path / "m.bin", "r+b") as file:
        file.write(bytes(weight.nbytes))
    np.testing.assert_array_equal(np.asarray(exe(x)), x + weight)


def test_weights_outside_of_the_models_folder_are_refused(tmp_path: Path):
    (tmp_path / "secret").write_bytes(bytes(16))
    graph = graph_of([helper.make_node("Add", ["x", "w"], ["y"])], {"x": [4]}, weights={"w": random(4)})
    tensor = graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../secret")
    path = tmp_path / "folder" / "m.onnx"
    path.parent.mkdir()
    path.write_bytes(model_of(graph).SerializeToString())
    with pytest.raises(Diagnostic, match="outside of the model's folder"):
        from_onnx(path)


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


def broken(
    message: str, *nodes: NodeProto, weights: Mapping[str, NDArray] | None = None, opset: int = 17
) -> Diagnostic:
    graph = graph_of(nodes, {"x": [1, 3, 8, 8]}, weights=weights)
    with pytest.raises(Diagnostic, match=message) as error:
        from_onnx(model_of(graph, opset))
    return error.value


def test_an_undefined_value_is_placed_and_the_nearest_name_offered():
    error = broken("'datta' is not defined", helper.make_node("Exp", ["datta"], ["y"]), weights={"data": random(2)})
    assert error.hint == "did you mean 'data'?" and error.place is not None and "datta" in str(error.place)


def test_nodes_may_stand_in_any_order():
    """ONNX Runtime takes them so, and its converter to f16 writes them so."""
    nodes = [helper.make_node("Tanh", ["a"], ["y"]), helper.make_node("Exp", ["x"], ["a"])]
    text = str(from_onnx(model_of(graph_of(nodes, {"x": [3]}))))
    assert text.index("relay.exp") < text.index("relay.tanh")


def test_values_that_need_themselves_are_reported_so():
    broken(
        "'b' is needed by the node that makes it",
        helper.make_node("Add", ["x", "b"], ["a"]),
        helper.make_node("Exp", ["a"], ["b"]),
        helper.make_node("Exp", ["b"], ["y"]),
    )


def test_a_value_that_is_made_twice_is_an_error():
    broken("'y' is made twice", helper.make_node("Exp", ["x"], ["y"]), helper.make_node("Tanh", ["x"], ["y"]))


def test_shapes_that_do_not_fit_are_placed_at_the_node():
    node = helper.make_node("Add", ["x", "w"], ["y"], name="sum")
    assert '("sum")' in str(broken(r"Add: .*\[5\]", node, weights={"w": random(5)}))


def test_types_that_do_not_fit_are_placed_at_the_node():
    node = helper.make_node("Add", ["x", "w"], ["y"], name="sum")
    assert '("sum")' in str(broken("Add: ", node, weights={"w": np.array([1])}))


@pytest.mark.parametrize(
    ("message", "node"),
    [
        ("1 input, but the operator has 2", helper.make_node("Add", ["x"], ["y"])),
        ("1 input, but the operator has 2 to 3", helper.make_node("Conv", ["x"], ["y"])),
        ("3 inputs, but the operator has 2", helper.make_node("Add", ["x", "x", "x"], ["y"])),
        ("there is no attribute 'alhpa'", helper.make_node("Elu", ["x"], ["y"], alhpa=1.0)),
        ("'alpha' has type INT, but must have type FLOAT", helper.make_node("Elu", ["x"], ["y"], alpha=1)),
        ("attribute 'axis' is missing", helper.make_node("Concat", ["x", "x"], ["y"])),
        ("axis 4 is out of range for a tensor of rank 4", helper.make_node("Softmax", ["x"], ["y"], axis=4)),
        ("'pads' has 2 entries, but 4", helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], pads=[1, 1])),
        ("input 1 is missing", helper.make_node("Add", ["x", ""], ["y"])),
    ],
)
def test_a_malformed_node_is_an_error(message: str, node: NodeProto):
    broken(message, node)


def test_an_output_of_another_type_than_declared_is_an_error():
    graph = graph_of([helper.make_node("Exp", ["x"], ["y"])], {"x": [2, 3]})
    del graph.output[:]
    graph.output.append(helper.make_tensor_value_info("y", TensorProto.DOUBLE, [2, 3]))
    with pytest.raises(Diagnostic, match="'y' is declared as tensor<2x3xf64>, but is tensor<2x3xf32>"):
        from_onnx(model_of(graph))


@pytest.mark.parametrize("code", [0, 104, TensorProto.STRING])
def test_an_output_that_is_declared_with_an_unknown_element_type_is_an_error(code: int):
    graph = graph_of([helper.make_node("Exp", ["x"], ["y"])], {"x": [2]})
    graph.output[0].CopyFrom(helper.make_tensor_value_info("y", code, [2]))
    with pytest.raises(Diagnostic, match="output 'y' is declared with the element type"):
        from_onnx(model_of(graph))


def test_an_element_type_that_weft_lacks_is_named():
    graph = graph_of([helper.make_node("Identity", ["x"], ["y"])], {"x": [2]}, dtype=TensorProto.STRING)
    with pytest.raises(Diagnostic, match="input 'x': the element type STRING has no counterpart"):
        from_onnx(model_of(graph))


def test_a_weight_whose_data_does_not_fill_its_shape_is_an_error():
    graph = graph_of([helper.make_node("Add", ["x", "w"], ["y"])], {"x": [4]}, weights={"w": random(4)})
    graph.initializer[0].raw_data = bytes(12)
    with pytest.raises(Diagnostic, match="tensor 'w' is broken"):
        from_onnx(model_of(graph))


@pytest.mark.parametrize("content", [b"", b"this is text, not a model", bytes(range(256))])
def test_a_file_that_is_no_model_is_an_error(content: bytes, tmp_path: Path):
    path = tmp_path / "broken.onnx"
    path.write_bytes(content)
    with pytest.raises(Diagnostic, match="not an ONNX model") as error:
        from_onnx(path)
    assert str(error.value.place) == str(path)


def test_a_missing_file_is_an_error():
    with pytest.raises(Diagnostic, match="no such file"):
        from_onnx("nowhere.onnx")


def test_an_opset_that_onnx_does_not_know_is_an_error():
    broken("opset 99", helper.make_node("Exp", ["x"], ["y"]), opset=99)


# What protobuf lets through, and what would take too much


def saved(tmp_path: Path, **external: str) -> Path:
    """A model whose weight `w` of 16 bytes is in the file `m.bin` beside it, described by `external`."""
    graph = graph_of([helper.make_node("Add", ["x", "w"], ["y"])], {"x": [4]}, weights={"w": random(4)})
    tensor = graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in ({"location": "m.bin"} | external).items():
        tensor.external_data.add(key=key, value=value)
    (tmp_path / "m.bin").write_bytes(np.arange(8, dtype=np.float32).tobytes())
    path = tmp_path / "m.onnx"
    path.write_bytes(model_of(graph).SerializeToString())
    return path


def test_offset_and_length_of_external_data_count(tmp_path: Path):
    x = random(4)
    np.testing.assert_array_equal(
        run(from_onnx(saved(tmp_path, offset="8", length="16")), x)[0], x + np.arange(2, 6, dtype=np.float32)
    )


@pytest.mark.parametrize(
    ("external", "message"),
    [
        ({"offset": "-4"}, "'-4' is no offset"),
        ({"offset": "four"}, "'four' is no offset"),
        ({"offset": "9" * 40}, "is no offset"),
        ({"offset": "20"}, "takes bytes 20 to 36 of 'm.bin', which has 32"),
        ({"length": "12"}, "takes 16 bytes, but its data is 12 bytes long"),
        ({"location": "m\0.bin"}, "cannot be read"),
        ({"location": "missing"}, "cannot be read from 'missing': no such file or directory\\nhint"),
        ({"location": "."}, "it is no ordinary file"),
        ({"location": "/dev/zero"}, "outside of the model's folder"),
    ],
)
def test_external_data_that_is_described_wrong_is_an_error(external: dict[str, str], message: str, tmp_path: Path):
    with pytest.raises(Diagnostic, match=message):
        from_onnx(saved(tmp_path, **external))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_in_the_place_of_data_is_not_waited_for(tmp_path: Path):
    path = saved(tmp_path, location="pipe")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Diagnostic, match="no ordinary file"):
        from_onnx(path)


def test_external_data_with_a_negative_extent_is_an_error(tmp_path: Path):
    path = saved(tmp_path)
    proto = onnx.load(str(path), load_external_data=False)
    proto.graph.initializer[0].dims[0] = -4
    path.write_bytes(proto.SerializeToString())
    with pytest.raises(Diagnostic, match=r"tensor 'w' has shape \[-4\]"):
        from_onnx(path)


@pytest.mark.parametrize("old", [b"Exp", b"node_name", b"the_value", b"ai.other"])
def test_names_that_are_no_text_are_an_error(old: bytes, tmp_path: Path):
    node = helper.make_node("Exp", ["the_value"], ["y"], name="node_name")
    other = helper.make_node("Other", ["y"], ["z"], domain="ai.other")
    proto = model_of(graph_of([node, other], {"the_value": [2]}))
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString().replace(old, b"\xff" + old[1:]))
    with pytest.raises(Diagnostic, match="is not text in UTF-8"):
        from_onnx(path)


@pytest.mark.parametrize("version", [0, -1, 1 << 31, 1 << 62])
def test_a_version_of_a_domain_that_cannot_be_is_an_error(version: int):
    model = model_of(graph_of([helper.make_node("Relu", ["x"], ["y"])], {"x": [2]}, ["y"]))
    del model.opset_import[:]
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", version))
    model.opset_import.append(helper.make_opsetid("", 17))
    model.graph.node[0].domain = "ai.onnx.ml"
    with pytest.raises(Diagnostic, match=f"there is no opset {version} of 'ai.onnx.ml'"):
        from_onnx(model)


def test_a_constant_without_an_output_is_an_error():
    node = helper.make_node("Constant", [], [], value_float=1.0)
    with pytest.raises(Diagnostic, match="0 outputs, but the operator has 1"):
        from_onnx(model_of(graph_of([node, helper.make_node("Relu", ["x"], ["y"])], {"x": [2]}, ["y"])))


def test_a_string_that_is_no_text_is_an_error():
    node = helper.make_node("Resize", ["x", "", "s"], ["y"], coordinate_transformation_mode=b"half\x80")
    scales = numpy_helper.from_array(np.array([1, 2], np.float32), "s")
    model = model_of(graph_of([node], {"x": [2, 2]}, ["y"]))
    model.graph.initializer.append(scales)
    with pytest.raises(Diagnostic, match="'coordinate_transformation_mode' is no text in UTF-8"):
        from_onnx(model)


def test_a_negative_dimension_of_an_input_is_an_error():
    with pytest.raises(Diagnostic, match="'x' has a dimension of -5"):
        from_onnx(model_of(graph_of([helper.make_node("Exp", ["x"], ["y"])], {"x": [-5]})))


def test_a_dimension_of_minus_one_is_one_that_the_exporter_did_not_know():
    module = from_onnx(model_of(graph_of([helper.make_node("Exp", ["x"], ["y"])], {"x": [-1, 2]})), {"x": [3, 2]})
    assert str(main_of(module).body.block.args[0].type) == "tensor<3x2xf32>"


@pytest.mark.parametrize("what", ["initializer", "input", "output"])
def test_a_name_that_the_graph_lists_twice_is_an_error(what: str):
    graph = graph_of([helper.make_node("Add", ["x", "w"], ["y"])], {"x": [4]}, weights={"w": random(4)})
    entries = getattr(graph, what)
    entries.append(entries[0])
    with pytest.raises(Diagnostic, match=f"the {what} '.' stands twice in the graph"):
        from_onnx(model_of(graph))


def function_of(name: str, *nodes: NodeProto) -> FunctionProto:
    return helper.make_function(
        "local", name, ["a"], ["b"], nodes, [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    )


def test_a_function_that_calls_itself_is_an_error():
    functions = [
        function_of("F", helper.make_node("G", ["a"], ["b"], domain="local")),
        function_of("G", helper.make_node("F", ["a"], ["b"], domain="local")),
    ]
    graph = graph_of([helper.make_node("F", ["x"], ["y"], domain="local")], {"x": [2]})
    with pytest.raises(Diagnostic, match="function 'F' is defined by itself"):
        from_onnx(model_of(graph, functions=functions))


def test_functions_that_stand_for_too_many_nodes_are_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("weft.frontend.onnx.importer.MAX_EXPANDED_NODES", 1000)
    functions = [function_of("F0", helper.make_node("Exp", ["a"], ["b"]))]
    for i in range(40):
        calls = [helper.make_node(f"F{i}", ["a"], ["t"], domain="local")]
        functions.append(function_of(f"F{i + 1}", *calls, helper.make_node(f"F{i}", ["t"], ["b"], domain="local")))
    graph = graph_of([helper.make_node("F40", ["x"], ["y"], domain="local")], {"x": [2]})
    with pytest.raises(Diagnostic, match="stand for more than 1000 nodes"):
        from_onnx(model_of(graph, functions=functions))


@pytest.mark.parametrize("shape", [[1 << 62], [1 << 31, 1 << 31, 4], [1 << 40, 1 << 10]])
def test_a_tensor_that_fits_into_no_memory_is_an_error(shape: list[int]):
    with pytest.raises(Diagnostic, match="fits into no memory"):
        from_onnx(model_of(graph_of([helper.make_node("Exp", ["x"], ["y"])], {"x": shape})))


def test_a_range_that_fits_into_no_memory_is_an_error():
    weights = {name: np.asarray(n) for name, n in (("a", 0), ("b", 1 << 50), ("c", 1))}
    broken("fits into no memory", helper.make_node("Range", ["a", "b", "c"], ["y"]), weights=weights)


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

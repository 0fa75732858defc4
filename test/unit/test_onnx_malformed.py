"""Models that are none: what the ONNX importer says of them, and where."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import (
    FunctionProto,
    NodeProto,
    TensorProto,
    helper,
    numpy_helper,
    parser,
)
from onnx_samples import NDArray, graph_of, model_of, random

from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.onnx import from_onnx


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
        ("8 does not split into 3 equal parts", helper.make_node("Split", ["x"], ["y", "z", "w"], axis=2)),
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


TOLD = "float[n, m] x, int64 size, bool b"
BRANCHES = """If (b) <then_branch = t () => (seq(float[p, q]) u) { u = SplitToSequence(x, size) },
    else_branch = e () => (seq(float[p, q]) v) { v = SplitToSequence<axis = 1>(x, size) }>"""


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (
            f"({TOLD}) => (seq(float[p, q]) y) {{ y = SplitToSequence<axis = 1>(x, size) }}",
            "output 'y': a sequence of as",
        ),
        (f"({TOLD}) => (int64 y) {{ r = {BRANCHES} y = SequenceLength(r) }}", "only a run tells, which a branch gives"),
    ],
)
def test_a_sequence_of_an_open_number_is_neither_given_back_nor_chosen(graph: str, message: str) -> None:
    """Else the tensor that it is the parts of, and their sizes, would be taken for two tensors of it."""
    with pytest.raises(Diagnostic, match=message):
        from_onnx(parser.parse_model(f'<ir_version: 9, opset_import: ["": 18]> g {graph}'))

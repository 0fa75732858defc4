"""TVM's JSON of a graph: it is read as it was written, and what it cannot say or says wrongly is refused."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from graph_json_samples import BRANCHES, JSON, PERCEPTRON, perceptron, perceptron_module

import weft
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.mlir import parse_mlir
from weft.graph_executor import (
    GraphJson,
    GraphJsonError,
    GraphModule,
    create,
    load_param_dict,
)
from weft.lowering.graph_json import Node, Ref


@pytest.fixture(scope="module")
def exe() -> weft.Executable:
    return perceptron()


@pytest.fixture
def module(exe: weft.Executable) -> GraphModule:
    return perceptron_module(exe)


def test_a_graph_is_written_as_tvm_writes_it() -> None:
    """The same nodes, entries and storages; a hash and the prefix of the names are TVM's own."""
    named = PERCEPTRON.replace("%weight", "%p0").replace("%bias", "%p1")
    written = weft.compile(parse_mlir(named, "p.mlir"), executor="graph").graph_json
    wanted = json.loads(JSON.replace("tvmgen_default_", ""))
    for node in wanted["nodes"]:
        node.get("attrs", {}).pop("hash", None)
    wanted["heads"] = wanted["heads"][:1]
    assert json.loads(written) == wanted


def test_a_graph_is_read_as_it_was_written() -> None:
    graph = GraphJson.parse(JSON)
    assert GraphJson.parse(graph.text()) == graph
    assert graph.nodes[3].attributes == {"hash": "6d3f1a02c9be7745"} and graph.arg_nodes == (0, 1, 2)


def test_storages_are_shared_as_in_the_plan() -> None:
    with weft.PassContext(opt_level=3, config={"fuse-ops.strategy": "tvm"}):
        module = weft.compile(parse_mlir(BRANCHES, "graph.mlir"), executor="graph")
    graph = module.graph
    names = [node.name for node in graph.nodes]
    assert names == ["x", "fused_nn_softmax", "fused_nn_softmax_1", "fused_concatenate", "fused_nn_softmax_1_1", "p0"]
    assert graph.storage_ids == (0, 1, 2, 3, 2, 4), "the second is dead when the last is computed"
    assert [ref.node for ref in graph.heads] == [4, 5, 0]
    assert list(module.params) == ["p0"]
    again = GraphModule(module.graph_json, module.library, load_param_dict(module.save_params()))
    x = np.ones((8, 16), np.float32)
    assert again.run({"x": x}).keys() == module.run({"x": x}).keys()
    for number in range(3):
        assert np.array_equal(again.get_output(number), module.get_output(number))


OPEN, FEW = "tensor<?x4xf32>", "tensor<4xf32>"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            f"""relay.func @main(%x: {OPEN}) -> {OPEN} {{
              %0 = relay.tanh %x : {OPEN}
              relay.return %0 : {OPEN}
            }}""",
            "argument x has an open extent, and the JSON of a graph says one shape of each tensor",
            "shapes={'x': (1, 4)}); or use the executor 'aot'",
        ),
        (
            f"""relay.func @main(%x: {FEW}) -> tensor<?x1xi32> {{
              %0 = relay.tanh %x : {FEW}
              %1 = relay.argwhere %0 : ({FEW}) -> tensor<?x1xi32>
              relay.return %1 : tensor<?x1xi32>
            }}""",
            "data decides an extent of its result, and the JSON of a graph says one shape of each tensor",
            "use the executor 'aot'",
        ),
        (
            f"""relay.func @main(%x: {FEW}, %c: tensor<i1>) -> {FEW} {{
              %0 = relay.if %c : (tensor<i1>) -> {FEW} {{ relay.yield %x : {FEW} }} else {{
                %1 = relay.tanh %x : {FEW}
                relay.yield %1 : {FEW}
              }}
              relay.return %0 : {FEW}
            }}""",
            "'relay.if': branches or calls, and the JSON of a graph is a list of kernels that all run",
            "use the executor 'aot'",
        ),
    ],
)
def test_what_the_json_of_a_graph_cannot_say_is_refused_with_the_reason(text: str, message: str, hint: str) -> None:
    with pytest.raises(Diagnostic) as caught:
        weft.compile(parse_mlir(text, "m.mlir"), executor="graph")
    assert message in str(caught.value) and caught.value.hint is not None and caught.value.hint.endswith(hint)
    assert caught.value.place is not None


def edited(change: Callable[[dict[str, Any]], object]) -> str:
    graph = json.loads(JSON)
    change(graph)
    return json.dumps(graph)


def _stored_in(graph: Any, entry: int, storage: int) -> None:
    graph["attrs"]["storage_id"][1][entry] = storage


def _call_elsewhere(graph: Any, kernel: str) -> None:
    graph["nodes"][4]["attrs"].update(func_name=kernel)
    _stored_in(graph, 4, 7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON"),
        ("[]", "the graph is no object"),
        (edited(lambda g: g.pop("heads")), "has no heads"),
        (edited(lambda g: g.update(head=[])), "unknown part 'head'"),
        (edited(lambda g: g["nodes"][0].update(op="op")), "neither null nor tvm_op"),
        (edited(lambda g: g["nodes"][3]["attrs"].pop("func_name")), "does not say func_name"),
        (edited(lambda g: g["nodes"][3]["attrs"].update(num_inputs="2")), "says that it has 2 inputs, and has 3"),
        (edited(lambda g: g["nodes"][3]["attrs"].update(num_outputs="0")), "has 0 outputs"),
        (edited(lambda g: g["nodes"][3]["attrs"].update(num_outputs="x")), "which is no number"),
        (edited(lambda g: g["nodes"][3].update(inputs=[[4, 0, 0], [1, 0, 0], [2, 0, 0]])), "not there before it"),
        (edited(lambda g: g["nodes"][3].update(kernel="k")), "unknown part 'kernel'"),
        (edited(lambda g: g["nodes"][1].update(name="data")), "are both inputs 'data'"),
        (edited(lambda g: g.update(node_row_ptr=[0, 1, 2])), "node_row_ptr is"),
        (edited(lambda g: g.update(arg_nodes=[0])), "arg_nodes is"),
        (edited(lambda g: g.update(heads=[[9, 0, 0]])), "a head is"),
        (edited(lambda g: g.update(heads=[[9]])), "is not a node, an output and a version"),
        (edited(lambda g: g["attrs"].pop("shape")), "attrs.shape is no list"),
        (edited(lambda g: g["attrs"].update(shapes=[])), "unknown part 'shapes'"),
        (edited(lambda g: g["attrs"]["dltype"][1].pop()), "6 entries, and 5 values of 'dltype'"),
        (edited(lambda g: g["attrs"]["dltype"][1].__setitem__(0, "float31")), "'float31' is no dtype"),
        (edited(lambda g: g["attrs"]["shape"].__setitem__(0, "list_int")), 'not a pair of "list_shape"'),
        (edited(lambda g: g["attrs"]["storage_id"][1].__setitem__(0, -1)), "negative number"),
        (edited(lambda g: g["attrs"]["storage_id"][1].__setitem__(0, 0.5)), "no list of integers"),
        (edited(lambda g: g["attrs"]["storage_id"][1].__setitem__(1, 0)), "two inputs lie in storage 0"),
        (edited(lambda g: g["attrs"]["storage_id"][1].__setitem__(3, 0)), "writes to storage 0, which is an input's"),
        (edited(lambda g: g["attrs"]["storage_id"][1].__setitem__(5, 3)), "which is what it reads"),
        (edited(lambda g: (_stored_in(g, 5, 3), g["nodes"][5].update(inputs=[[0, 0, 0]]))), "has written to storage 3"),
        (edited(lambda g: g["attrs"]["shape"][1].__setitem__(0, [1] * 65)), "no tensor has the shape"),
        (edited(lambda g: g["attrs"]["shape"][1].__setitem__(0, [0, 1 << 62])), "no tensor has the shape"),
        (edited(lambda g: g["nodes"][3]["attrs"].update(num_outputs="1" * 5000)), "which is no number"),
    ],
)
def test_what_is_no_graph_is_refused(text: str, message: str) -> None:
    with pytest.raises(GraphJsonError) as error:
        GraphJson.parse(text)
    assert message in error.value.message


def test_what_stands_behind_metadata_is_passed_over() -> None:
    assert GraphJson.parse(edited(lambda g: g.update(metadata={"a": 1}, more=2))) == GraphJson.parse(JSON)


def test_attributes_of_other_tools_are_passed_over_as_in_tvm() -> None:
    text = edited(lambda g: g["attrs"].update(order=["list_int", [2, 1]], version=["size_t", 3]))
    assert GraphJson.parse(text) == GraphJson.parse(JSON)


def test_a_storage_without_a_scope_is_in_the_usual_memory(exe: weft.Executable) -> None:
    scopes = ["", "global"] * 3
    module = create(edited(lambda g: g["attrs"].update(storage_scope=["list_str", scopes])), exe)
    assert module.get_num_outputs() == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (edited(lambda g: g["nodes"][3]["attrs"].update(func_name="fused_other")), "which is not in the library"),
        (edited(lambda g: g["attrs"]["device_index"][1].__setitem__(3, 2)), "on a device of type 2"),
        (edited(lambda g: g["attrs"].update(storage_scope=["list_str", ["texture"] * 6])), "in the scope 'texture'"),
        (edited(lambda g: g["attrs"]["shape"][1].__setitem__(0, [2, 5])), "has 40 bytes"),
        (edited(lambda g: g["attrs"]["shape"][1].__setitem__(0, [4, 2])), "takes [2, 4]"),
        (edited(lambda g: g["attrs"]["dltype"][1].__setitem__(0, "int32")), "add_nn_relu takes f32"),
        (edited(lambda g: g["attrs"]["storage_id"][1].__setitem__(4, 7)), "its output is not where its input is"),
        (edited(lambda g: _call_elsewhere(g, "fused_nn_dense_add_nn_relu")), "has 24 bytes"),
    ],
)
def test_a_graph_that_does_not_fit_the_library_is_refused(exe: weft.Executable, text: str, message: str) -> None:
    with pytest.raises(Diagnostic) as error:
        create(text, exe)
    assert message in error.value.message


def test_every_output_has_a_name_of_its_own(exe: weft.Executable) -> None:
    for names in (["a"], ["a", "a"], ["a", "b", "c"]):
        with pytest.raises(UsageError, match="2 outputs have a name each, and not a"):
            GraphModule(JSON, exe, output_names=names)


def test_reading_grows_with_the_graph_and_no_faster() -> None:
    """Eight times the nodes take less than 24 times the time."""

    def seconds(count: int) -> float:
        nodes = (Node("x"), *(Node(f"k{i}", "k", (Ref(i),)) for i in range(count)))
        storages = (0, *(1 + i % 2 for i in range(count)))
        entries = count + 1
        text = GraphJson(nodes, (Ref(count),), ((4,),) * entries, ("float32",) * entries, storages).text()
        start = time.process_time()
        graph = GraphJson.parse(text)
        assert [graph.entry(ref) for node in graph.nodes for ref in node.inputs] == list(range(count))
        return time.process_time() - start

    seconds(100)
    small, large = min(seconds(500) for _ in range(3)), min(seconds(4000) for _ in range(2))
    assert large < 24 * small

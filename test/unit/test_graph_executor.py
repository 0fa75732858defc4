"""The graph executor: TVM's JSON and parameters are read and written, and nodes compute what the whole graph does."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft
from weft import relay as _relay
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.mlir import parse_mlir
from weft.graph_executor import (
    GraphJson,
    GraphJsonError,
    GraphModule,
    ParamError,
    create,
    load_param_dict,
    save_param_dict,
)
from weft.lowering.loops_to_c import compile as loops_to_c
from weft.lowering.machine.codegen import CodegenPool
from weft.runtime.memory import aligned_copy
from weft.runtime.param_dict import ARRAY_MAGIC, LIST_MAGIC
from weft.runtime.tensors import InputError

INPUTS = Path(__file__).parents[1] / "Inputs" / "graph_executor"
JSON = (INPUTS / "perceptron.json").read_text()
"""A graph as TVM v0.10 writes it, by the description of the format."""
PARAMS = (INPUTS / "perceptron.params").read_bytes()
WEIGHT = np.array([[0.5, -1, 2, 0.25], [1, 1, -1, -0.5], [3, 0, -2, 1]], np.float32)
BIAS = np.array([0.1, -0.2, 0.3], np.float32)
X = np.arange(8, dtype=np.float32).reshape(2, 4) / 4

PERCEPTRON = """
relay.func @main(%data: tensor<2x4xf32>, %weight: tensor<3x4xf32>, %bias: tensor<3xf32>) -> tensor<3x2xf32> {
  %0 = relay.nn.dense %data, %weight {units = 3 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %1 = relay.add %0, %bias : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = relay.nn.relu %1 : tensor<2x3xf32>
  %3 = relay.reshape %2 {newshape = array<i64: 3, 2>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %4 = relay.nn.softmax %3 : tensor<3x2xf32>
  relay.return %4 : tensor<3x2xf32>
}
"""
BRANCHES = """
relay.func @main(%x: tensor<8x16xf32>) -> (tensor<8x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  %c = relay.constant dense<2.0> : tensor<8x16xf32>
  %0 = relay.nn.softmax %x : tensor<8x16xf32>
  %1 = relay.nn.softmax %0 : tensor<8x16xf32>
  %t = relay.tuple(%0, %1) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tuple<tensor<8x16xf32>, tensor<8x16xf32>>
  %2 = relay.concatenate %t {axis = 1 : i64} : (tuple<tensor<8x16xf32>, tensor<8x16xf32>>) -> tensor<8x32xf32>
  %3 = relay.nn.softmax %2 : tensor<8x32xf32>
  relay.return %3, %c, %x : tensor<8x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}
"""


@pytest.fixture(scope="module")
def exe() -> weft.Executable:
    return weft.compile(parse_mlir(PERCEPTRON, "perceptron.mlir"), threads=2)


@pytest.fixture
def module(exe: weft.Executable) -> GraphModule:
    made = create(JSON, exe, threads=2)
    made.load_params(PARAMS)
    return made


def assert_close(found: object, wanted: object) -> None:
    np.testing.assert_allclose(np.asarray(found, np.float64), np.asarray(wanted, np.float64), rtol=1e-5)


def expected(x: Any) -> tuple[Any, Any]:
    hidden = np.maximum(x @ WEIGHT.T + BIAS, 0).reshape(3, 2)
    return np.exp(hidden) / np.exp(hidden).sum(1, keepdims=True), hidden


def test_a_graph_and_parameters_of_tvm_run(module: GraphModule) -> None:
    module.set_input("data", X)
    module.run()
    assert module.get_num_outputs() == 2
    for number, wanted in enumerate(expected(X)):
        assert_close(module.get_output(number), wanted)


def test_inputs_are_told_and_kept(module: GraphModule) -> None:
    assert module.get_num_inputs() == 3
    assert module.get_input_info() == ({"data": (2, 4)}, {"data": "float32"})
    assert (module.get_input_index("p1"), module.get_input_index("none")) == (2, -1)
    assert np.array_equal(module.get_input("p0"), WEIGHT) and np.array_equal(module.get_input(2), BIAS)
    module.set_input(0, X)
    assert np.array_equal(module.get_input("data"), X)
    module.set_input(data=2 * X)
    assert np.array_equal(module.get_input(0), 2 * X)


def test_what_is_read_is_written_to_an_array_that_is_given(module: GraphModule) -> None:
    module.run({"data": X})
    out = np.zeros((4, 6), np.float32)[:3, ::3]
    assert module.get_output(0, out) is out and np.array_equal(out, module.get_output(0))
    assert module.get_input("data", into := np.empty_like(X)) is into and np.array_equal(into, X)
    node = module.graph.heads[0].node
    assert np.array_equal(module.debug_get_output(node, np.empty((3, 2), np.float32)), out)
    closed = np.zeros((3, 2), np.float32)
    closed.flags.writeable = False
    for wrong, message in (
        (np.zeros((2, 3), np.float32), r"out is float32\[2, 3\], and what is read is float32\[3, 2\]"),
        (np.zeros((3, 2)), "out is float64"),
        (closed, "out cannot be written"),
    ):
        with pytest.raises(UsageError, match=message):
            module.get_output(0, wrong)


def test_inputs_and_outputs_are_arrays_of_the_callers(exe: weft.Executable, module: GraphModule) -> None:
    """Nothing is copied: what the arrays hold when the graph runs counts, and what they held is its own."""
    x, y = aligned_copy(X.copy()), aligned_copy(np.zeros((3, 2), np.float32))
    module.run({"data": X})
    before = module.get_output(1)
    module.set_input_zero_copy("data", x)
    module.set_output_zero_copy(0, y)
    for factor in (1, -2):
        x[...] = factor * X
        module.run()
        assert_close(y, expected(factor * X)[0])
        assert np.array_equal(module.get_output(0), y) and np.array_equal(module.get_input("data"), x)
    module.set_input("data", X)
    assert np.array_equal(x, X)
    module.run()
    assert np.array_equal(module.get_output(1), before)
    other = create(JSON, exe)
    other.share_params(module, module.save_params())
    other.run({"data": X})
    assert np.array_equal(other.get_output(0), module.get_output(0)) and list(other.params) == ["p0", "p1"]
    module.set_input("p1", BIAS + 1)
    assert np.array_equal(other.get_input("p1"), BIAS + 1)


def test_arrays_that_cannot_be_outputs_are_refused(module: GraphModule) -> None:
    fits = aligned_copy(np.zeros((3, 2), np.float32))
    for array, message in (
        (fits.astype(np.float64), "the output is float32"),
        (fits[::-1], "not dense, or not at a multiple of 64"),
        (aligned_copy(np.zeros((2, 3), np.float32)), r"and the array float32\[2, 3\]"),
    ):
        with pytest.raises(UsageError, match=message):
            module.set_output_zero_copy(0, array)


@pytest.mark.parametrize("value", [1, [[0.0, 0.0]], np.ma.masked_array(np.zeros((3, 2), np.float32), True)])
def test_memory_of_the_callers_is_an_array(module: GraphModule, value: Any) -> None:
    for use in (
        lambda: module.get_output(0, value),
        lambda: module.set_output_zero_copy(0, value),
        lambda: module.set_input_zero_copy("data", value),
    ):
        with pytest.raises(weft.ArgumentError, match="stands in an array of NumPy, and not in a "):
            use()


def test_what_is_an_input_as_well_is_no_output() -> None:
    graph = weft.compile(parse_mlir(BRANCHES, "branches.mlir"), executor="graph", threads=1)
    assert isinstance(graph, GraphModule)
    both = aligned_copy(np.ones((8, 32), np.float32))
    with pytest.raises(UsageError, match="output 2 is what an input holds"):
        graph.set_output_zero_copy(2, both[:4].reshape(8, 16))
    graph.set_input_zero_copy("x", both[:4].reshape(8, 16))
    with pytest.raises(UsageError, match="memory that the graph has for something else"):
        graph.set_output_zero_copy(0, both)


def test_an_array_that_is_an_output_is_no_input(module: GraphModule) -> None:
    both = aligned_copy(np.zeros((2, 4), np.float32))
    module.set_output_zero_copy(0, both.reshape(-1)[:6].reshape(3, 2))
    with pytest.raises(UsageError, match="memory that the graph has for something else"):
        module.set_input_zero_copy("data", both)


def test_a_saved_library_serves_a_graph(exe: weft.Executable, tmp_path: Path) -> None:
    exe.save(tmp_path / "kernels.weft")
    module = create(JSON, tmp_path / "kernels.weft", params={"p0": WEIGHT, "p1": BIAS})
    outputs = module.run({"data": X})
    assert list(outputs) == ["out0", "out1"]
    assert_close(outputs["out0"], expected(X)[0])


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


@pytest.mark.parametrize("text", [PERCEPTRON, BRANCHES])
def test_nodes_compute_what_the_whole_graph_computes(text: str) -> None:
    parsed = parse_mlir(text, "graph.mlir")
    exe, module = weft.compile(parsed), weft.compile(parsed, executor="graph")
    arrays = exe.example_inputs()
    for _ in range(2):
        found, wanted = module(*arrays), exe(*arrays)
        found, wanted = (each if isinstance(each, tuple) else (each,) for each in (found, wanted))
        for one, other in zip(found, wanted, strict=True):
            assert np.array_equal(one, other)
    assert [spec.name for spec in module.outputs] == [spec.name for spec in exe.outputs]
    assert module.inputs == exe.inputs


def test_the_executor_joins_tensors_itself_where_the_library_does_without() -> None:
    """The library's own graph computes both parts in place; its nodes come from the JSON that stands beside it."""
    joined = BRANCHES.replace("axis = 1", "axis = 0").replace("8x32", "16x16")
    module = weft.compile(parse_mlir(joined, "graph.mlir"), executor="graph")
    assert "fused_concatenate" not in module.library.kernels
    node = next(each for each in module.graph.nodes if each.kernel == "fused_concatenate")
    assert node.attributes["joins"] == "1"
    again = GraphModule(module.graph_json, module.library, module.params)
    x = np.random.default_rng(0).random((8, 16), np.float32)
    wanted = weft.compile(parse_mlir(joined, "graph.mlir"))(x)
    for found, expected in zip(again(x), wanted, strict=True):
        assert np.array_equal(found, expected)
    refused = module.graph_json.replace('"joins": "1", ', "")
    with pytest.raises(Diagnostic, match="calls fused_concatenate, which is not in the library"):
        GraphModule(refused, module.library, module.params)


def test_a_copy_of_a_part_counts_the_bytes_that_are_copied() -> None:
    whole, taken = "tensor<8x16xf32>", "tensor<2x16xf32>"
    sliced = f"""relay.func @main(%x: {whole}) -> {taken} {{
      %0 = relay.nn.softmax %x : {whole}
      %1 = relay.strided_slice %0 {{begin = array<i64: 4, 0>, end = array<i64: 6, 16>}} : ({whole}) -> {taken}
      relay.return %1 : {taken}
    }}"""
    x = np.random.default_rng(0).random((8, 16), np.float32)
    module = weft.compile(parse_mlir(sliced, "graph.mlir"), executor="graph")
    assert np.array_equal(module(x), weft.compile(parse_mlir(sliced, "graph.mlir"))(x))
    profile = module.profile(x, repeat=1)
    assert [(step.is_copy, step.bytes) for step in profile.steps] == [(False, 2 * 8 * 16 * 4), (True, 2 * 16 * 4)]
    assert profile.by_device()["cpu"][1:] == (2 * 16 * 4, 1)


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


REFUSED: dict[str, tuple[str, dict[str, str], str]] = {
    "branches": ("relay.if %c : (tensor<i1>) -> tensor<4xf32> { relay.yield %x : tensor<4xf32> } else "
                 "{ relay.yield %y : tensor<4xf32> }", {}, "branches or calls"),
    "devices": ("relay.on_device %y {virtual_device = #relay.virtual_device<ext_dev>} : tensor<4xf32>", {},
                "on several devices"),
    "a GPU": ("relay.negative %y : tensor<4xf32>", {"target": "cuda"}, "on several devices"),
    "tir": ("relay.negative %y : tensor<4xf32>", {"phase": "tir"}, "the module is at 'tir'"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_run_node_by_node_is_refused_before_a_kernel_is_compiled(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compiled(*_: object) -> None:
        raise AssertionError("a kernel was compiled")

    monkeypatch.setattr(CodegenPool, "submit", compiled)
    monkeypatch.setattr(loops_to_c, "compile_c", compiled)
    op, options, message = REFUSED[what]
    text = f"""relay.func @main(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {{
      %y = relay.tanh %x : tensor<4xf32>
      %z = {op}
      %e = relay.exp %z : tensor<4xf32>
      relay.return %e : tensor<4xf32>
    }}"""
    with pytest.raises(Diagnostic, match=message):
        weft.compile(parse_mlir(text, "m.mlir"), executor="graph", **options)  # pyright: ignore


def test_a_failed_check_is_told() -> None:
    text = """
relay.func @main(%rows: tensor<4x2xf32>, %which: tensor<3xi64>) -> tensor<3x2xf32> {
  %0 = relay.take %rows, %which {axis = 0 : i64, mode = "error"} : (tensor<4x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  relay.return %0 : tensor<3x2xf32>
}
"""
    module = weft.compile(parse_mlir(text, "take.mlir"), executor="graph")
    rows = np.arange(8, dtype=np.float32).reshape(4, 2)
    with pytest.raises(weft.CheckError, match="index 4 lies outside of an axis of 4"):
        module(rows, np.array([0, 4, 1]))
    assert np.array_equal(module(rows, np.array([3, 0, 1])), rows[[3, 0, 1]])


def test_debugging_keeps_and_times_every_node(module: GraphModule, tmp_path: Path) -> None:
    profile = module.run_debug(tmp_path / "debug", X)
    assert sorted(file.name for file in (tmp_path / "debug").iterdir()) == [
        "graph.json", "outputs.params", "times.txt", "trace.json",
    ]  # fmt: skip
    kept = load_param_dict((tmp_path / "debug" / "outputs.params").read_bytes())
    assert np.array_equal(kept["p0____topo-index:1____output-num:0"], WEIGHT)
    softmax, hidden = expected(X)
    assert_close(kept["reshape_nop____topo-index:4____output-num:0"], hidden)
    last = kept["tvmgen_default_fused_nn_softmax____topo-index:5____output-num:0"]
    assert_close(last, softmax)
    assert GraphJson.parse((tmp_path / "debug" / "graph.json").read_text()) == module.graph
    assert [step.kernel for step in profile.steps] == ["fused_nn_dense_add_nn_relu", "fused_nn_softmax"]


def test_nodes_run_one_at_a_time(module: GraphModule) -> None:
    module.set_input("data", X)
    for number in (3, 4):
        module.execute_node(number)
    assert_close(module.get_node_output("reshape_nop"), expected(X)[1])
    with pytest.raises(UsageError, match="no node 0 that runs"):
        module.execute_node(0)
    with pytest.raises(UsageError, match="no node 'reshape'"):
        module.get_node_output("reshape")


def test_runs_are_timed(module: GraphModule) -> None:
    assert module.benchmark(X, repeat=2, number=1).min > 0
    assert len(module.time_evaluator(number=2, repeat=3)().results) == 3
    assert [step.us > 0 for step in module.profile(X, repeat=1).steps] == [True, True]
    with pytest.raises(UsageError, match="cannot be timed"):
        module.time_evaluator("load")


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
        (edited(lambda g: g["attrs"]["dltype"][1].__setitem__(0, "int32")), "add_nn_relu takes f32"),
        (edited(lambda g: g["attrs"]["storage_id"][1].__setitem__(4, 7)), "its output is not where its input is"),
        (edited(lambda g: _call_elsewhere(g, "fused_nn_dense_add_nn_relu")), "has 24 bytes"),
    ],
)
def test_a_graph_that_does_not_fit_the_library_is_refused(exe: weft.Executable, text: str, message: str) -> None:
    with pytest.raises(Diagnostic) as error:
        create(text, exe)
    assert message in error.value.message


def test_inputs_that_do_not_fit_are_refused(module: GraphModule) -> None:
    for call, message in {
        lambda: module.set_input("dat", X): "there is no input 'dat'",
        lambda: module.set_input("data", X.astype(np.float64) * 1e300): "has dtype float64",
        lambda: module.set_input("data", X.astype(np.complex64)): "has dtype complex64",
        lambda: module.set_input("data", X[:1]): "has shape",
        lambda: module.set_input("data"): "there is no array",
        lambda: module.set_input(7, X): "there is no input 7",
        lambda: module(X, X): "got 2",
        lambda: module.benchmark(X, X): "got 2",
    }.items():
        with pytest.raises(InputError) as error:
            call()
        assert message in error.value.message
    with pytest.raises(UsageError, match="no output 2"):
        module.get_output(2)


def test_parameters_of_all_types_are_read_as_they_were_written() -> None:
    arrays = {
        dtype: np.arange(6).reshape(2, 3).astype(dtype)
        for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint64", "bool", "float16", "float32", "float64")
    }
    arrays |= {"bf": np.ones(3, ml_dtypes.bfloat16), "scalar ü": np.array(7, np.int32), "empty": np.zeros((0, 2))}
    found = load_param_dict(save_param_dict(arrays))
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        assert np.array_equal(found[name], array)


def test_parameters_are_written_as_tvm_writes_them() -> None:
    assert save_param_dict({"p0": WEIGHT, "p1": BIAS}) == PARAMS


def test_parameters_are_kept_by_relays_names_too() -> None:
    kept = weft.relay.save_param_dict({"w": np.ones(3, np.float32)})
    assert kept == save_param_dict({"w": np.ones(3, np.float32)})
    np.testing.assert_array_equal(weft.relay.load_param_dict(kept)["w"], np.ones(3, np.float32))


def test_parameters_that_are_cut_off_are_refused() -> None:
    for size in range(len(PARAMS)):
        with pytest.raises(ParamError):
            load_param_dict(PARAMS[:size])


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (0, 1, "begin with another number"),
        (16, 255, "cut off"),
        (32, 255, "a name is no text"),
        (44, 1, "2 names for 1"),
        (52, 1, "'p0' is no array"),
        (80, 9, "code 9, 32 bits, 1 lanes"),
        (82, 4, "4 lanes"),
        (84, 4, "is [4, 4] of float32, and 48 bytes"),
    ],
)
def test_parameters_that_are_damaged_are_refused(at: int, value: int, message: str) -> None:
    data = bytearray(PARAMS)
    data[at] = value
    with pytest.raises(ParamError) as error:
        load_param_dict(bytes(data))
    assert message in error.value.message


def test_what_the_format_of_parameters_has_not_is_refused() -> None:
    with pytest.raises(ParamError, match="a name is no text"):
        save_param_dict({"\ud800": np.zeros(2)})
    for shape, size in (((1,) * 65, 4), ((0, 1 << 62), 0)):
        head = struct.pack("<QQQQ1sQ", LIST_MAGIC, 0, 1, 1, b"a", 1)
        head += struct.pack("<QQiiiBBH", ARRAY_MAGIC, 0, 1, 0, len(shape), 2, 32, 1)
        with pytest.raises(ParamError, match="'a' is "):
            load_param_dict(head + struct.pack(f"<{len(shape)}qq", *shape, size) + bytes(size))
    with pytest.raises(ParamError, match="complex128"):
        save_param_dict({"z": np.zeros(2, complex)})
    with pytest.raises(ParamError, match="behind the last array"):
        load_param_dict(PARAMS + b"\0")


def test_parameters_are_what_the_graph_computes_with(exe: weft.Executable) -> None:
    weight = WEIGHT.copy()
    module = create(JSON, exe, params={"p0": weight, "p1": BIAS})
    weight[:] = 0
    assert module.save_params() == PARAMS, "the module has copied it"
    module.set_input("p0", 2 * WEIGHT)
    assert np.array_equal(load_param_dict(module.save_params())["p0"], 2 * WEIGHT)


def test_every_output_has_a_name_of_its_own(exe: weft.Executable) -> None:
    for names in (["a"], ["a", "a"], ["a", "b", "c"]):
        with pytest.raises(UsageError, match="2 outputs have a name each, and not a"):
            GraphModule(JSON, exe, output_names=names)


def test_an_executor_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match="no executor 'vn'"):
        weft.compile(parse_mlir(PERCEPTRON, "p.mlir"), executor="vn")  # pyright: ignore


def test_a_library_of_whose_kernels_nobody_says_what_they_take_runs_as_a_whole_alone(
    exe: weft.Executable, module: GraphModule
) -> None:
    library = replace(exe.graph, parameters=())
    with pytest.raises(Diagnostic, match="it is not known what the kernels of this library take"):
        GraphModule(module.graph, library)


def test_runs_are_timed_with_inputs_by_name_on_a_device() -> None:
    relay: Any = _relay
    x, y = relay.var("x_1", shape=(2,)), relay.var("x_2", shape=(2,))
    built: Any = relay.build(relay.IRModule.from_expr(relay.Function([x, y], x - y)), "llvm")
    module: Any = GraphModule(built["default"](weft.cpu()))
    assert [module.get_input_index(name) for name in ("x_1", "x_2", "x")] == [0, 1, -1]
    one, two = np.ones(2, np.float32), np.full(2, 2, np.float32)
    for options in ({}, {"end_to_end": True}):
        timed = module.benchmark(weft.cpu(), x_1=two, x_2=one, func_name="run", repeat=2, number=1, **options)
        assert len(timed.results) == 2 and timed.mean > 0
        np.testing.assert_array_equal(module.get_output(0), [1, 1])
    with pytest.raises(UsageError, match="not on <cuda"):
        module.benchmark(weft.cuda(), x_1=two, x_2=one)
    with pytest.raises(UsageError, match="cannot be timed"):
        module.benchmark(func_name="main")

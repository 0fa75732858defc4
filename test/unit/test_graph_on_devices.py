"""The graph executor on several devices: nodes run where their tensors are, and `__copy` goes from one to another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda_emulation import Emulator, needs_compiler

import weft
from weft import relay
from weft.dialects.support import knobs
from weft.dialects.support.checks import CheckError
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.mlir import parse_mlir
from weft.lowering.graph_json import GraphJson
from weft.runtime.devices import counted, device_by_name
from weft.runtime.graph_executor import GraphModule
from weft.runtime.memory import aligned_copy

pytestmark = pytest.mark.sampled(3)

relay: Any = relay
CPU, FAR = "#relay.virtual_device<cpu>", "#relay.virtual_device<ext_dev>"
T = "tensor<4x6xf32>"
GRAPH = f"""
relay.func @main(%a: {T}, %b: {T}) -> ({T}, tensor<8x6xf32>) attributes {{
    param_virtual_devices = [{CPU}, {FAR}], result_virtual_devices = [{CPU}, {FAR}]}} {{
  %c = relay.constant dense<2.0> : {T}
  %0 = relay.nn.softmax %a : {T}
  %n0 = relay.on_device %0 {{virtual_device = {CPU}}} : {T}
  %1 = relay.add %n0, %b : ({T}, {T}) -> {T}
  %2 = relay.multiply %1, %c : ({T}, {T}) -> {T}
  %3 = relay.nn.softmax %2 : {T}
  %t = relay.tuple(%2, %3) : ({T}, {T}) -> tuple<{T}, {T}>
  %4 = relay.concatenate %t {{axis = 0 : i64}} : (tuple<{T}, {T}>) -> tensor<8x6xf32>
  %5 = relay.strided_slice %4 {{begin = array<i64: 2, 0>, end = array<i64: 6, 6>}} : (tensor<8x6xf32>) -> {T}
  %6 = relay.exp %5 : {T}
  %n6 = relay.on_device %6 {{virtual_device = {FAR}}} : {T}
  %d = relay.constant dense<2.0> : {T}
  %7 = relay.multiply %n6, %d : ({T}, {T}) -> {T}
  relay.return %7, %4 : {T}, tensor<8x6xf32>
}}
"""


def parsed(text: str = GRAPH) -> Any:
    return parse_mlir(text, "far.mlir")


def arrays() -> list[Any]:
    return list(np.random.default_rng(1).standard_normal((2, 4, 6)).astype(np.float32))


@pytest.fixture(scope="module")
def module() -> Any:
    return weft.compile(parsed(), executor="graph", threads=2)


@pytest.fixture(scope="module")
def expected() -> Any:
    return weft.compile(parsed(GRAPH.replace("<ext_dev>", "<cpu>")))(*arrays())


def same(found: Any, wanted: Any) -> bool:
    return all(np.allclose(f, w, rtol=1e-5, atol=1e-6) for f, w in zip(found, wanted, strict=True))


def test_nodes_run_where_their_tensors_are(module: Any, expected: Any) -> None:
    assert set(json.loads(module.graph_json)["attrs"]["device_index"][1]) == {1, 12}
    assert "__copy" in {node.kernel for node in module.graph.nodes}
    for _ in range(2):
        assert same(module(*arrays()), expected)
    for place, wanted in enumerate(expected):
        assert np.allclose(module.get_output(place, np.empty_like(wanted)), wanted, rtol=1e-5)
    assert same((module.get_input(name) for name in ("a", "b")), arrays())


@needs_compiler
def test_kernels_in_c_run_on_several_devices_as_well(expected: Any, tmp_path: Path) -> None:
    exe = weft.compile(parsed(), target="c", threads=2)
    exe.save(path := tmp_path / "far.weft")
    assert all(same(program(*arrays()), expected) for program in (exe, weft.load(path)))
    assert {step.device for step in exe.profile(*arrays(), repeat=1).steps} == {"cpu", "ext_dev:0"}
    assert same(weft.compile(parsed(), target="c", executor="graph", threads=2)(*arrays()), expected)


def test_what_is_copied_is_counted_and_timed(module: Any) -> None:
    module(*arrays())
    with counted(device_by_name("ext_dev:0")) as traffic:
        module.run()
    graph, found = module.graph, traffic["ext_dev:0"]
    types = graph.device_types
    copied = [
        (types[graph.entry(node.inputs[0])], types[graph.row_ptr[number]])
        for number, node in enumerate(graph.nodes)
        if node.kernel == "__copy"
    ]
    read = sum(types[each] == 12 for each in map(graph.entry, graph.heads))
    assert (found.copies_in, found.copies_out) == (copied.count((1, 12)), copied.count((12, 1)) + read)
    assert copied.count((1, 12)) == copied.count((12, 1)) == 1 and read == 1
    copies = [step for step in module.profile(*arrays(), repeat=2).steps if step.is_copy]
    assert {step.device for step in copies} == {"cpu", "ext_dev:0"}
    assert set(module.profile(*arrays(), repeat=1).by_device()) == {"cpu", "ext_dev:0"}


def test_a_graph_goes_through_its_json_and_a_saved_library(module: Any, expected: Any, tmp_path: Path) -> None:
    exe = weft.compile(parsed())
    exe.save(tmp_path / "far.weft")
    devices = [weft.cpu(), weft.device("ext_dev")]
    again = weft.graph_executor.create(module.graph_json, tmp_path / "far.weft", devices, params=module.params)
    assert same(again(*arrays()), expected)
    with pytest.raises(UsageError, match="for cpu and ext_dev"):
        weft.graph_executor.create(module.graph_json, tmp_path / "far.weft", weft.cuda(), params=module.params)


def test_every_node_is_kept_by_the_debug_mode(module: Any, tmp_path: Path) -> None:
    module.run_debug(tmp_path, *arrays())
    kept = weft.graph_executor.load_param_dict((tmp_path / "outputs.params").read_bytes())
    assert len(kept) == len(module.graph.shapes)
    assert "ext_dev:0" in (tmp_path / "times.txt").read_text()


def test_parameters_are_shared_on_their_device(module: Any, expected: Any) -> None:
    other = GraphModule(module.graph, module.library)
    other.share_params(module, module.save_params())
    assert same(other(*arrays()), expected)
    graph = module.graph
    (name,) = (
        n for n in module.params if graph.device_types[graph.row_ptr[[x.name for x in graph.nodes].index(n)]] == 12
    )
    other.set_input(name, 2 * (held := module.params[name]))
    assert np.array_equal(module.get_input(name), 2 * held)
    module.set_input(name, held)


def test_no_array_can_be_where_the_host_does_not_read(module: Any) -> None:
    _, b = arrays()
    with pytest.raises(UsageError, match="in the memory of ext_dev:0"):
        module.set_input_zero_copy("b", aligned_copy(b))


def test_a_check_that_fails_elsewhere_is_told() -> None:
    text = f"""relay.func @main(%x: tensor<4xf32>, %i: tensor<2xi64>) -> tensor<2xf32> attributes {{
      param_virtual_devices = [{FAR}, {FAR}], result_virtual_devices = [{FAR}]}} {{
      %0 = relay.take %x, %i {{axis = 0 : i64, mode = "error"}} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
      relay.return %0 : tensor<2xf32>
    }}"""
    module = weft.compile(parse_mlir(text, "take.mlir"), executor="graph")
    x = np.arange(4, dtype=np.float32)
    with pytest.raises(CheckError, match="index 7 lies outside of an axis of 4"):
        module(x, np.array([1, 7]))
    assert np.array_equal(module(x, np.array([3, 0])), [3, 0])


def test_a_plan_that_the_json_cannot_say_is_refused() -> None:
    second = "#relay.virtual_device<ext_dev, id = 1>"
    places = f"attributes {{param_virtual_devices = [{FAR}, {second}], result_virtual_devices = [{FAR}, {second}]}}"
    text = f"""relay.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {places} {{
      %0 = relay.exp %a : tensor<4xf32>
      %1 = relay.exp %b : tensor<4xf32>
      relay.return %0, %1 : tensor<4xf32>, tensor<4xf32>
    }}"""
    with pytest.raises(Diagnostic, match="the JSON of a graph says types of devices alone"):
        weft.compile(parse_mlir(text, "two.mlir"), executor="graph")


def changed(graph: GraphJson, types: list[int]) -> str:
    said = json.loads(graph.text())
    said["attrs"]["device_index"][1] = types
    return json.dumps(said)


def test_a_graph_whose_tensors_are_elsewhere_than_its_kernels_is_refused(module: Any) -> None:
    types = list(module.graph.device_types)
    with pytest.raises(Diagnostic, match="on a device of type 2, and there is only cpu and ext_dev:0"):
        GraphModule(changed(module.graph, [2] * len(types)), module.library)
    swapped = types.copy()
    swapped[0] = 13 - swapped[0]
    with pytest.raises(Diagnostic, match=r"has tensors on several devices: cpu, ext_dev:0|is on devices of the types"):
        GraphModule(changed(module.graph, swapped), module.library)


def layer() -> Any:
    x, w = relay.var("x", shape=(4, 8)), relay.var("w", shape=(16, 8))
    return relay.IRModule.from_expr(relay.Function([x, w], relay.nn.softmax(relay.nn.dense(x, w))))


@needs_compiler
def test_a_graph_for_a_gpu_is_built_where_there_is_none(tmp_path: Path) -> None:
    weights = np.random.default_rng(0).standard_normal((16, 8)).astype(np.float32)
    with knobs.CUDA_LIBRARY.set("libno-such-driver.so"):
        library = relay.build(layer(), "cuda", params={"w": weights})
        library.export_library(tmp_path / "layer.so")
        loaded: Any = weft.runtime.load_module(tmp_path / "layer.so")
        graph = loaded["default"](weft.cuda())
        graph.set_input("x", x := np.ones((4, 8), np.float32))
        assert np.array_equal(graph.get_input("x"), x)
        with pytest.raises(Diagnostic, match="there is no CUDA driver on this machine"):
            graph.run()


@needs_compiler
def test_nodes_run_on_a_gpu(driver: Emulator) -> None:
    x, w = (np.random.default_rng(n).standard_normal(s).astype(np.float32) for n, s in ((1, (4, 8)), (2, (16, 8))))
    library = relay.build(layer(), "cuda", params={"w": w})
    driver.register(weft.compile(layer(), "cuda", params={"w": w}).ir)
    graph = library["default"](weft.cuda(0))
    graph.set_input("x", x)
    graph.run()
    scores = np.exp(x @ w.T - (x @ w.T).max(-1, keepdims=True))
    np.testing.assert_allclose(graph.get_output(0), scores / scores.sum(-1, keepdims=True), rtol=1e-5)
    assert {2} == set(graph.graph.device_types) and "cuda:0" in graph.profile(repeat=1).by_device()

"""The graph executor: nodes compute what the whole graph does, in arrays of callers too, and are timed one by one."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph_json_samples import BIAS, BRANCHES, JSON, PERCEPTRON, WEIGHT, perceptron, perceptron_module

import weft
from weft import relay as _relay
from weft.dialects.support.diagnostics import Diagnostic, UsageError, handled_by
from weft.frontend.mlir import parse_mlir
from weft.graph_executor import (
    GraphJson,
    GraphModule,
    create,
    load_param_dict,
    save_param_dict,
)
from weft.lowering.loops_to_c import compile as loops_to_c
from weft.lowering.machine.codegen import CodegenPool
from weft.runtime.memory import aligned_copy
from weft.runtime.tensors import InputError

pytestmark = pytest.mark.sampled(3)

X = np.arange(8, dtype=np.float32).reshape(2, 4) / 4


@pytest.fixture(scope="module")
def exe() -> weft.Executable:
    return perceptron()


@pytest.fixture
def module(exe: weft.Executable) -> GraphModule:
    return perceptron_module(exe)


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


def test_what_was_set_is_timed_and_stays(module: GraphModule) -> None:
    """It was replaced by what fits, and so were the outputs of the next run."""
    module.set_input(0, X)
    module.benchmark(repeat=1, number=1)
    module.profile(repeat=1)
    module.run()
    assert_close(module.get_output(0), expected(X)[0])


def test_an_input_is_written_to_as_what_is_given_for_it(module: GraphModule) -> None:
    module.get_input("data")[...] = X
    module.get_input("p1")[...] = BIAS + 1
    assert np.array_equal(module.params["p1"], BIAS + 1)
    with warnings() as told:
        module.run()
    assert not told and not np.array_equal(module.get_output(0), expected(X)[0])
    module.get_input("p1")[...] = BIAS
    module.run()
    assert_close(module.get_output(0), expected(X)[0])


@contextmanager
def warnings() -> Generator[list[str]]:
    told: list[str] = []
    with handled_by(lambda diagnostic: told.append(diagnostic.message)):
        yield told


def test_inputs_and_parameters_that_fit_nothing_are_told_of(module: GraphModule) -> None:
    bare = GraphModule(module.graph_json, module.library)
    with warnings() as told:
        bare.load_params(save_param_dict({"weight": WEIGHT, "p1": BIAS}))
        bare.profile(repeat=1)
        bare.run()
        bare.run()
    assert told == [
        "the graph has no input 'weight', which is passed over; inputs: data, p0, p1",
        "inputs data, p0 were not set",
    ]


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


REFUSED: dict[str, tuple[str, dict[str, str], str]] = {
    "branches": ("relay.if %c : (tensor<i1>) -> tensor<4xf32> { relay.yield %x : tensor<4xf32> } else "
                 "{ relay.yield %y : tensor<4xf32> }", {}, "branches or calls"),
    "devices": ("relay.on_device %y {virtual_device = #relay.virtual_device<vulkan>} : tensor<4xf32>", {},
                "vulkan"),
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


def test_a_node_is_timed_by_itself(module: GraphModule) -> None:
    module.set_input("data", X)
    found = module.run_individual_node(3, number=2, repeat=3)
    assert len(found.results) == 3 and found.min > 0
    assert module.run_individual_node(3, min_repeat_ms=1).mean > 0
    assert module.run_individual_node(0, repeat=2).results == (0.0, 0.0)
    refused = [((len(module.graph.nodes),), "that runs"), ((3, 0), "0 calls"), ((0, 1, 0), "0 repetitions")]
    for given, message in refused:
        with pytest.raises(UsageError, match=message):
            module.run_individual_node(*given)


def test_threads_that_call_at_once_get_their_own_results(module: GraphModule) -> None:
    arrays = [np.full(spec.shape, 1 + n / 7, spec.dtype) for n in range(4) for spec in module.inputs]
    assert len(arrays) == 4
    wanted = [module(array) for array in arrays]

    def call(number: int) -> bool:
        return all(np.array_equal(module(arrays[(number + k) % 4]), wanted[(number + k) % 4]) for k in range(200))

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(call, range(16)))


def test_a_child_forked_amid_the_calls_of_other_threads_computes(module: GraphModule) -> None:
    (spec,) = module.inputs
    array = np.full(spec.shape, 0.5, spec.dtype)
    wanted, over = module(array), threading.Event()

    def call() -> None:
        while not over.is_set():
            module(array)

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    try:
        for _ in range(8):
            if (child := os.fork()) == 0:
                signal.alarm(20)  # a child that waits for a thread that it has not is ended
                os._exit(0 if np.array_equal(module(array), wanted) else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        over.set()
        for caller in callers:
            caller.join()


def test_runs_are_timed(module: GraphModule) -> None:
    assert module.benchmark(X, repeat=2, number=1).min > 0
    assert len(module.time_evaluator(number=2, repeat=3)().results) == 3
    assert [step.us > 0 for step in module.profile(X, repeat=1).steps] == [True, True]
    assert [step.us > 0 for step in module.profile(repeat=1, data=X).steps] == [True, True]
    with pytest.raises(UsageError, match="cannot be timed"):
        module.time_evaluator("load")


def test_inputs_that_do_not_fit_are_refused(module: GraphModule) -> None:
    for call, message in {
        lambda: module.set_input("dat", X): "there is no input 'dat'",
        lambda: module.set_input("data", X.astype(np.float64) * 1e300): "has dtype float64",
        lambda: module.set_input("data", X.astype(np.complex64)): "has dtype complex64",
        lambda: module.set_input("data", X[:1]): "has shape",
        lambda: module.set_input("data"): "there is no array",
        lambda: module.set_input(value=X): "it is not said which input the array is of",
        lambda: module.set_input_zero_copy(value=X): "it is not said which input the array is of",
        lambda: module.set_input(7, X): "there is no input 7",
        lambda: module(X, X): "got 2",
        lambda: module.benchmark(X, X): "got 2",
    }.items():
        with pytest.raises(InputError) as error:
            call()
        assert message in error.value.message
    with pytest.raises(UsageError, match="no output 2"):
        module.get_output(2)


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
    with pytest.raises(UsageError, match="for cpu, as its target says, and not for <cuda"):
        module.benchmark(weft.cuda(), x_1=two, x_2=one)
    with pytest.raises(UsageError, match="cannot be timed"):
        module.benchmark(func_name="main")

"""Steps of a graph: they compute what the entry computes, are timed by the names of the layers, and are saved."""

from __future__ import annotations

import json
import re
from csv import DictReader
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

import weft
from weft import PassContext, relay
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.mlir import parse_mlir
from weft.lowering.abi import Argument, steps_within
from weft.runtime.benchmark import BenchmarkResult, benchmark
from weft.runtime.memory import address
from weft.runtime.profiling import Profile, StepTimes
from weft.runtime.program import Program
from weft.runtime.sizes import Layout, Sizes, graph_at
from weft.runtime.step_checks import misfit

GRAPH = """
relay.func @main(%x: tensor<64x48xf32>) -> (tensor<64x16xf32>, tensor<64x48xf32>) {
  %0 = relay.exp %x : tensor<64x48xf32>
  %1 = relay.nn.softmax %0 : tensor<64x48xf32>
  %2 = relay.reshape %1 {newshape = array<i64: 64, 3, 16>} : (tensor<64x48xf32>) -> tensor<64x3x16xf32>
  %3 = relay.sum %2 {axis = array<i64: 1>} : (tensor<64x3x16xf32>) -> tensor<64x16xf32>
  relay.return %3, %x : tensor<64x16xf32>, tensor<64x48xf32>
}
"""
X = np.random.default_rng(0).standard_normal((64, 48)).astype(np.float32)


@pytest.fixture(scope="module")
def exe() -> weft.Executable:
    with PassContext(config={"fuse-ops.strategy": "tvm"}):  # of several kernels
        return weft.compile(parse_mlir(GRAPH, "graph.mlir"), threads=2)


def test_steps_compute_what_the_entry_computes(exe: weft.Executable) -> None:
    bound = exe.bind([X])
    for array in bound.outputs:
        array[...] = np.nan
    places = [[address(array) for array in arrays] for arrays in (bound.inputs, bound.outputs)]
    profile = exe.program.profile(places[0], places[1], 2, 3)
    for found, expected in zip(bound.outputs, exe(X), strict=True):
        assert np.array_equal(found, expected)
    assert [step.is_copy for step in profile.steps].count(True) == 1
    assert all(len(step.lasts) == 3 and step.us > 0 for step in profile.steps)
    assert profile.by_device()["cpu"][1:] == (X.nbytes, 1)


def test_steps_are_saved(exe: weft.Executable, tmp_path: Path) -> None:
    exe.save(tmp_path / "graph.weft")
    loaded = weft.load(tmp_path / "graph.weft", threads=1)
    assert loaded.graph.steps == exe.graph.steps and exe.graph.steps
    assert loaded.graph.parameters == exe.graph.parameters
    assert loaded.graph.counter_bytes == exe.graph.counter_bytes > 0
    assert [step.kernel for step in loaded.profile(X, repeat=1).steps] == [
        step.kernel or "copy" for step in steps_within(exe.graph.steps)
    ]


def test_steps_say_where_everything_lies(exe: weft.Executable) -> None:
    first = next(steps_within(exe.graph.steps))
    assert first.arguments[0] == Argument("input", 0, 64 * 48 * 4)
    assert [argument.kind for argument in first.arguments[-2:]] == ["slots", "threads"]
    copy = next(step for step in steps_within(exe.graph.steps) if not step.kernel)
    assert copy.arguments == (Argument("input", 0, X.nbytes), Argument("output", 1, X.nbytes))


def test_kernels_go_by_the_names_of_the_layers() -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="first"),
        helper.make_node("Neg", ["a"], ["b"], name="second"),
        helper.make_node("Softmax", ["b"], ["y"], name="third"),
    ]
    shape = helper.make_tensor_type_proto(TensorProto.FLOAT, [4, 6])
    graph = helper.make_graph(nodes, "g", [helper.make_value_info("x", shape)], [helper.make_value_info("y", shape)])
    with PassContext(config={"fuse-ops.strategy": "tvm"}):  # of several kernels
        profile = weft.compile(helper.make_model(graph)).profile(repeat=1)
    assert [step.layers for step in profile.steps] == [("first", "second"), ("third",)]
    assert profile.steps[0].name == "first + second"
    assert re.search(r"^ *[\d.]+ +[\d.]+ +[\d.]+  cpu +fused_nn_relu_negative +first \+ second$", str(profile), re.M)


def test_the_trace_is_what_browsers_read(exe: weft.Executable, tmp_path: Path) -> None:
    profile = exe.profile(X, repeat=2)
    profile.save_chrome_trace(tmp_path / "trace.json")
    named, *events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert named["ph"] == "M" and named["args"] == {"name": "cpu"}
    assert len(events) == len(profile.steps) and {event["ph"] for event in events} == {"X"}
    ends = [event["ts"] + event["dur"] for event in events]
    assert events[0]["ts"] == 0
    assert all(end <= event["ts"] + 0.002 for end, event in zip(ends, events[1:], strict=False))
    with pytest.raises(Diagnostic, match="cannot be written"):
        profile.save_chrome_trace(tmp_path / "none" / "trace.json")


def test_a_profile_is_written_as_tvm_writes_its_reports(exe: weft.Executable) -> None:
    profile = exe.profile(X, repeat=2)
    told = json.loads(profile.json())
    assert told["calls"][0]["Name"] == {"string": profile.steps[0].kernel}
    assert told["calls"][0]["Duration (us)"] == {"microseconds": profile.steps[0].us}
    assert {call["Count"]["count"] for call in told["calls"]} == {1}
    assert told["device_metrics"]["cpu"]["Copied"] == {"bytes": X.nbytes}
    assert told["configuration"] == {"Repetitions": {"count": 2}}
    rows = list(DictReader(StringIO(profile.csv())))
    assert [row["Name"] for row in rows] == [step.kernel for step in profile.steps]
    assert float(rows[0]["Duration (us)"]) == profile.steps[0].us


def test_a_check_that_fails_is_told_by_a_profile_too() -> None:
    text = """
relay.func @main(%rows: tensor<4x2xf32>, %which: tensor<3xi64>) -> tensor<3x2xf32> {
  %0 = relay.take %rows, %which {axis = 0 : i64, mode = "error"} : (tensor<4x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  relay.return %0 : tensor<3x2xf32>
}
"""
    exe = weft.compile(parse_mlir(text, "take.mlir"))
    assert exe.profile(repeat=1).steps, "made inputs are in range"
    with pytest.raises(weft.CheckError) as error:
        exe.profile(np.zeros((4, 2), np.float32), np.array([0, 9, 1]), repeat=1)
    assert error.value.index == 9 and error.value.place is not None


def test_a_graph_of_open_extents_is_timed_at_the_sizes_of_its_arrays(tmp_path: Path) -> None:
    x = relay.var("x", shape=(relay.Any(), 16))
    weight = relay.const(np.full((8, 16), 0.5, np.float32))
    exe = weft.compile(relay.Function([x], relay.nn.softmax(relay.nn.dense(x, weight))), threads=2)
    exe.save(tmp_path / "graph.weft")
    loaded = weft.load(tmp_path / "graph.weft")
    assert loaded.graph.steps == exe.graph.steps and len(exe.graph.steps) == 2
    for rows, each in ((3, exe), (100, exe), (5, loaded), (0, loaded)):
        x = np.random.default_rng(rows).random((rows, 16), np.float32)
        bound = each.bind([x])
        bound.outputs[0][...] = np.nan
        places = [[address(array) for array in arrays] for arrays in (bound.inputs, bound.outputs)]
        assert isinstance(each.program, Program)
        profile = each.program.profile(places[0], places[1], 2, 1, Sizes(each.graph).graph_for([x]))
        assert np.array_equal(bound.outputs[0], each(x)), "the steps compute what the entry computes"
        assert profile.steps[1].bytes == 2 * rows * 8 * 4
        assert [step.kernel for step in each.profile(x, repeat=1).steps] == list(each.graph.kernels)
    with pytest.raises(weft.Diagnostic, match="takes several shapes: say one"):
        exe.profile()


def test_steps_of_open_extents_stay_within_what_there_is() -> None:
    graph = weft.compile(relay.Function([x := relay.var("x", shape=(relay.Any(), 16))], relay.exp(x))).graph
    symbols = Sizes(graph).symbols([np.zeros((3, 16), np.float32)])
    sized = graph_at(graph, symbols, Layout(graph, [(symbol, symbol) for symbol in symbols]))
    assert misfit(graph) is None and misfit(sized) is None
    first = next(steps_within(sized.steps))
    for wrong in (replace(first.arguments[0], bytes=200), replace(first.arguments[0], at=1)):
        steps = (replace(first, arguments=(wrong, *first.arguments[1:])),)
        assert misfit(replace(sized, steps=steps)) == "step 0 uses what is not there"


def test_a_graph_of_the_last_phase_has_no_steps(exe: weft.Executable) -> None:
    late = weft.compile(parse_mlir(exe.ir["llvm"], "late.mlir"))
    assert np.array_equal(late(X)[0], exe(X)[0])
    with pytest.raises(Diagnostic, match="not known which steps"):
        late.profile(X)


def test_a_graph_of_loops_has_steps_unless_it_does_something_else(exe: weft.Executable) -> None:
    text = exe.ir["loops"]
    assert weft.compile(parse_mlir(text, "loops.mlir")).graph.steps == tuple(
        type(step)(step.kernel, (), step.arguments) for step in steps_within(exe.graph.steps)
    )
    call = next(line for line in text.splitlines() if "func.call @fused_exp" in line)
    edited = text.replace(call, f"%yes = arith.constant true\nscf.if %yes {{}}\n{call}", 1)
    assert weft.compile(parse_mlir(edited, "edited.mlir")).graph.steps == ()


def test_a_benchmark_counts_its_calls(exe: weft.Executable) -> None:
    calls: list[int] = []
    result = benchmark(lambda: calls.append(0), repeat=3, number=4, min_repeat_ms=0)
    assert len(calls) == 13 and len(result.results) == 3
    assert result.min <= result.median <= result.max and result.min <= result.mean <= result.max
    assert exe.benchmark(X, repeat=2, number=1).min > 0 and exe.benchmark(repeat=1, number=1).std == 0


def test_a_benchmark_calls_until_the_time_is_up() -> None:
    calls: list[int] = []
    result = benchmark(lambda: calls.append(0), repeat=1, number=1, min_repeat_ms=2)
    assert len(calls) > 100 and result.min < 1e-4


def test_a_result_has_the_statistics_of_its_numbers() -> None:
    result = BenchmarkResult((0.001, 0.002, 0.006))
    assert (result.mean, result.median, result.min, result.max) == pytest.approx((0.003, 0.002, 0.001, 0.006))
    assert result.std == pytest.approx(np.std([0.001, 0.002, 0.006]))
    assert str(result).splitlines()[-1].split() == ["3.0000", "2.0000", "6.0000", "1.0000", "2.1602"]


def test_time_and_bytes_are_told_for_each_device() -> None:
    steps = (
        StepTimes("k", (), "cpu", 8, (0.0,), (2.0,)),
        StepTimes("copy", (), "far", 64, (2.0,), (1.0,)),
        StepTimes("k", (), "far", 8, (3.0,), (4.0,)),
    )
    assert Profile(steps).by_device() == {"cpu": (2.0, 0, 0), "far": (4.0, 64, 1)}
    assert Profile(steps).total_us == 7


@pytest.mark.parametrize("repeat", [0, -1])
def test_nothing_is_repeated_no_times(exe: weft.Executable, repeat: int) -> None:
    with pytest.raises(UsageError, match="at least one"):
        exe.profile(X, repeat=repeat)
    with pytest.raises(UsageError, match="at least one"):
        exe.benchmark(X, repeat=repeat)

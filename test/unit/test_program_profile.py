"""Programs that branch are timed kernel by kernel: those that their parts take, as often as they are taken."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from strict_c import needs_compiler

import weft
from weft import relay
from weft.dialects.support.checks import CheckError
from weft.frontend.mlir import parse_mlir
from weft.lowering.abi import Loop, steps_within
from weft.runtime import artefact
from weft.runtime.artefact import ArtefactError
from weft.runtime.profiling import Profile, StepTimes
from weft.tools.bench_kernels import kernels_within

OPEN = relay.Any()


TARGETS = ["llvm", pytest.param("c", marks=needs_compiler)]


def doubling(rows: Any, target: str = "llvm") -> weft.Executable:
    """Rows, times two to the power of turns where these are open; of one size, added to themselves."""
    n, x = relay.var("n", shape=(), dtype="int64"), relay.var("x", shape=(rows, 2))
    double, one, zero = relay.GlobalVar("double"), relay.const(1, "int64"), relay.const(0, "int64")
    more = relay.concatenate(relay.Tuple([x, x]), axis=0) if rows is OPEN else relay.add(x, x)
    body = relay.If(relay.greater(n, zero), relay.Call(double, [n - one, more]), x)
    type = relay.TensorType((rows, 2), "float32")
    main = relay.Function([n, x], double(n, x), type)
    return weft.compile(relay.IRModule({double: relay.Function([n, x], body, type), "main": main}), target)


@pytest.mark.parametrize("rows", [OPEN, 4], ids=["open", "one size"])
@pytest.mark.parametrize("target", TARGETS)
def test_each_kernel_of_a_loop_is_timed(target: str, rows: Any, tmp_path: Path) -> None:
    exe = doubling(rows, target)
    exe.save(tmp_path / "doubling.weft")
    x = np.ones((4, 2), np.float32)
    for each in (exe, weft.load(tmp_path / "doubling.weft")):
        for threads in (1, 2):
            each.threads = threads
            profile = each.profile(np.array(3), x, repeat=2)
            grown = "fused_concatenate" if rows is OPEN else "fused_add"
            assert {step.kernel for step in profile.steps} == {"fused_greater", "fused_subtract", grown}
            assert all(len(step.lasts) == len(step.begins) == 2 and step.us > 0 for step in profile.steps)
            assert "3 steps" in str(profile) and profile.chrome_trace()
        none = each.profile(np.array(0), x, repeat=1)
        assert [step.kernel for step in none.steps] == ["fused_greater"]
        assert np.shape(each(np.array(1), x)) == ((8, 2) if rows is OPEN else (4, 2))


@pytest.mark.parametrize("rows", [OPEN, 4], ids=["open", "one size"])
def test_a_trace_has_an_event_for_each_turn_and_none_that_overlap(rows: Any) -> None:
    profile = doubling(rows).profile(np.array(3), np.ones((4, 2), np.float32), repeat=2)
    events = [event for event in json.loads(profile.chrome_trace())["traceEvents"] if event["ph"] == "X"]
    taken = [event["args"]["kernel"] for event in sorted(events, key=lambda event: event["ts"])]
    grown = "fused_concatenate" if rows is OPEN else "fused_add"
    assert (taken.count("fused_greater"), taken.count("fused_subtract"), taken.count(grown)) == (4, 3, 3)
    assert taken[0] == taken[-1] == "fused_greater"
    ordered = sorted((event["ts"], event["dur"]) for event in events)
    ends = [begin + lasts for begin, lasts in ordered]
    assert all(end <= begin + 0.002 for end, (begin, _) in zip(ends, ordered[1:], strict=False))
    for step in profile.steps:
        assert sum(span.lasts for span in step.last_spans) == pytest.approx(step.lasts[-1])
    sizes = [event["args"]["bytes"] for event in events if event["args"]["kernel"] == grown]
    assert len(set(sizes)) == (3 if rows is OPEN else 1), "each turn has bytes of its own"


TURNS = """
relay.func private @turn(%x: tensor<4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.add %h, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
relay.func @main(%c: tensor<i1>, %x: tensor<?x4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
    %last = relay.scan @turn() over(%x) from(%h) {gathered = array<i64>, directions = array<i64: 0>}
      : () over(tensor<?x4xf32>) from(tensor<4xf32>) -> tensor<4xf32>
    relay.yield %last : tensor<4xf32>
  } else {
    relay.yield %h : tensor<4xf32>
  }
  relay.return %y : tensor<4xf32>
}
"""
"""As many turns as there are rows, where a branch is taken."""


@pytest.mark.parametrize("target", TARGETS)
def test_turns_of_an_open_number_in_a_branch_are_timed_together(target: str, tmp_path: Path) -> None:
    exe = weft.compile(parse_mlir(TURNS, "turns.mlir"), target)
    exe.save(path := tmp_path / "turns.weft")
    h = np.ones(4, np.float32)
    for each in (exe, weft.load(path)):
        for rows in (3, 0, 5):
            x = np.ones((rows, 4), np.float32)
            steps = {step.kernel: step for step in each.profile(np.array(True), x, h, repeat=2).steps}
            assert steps.keys() == {"copy", "clear", *(["fused_add"] if rows else [])}
            assert not rows or len(steps["fused_add"].last_spans) == rows
            counted = {kernel.name: kernel.calls for kernel in kernels_within(each, [np.array(True), x, h], 1)}
            assert counted == ({"fused_add": rows} if rows else {})
        assert not each.profile(np.array(False), x, h, repeat=1).steps


def test_a_step_that_is_not_taken_has_no_event() -> None:
    step = StepTimes("k", (), "cpu", 8, (1.0, 0.0), (2.0, 0.0), ())
    events = json.loads(Profile((step,)).chrome_trace())["traceEvents"]
    assert [event["ph"] for event in events] == ["M"]


@pytest.mark.parametrize("target", TARGETS)
def test_what_data_decides_in_a_part_is_followed(target: str) -> None:
    x, c = relay.var("x", shape=(OPEN,)), relay.var("c", shape=(), dtype="bool")
    kept = relay.If(c, relay.take(x, relay.reshape(relay.argwhere(x), [-1])), relay.exp(x))
    exe = weft.compile(relay.Function([x, c], kept), target)
    data = np.array([1, 0, 2, 0], np.float32)
    assert exe.profile(data, np.array(True), repeat=1).steps
    assert [step.kernel for step in exe.profile(data, np.array(False), repeat=1).steps] == ["fused_exp"]


@pytest.mark.parametrize("target", TARGETS)
def test_a_check_that_fails_is_told(target: str) -> None:
    x, i = relay.var("x", shape=(OPEN,)), relay.var("i", shape=(), dtype="int64")
    c = relay.var("c", shape=(), dtype="bool")
    exe = weft.compile(relay.Function([x, i, c], relay.If(c, relay.take(x, i, mode="error"), relay.sum(x))), target)
    data = np.zeros(4, np.float32)
    with pytest.raises(CheckError, match="index 4 lies outside"):
        exe.profile(data, np.array(4), np.array(True))
    assert exe.profile(data, np.array(4), np.array(False)).steps


def test_turns_that_use_what_is_not_there_are_refused(tmp_path: Path) -> None:
    graph = weft.compile(parse_mlir(TURNS, "turns.mlir")).graph
    (part,) = graph.parts
    ((place, loop),) = [(number, step) for number, step in enumerate(part.steps) if isinstance(step, Loop)]
    (step,) = steps_within(loop.steps)
    inner = ("n", part.symbols + part.decided)
    for turns, arguments, words in (
        (loop.turns, step.arguments[1:], "uses what is not there"),
        (inner, step.arguments, "turns' in its manifest is not a list of sizes"),
    ):
        wrong = Loop(turns, (replace(step, arguments=arguments),))
        steps = (*part.steps[:place], wrong, *part.steps[place + 1 :])
        artefact.save(replace(graph, parts=(replace(part, steps=steps),)), path := tmp_path / "wrong.weft")
        with pytest.raises(ArtefactError, match=words):
            artefact.load(path)


def test_parts_that_use_what_is_not_there_are_refused(tmp_path: Path) -> None:
    graph = doubling(4).graph
    part = graph.parts[0]
    step = next(steps_within(part.steps))
    far = replace(step, arguments=(replace(step.arguments[0], kind="input", at=9), *step.arguments[1:]))
    small = replace(step, arguments=(replace(step.arguments[0], bytes=1), *step.arguments[1:]))
    wrongs = (far, small, replace(step, arguments=step.arguments[1:]), replace(step, kernel="none"))
    for number, wrong in enumerate(wrongs):
        artefact.save(replace(graph, parts=(replace(part, steps=(wrong,)),)), path := tmp_path / f"{number}.weft")
        with pytest.raises(ArtefactError, match="uses what is not there"):
            artefact.load(path)


@pytest.mark.parametrize("words", ["inputs", "outputs", "symbols"])
def test_parts_that_are_said_to_take_more_than_their_code_does_are_refused(words: str, tmp_path: Path) -> None:
    graph = doubling(4).graph
    for more in (1, 1 << 40):
        said = {words: getattr(graph.parts[0], words) + more}
        part = replace(graph.parts[0], **said)
        artefact.save(replace(graph, parts=(part, *graph.parts[1:])), path := tmp_path / "more.weft")
        with pytest.raises(ArtefactError, match="its code was made for another manifest"):
            weft.load(path)

"""Random graphs of Relay operators: machine code of every level, on one thread and two, gives what they mean."""

from __future__ import annotations

import random
import signal
import time
import traceback
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.strategies import DataObject, SearchStrategy, composite
from mutate import SECONDS

from weft.dialects.relay import Relay
from weft.dialects.relay.base import RelayOp
from weft.lowering.compiler import compile_graph
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable
from weft.testing import agreement, examples_of
from weft.testing.agreement import Expectation, Undetermined
from weft.testing.random_graphs import Choices, RandomGraph, fuzzed, random_graph
from weft.transforms.infra import PassContext

NDArray = npt.NDArray[np.generic]

EXAMPLES = fuzzed(examples_of(Relay))
WITH_ONNX = [example for example in EXAMPLES if example.op_type.ONNX]
LEVELS = 4
SHRINKING = 60
"""Seconds to look for a smaller graph that fails."""


@composite
def graphs(draw: st.DrawFn, onnx: bool = False) -> tuple[RandomGraph, int]:
    """A graph and a level; where it fails, hypothesis finds a smaller one that fails too."""

    def integer(low: int, high: int) -> int:
        return draw(st.integers(low, high))

    return random_graph(Choices(integer), WITH_ONNX if onnx else EXAMPLES), integer(0, LEVELS - 1)


def compiled(graph: RandomGraph, level: int) -> Executable:
    """LLVM's own optimisations are not what is tested: at level 1 they take a third of the time."""
    with PassContext(opt_level=level):
        made = compile_graph(graph.module.clone(), Target.parse("llvm -mcpu=native"), codegen_level=1, jobs=1)
        return Executable(made, threads=1)


def disagreement(graph: RandomGraph, level: int) -> str | None:
    """What machine code does otherwise than the operators' definitions say, or fails to do in `SECONDS` of CPU time."""

    def too_long(*_: object) -> None:
        raise TimeoutError(f"still running after {SECONDS} s")

    signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with np.errstate(all="ignore"):
            expected = Expectation(graph.module, graph.inputs)
        executable = compiled(graph, level)
        for threads in (1, 2):
            executable.threads = threads
            found = results_of(executable, graph.inputs)
            if (difference := expected.difference(found)) is not None:
                return f"level {level}, {threads} threads: {difference}\n{graph.module}"
    except Undetermined:
        return None
    except Exception:
        return f"level {level}: {traceback.format_exc(limit=-4)}\n{graph.module}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def results_of(executable: Executable, inputs: Sequence[NDArray]) -> list[NDArray]:
    results = executable(*inputs)
    return list(results) if isinstance(results, tuple) else [results]


def failures(strategy: SearchStrategy[tuple[RandomGraph, int]], cases: range) -> list[str]:
    """All failures among `len(cases)` graphs, `cases.start` being the seed; of the first one the smallest form."""
    wrong: list[str] = []

    def search(phases: Sequence[Phase], raising: bool) -> None:
        end = time.monotonic() + SHRINKING

        @seed(cases.start)
        @settings(
            max_examples=len(cases),
            phases=phases,
            deadline=None,
            database=None,
            derandomize=False,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        )
        @given(st.data())
        def run(data: DataObject) -> None:
            drawn = data.draw(strategy)
            text = disagreement(*drawn) if not raising or time.monotonic() < end else None
            if text is not None:
                wrong.append(text)
                assert not raising, text

        run()

    search((Phase.generate,), raising=False)
    if wrong:
        all_of_them = list(wrong)
        try:
            search((Phase.generate, Phase.shrink), raising=True)
        except (AssertionError, Flaky):  # the latter where time was up
            return [f"the smallest that fails: {wrong[-1]}", *all_of_them]
    return wrong


def test_random_graphs_compute_what_their_operators_say(graph_cases: range) -> None:
    wrong = failures(graphs(), graph_cases)
    assert not wrong, f"{len(wrong) - 1} of {len(graph_cases)}:\n" + "\n".join(wrong[:20])


def test_onnx_runtime_agrees_with_machine_code(onnx_graph_cases: range) -> None:
    """Where ONNX Runtime has kernels for the types; the definitions tell by how much results may differ."""
    pytest.importorskip("onnxruntime")
    from weft.testing.onnx_graphs import NoCounterpart, run_onnx_runtime, to_onnx

    compared = 0
    wrong: list[str] = []
    for case in onnx_graph_cases:
        graph = random_graph(Choices(random.Random(case).randint), WITH_ONNX)
        try:
            theirs = run_onnx_runtime(to_onnx(graph.module), graph.inputs)
        except NoCounterpart:
            continue
        if theirs is None:
            continue
        try:
            with np.errstate(all="ignore"):
                allowed = Expectation(graph.module, graph.inputs)
        except Undetermined:
            continue
        compared += 1
        allowed.results = theirs
        difference = allowed.difference(results_of(compiled(graph, case % LEVELS), graph.inputs))
        if difference is not None:
            wrong.append(f"case {case}: {difference}\n{graph.module}")
    assert not wrong, f"{len(wrong)} of {compared}:\n" + "\n".join(wrong[:20])
    assert compared * 4 > len(onnx_graph_cases), f"ONNX Runtime ran {compared} of {len(onnx_graph_cases)}"


def graph_of(case: int) -> RandomGraph:
    return random_graph(Choices(random.Random(case).randint), EXAMPLES)


@pytest.fixture(scope="module")
def some_graphs() -> list[RandomGraph]:
    return [graph_of(case) for case in range(800)]


def test_the_random_graphs_hold_nearly_every_operator(some_graphs: list[RandomGraph]) -> None:
    found = {name for graph in some_graphs for name in graph.operators}
    missing = {str(example) for example in EXAMPLES} - found
    assert len(missing) < 10, sorted(missing)


def test_a_wrong_operator_is_found_out(some_graphs: list[RandomGraph], monkeypatch: pytest.MonkeyPatch) -> None:
    """A harness that finds nothing would pass too: here machine code gets another rectifier than the reference."""
    from weft.dialects.relay.ops.nn.activation import ReluOp

    evaluate = agreement.evaluate_op

    def wrong(op: RelayOp, inputs: Sequence[NDArray]) -> list[NDArray]:
        return [np.abs(array) for array in inputs] if isinstance(op, ReluOp) else list(evaluate(op, inputs))

    with_relu = [graph for graph in some_graphs if "relay.nn.relu" in graph.operators][:8]
    monkeypatch.setattr(agreement, "evaluate_op", wrong)
    assert any(disagreement(graph, 0) is not None for graph in with_relu)

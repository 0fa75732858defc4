"""Random graphs of Relay operators: machine code of every level, on one thread and two, gives what they mean."""

from __future__ import annotations

import random
import traceback

import numpy as np
import pytest
from relay_examples import OPERATORS, example, operation_under_test, parse

import weft
from weft.dialects.relay.base import RelayOp
from weft.testing.agreement import Expectation
from weft.testing.random_graphs import Choices, RandomGraph, random_graph

EXAMPLES = {op: parse(example(op)) for op in OPERATORS.values()}


def example_of(op: type[RelayOp]) -> RelayOp:
    return operation_under_test(EXAMPLES[op], op.name)


def graph_of(case: int) -> RandomGraph:
    return random_graph(Choices(random.Random(case).randint), tuple(OPERATORS.values()), example_of)


def disagreement(case: int) -> str | None:
    """What machine code does otherwise than the operators' definitions say, or fails to do."""
    graph = graph_of(case)
    level = case % 4
    try:
        with np.errstate(all="ignore"):
            expected = Expectation(graph.module, graph.inputs)
        executable = weft.compile(graph.module, opt_level=level, threads=1)
        for threads in (1, 2):
            executable.threads = threads
            results = executable(*graph.inputs)
            found = list(results) if isinstance(results, tuple) else [results]
            if (difference := expected.difference(found)) is not None:
                return f"case {case}, level {level}, {threads} threads: {difference}\n{graph.module}"
    except Exception:
        return f"case {case}, level {level}: {traceback.format_exc(limit=-4)}\n{graph.module}"
    return None


def test_random_graphs_compute_what_their_operators_say(graph_cases: range) -> None:
    wrong = [text for case in graph_cases if (text := disagreement(case)) is not None]
    assert not wrong, f"{len(wrong)} of {len(graph_cases)}:\n" + "\n".join(wrong[:20])


def test_the_random_graphs_hold_nearly_every_operator() -> None:
    found = {name for case in range(1500) for name in graph_of(case).operators}
    missing = {op.name for op in OPERATORS.values() if op.has_compute()} - found
    assert len(missing) < 10, sorted(missing)


def test_a_wrong_operator_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A harness that finds nothing would pass too: here machine code gets another rectifier than the reference."""
    from weft.dialects.relay.ops.nn.activation import ReluOp
    from weft.testing import agreement

    evaluate = agreement.evaluate_op

    def wrong(op: RelayOp, inputs: list[np.ndarray]) -> list[np.ndarray]:
        results = evaluate(op, inputs)
        return [abs(r) for r in inputs] if isinstance(op, ReluOp) else list(results)

    cases = [case for case in range(3000) if "relay.nn.relu" in graph_of(case).operators][:12]
    monkeypatch.setattr(agreement, "evaluate_op", wrong)
    assert any(disagreement(case) is not None for case in cases)

"""Random schedules: whatever is accepted leaves a function that verifies and computes the same; whatever is refused
leaves it as it was; and the trace does the same again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from schedule_fuzzer import HARMLESS, PRIMITIVES, Fuzzer, function
from te_samples import batch_matmul, conv, dense, layer_norm, softmax
from tir_run import Stage, assert_computes, assert_interprets, inputs_of, prim_func

from weft.dialects.te.evaluate import evaluate
from weft.tir import Schedule

STAGES: dict[str, Callable[[], Stage]] = {
    "dense": lambda: dense(4, 6, 8),
    "batch_matmul": lambda: batch_matmul(2, 3, 4, 6),
    "softmax": lambda: softmax(4, 6),
    "layer_norm": lambda: layer_norm(3, 8),
    "conv": lambda: conv(1, 2, 3, 4, 5, 3, pad=1),
}

_seen: set[str] = set()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", STAGES)
def test_a_random_schedule_computes_the_same(name: str, seed: int) -> None:
    stage = STAGES[name]()
    schedule = Schedule(prim_func(stage), seed=seed, debug_mask="all")
    fuzzer = Fuzzer(schedule, seed)
    arrays = inputs_of(stage)
    expected = evaluate(stage[1], dict(zip(stage[0], arrays, strict=True)))
    favourite = list(PRIMITIVES)[(seed + 10 * list(STAGES).index(name)) % len(PRIMITIVES)]
    for _ in range(12):
        done = len(fuzzer.applied)
        fuzzer.step(favourite)
        if len(fuzzer.applied) > done and fuzzer.applied[-1] not in HARMLESS:
            assert_interprets(function(schedule), arrays, expected, 1e-4)
    assert_interprets(function(schedule), arrays, expected, 1e-4)
    again = Schedule(prim_func(stage))
    schedule.trace.apply_to_schedule(again)
    assert str(again.mod) == str(schedule.mod)
    _seen.update(fuzzer.applied)
    if seed % 5 == 3:
        assert_computes(function(schedule), stage, threads=[1, 3])


def test_every_primitive_was_applied_by_chance() -> None:
    """The seeds above would hold little if most of what they try were refused."""
    assert not _seen or set(PRIMITIVES) - _seen == set()

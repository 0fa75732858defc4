"""Random schedules of random computations: what is accepted computes the same, what is refused changes nothing."""

from __future__ import annotations

from random import Random

from mutate import run_cases
from random_schedules import random_stage
from schedule_fuzzer import HARMLESS, PRIMITIVES, Fuzzer, function
from tir_run import assert_computes, assert_interprets, inputs_of, prim_func

from weft.dialects.te.evaluate import evaluate
from weft.tir import Schedule

COMPILED_EVERY = 4
"""Schedules between two that are run as machine code as well."""


def run(case: int) -> None:
    rng = Random(case)
    stage = random_stage(rng)
    schedule = Schedule(prim_func(stage), seed=case, debug_mask="all")
    fuzzer = Fuzzer(schedule, case)
    arrays = inputs_of(stage)
    expected = evaluate(stage[1], dict(zip(stage[0], arrays, strict=True)))
    for _ in range(rng.randint(4, 20)):
        done = len(fuzzer.applied)
        fuzzer.step(rng.choice(list(PRIMITIVES)))
        if len(fuzzer.applied) > done and fuzzer.applied[-1] not in HARMLESS:
            assert_interprets(function(schedule), arrays, expected, 1e-4)
    again = Schedule(prim_func(stage))
    schedule.trace.apply_to_schedule(again)
    assert str(again.mod) == str(schedule.mod)
    if case % COMPILED_EVERY == 0:
        assert_computes(function(schedule), stage, threads=[1, 3])


def test_random_schedules_compute_the_same(schedule_cases: range) -> None:
    wrong = run_cases(schedule_cases, run)
    assert not wrong, f"{len(wrong)} of {len(schedule_cases)}:\n" + "\n".join(wrong[:20])

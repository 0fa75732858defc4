"""Random schedules of random functions: what is accepted computes the same, what is refused changes nothing."""

from __future__ import annotations

from random import Random

import numpy as np
from mutate import run_cases
from random_functions import random_function
from schedule_fuzzer import HARMLESS, Fuzzer, function

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.tir.interpreter import Interpreter
from weft.kernel import build_kernel
from weft.tir import Schedule

COMPILED_EVERY = 8
"""Schedules between two that are run as machine code as well."""


def run(case: int) -> None:
    random = Random(case)
    made = random_function(random)
    arrays = made.arrays(case)
    expected = Interpreter(made.parse())(arrays, None)
    schedule = Schedule(made.parse(), seed=case, debug_mask="all" if case % 4 == 0 else "none")
    fuzzer = Fuzzer(schedule, case)

    def check() -> None:
        for seed in (None, 0):
            try:
                given = Interpreter(function(schedule))(arrays, seed)
            except Diagnostic as error:
                raise AssertionError(f"{fuzzer.applied}: {error}") from error
            for want, got in zip(expected, given, strict=True):
                np.testing.assert_array_equal(got, want, f"{fuzzer.applied}\n{schedule.mod}")

    for _ in range(random.randint(4, 16)):
        if fuzzer.step() and (not fuzzer.applied or fuzzer.applied[-1] not in HARMLESS) and fuzzer.is_valid():
            check()
    if not fuzzer.is_valid():
        return
    check()
    if case % 4 == 0:
        again = Schedule(made.parse())
        schedule.trace.apply_to_schedule(again)
        assert str(again.mod) == str(schedule.mod), f"the trace of {fuzzer.applied}"
    if case % COMPILED_EVERY == 0:
        scheduled = random.random() < 0.7
        func, start = (function(schedule), "schedule") if scheduled else (made.parse(), "tir")
        if "axis_separators" in str(func):
            return  # memory of several dimensions, which processors have not
        kernel = build_kernel(func, start=start, codegen_level=1)
        for kernel.threads in (1, 3):
            given = kernel(*arrays)
            what = f"{fuzzer.applied}\n{schedule.mod}" if scheduled else f"by rules\n{made.text}"
            for want, got in zip(expected, given, strict=True):
                np.testing.assert_array_equal(got, want, f"machine code, {kernel.threads} threads, {what}")


def test_random_schedules_compute_the_same(schedule_cases: range) -> None:
    wrong = run_cases(schedule_cases, run)
    assert not wrong, f"{len(wrong)} of {len(schedule_cases)}:\n" + "\n".join(wrong[:20])


MENDED = (200112, 202880, 203349, 204951, 205018, 206292, 206663, 206976, 207444, 209939)
"""Cases that once showed a mistake: a vectorized loop that a split repeats, a thread's own buffer whose steps a reorder
parts, a partial iterator that is narrowed, a copy of each step's own, an init before what reduces twice, a repeated
init, a loop without iterations, places that memory says, a parallel loop of one iteration that is run again, and a
reduction along one."""


def test_schedules_that_were_wrong_are_right() -> None:
    wrong = run_cases(MENDED, run)
    assert not wrong, "\n".join(wrong)

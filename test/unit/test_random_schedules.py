"""Random sequences of schedule primitives: what is accepted computes the same, what is refused changes nothing.

Each accepted step is run on the interpreter of `tir`, its unordered loops in order and shuffled, and what comes out at
the end as machine code on one thread and on two. `WEFT_RANDOM_SCHEDULES=5000` tries that many.
"""

from __future__ import annotations

import os
from random import Random

import numpy as np
import pytest
from random_schedules import random_action, random_stage
from tir_run import assert_interprets, compiled, inputs_of, prim_func
from xdsl.utils.exceptions import VerifyException

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.te.evaluate import evaluate
from weft.transforms.tir.schedule.errors import ScheduleError

SEEDS = int(os.environ.get("WEFT_RANDOM_SCHEDULES", "20"))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_an_accepted_schedule_computes_the_same(seed: int) -> None:
    random = Random(seed)
    stage = random_stage(random)
    func = prim_func(stage)
    arrays = inputs_of(stage, seed)
    expected = evaluate(stage[1], dict(zip(stage[0], arrays, strict=True)))
    done: list[str] = []
    verified = True
    for _ in range(random.randint(3, 12)):
        if (action := random_action(random, func)) is None:
            continue
        before = str(func)
        try:
            action[1]()
        except ScheduleError:
            assert str(func) == before, f"{action[0]} was refused, after {done}, but changed the function"
            continue
        done.append(action[0])
        try:
            func.verify()
        except (Diagnostic, VerifyException) as error:
            assert 'scope "local"' in str(error), (done, str(error))  # `cache_write` says that it waits for more
            verified = False
            continue
        verified = True
        try:
            assert_interprets(func, arrays, expected, 1e-4)
        except Diagnostic as error:
            pytest.fail(f"{done}: {error.message}")
    if not verified:
        return
    executable = compiled(func, stage)
    for threads in (1, 2):
        executable.threads = threads
        given = executable(*arrays)
        for want, got in zip(expected, given if isinstance(given, tuple) else (given,), strict=True):
            wide = got.astype(np.float64), want.astype(np.float64)
            np.testing.assert_allclose(*wide, rtol=1e-4, atol=1e-4, err_msg=f"{done}, {threads} threads")

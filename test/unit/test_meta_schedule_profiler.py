"""`meta_schedule.Profiler`: where the time of tuning goes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tvmscript_texts import function

from weft import meta_schedule as ms
from weft.meta_schedule.profiler import Profiler

PRODUCT = """
@T.prim_func
def main(A: T.Buffer[(8, 8), "float32"], B: T.Buffer[(8, 8), "float32"], C: T.Buffer[(8, 8), "float32"]):
    for i, j, k in T.grid(8, 8, 8):
        with T.block("product"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def test_times_of_a_name_are_added_up_and_those_within_count_for_both() -> None:
    with Profiler() as profiler:
        assert Profiler.current() is profiler
        for _ in range(2):
            with Profiler.timeit("outer"):
                time.sleep(0.02)
                with Profiler.timeit("inner"):
                    time.sleep(0.02)
        assert profiler.get()["Total"] > 0.08
    found = profiler.get()
    assert list(found) == ["inner", "outer", "Total"]
    assert 0.04 <= found["inner"] < found["inner"] + 0.04 <= found["outer"] + 1e-3 and found["outer"] <= found["Total"]
    lines = profiler.table().splitlines()
    assert [line.split()[0] for line in lines] == ["name", "Total", "outer", "inner"] and "100.0%" in lines[1]


def test_without_a_profiler_nothing_is_told() -> None:
    assert Profiler.current() is None
    with Profiler.timeit("nothing"):
        assert Profiler.current() is None
    with Profiler() as outer, Profiler() as inner:
        with pytest.raises(ValueError), Profiler.timeit("fails"):
            raise ValueError
        assert Profiler.current() is inner
    assert "fails" in inner.get() and "fails" not in outer.get()
    assert Profiler().table().splitlines()[1].split() == ["Total", "0.0000", "-"]


def test_a_task_scheduler_tells_of_its_steps(tmp_path: Path) -> None:
    with ms.Profiler() as profiler:
        ms.tune_tir(function(PRODUCT), "llvm -num-cores=1", tmp_path, 1, strategy="replay-trace", num_trials_per_iter=1)
    found = profiler.get()
    steps = {"GenerateDesignSpace", "SearchStrategy", "SendToBuilder", "SendToRunner", "JoinRunnerFutures"}
    assert steps | {"MeasureCallback/AddToDatabase", "Total"} <= set(found)
    assert sum(found[step] for step in steps) <= found["Total"]

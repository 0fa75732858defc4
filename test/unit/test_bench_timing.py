"""Turns in which systems are timed."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft import relay
from weft.tools import bench_timing
from weft.tools.bench_kernels import kernels_within
from weft.tools.bench_timing import interleaved


def test_a_turn_begins_when_the_threads_of_the_one_before_are_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = {"now": 0.0, "at work until": 0.0, "worked": 0.0}
    begun: list[tuple[str, float]] = []

    def sleep(seconds: float) -> None:
        worked = min(clock["now"] + seconds, clock["at work until"]) - clock["now"]
        clock["worked"] += max(0.0, worked)
        clock["now"] += seconds

    def run_and_go_on() -> None:
        begun.append(("one", clock["now"]))
        clock["at work until"] = clock["now"] + 0.1

    def look() -> None:
        begun.append(("other", clock["now"]))

    monkeypatch.setattr(bench_timing, "sleep", sleep)
    monkeypatch.setattr(bench_timing, "process_time", lambda: clock["worked"])
    interleaved({"one": run_and_go_on, "other": look}, rounds=1, min_runs=1, min_seconds=0)
    (first, _), (_, last), (other, at), _ = begun  # the first run of a turn does not count
    assert (first, other) == ("one", "other") and at >= last + 0.1


def _at_once(seconds: float) -> None:
    pass


def test_a_process_that_never_rests_is_timed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = iter(range(1_000_000))
    monkeypatch.setattr(bench_timing, "sleep", _at_once)
    monkeypatch.setattr(bench_timing, "process_time", lambda: next(spent))
    assert len(interleaved({"one": lambda: None}, rounds=1, min_runs=3, min_seconds=0)["one"].seconds) == 3


def test_what_a_kernel_computes_is_counted_where_all_its_calls_are_alike() -> None:
    rng, x = np.random.default_rng(0), relay.var("x", shape=(1, 16, 8, 8))
    y: relay.Expr = x
    for inputs, outputs in ((16, 64), (64, 128), (128, 64), (64, 192), (192, 64)):
        weight = rng.standard_normal((outputs, inputs, 1, 1), np.float32)
        y = relay.nn.relu(relay.nn.conv2d(y, relay.const(weight), channels=outputs, kernel_size=(1, 1)))
    exe = weft.compile(relay.Function([x], y), threads=1)
    found = kernels_within(exe, [rng.standard_normal((1, 16, 8, 8), np.float32)], 2)
    counts = {each.calls: each.flops for each in found if "conv2d" in each.name}
    assert counts == {1: 135168, 4: None}  # 16 channels are taken as a whole; of the others more or fewer blocks

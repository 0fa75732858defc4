"""Turns in which systems are timed."""

from __future__ import annotations

import pytest

from weft.tools import bench_timing
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

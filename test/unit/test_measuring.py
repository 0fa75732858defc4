"""Measuring schedules: in a process of its own, which may die or be late, and never without comparing results."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from imagined_pool import Imagined

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.parser import parse_module
from weft.lowering.machine.target import Target
from weft.transforms.infra import PassContext
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.tir.scheduling.tuning_records import Status
from weft.tuning import measure as measuring
from weft.tuning.bench import Reference, differs, measure, time_pairs, undisturbed
from weft.tuning.fleet import Fleet
from weft.tuning.jobs import Effort, Job, Measurement, NoMeasurement, Rules
from weft.tuning.measure import Child, run_job
from weft.tuning.serving import serve
from weft.tuning.space import RuleSpace
from weft.tuning.tasks import extract_tasks

MODEL = """relay.func @main(%x: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %0 = relay.exp %x : tensor<4x32xf32>
  %1 = relay.nn.softmax %0 {axis = -1 : i64} : tensor<4x32xf32>
  relay.return %1 : tensor<4x32xf32>
}
"""
HOST = Target.parse("llvm -mcpu=native")


@pytest.fixture(scope="module")
def job() -> Job:
    """The default schedule of a kernel."""
    with PassContext(3):
        tasks = extract_tasks(parse_module(MODEL, new_ir_context(), "model.mlir"), HOST, "import", 1).tasks
        task = next(each for each in tasks if "@softmax_exp" in each.text)  # not the first: that depends on the machine
        default = RuleSpace(task.function, HOST).default()
    assert default is not None
    effort = Effort(2, 0.1, 60)
    return Job(task.text, default.schedule, str(HOST), HOST.name(), 1, (), 2, Rules(3), effort)


@pytest.fixture(scope="module")
def reference(job: Job) -> Reference:
    return Reference(job)


def test_a_schedule_is_measured_in_pairs(job: Job, reference: Reference) -> None:
    found = measure(job, reference)
    assert found.status is Status.MEASURED and len(found.ratios) >= 2 and 0 < found.seconds < 10
    assert set(found.spent) == {"compile", "check", "time"}
    assert len(reference.results) == 2, "results are compared for two sets of inputs"


def test_a_schedule_that_does_not_apply_is_refused(job: Job, reference: Reference) -> None:
    broken = "schedule.sequence @s on @kernel {\n  %b = schedule.get_block @nothing\n}"
    found = measure(replace(job, schedule=broken), reference)
    assert found.status is Status.REFUSED and "@nothing" in found.message and found.ratios == ()


def test_a_fast_schedule_with_another_result_is_wrong(job: Job, reference: Reference) -> None:
    """A legal schedule that keeps a result of a reduction in fewer bits, and so computes something else."""
    coarse = """schedule.sequence @s on @kernel {
  %b = schedule.get_block @softmax_exp
  schedule.unsafe_set_dtype %b {index = 0, dtype = f16}
}"""
    found = measure(replace(job, schedule=coarse), reference)
    assert found.status is Status.WRONG and "of its size" in found.message, found


@pytest.mark.parametrize(
    ("given", "expected", "message"),
    [
        ([1, 2], [1, 2], None),
        ([1, 3], [1, 2], "result 0 has other integers"),
        ([1.0, 2.0], [1.0, 2.00001], None),
        ([1.0, 2.1], [1.0, 2.0], "result 0 is off by 0.05"),
        ([1e-9, 2.0], [0.0, 2.0], None),
        ([np.nan, 2.0], [np.nan, 2.0], None),
        ([np.nan, 2.0], [1.0, 2.0], "is not finite where it should be"),
        ([0.5, 2.0], [np.inf, 2.0], "is not finite where it should be, or is where it should not"),
        ([0.0, 0.0], [0.0, 0.0], None),
    ],
)
def test_results_may_differ_by_the_order_of_sums_only(
    given: list[Any], expected: list[Any], message: str | None
) -> None:
    dtype = np.int32 if isinstance(given[0], int) else np.float32
    found = differs([np.array(given, dtype)], [np.array(expected, dtype)])
    assert found is None if message is None else message in (found or "")


def test_what_was_disturbed_is_left_out() -> None:
    pairs = [(1.0, 2.0), (1.1, 2.1), (3.0, 2.0), (1.0, 9.0), (0.9, 2.0)]
    assert undisturbed(pairs) == [(1.0, 2.0), (1.1, 2.1), (0.9, 2.0)]


class Clock:
    """A timer that needs no time: it says what it is told to say, one after the other, and then the last again."""

    def __init__(self, *times: float):
        self.times = list(times)

    def __call__(self, repeats: int) -> float:
        return self.times.pop(0) if len(self.times) > 1 else self.times[0]


def test_what_seems_faster_by_luck_is_measured_again_elsewhere_in_memory() -> None:
    places = [(Clock(2.0), Clock(1.0)), *[(Clock(2.0), Clock(2.2)) for _ in range(9)]]
    count = len(places)
    pairs = time_pairs(lambda: places.pop(0), 3, 1.0)  # pyright: ignore[reportArgumentType]
    assert pairs == [(2.0, 2.2)] * 6 and count - len(places) == 4
    assert time_pairs(lambda: (Clock(1.0), Clock(9.0)), 3, 1.0) == [(1.0, 9.0)]  # pyright: ignore


def test_a_process_measures_and_is_ended_when_it_is_late(job: Job) -> None:
    assert run_job(job).status is Status.MEASURED
    child = measuring._HERE.child  # pyright: ignore[reportPrivateUsage]
    late = run_job(replace(job, effort=replace(job.effort, min_ms=1000.0, limit_s=1e-3)))
    assert late.status is Status.LATE and "0.001 seconds" in late.message
    assert child.process.poll() is not None, "the process that was late is ended"


def test_a_process_on_another_machine_measures_nothing(job: Job) -> None:
    here, there = Pipe()
    thread = threading.Thread(target=serve, args=(there,))
    thread.start()
    here.send(replace(job, target_name="llvm elsewhere"))
    answer = here.recv()
    here.close()
    thread.join()
    assert isinstance(answer, NoMeasurement) and "not llvm elsewhere" in str(answer)


def test_a_process_that_dies_is_told_of(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = Child.ask

    def killed(child: Child, job: Job) -> Measurement | None:
        child.process.kill()
        return ask(child, job)

    monkeypatch.setattr(Child, "ask", killed)
    found = run_job(job)
    assert found.status is Status.DIED and "SIGKILL" in found.message


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        ("raise ImportError('there is none here')", NoMeasurement, "cannot begin: the process has ended with status 1"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", ConnectionError, "was ended by SIGKILL"),
    ],
)
def test_a_process_that_does_not_begin_is_no_fault_of_a_schedule(
    code: str, error: type[Exception], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xdsl.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    job: Any = None
    found: list[Exception] = []

    def measured() -> None:  # in a thread that has no process yet
        try:
            run_job(job)
        except Exception as raised:
            found.append(raised)

    thread = threading.Thread(target=measured)
    thread.start()
    thread.join()
    assert isinstance(found[0], error) and message in str(found[0])


def answered(*ratios: float, seconds: float = 0.0, default: float = 0.0) -> Measurement:
    return Measurement(Status.MEASURED, ratios, seconds, default)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "NoneType, and not with a measurement"),
        (answered(float("nan")), "nan, which is no time"),
        (answered(float("inf"), 1.0), "inf, which is no time"),
        (answered(0.0), "not positive"),
        (answered(-1.0), "-1, which is no time"),
        (answered(), "says no times"),
        (answered(0.5, seconds=1.0, default=1.0), "a ratio of 0.5"),
        (answered(0.5, seconds=5e-301, default=1e-300), "in which nothing can be done"),
        (answered("fast"), "'fast', which is no number"),  # pyright: ignore[reportArgumentType]
        (replace(answered(1.0), spent={"time": float("nan")}), "nan, which is no time"),
    ],
)
def test_what_cannot_have_been_measured_is_asked_again_of_another_worker(answer: Any, message: str) -> None:
    answers = iter([answer, answer, answered(1.5, seconds=3, default=2), answer, answer, answer])
    pool = Imagined(lambda _: next(answers))
    jobs = [Job("", "", "", "", 1, (), 1, Rules(3), Effort())]
    with Fleet(pool) as fleet:
        assert [found.ratios for _, found in fleet.measure(jobs)] == [(1.5,)]
        with pytest.raises(Diagnostic, match=message):
            list(fleet.measure(jobs))


def test_numbers_of_numpy_are_recorded_as_pythons(tmp_path: Path) -> None:
    told: Any = answered(np.float32(0.5), seconds=np.float32(1), default=np.float64(2))  # pyright: ignore
    with Fleet(Imagined(lambda _: told)) as fleet:
        ((_, found),) = fleet.measure([Job("", "", "", "", 1, (), 1, Rules(3), Effort())])
    assert found == answered(0.5, seconds=1.0, default=2.0) and type(found.ratios[0]) is float


def test_measuring_goes_on_where_workers_of_a_fleet_die(tmp_path: Path) -> None:
    """On a scheduler of dask's on this machine: the first jobs take their workers with them."""
    distributed = pytest.importorskip("distributed", reason="dask.distributed (weft[tune]) is not installed")
    marks = str(tmp_path)

    def deadly(job: Job) -> Measurement:
        mark = os.path.join(marks, job.schedule)
        if job.schedule in ("1", "4") and not os.path.exists(mark):
            open(mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.02)
        return Measurement(Status.MEASURED, (1 + float(job.schedule),))

    jobs = [Job("", str(n), "", "", 1, (), 1, Rules(3), Effort()) for n in range(6)]
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr("weft.tuning.fleet.run_job", deadly)
        with Fleet(client) as fleet:
            found = dict(fleet.measure(jobs))
    assert {number: measurement.ratios for number, measurement in found.items()} == {n: (1.0 + n,) for n in range(6)}
    assert sorted(os.listdir(tmp_path)) == ["1", "4"]

"""`weft.compile(tuning_records=...)`: the best schedule of each kernel, by way of the one driver."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import numpy as np
import pytest

import weft
from weft.compilation import load_module
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.lowering.machine.target import Target
from weft.transforms.infra import remarks
from weft.transforms.tir.scheduling.tuning_records import Status, TuningRecord, append_record
from weft.tuning.space import RuleSpace
from weft.tuning.tasks import Task, extract_tasks

pytestmark = pytest.mark.sampled(5)

MODEL = """relay.func @main(%x: tensor<8x32xf32>, %w: tensor<48x32xf32>) -> tensor<8x48xf32> {
  %0 = relay.nn.dense %x, %w {units = 48 : i64} : (tensor<8x32xf32>, tensor<48x32xf32>) -> tensor<8x48xf32>
  %1 = relay.nn.relu %0 : tensor<8x48xf32>
  relay.return %1 : tensor<8x48xf32>
}
"""
HOST = Target.parse("llvm -mcpu=native")
ARRAYS = [np.random.default_rng(n).standard_normal(shape, np.float32) for n, shape in enumerate([(8, 32), (48, 32)])]
NO_SCHEDULE = "schedule.sequence @s on @kernel {\n  %b = schedule.get_block @nothing\n}"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("tuned") / "dense.mlir"
    path.write_text(MODEL)
    return str(path)


@pytest.fixture(scope="module")
def task(model: str) -> Task:
    with weft.PassContext(3):
        found = extract_tasks(load_module(model), HOST, "import", 1)
    assert len(found.tasks) == 1 and not found.left_out
    return found.tasks[0]


@pytest.fixture(scope="module")
def by_rules(model: str) -> str:
    """The text of the schedule phase without records."""
    return weft.compile(model, threads=1).ir["schedule"]


@pytest.fixture(scope="module")
def other_schedule(task: Task) -> str:
    """A schedule that is not the default one, and that differs from it in the code that it makes."""
    space = RuleSpace(task.function, HOST)
    default = space.default()
    assert default is not None
    made = (space.mutated(default, Random(seed)) for seed in range(20))
    return next(each.schedule for each in made if each is not None and each.schedule != default.schedule)


def record(task: Task, schedule: str, target: str = "", threads: int = 1) -> TuningRecord:
    target = target or HOST.name()
    return TuningRecord(task.key, target, task.name, schedule, Status.MEASURED, (0.5, 0.5), threads=threads)


def written(tmp_path: Path, *records: TuningRecord) -> str:
    path = tmp_path / "records.jsonl"
    for each in records:
        append_record(str(path), each)
    return str(path)


def test_a_record_is_used_and_gives_the_same_result(
    model: str, task: Task, other_schedule: str, tmp_path: Path
) -> None:
    path = written(tmp_path, record(task, other_schedule))
    plain = weft.compile(model, threads=1)
    tuned = weft.compile(model, threads=1, tuning_records=path)
    again = weft.compile(model, threads=1)
    assert tuned.graph.objects != plain.graph.objects
    assert again.graph.objects == plain.graph.objects
    assert weft.compile(model, threads=1, tuning_records=path).graph.objects == tuned.graph.objects
    one, other = (np.asarray(exe(*ARRAYS), np.float64) for exe in (tuned, plain))
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
    text = tuned.ir["tir"]
    assert f"schedule.sequence @{task.name}_tuned on @{task.name}" in text and "schedule." not in tuned.ir["schedule"]
    assert tuned.ir["schedule"] != plain.ir["schedule"]


def test_the_schedule_in_the_text_of_a_phase_is_the_one_that_is_compiled(
    model: str, task: Task, other_schedule: str, tmp_path: Path
) -> None:
    tuned = weft.compile(model, threads=1, tuning_records=written(tmp_path, record(task, other_schedule)))
    (tmp_path / "tir.mlir").write_text(tuned.ir["tir"])
    assert weft.compile(str(tmp_path / "tir.mlir"), threads=1).ir["schedule"] == tuned.ir["schedule"]


def test_the_configuration_and_a_module_at_tir_are_given_records_too(
    model: str, task: Task, other_schedule: str, tmp_path: Path
) -> None:
    path = written(tmp_path, record(task, other_schedule))
    tuned = weft.compile(model, threads=1, tuning_records=path)
    with weft.PassContext(3, config={"tuning.records": path}):
        configured = weft.compile(model, threads=1)
    (tmp_path / "tir.mlir").write_text(weft.compile(model, threads=1).ir["tir"])
    from_tir = weft.compile(str(tmp_path / "tir.mlir"), threads=1, tuning_records=path)
    assert configured.ir["schedule"] == tuned.ir["schedule"] == from_tir.ir["schedule"]


def told(model: str, path: str) -> tuple[str, str]:
    """What is remarked of records that are of no use, and the schedule that is compiled."""
    with remarks.collect() as found:
        exe = weft.compile(model, threads=1, tuning_records=path)
    return "\n".join(map(str, found)), exe.ir["schedule"]


def test_a_schedule_that_does_not_apply_any_more_is_told_and_the_rules_are_used(
    model: str, task: Task, by_rules: str, tmp_path: Path
) -> None:
    text, schedule = told(model, written(tmp_path, record(task, NO_SCHEDULE)))
    assert f"it does not apply to @{task.name} any more: " in text and "@nothing" in text
    assert schedule == by_rules


def test_a_schedule_that_fails_halfway_leaves_the_function_as_it_was(
    model: str, task: Task, other_schedule: str, by_rules: str, tmp_path: Path
) -> None:
    broken = other_schedule.rstrip().removesuffix("}") + "  %b = schedule.get_block @nothing\n}"
    text, schedule = told(model, written(tmp_path, record(task, broken)))
    assert "does not apply" in text and schedule == by_rules


@pytest.mark.parametrize(
    ("instructions", "message"),
    [
        (
            '%relu = schedule.get_block @relu\n%i, %j = schedule.get_loops %relu -> 2\nschedule.bind %i, "threadIdx.x"',
            "cannot be lowered for a processor",
        ),
        (
            '%dense = schedule.get_block @dense\nschedule.set_scope %dense, "shared" {index = 0}',
            "has global and local memory only",
        ),
    ],
)
def test_a_schedule_of_which_no_code_can_be_made_is_told_and_the_rules_are_used(
    model: str, task: Task, by_rules: str, instructions: str, message: str, tmp_path: Path
) -> None:
    path = written(tmp_path, record(task, f"schedule.sequence @s on @kernel {{\n{instructions}\n}}"))
    text, schedule = told(model, path)
    assert f"@{task.name} cannot be compiled, and is left out: " in text and message in text
    assert schedule == by_rules
    exe = weft.compile(model, threads=1, tuning_records=path)  # where nobody hears of it
    assert exe.graph.objects == weft.compile(model, threads=1).graph.objects


def test_a_schedule_that_cannot_be_read_any_more_is_told(model: str, task: Task, by_rules: str, tmp_path: Path) -> None:
    broken = "schedule.sequence @s on @kernel { schedule.sing }"
    text, schedule = told(model, written(tmp_path, record(task, broken)))
    assert "the schedule of its record cannot be read any more" in text
    assert schedule == by_rules


@pytest.mark.parametrize(
    ("target", "threads", "message"),
    [("llvm elsewhere #0", 1, "is for llvm .*they are for llvm elsewhere"), ("", 3, "is for as many threads: 1")],
)
def test_records_of_another_target_or_number_of_threads_are_not_used(
    model: str, task: Task, other_schedule: str, by_rules: str, tmp_path: Path, target: str, threads: int, message: str
) -> None:
    text, schedule = told(model, written(tmp_path, record(task, other_schedule, target, threads)))
    assert "no record of" in text and schedule == by_rules
    assert re.search(message, text.replace("\n", " "))


def test_a_file_that_is_no_records_is_refused_at_its_place(model: str, tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_text("hello\n")
    with pytest.raises(Diagnostic, match="this is no tuning record") as caught:
        weft.compile(model, tuning_records=tmp_path / "records.jsonl")
    assert str(caught.value.place).endswith("records.jsonl:1:1")
    with pytest.raises(UsageError, match="cannot be read"):
        weft.compile(model, tuning_records=tmp_path / "none.jsonl")


def test_a_schedule_in_a_module_is_compiled_with_it(
    model: str, task: Task, other_schedule: str, by_rules: str, tmp_path: Path
) -> None:
    text = weft.compile(model, threads=1).ir["tir"]
    mine = other_schedule.replace("on @kernel", f"on @{task.name}")
    (tmp_path / "tir.mlir").write_text(f"{text.rstrip().removesuffix('}')}\n{mine}\n}}")
    assert weft.compile(str(tmp_path / "tir.mlir"), threads=1).ir["schedule"] != by_rules
    (tmp_path / "tir.mlir").write_text(f"{text.rstrip().removesuffix('}')}\n{NO_SCHEDULE}\n}}")
    with pytest.raises(Diagnostic, match="there is no function @kernel to schedule"):
        weft.compile(str(tmp_path / "tir.mlir"), threads=1)

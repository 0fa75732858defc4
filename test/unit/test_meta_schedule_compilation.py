"""Databases that compilations ask for the schedule of each kernel, and the tasks of a model that fill them."""

# pyright: basic

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weft
from weft import meta_schedule as ms
from weft import relay
from weft.dialects.support.diagnostics import UsageError
from weft.meta_schedule.measure_callback import AddToDatabase
from weft.tir import Schedule, ScheduleError, structural_equal

TARGET = "llvm -mcpu=native -num-cores=1"
RANDOM = np.random.default_rng(0)
A, W1, W2 = (RANDOM.standard_normal((32, 32), np.float32) for _ in range(3))


def network(*, last: bool = True):
    x, w1, w2 = (relay.var(name, shape=(32, 32)) for name in ("x", "w1", "w2"))
    y = relay.nn.relu(relay.nn.dense(x, w1))
    y = relay.nn.relu(relay.nn.dense(y, w2))
    return relay.IRModule.from_expr(relay.Function([x, w1, w2], relay.nn.softmax(y) if last else y))


def reference() -> np.ndarray:
    y = np.maximum(np.maximum(A @ W1.T, 0) @ W2.T, 0)
    e = np.exp(y - y.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def rows_in_parallel(schedule: Schedule) -> bool:
    if "softmax" in str(schedule.mod.attrs["task_name"]):
        return False
    schedule.parallel(schedule.get_loops("relu")[0])
    return True


def result(exe: weft.Executable) -> np.ndarray:
    given = exe(A, W1, W2)
    assert isinstance(given, np.ndarray)
    return given


def attached(exe: weft.Executable) -> int:
    return exe.ir["tir"].count("schedule.sequence")


def test_a_database_is_asked_for_each_kernel_and_what_it_gives_stands_beside_them() -> None:
    names: list[str] = []

    def schedule_fn(schedule: Schedule) -> bool:
        names.append(str(schedule.mod.attrs["task_name"]))
        assert list(schedule.mod.functions) == ["main"]
        return rows_in_parallel(schedule)

    assert ms.database.Database.current() is None
    with ms.database.ScheduleFnDatabase(schedule_fn) as database:
        assert ms.database.Database.current() is database
        exe = weft.compile(network(), opt_level=2)
    assert ms.database.Database.current() is None
    assert len(names) == 2 and any("softmax" in name for name in names)
    assert attached(exe) == 1 and "tir.for parallel" in exe.ir["schedule"]
    np.testing.assert_allclose(result(exe), reference(), rtol=1e-5, atol=1e-6)
    assert attached(weft.compile(network(), opt_level=2)) == 0


def test_a_database_holds_in_contexts_that_are_made_while_it_is_used(tmp_path: Path) -> None:
    database = ms.database.ScheduleFnDatabase(rows_in_parallel)
    with database, weft.PassContext(2):
        assert attached(weft.compile(network())) == 1
        with weft.PassContext(2, config={"relay.backend.use_meta_schedule": False}):
            assert attached(weft.compile(network())) == 0
    with weft.PassContext(2), database:
        assert weft.PassContext.current().opt_level == 2
        assert attached(weft.compile(network())) == 1
        with ms.Database(tmp_path / "records.jsonl") as inner:
            (tmp_path / "records.jsonl").touch()
            assert ms.database.Database.current() is inner
            assert attached(weft.compile(network())) == 0, "the one that was entered last is used"
        assert ms.database.Database.current() is database
    before = weft.PassContext.current()
    with database:
        assert weft.PassContext.current().is_default, "compilations have their own level"
    assert weft.PassContext.current() is before and not before.config


def test_a_file_of_records_is_used_in_contexts_of_ones_own(tmp_path: Path) -> None:
    with ms.Database(tmp_path / "none.jsonl") as database, weft.PassContext(3):
        assert weft.PassContext.current().config["attach-tuned-schedules.records"] == database.path


def test_kept_programs_and_kernels_do_not_hide_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "network.mlir"
    path.write_text(str(network()))
    for _ in range(2):
        assert attached(weft.compile(str(path), opt_level=2)) == 0
    with ms.database.ScheduleFnDatabase(rows_in_parallel):
        exe = weft.compile(str(path), opt_level=2)
    assert attached(exe) == 1 and "tir.for parallel" in exe.ir["schedule"]
    assert attached(weft.compile(str(path), opt_level=2)) == 0


def test_a_schedule_that_does_not_apply_is_an_error() -> None:
    with ms.database.ScheduleFnDatabase(lambda schedule: bool(schedule.get_block("nothing"))):
        with pytest.raises(ScheduleError, match="nothing"):
            weft.compile(network())


def test_the_tasks_of_a_model_are_its_distinct_kernels() -> None:
    tasks = ms.relay_integration.extract_tasks(network(), TARGET, opt_level=2)
    assert [(task.task_name, task.weight) for task in tasks] == [("fused_nn_dense_nn_relu", 2), ("fused_nn_softmax", 1)]
    dense = tasks[0]
    assert "relay.nn.dense" in str(dense.mod) and str(dense.target) == TARGET
    schedule = Schedule(dense.dispatched[0])
    assert len(schedule.get_loops("dense")) == 3
    params = {"w1": W1, "w2": W2}
    config = {"fuse-ops.link-params": True}
    one_each = ms.relay_integration.extract_tasks(network(), TARGET, params, opt_level=2, pass_config=config)
    assert [task.weight for task in one_each] == [1, 1, 1], "each has a weight of its own"
    alike = ms.relay_integration.extract_tasks(
        network(), TARGET, params, opt_level=2, pass_config=config, module_equality="ignore-ndarray"
    )
    assert [task.weight for task in alike] == [2, 1]
    packed = ms.relay_integration.extract_tasks(network(), TARGET, params, opt_level=3)
    assert packed[0].task_name == "fused_nn_contrib_dense_pack_nn_relu"
    without = ms.relay_integration.extract_tasks(
        network(), TARGET, params, opt_level=3, disabled_pass=["AlterOpLayout"]
    )
    assert without[0].task_name == "fused_nn_dense_nn_relu"
    with pytest.raises(UsageError, match="takes several shapes"):
        x = relay.var("x", shape=(relay.Any(), 4))
        ms.relay_integration.extract_tasks(relay.IRModule.from_expr(relay.Function([x], relay.exp(x))), TARGET)


def test_tasks_that_were_measured_are_what_a_compilation_asks_for(tmp_path: Path) -> None:
    database = ms.relay_integration.tune_relay(
        network(), None, TARGET, tmp_path, 4, strategy="replay-trace", num_trials_per_iter=2, opt_level=2, seed=1,
        num_tuning_cores=1, disabled_pass=["FastMath"],
    )  # fmt: skip
    assert isinstance(database, ms.database.JSONDatabase) and len(database) == 4
    assert all(record.is_valid for record in database.get_all_tuning_records())
    exe = ms.relay_integration.compile_relay(database, network(), TARGET, opt_level=2, threads=1)
    assert attached(exe) == 2
    np.testing.assert_allclose(result(exe), reference(), rtol=1e-5, atol=1e-6)
    read = ms.database.JSONDatabase(work_dir=tmp_path)
    with read, weft.PassContext(2):
        assert attached(weft.compile(network(), TARGET, threads=1)) == 2
    by_rules = ms.relay_integration.compile_relay(
        database, network(), TARGET, opt_level=3, threads=1, disabled_pass=["AlterOpLayout"]
    )
    assert "contrib_dense_pack" not in by_rules.ir["fuse"]
    with pytest.raises(UsageError, match="a TaskScheduler has no threads"):
        ms.relay_integration.tune_relay(network(), None, TARGET, tmp_path, 4, strategy="replay-trace", threads=1)


def test_tasks_are_scheduled_by_contexts_of_ones_own() -> None:
    tasks = ms.relay_integration.extract_tasks(network(last=False), TARGET, opt_level=2)
    contexts, weights = ms.relay_integration.extracted_tasks_to_tune_contexts(tasks, strategy="replay-trace", seed=3)
    (context,) = contexts
    assert weights == [2.0] and context.task_name == tasks[0].task_name and context.rand_state == 3
    assert structural_equal(context.mod, tasks[0].dispatched[0])
    (drawn,), _ = ms.relay_integration.extracted_tasks_to_tune_contexts(tasks)
    assert drawn.rand_state >= 0
    measured = ms.database.MemoryDatabase()
    ms.relay_integration.tune_tasks(
        tasks=contexts, task_weights=weights, work_dir=".", max_trials_global=2, num_trials_per_iter=2,
        database=measured, measure_callbacks=AddToDatabase(),
    )  # fmt: skip
    assert len(measured) == 2
    with measured, weft.PassContext(2):
        exe = weft.compile(network(last=False), TARGET, threads=1)
    assert attached(exe) == 1
    np.testing.assert_allclose(result(exe), np.maximum(np.maximum(A @ W1.T, 0) @ W2.T, 0), rtol=1e-4, atol=1e-5)

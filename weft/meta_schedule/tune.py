"""Tuning by parts of one's own (`tvm.meta_schedule.tune`): which are told by name stand for Weft's of that name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..dialects.support.arguments import checked
from ..dialects.support.diagnostics import UsageError, did_you_mean
from .builder import Builder, LocalBuilder
from .cost_model import CostModel
from .json_database import JSONDatabase
from .measure_callback import MeasureCallback
from .records import MemoryDatabase, TraceDatabase
from .runner import Runner
from .task_scheduler import TaskScheduler
from .tune_context import TuneContext


@checked
def tune_tasks(
    *,
    tasks: Sequence[TuneContext],
    task_weights: Sequence[float],
    work_dir: str | os.PathLike[str],
    max_trials_global: int,
    max_trials_per_task: int | None = None,
    num_trials_per_iter: int = 64,
    builder: Builder | str = "local",
    runner: Runner | str = "local",
    database: TraceDatabase | str = "json",
    cost_model: CostModel | str = "tree",
    measure_callbacks: Sequence[MeasureCallback] | MeasureCallback | str = "default",
    task_scheduler: TaskScheduler | str = "gradient",
    module_equality: str = "structural",
) -> TraceDatabase:
    """Measure candidates of tasks, as a `TaskScheduler` does; gives the database that they are written to.
    Counterpart of TVM's `tune_tasks`; `weft.tune` and `tune_tir` search by themselves.

    Args:
        tasks: the contexts, each with a search strategy.
        task_weights: how often each function runs where it is used.
        work_dir: a folder, for a database that is kept in files.
        max_trials_global: how many candidates are measured at most, of all tasks.
        max_trials_per_task: how many of one; as many as of all, unless given.
        num_trials_per_iter: how many in a round.
        builder, runner, cost_model, measure_callbacks, task_scheduler: TVM's parts, or their names.
        database: what records are written to: `"json"`, in files, or `"memory"`.
        module_equality: what makes modules one in such a database, as for `MemoryDatabase`.

    Raises:
        UsageError: there are no tasks, one has no search strategy, or a part has another name.
    """
    if not tasks:
        raise UsageError("there is no task to tune")
    written = _database(database, work_dir, module_equality) if isinstance(database, str) else database
    scheduler = TaskScheduler.create(task_scheduler) if isinstance(task_scheduler, str) else task_scheduler
    callbacks = MeasureCallback.create(measure_callbacks) if isinstance(measure_callbacks, str) else measure_callbacks
    scheduler.tune(
        tasks,
        task_weights,
        max_trials_global,
        max_trials_global if max_trials_per_task is None else max_trials_per_task,
        num_trials_per_iter,
        _builder(builder) if isinstance(builder, str) else builder,
        Runner.create(runner) if isinstance(runner, str) else runner,
        [callbacks] if isinstance(callbacks, MeasureCallback) else callbacks,
        written,
        CostModel.create(cost_model) if isinstance(cost_model, str) else cost_model,
    )
    return written


def _builder(kind: str) -> Builder:
    if kind != "local":
        raise UsageError(f"there is no builder '{kind}'", hint=did_you_mean(kind, ["local"]) or "local")
    return LocalBuilder()


def _database(kind: str, work_dir: str | os.PathLike[str], module_equality: str) -> TraceDatabase:
    match kind:
        case "json":
            Path(work_dir).mkdir(parents=True, exist_ok=True)
            return JSONDatabase(work_dir=work_dir, module_equality=module_equality)
        case "memory":
            return MemoryDatabase(module_equality=module_equality)
        case _:
            raise UsageError(f"there is no database '{kind}'", hint=did_you_mean(kind, ["json", "memory"]))

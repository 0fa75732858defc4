"""`tune_relay` and `compile_relay`: models, by TVM's names (`tvm.meta_schedule.relay_integration`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..compiler import compile
from ..dialects.support.arguments import checked
from ..dialects.support.diagnostics import UsageError
from ..lowering.machine.target import Target
from ..runtime.executable import Executable
from ..tuning.jobs import Effort
from ..tuning.tune import Progress, tune
from .builder import Builder
from .cost_model import CostModel
from .database import Database
from .extracted_task import ExtractedTask as ExtractedTask
from .extracted_task import extract_tasks as extract_tasks
from .extracted_task import extracted_tasks_to_tune_contexts as extracted_tasks_to_tune_contexts
from .extracted_task import rules_of
from .measure_callback import MeasureCallback
from .records import TraceDatabase
from .runner import Runner
from .search_strategy import SearchStrategy
from .space_generator import SpaceGenerator
from .task_scheduler import TaskScheduler
from .tune import tune_tasks as tune_tasks

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..compilation import Model


@checked
def tune_relay(
    mod: Model,
    params: Mapping[str, npt.ArrayLike] | None,
    target: Target | str,
    work_dir: str | os.PathLike[str],
    max_trials_global: int,
    *,
    space: SpaceGenerator | str = "union",
    opt_level: int | None = None,
    threads: int | None = None,
    seconds: float | None = None,
    workers: int = 1,
    runner: object = None,
    effort: Effort | None = None,
    seed: int = 0,
    progress: Callable[[Progress], object] | None = None,
    max_trials_per_task: int | None = None,
    num_trials_per_iter: int | None = None,
    builder: Builder | str | None = None,
    database: TraceDatabase | str | None = None,
    cost_model: CostModel | str | None = None,
    measure_callbacks: Sequence[MeasureCallback] | MeasureCallback | str | None = None,
    task_scheduler: TaskScheduler | str | None = None,
    strategy: SearchStrategy | str | None = None,
    module_equality: str | None = None,
    num_tuning_cores: int | None = None,
    disabled_pass: Sequence[str] | None = None,
) -> Database | TraceDatabase:
    """Measure schedules of a model's kernels, and write each to the database in `work_dir`: `weft.tune` by TVM's name.

    Args:
        mod, params, target, opt_level, threads: as for `weft.compile`.
        work_dir: a folder; tuning goes on with what is in it.
        max_trials_global: how many schedules are measured at most, those in the database included.
        space: gives the designs, or the name of what does: see `SpaceGenerator.create`. Those of Weft's rules and of
            TVM's, unless given.
        seconds, workers, effort, seed, progress: as for `weft.tune`.
        runner: where to measure: a pool, as for `weft.tune`; or a `Runner`.
        max_trials_per_task, num_trials_per_iter, builder, database, cost_model, measure_callbacks, task_scheduler,
            strategy, module_equality: TVM's parts. Where one of them is given, or a `Runner`, a `TaskScheduler`
            measures candidates of the model's `extract_tasks` with them, as `tune_tasks` says, and `threads`,
            `seconds`, `workers`, `effort` and `progress` are not to be given.
        num_tuning_cores: one of these parts: the cores that rules reckon with where the target does not say.
        disabled_pass: passes that do not run, as for a `PassContext`.

    Raises:
        UsageError: the model leaves sizes open, or the target is another machine.
        Diagnostic: the model cannot be compiled.
    """
    parts = parts_given(
        max_trials_per_task=max_trials_per_task, num_trials_per_iter=num_trials_per_iter, builder=builder,
        runner=runner if isinstance(runner, Runner | str) else None, database=database, cost_model=cost_model,
        measure_callbacks=measure_callbacks, task_scheduler=task_scheduler, module_equality=module_equality,
    )  # fmt: skip
    if parts or strategy is not None or num_tuning_cores is not None:
        check_parts(threads, seconds, workers, effort, progress)
        tasks = extract_tasks(
            mod,
            target,
            params,
            module_equality=module_equality or "structural",
            opt_level=opt_level,
            disabled_pass=disabled_pass,
        )
        contexts, weights = extracted_tasks_to_tune_contexts(
            tasks, work_dir, space, "evolutionary" if strategy is None else strategy, num_tuning_cores, seed
        )
        given = {"tasks": contexts, "task_weights": weights, "work_dir": work_dir}
        return tune_tasks(**given, max_trials_global=max_trials_global, **parts)
    Path(work_dir).mkdir(parents=True, exist_ok=True)
    file = Database(work_dir=work_dir)
    with rules_of(opt_level, disabled_pass, None):
        tune(
            mod,
            file.path,
            target=target,
            threads=threads,
            params=params,
            space=SpaceGenerator.create(space) if isinstance(space, str) else space,
            trials=max_trials_global,
            seconds=seconds,
            workers=workers,
            pool=runner,
            effort=effort,
            seed=seed,
            progress=progress,
        )
    return file


def parts_given(**parts: object) -> dict[str, Any]:
    """Those of TVM's parts that are not `None`."""
    return {name: part for name, part in parts.items() if part is not None}


def check_parts(threads: object, seconds: object, workers: int, effort: object, progress: object) -> None:
    """Refuse what a `TaskScheduler` does not take.

    Raises:
        UsageError: something of it is given.
    """
    if (threads, seconds, effort, progress) != (None, None, None, None) or workers != 1:
        raise UsageError("a TaskScheduler has no threads, seconds, workers, effort and progress")


@checked
def compile_relay(
    database: Database | TraceDatabase,
    mod: Model,
    target: Target | str,
    params: Mapping[str, npt.ArrayLike] | None = None,
    *,
    opt_level: int | None = None,
    threads: int | None = None,
    disabled_pass: Sequence[str] | None = None,
    pass_config: Mapping[str, object] | None = None,
) -> Executable:
    """The model, compiled with the schedules of the database: of a `Database` with those that are surely faster than
    the rules', of any other with all that it has.

    Raises:
        Diagnostic: the model cannot be compiled.
    """
    with rules_of(opt_level, disabled_pass, pass_config):
        if isinstance(database, TraceDatabase):
            with database:
                return compile(mod, target, threads=threads, params=params)
        records = database.path if os.path.exists(database.path) else None
        return compile(mod, target, threads=threads, params=params, tuning_records=records)

"""What is done with measurements as they come in (`tvm.meta_schedule.measure_callback`)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from ..dialects.support.arguments import checked
from ..dialects.support.diagnostics import UsageError, did_you_mean
from .builder import BuilderResult
from .cost_model import CostModel
from .records import MeasureCandidate, TraceDatabase, TuningRecord
from .rule import Context, Named
from .runner import RunnerResult


class Task(Protocol):
    """What callbacks ask of a `TaskRecord`."""

    @property
    def ctx(self) -> Context:
        """What is scheduled, and how."""
        ...


class Scheduler(Protocol):
    """What callbacks ask of a `TaskScheduler`."""

    @property
    def tasks_(self) -> Sequence[Task]: ...
    @property
    def database_(self) -> TraceDatabase | None: ...
    @property
    def cost_model_(self) -> CostModel | None: ...


class MeasureCallback(Named):
    """Is told of each round of a task. Counterpart of TVM's `MeasureCallback`, of which one's own are subclasses."""

    def apply(
        self,
        task_scheduler: Scheduler,
        task_id: int,
        measure_candidates: Sequence[MeasureCandidate],
        builder_results: Sequence[BuilderResult],
        runner_results: Sequence[RunnerResult],
    ) -> None:
        """Do what is to be done with the candidates of a round, of which each has two results."""
        raise NotImplementedError(f"{type(self).__name__} has no method apply")

    @staticmethod
    @checked
    def create(kind: str = "default") -> list[MeasureCallback] | MeasureCallback:
        """The callback of a name, or all of them, as TVM has them by default.

        Raises:
            UsageError: there is none.
        """
        kinds: dict[str, type[MeasureCallback]] = {
            "add_to_database": AddToDatabase, "update_cost_model": UpdateCostModel,
            "remove_build_artifact": RemoveBuildArtifact,
        }  # fmt: skip
        if kind == "default":
            return [AddToDatabase(), RemoveBuildArtifact(), UpdateCostModel()]
        if kind not in kinds:
            hint = did_you_mean(kind, kinds) or ", ".join(kinds)
            raise UsageError(f"there is no measure callback '{kind}'", hint=hint)
        return kinds[kind]()


PyMeasureCallback = MeasureCallback
"""TVM's name of what one's own are derived from."""


class AddToDatabase(MeasureCallback):
    """Writes what was measured to the scheduler's database; what failed takes 1e10 seconds."""

    def apply(
        self,
        task_scheduler: Scheduler,
        task_id: int,
        measure_candidates: Sequence[MeasureCandidate],
        builder_results: Sequence[BuilderResult],
        runner_results: Sequence[RunnerResult],
    ) -> None:
        if (database := task_scheduler.database_) is None:
            return
        context = task_scheduler.tasks_[task_id].ctx
        workload = database.commit_workload(context.mod)
        for candidate, result in zip(measure_candidates, runner_results, strict=True):
            seconds = list(result.run_secs) if result.run_secs else [1e10]
            record = TuningRecord(candidate.sch.trace, workload, seconds, context.target, candidate.args_info)
            database.commit_tuning_record(record)


class UpdateCostModel(MeasureCallback):
    """Lets the scheduler's cost model learn of what was built."""

    def apply(
        self,
        task_scheduler: Scheduler,
        task_id: int,
        measure_candidates: Sequence[MeasureCandidate],
        builder_results: Sequence[BuilderResult],
        runner_results: Sequence[RunnerResult],
    ) -> None:
        if (model := task_scheduler.cost_model_) is None:
            return
        kept = [
            (candidate, ran)
            for candidate, built, ran in zip(measure_candidates, builder_results, runner_results, strict=True)
            if built.error_msg is None and (ran.error_msg is not None or sum(ran.run_secs or ()) > 0)
        ]
        context = task_scheduler.tasks_[task_id].ctx
        model.update(context, [candidate for candidate, _ in kept], [ran for _, ran in kept])


class RemoveBuildArtifact(MeasureCallback):
    """Removes the files that were run, with the folders that they are alone in."""

    def apply(
        self,
        task_scheduler: Scheduler,
        task_id: int,
        measure_candidates: Sequence[MeasureCandidate],
        builder_results: Sequence[BuilderResult],
        runner_results: Sequence[RunnerResult],
    ) -> None:
        for each in builder_results:
            if each.artifact_path is None:
                continue
            if os.path.isdir(each.artifact_path):
                shutil.rmtree(each.artifact_path)
                continue
            with suppress(FileNotFoundError):
                os.remove(each.artifact_path)
            with suppress(OSError):  # others are in it
                os.rmdir(os.path.dirname(each.artifact_path))

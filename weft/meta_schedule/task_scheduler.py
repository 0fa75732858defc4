"""Which task is worked on next, until all have been measured enough (`tvm.meta_schedule.task_scheduler`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from random import Random
from statistics import median

from ..dialects.support.arguments import checked, checked_methods
from ..dialects.support.diagnostics import UsageError, did_you_mean
from .builder import Builder, BuilderInput, BuilderResult
from .cost_model import CostModel
from .measure_callback import MeasureCallback
from .profiler import Profiler
from .records import MeasureCandidate, TraceDatabase
from .rule import Named
from .runner import Runner, RunnerFuture, RunnerInput, RunnerResult, known
from .search_strategy import SearchStrategy
from .tune_context import TuneContext


@dataclass
class TaskRecord:
    """A task, and how far it is. Counterpart of TVM's `TaskRecord`.

    Args:
        ctx: what is scheduled, and how.
        task_weight: how often the function runs where it is used.
    """

    ctx: TuneContext
    task_weight: float
    latency_ms: list[float] = field(default_factory=list[float])
    """The median of each candidate's runs; without end where it failed."""
    build_error_count: int = 0
    run_error_count: int = 0
    measure_candidates: Sequence[MeasureCandidate] | None = None
    """Of the round that is being measured; so are these."""
    builder_results: Sequence[BuilderResult] | None = None
    runner_futures: Sequence[RunnerFuture] | None = None
    is_terminated: bool = False

    @property
    def strategy(self) -> SearchStrategy:
        """What gives its candidates.

        Raises:
            UsageError: its context has none.
        """
        if self.ctx.search_strategy is None:
            raise UsageError(f"task '{self.ctx.task_name}' has no search strategy", hint="search_strategy=")
        return self.ctx.search_strategy


class TaskScheduler(Named):
    """Works on tasks, one round of one of them after the other. Counterpart of TVM's `TaskScheduler`; one's own are
    subclasses that say which task is `next_task_id`."""

    def __init__(self) -> None:
        self.tasks_: list[TaskRecord] = []
        self.measure_callbacks_: list[MeasureCallback] = []
        self.database_: TraceDatabase | None = None
        self.cost_model_: CostModel | None = None
        self.remaining_tasks_ = 0

    def begin(self) -> None:
        """Forget what was known of other tasks: `tasks_` are new."""

    def next_task_id(self) -> int:
        """The number of the task to work on, which has no round that is being measured; -1 where all have ended."""
        raise NoNextTaskError(f"next_task_id is not defined by {type(self).__name__}")

    def tune(
        self,
        tasks: Sequence[TuneContext],
        task_weights: Sequence[float],
        max_trials_global: int,
        max_trials_per_task: int,
        num_trials_per_iter: int,
        builder: Builder,
        runner: Runner,
        measure_callbacks: Sequence[MeasureCallback],
        database: TraceDatabase | None = None,
        cost_model: CostModel | None = None,
    ) -> None:
        """Measure candidates of the tasks until there are enough: of one, or of all together.

        Raises:
            UsageError: the tasks have other numbers of weights, or no search strategies.
        """
        if len(tasks) != len(task_weights):
            raise UsageError(f"{len(tasks)} tasks have {len(task_weights)} weights")
        self.tasks_ = [TaskRecord(context, float(weight)) for context, weight in zip(tasks, task_weights, strict=True)]
        self.remaining_tasks_ = len(tasks)
        self.begin()
        self.measure_callbacks_ = list(measure_callbacks)
        self.database_, self.cost_model_ = database, cost_model
        for task in self.tasks_:
            with Profiler.timeit("GenerateDesignSpace"):
                designs = task.ctx.generate_design_space()
            task.strategy.pre_tuning(max_trials_per_task, num_trials_per_iter, designs, database, cost_model)
        tried = 0
        while tried < max_trials_global and (number := self.next_task_id()) != -1:
            task = self.tasks_[number]
            candidates = None
            if len(task.latency_ms) < max_trials_per_task:
                with Profiler.timeit("SearchStrategy"):
                    candidates = task.measure_candidates = task.strategy.generate_measure_candidates()
            if candidates is None:
                self.terminate_task(number)
                continue
            tried += len(candidates)
            self._start(task, candidates, builder, runner)
        for number, task in enumerate(self.tasks_):
            if task.runner_futures is not None:
                self.join_running_task(number)
            if not task.is_terminated:
                self.terminate_task(number)
            task.strategy.post_tuning()

    def _start(
        self, task: TaskRecord, candidates: Sequence[MeasureCandidate], builder: Builder, runner: Runner
    ) -> None:
        """Build the candidates of a round, and start to run them."""
        target = task.ctx.target
        with Profiler.timeit("SendToBuilder"):
            built = builder.build([BuilderInput(each.sch.mod, target) for each in candidates])
        inputs = [
            RunnerInput(result.artifact_path, target.kind, each.args_info or ())
            for each, result in zip(candidates, built, strict=True)
            if result.artifact_path is not None and result.error_msg is None
        ]
        with Profiler.timeit("SendToRunner"):
            futures = iter(runner.run(inputs))
        task.builder_results = built
        task.runner_futures = [
            known(RunnerResult(None, each.error_msg))
            if each.artifact_path is None or each.error_msg is not None
            else next(futures)
            for each in built
        ]

    def join_running_task(self, task_id: int) -> list[RunnerResult]:
        """Wait for the round of a task that is being measured, and tell its strategy and the callbacks.

        Raises:
            UsageError: none is.
        """
        task = self.tasks_[task_id]
        candidates, built, futures = task.measure_candidates, task.builder_results, task.runner_futures
        if candidates is None or built is None or futures is None:
            raise UsageError(f"no round of task {task_id} is being measured")
        with Profiler.timeit("JoinRunnerFutures"):
            results = [each.result() for each in futures]
        with Profiler.timeit("SearchStrategy"):
            task.strategy.notify_runner_results(candidates, results)
        for callback in self.measure_callbacks_:
            with Profiler.timeit(f"MeasureCallback/{type(callback).__name__}"):
                callback.apply(self, task_id, candidates, built, results)
        for each, result in zip(built, results, strict=True):
            task.build_error_count += each.error_msg is not None
            task.run_error_count += each.error_msg is None and result.error_msg is not None
            task.latency_ms.append(median(result.run_secs) * 1e3 if result.run_secs else inf)
        task.measure_candidates = task.builder_results = task.runner_futures = None
        return results

    def touch_task(self, task_id: int) -> None:
        """Take in the round of a task, if it has been measured."""
        task = self.tasks_[task_id]
        if not task.is_terminated and task.runner_futures is not None and all(e.done() for e in task.runner_futures):
            self.join_running_task(task_id)

    def terminate_task(self, task_id: int) -> None:
        """No more candidates of a task are measured."""
        self.tasks_[task_id].is_terminated = True
        self.remaining_tasks_ -= 1

    @staticmethod
    @checked
    def create(kind: str = "gradient", **parameters: object) -> TaskScheduler:
        """The scheduler of a name: `"gradient"` or `"round-robin"`.

        Raises:
            UsageError: there is none.
        """
        kinds: dict[str, type[TaskScheduler]] = {"gradient": GradientBased, "round-robin": RoundRobin}
        if kind not in kinds:
            hint = did_you_mean(kind, kinds) or ", ".join(kinds)
            raise UsageError(f"there is no task scheduler '{kind}'", hint=hint)
        return kinds[kind](**parameters)


PyTaskScheduler = TaskScheduler
"""TVM's name of what one's own are derived from."""


class NoNextTaskError(UsageError, ValueError):
    """A scheduler does not say which task is next."""


class RoundRobin(TaskScheduler):
    """Works on one task after the other. Counterpart of TVM's scheduler of this name."""

    def begin(self) -> None:
        self._last = -1

    def next_task_id(self) -> int:
        for number in range(len(self.tasks_)):
            self.touch_task(number)
        for _ in self.tasks_:
            self._last = (self._last + 1) % len(self.tasks_)
            task = self.tasks_[self._last]
            if not task.is_terminated:
                if task.runner_futures is not None:
                    self.join_running_task(self._last)
                return self._last
        return -1


@checked_methods
class GradientBased(TaskScheduler):
    """Works on the task of which the most time can be expected to be saved, once each had a round. Counterpart of TVM's
    scheduler of this name.

    Args:
        alpha: how much the last rounds say, and how much all of them.
        window_size: so many rounds are the last ones.
        seed: chooses where nothing is known.
    """

    def __init__(self, *, alpha: float = 0.2, window_size: int = 3, seed: int = -1):
        super().__init__()
        self.alpha, self.window_size = alpha, window_size
        self._random = Random(None if seed == -1 else seed)
        self.begin()

    def begin(self) -> None:
        self._begun = 0
        self._best: dict[int, list[float]] = {}

    def next_task_id(self) -> int:
        if self._begun < len(self.tasks_):
            self._begun += 1
            return self._begun - 1
        if self._begun == len(self.tasks_):
            self._begun += 1
            for number, task in enumerate(self.tasks_):
                if task.runner_futures is not None:
                    self.join_running_task(number)
        for number in range(len(self.tasks_)):
            self.touch_task(number)
        alive = [number for number, task in enumerate(self.tasks_) if not task.is_terminated]
        if not alive:
            return -1
        gains = [self._gain(number) for number in alive]
        number = self._random.choice(alive) if min(gains) == max(gains) else alive[gains.index(max(gains))]
        if self.tasks_[number].runner_futures is not None:
            self.join_running_task(number)
        return number

    def _gain(self, number: int) -> float:
        """Milliseconds that the next round of a task may save."""
        best, window = self._best.get(number, []), self.window_size
        if not best or best[-1] == inf:
            return -inf
        lately = (best[-1 - window] - best[-1]) / window if len(best) > window and best[-1 - window] < inf else 0.0
        gain = self.alpha * lately + (1 - self.alpha) * best[-1] / len(best)
        return gain * self.tasks_[number].task_weight

    def join_running_task(self, task_id: int) -> list[RunnerResult]:
        results = super().join_running_task(task_id)
        if (latencies := self.tasks_[task_id].latency_ms) != []:
            self._best.setdefault(task_id, []).append(min(latencies))
        return results

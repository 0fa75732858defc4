"""TVM's parts of a search by measuring: runners, cost models, strategies, schedulers, and what they write to."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import weft
from weft import meta_schedule as ms
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.dialects.tir.core import PrimFuncOp
from weft.meta_schedule.builder import BuilderInput, BuilderResult, LocalBuilder
from weft.meta_schedule.measure_callback import AddToDatabase, RemoveBuildArtifact, UpdateCostModel
from weft.meta_schedule.rule import Context
from weft.meta_schedule.runner import EvaluatorConfig, LocalRunner, RunnerFuture, RunnerInput, RunnerResult, known
from weft.meta_schedule.search_strategy import EvolutionarySearch, ReplayFunc, ReplayTrace
from weft.meta_schedule.task_scheduler import GradientBased, RoundRobin
from weft.tir import Schedule, Trace, from_source, structural_equal

PRODUCT = """
@T.prim_func
def main(A: T.Buffer[(16, 16), "float32"], B: T.Buffer[(16, 16), "float32"], C: T.Buffer[(16, 16), "float32"]):
    for i, j, k in T.grid(16, 16, 16):
        with T.block("product"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
TARGET = "llvm -num-cores=1"
QUICK = EvaluatorConfig(number=1, repeat=2, min_repeat_ms=0)


def product(size: int = 16) -> PrimFuncOp:
    made = from_source(PRODUCT.replace("16", str(size)))
    assert isinstance(made, PrimFuncOp)
    return made


def tiled(sch: Schedule) -> None:
    """Five ways to split each of two loops."""
    _, j, k = sch.get_loops("product")
    for loop in (j, k):
        sch.split(loop, sch.sample_perfect_tile(loop, n=2))


def context(strategy: ms.SearchStrategy | str, function: PrimFuncOp | None = None, **parameters: Any) -> ms.TuneContext:
    settings: dict[str, Any] = {"postprocs": [], "mutator_probs": {}, **parameters}
    given = ms.space_generator.ScheduleFn(tiled, **settings)
    return ms.TuneContext(function or product(), TARGET, given, strategy, rand_state=3)


def rounds_of(asked: ms.TuneContext, most: int, at_once: int, **given: Any) -> list[list[ms.MeasureCandidate]]:
    strategy = asked.search_strategy
    assert strategy is not None
    strategy.pre_tuning(most, at_once, asked.generate_design_space(), **given)
    found: list[list[ms.MeasureCandidate]] = []
    while (candidates := strategy.generate_measure_candidates()) is not None:
        found.append(list(candidates))
        strategy.notify_runner_results(candidates, [RunnerResult([0.1], None) for _ in candidates])
    strategy.post_tuning()
    return found


# builders and runners


def built(function: PrimFuncOp) -> RunnerInput:
    (result,) = LocalBuilder().build([BuilderInput(weft.IRModule({"main": function}), weft.Target(TARGET))])
    assert result.artifact_path is not None, result.error_msg
    return RunnerInput(result.artifact_path, "llvm", ms.arg_info.ArgInfo.from_prim_func(function))


def test_what_was_built_is_run_and_its_files_are_removed() -> None:
    given = built(product())
    (future,) = LocalRunner(evaluator_config=QUICK, alloc_repeat=3).run([given])
    result = future.result()
    assert future.done() and result.error_msg is None and result.run_secs is not None
    assert len(result.run_secs) == 6 and all(0 < each < 1 for each in result.run_secs)
    RemoveBuildArtifact().apply(RoundRobin(), 0, [], [BuilderResult(given.artifact_path, None)], [])
    assert not os.path.exists(os.path.dirname(given.artifact_path))
    RemoveBuildArtifact().apply(RoundRobin(), 0, [], [BuilderResult(given.artifact_path, None)], [])


def test_arguments_and_measuring_may_be_ones_own() -> None:
    def arguments(device: object, infos: Sequence[Any], repeat: int) -> list[list[Any]]:
        assert [each[2] for each in infos] == [[16, 16]] * 3 and str(device) == str(weft.cpu())
        return [[np.full((16, 16), number, np.float32) for _ in range(2)] for number in range(repeat)]

    def sums(program: Any, device: object, config: EvaluatorConfig, repeated: Sequence[Any]) -> list[float]:
        return [float(program(*each).sum()) for each in repeated]

    runner = LocalRunner(f_alloc_argument=arguments, f_run_evaluator=sums, alloc_repeat=2)
    (future,) = runner.run([built(product())])
    assert future.result() == RunnerResult([0.0, 16.0**3], None)


def test_what_fails_or_hangs_is_told_in_the_result() -> None:
    def hangs(*_: object) -> list[float]:
        time.sleep(60)
        return []

    def fails(*_: object) -> list[float]:
        raise ValueError("no numbers")

    given = built(product())
    late = LocalRunner(timeout_sec=0.5, f_run_evaluator=hangs).run([given])[0].result()
    assert late == RunnerResult(None, "LocalRunner: Timeout, killed after 0.5 seconds")
    failed = LocalRunner(f_run_evaluator=fails).run([given])[0].result()
    assert failed.run_secs is None and "An exception occurred" in str(failed.error_msg)
    assert "no numbers" in str(failed.error_msg)


def test_a_runner_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no function is registered as 'no\.such'"):
        LocalRunner(f_cleanup="no.such")
    with pytest.raises(UsageError, match="caches are not flushed"):
        LocalRunner(evaluator_config=EvaluatorConfig(enable_cpu_cache_flush=True))
    with pytest.raises(UsageError, match="has time"):
        LocalRunner(timeout_sec=0)
    with pytest.raises(UsageError, match="no runner 'rpc'"):
        ms.Runner.create("rpc")
    with pytest.raises(NotImplementedError, match="no method done"):
        RunnerFuture().done()
    assert str(ms.Runner.create()).startswith("meta_schedule.LocalRunner(0x")


# cost models


def candidates_of(count: int) -> list[ms.MeasureCandidate]:
    return [each for found in rounds_of(context(ReplayTrace()), count, count) for each in found]


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "[1]", '{"a": 5}', '{"a": [[["x"], 1]]}'])
def test_a_file_that_is_no_cost_model_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(text)
    for model in (ms.cost_model.RandomModel(), ms.cost_model.TreeModel()):
        for path in (tmp_path / "model.json", tmp_path / "missing.json"):
            with pytest.raises(Diagnostic, match=r"no \w+Model that was saved|cannot be read"):
                model.load(str(path))


def test_a_random_model_goes_on_from_what_was_saved(tmp_path: Path) -> None:
    model, path = ms.cost_model.RandomModel(seed=5, max_range=7), str(tmp_path / "model.json")
    asked, candidates = context(ReplayTrace()), candidates_of(20)
    model.update(asked, candidates, [])
    model.save(path)
    found = model.predict(asked, candidates)
    assert len(found) == 20 and 0 <= min(found) and max(found) <= 7 and len(set(found)) > 1
    again = ms.cost_model.RandomModel(path=path, max_range=7)
    assert (again.predict(asked, candidates) == found).all()


def test_a_tree_model_learns_which_candidates_are_fast(tmp_path: Path) -> None:
    model, path = ms.CostModel.create("tree", num_warmup_samples=4), str(tmp_path / "model.json")
    asked, candidates = context(ReplayTrace()), candidates_of(40)

    def seconds(candidate: ms.MeasureCandidate) -> float:
        (first, _), (second, _) = (cast("list[int]", each) for each in candidate.sch.trace.decisions.values())
        return 0.001 * (1 + first + 3 * second)

    assert (model.predict(asked, candidates) == 0).all()
    model.update(asked, candidates, [RunnerResult([seconds(each)], None) for each in candidates])
    model.update(asked, candidates[:1], [RunnerResult(None, "failed")])
    found = model.predict(asked, candidates)
    fastest, slowest = (pick(range(40), key=lambda n: seconds(candidates[n])) for pick in (min, max))
    assert found[fastest] > found[slowest]
    model.save(path)
    again = ms.cost_model.TreeModel(num_warmup_samples=4)
    again.load(path)
    assert again.data_size == 40 and (again.predict(asked, candidates) == found).all()
    with pytest.raises(UsageError, match="no cost model 'tre'"):
        ms.CostModel.create("tre")


# strategies


@pytest.mark.parametrize("strategy", ["replay-trace", "replay-func"])
def test_replays_give_as_many_candidates_as_are_asked_for(strategy: str) -> None:
    asked = context(strategy)
    found = rounds_of(asked, 20, 7)
    assert [len(each) for each in found] == [7, 7, 6]
    decisions = {str(each.sch.trace.decisions.values()) for some in found for each in some}
    assert len(decisions) > 5
    assert found[0][0].args_info == ms.arg_info.ArgInfo.from_prim_func(product())


def evolution(**parameters: Any) -> EvolutionarySearch:
    given: dict[str, Any] = {
        "population_size": 5,
        "init_measured_ratio": 0.1,
        "genetic_num_iters": 3,
        "eps_greedy": 0.9,
    }
    given.update(parameters)
    return EvolutionarySearch(**given)


def test_an_evolution_measures_each_schedule_once_and_ends() -> None:
    asked = context(
        evolution(init_min_unmeasured=25, genetic_num_iters=1), mutator_probs={ms.mutator.MutateTileSize(): 1.0}
    )
    database, model = ms.database.MemoryDatabase(), ms.cost_model.RandomModel(seed=1)
    found = rounds_of(asked, 2000, 10, database=database, cost_model=model)
    schedules = [each.sch for some in found for each in some]
    assert len({str(each.trace.decisions.values()) for each in schedules}) == len(schedules) == 25
    assert sum(not some for some in found) == EvolutionarySearch.PATIENCE - 1


def test_an_evolution_follows_the_cost_model() -> None:
    class Wide(ms.CostModel):
        def predict(self, context: object, candidates: Sequence[ms.MeasureCandidate]) -> Any:
            decided = [list(each.sch.trace.decisions.values()) for each in candidates]
            return np.array([float(cast("list[int]", first)[1]) for first, _ in decided])

    asked = context(evolution(eps_greedy=0.0), mutator_probs={ms.mutator.MutateTileSize(): 1.0})
    found = rounds_of(asked, 5, 5, database=ms.database.MemoryDatabase(), cost_model=Wide())
    widths = [cast("list[int]", next(iter(each.sch.trace.decisions.values())))[1] for each in found[0]]
    assert len(widths) == 5 and widths[0] == 16 and widths == sorted(widths, reverse=True)


def test_an_evolution_without_enough_to_begin_with_ends_at_once() -> None:
    class Never(ms.Postproc):
        def apply(self, sch: Schedule) -> bool:
            return False

    asked = context(evolution(max_fail_count=2), postprocs=[Never()])
    given: dict[str, Any] = {"database": ms.database.MemoryDatabase(), "cost_model": ms.cost_model.RandomModel()}
    assert rounds_of(asked, 100, 10, **given) == []


def test_strategies_that_have_not_begun_or_have_nothing_are_refused() -> None:
    strategy = ReplayTrace()
    with pytest.raises(UsageError, match="told of no context"):
        strategy.pre_tuning(1, 1, [Schedule(product())])
    asked = context(strategy)
    with pytest.raises(UsageError, match="ReplayTrace has not begun"):
        strategy.generate_measure_candidates()
    strategy.pre_tuning(1, 1, asked.generate_design_space())
    with pytest.raises(UsageError, match="has begun already"):
        strategy.pre_tuning(1, 1, asked.generate_design_space())
    with pytest.raises(UsageError, match="needs a database and a cost model"):
        rounds_of(context(evolution()), 1, 1)
    with pytest.raises(UsageError, match="eps_greedy is a part"):
        EvolutionarySearch(eps_greedy=2.0)
    with pytest.raises(UsageError, match="no search strategy 'replay'"):
        ms.SearchStrategy.create("replay")
    with pytest.raises(UsageError, match="the context has no module"):
        ms.TuneContext().generate_design_space()


# schedulers


class Building(ms.Builder):
    """Builds nothing; what it is told to fail fails."""

    def __init__(self, *failing: int):
        self.failing, self.count = failing, 0

    def build(self, build_inputs: Sequence[BuilderInput]) -> list[BuilderResult]:
        found: list[BuilderResult] = []
        for _ in build_inputs:
            failed = self.count in self.failing
            found.append(BuilderResult(None, "cannot") if failed else BuilderResult("a file", None))
            self.count += 1
        return found


class Running(ms.Runner):
    """Takes a millisecond for each element of a row."""

    def run(self, runner_inputs: Sequence[RunnerInput]) -> list[RunnerFuture]:
        sizes = [cast(Any, each.args_info[0]).shape[0] for each in runner_inputs]
        return [known(RunnerResult([size * 1e-3], None)) for size in sizes]


@pytest.mark.parametrize("scheduler", [RoundRobin(), GradientBased(seed=0)], ids=["round_robin", "gradient"])
def test_all_tasks_are_measured_as_often_as_is_asked(scheduler: ms.TaskScheduler) -> None:
    tasks = [context(ReplayTrace(), product(size)) for size in (8, 16, 32)]
    for _ in range(2):  # a scheduler can be asked again
        database = ms.database.MemoryDatabase()
        builder, callbacks = Building(0), [AddToDatabase()]
        scheduler.tune(tasks, [1.0] * 3, 33, 11, 4, builder, Running(), callbacks, database)
        assert len(database) == 33 and all(task.is_terminated for task in scheduler.tasks_)
        for task, record in zip(tasks, scheduler.tasks_, strict=True):
            best = database.get_top_k(database.commit_workload(task.mod), 100)
            assert len(record.latency_ms) == 11 and len(best) == 11 - record.build_error_count
            assert best[0].seconds < 1 and len(best[0].trace.decisions) == 2
        assert scheduler.tasks_[0].build_error_count == 1 and scheduler.tasks_[0].latency_ms[0] == float("inf")
        assert sum(each.run_secs == [1e10] for each in database.get_all_tuning_records()) == 1


def test_the_task_of_which_most_can_be_saved_is_worked_on() -> None:
    tasks = [context(ReplayTrace(), product(size)) for size in (8, 32)]
    scheduler = ms.TaskScheduler.create("gradient")
    scheduler.tune(tasks, [1.0, 1.0], 40, 100, 4, Building(), Running(), [])
    small, large = (len(task.latency_ms) for task in scheduler.tasks_)
    assert small + large == 40 and large > small


def test_a_function_is_tuned_by_building_and_running_it() -> None:
    database, model = ms.database.MemoryDatabase(), ms.cost_model.TreeModel(num_warmup_samples=2)
    asked = context(ReplayTrace())
    callbacks = [AddToDatabase(), UpdateCostModel(), RemoveBuildArtifact()]
    runner = LocalRunner(evaluator_config=QUICK)
    RoundRobin().tune([asked], [1.0], 3, 3, 3, LocalBuilder(), runner, callbacks, database, model)
    assert len(database) == model.data_size == 3
    best = database.query_schedule(product(), TARGET)
    assert best is not None and len(best.get_loops("product")) == 5


def test_schedulers_and_callbacks_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="next_task_id is not defined"):
        ms.TaskScheduler().next_task_id()
    with pytest.raises(UsageError, match="1 tasks have 2 weights"):
        RoundRobin().tune([context(ReplayTrace())], [1.0, 2.0], 1, 1, 1, Building(), Running(), [])
    with pytest.raises(UsageError, match="no search strategy"):
        RoundRobin().tune([ms.TuneContext(product(), TARGET)], [1.0], 1, 1, 1, Building(), Running(), [])
    with pytest.raises(UsageError, match="no task scheduler 'robin'"):
        ms.TaskScheduler.create("robin")
    with pytest.raises(UsageError, match="no measure callback 'add'"):
        ms.MeasureCallback.create("add")
    assert len(cast("list[Any]", ms.MeasureCallback.create())) == 3
    with pytest.raises(UsageError, match="no round of task 0 is being measured"):
        scheduler = RoundRobin()
        scheduler.tune([context(ReplayTrace())], [1.0], 1, 1, 1, Building(), Running(), [])
        scheduler.join_running_task(0)


# databases


def test_databases_are_asked_for_the_fastest() -> None:
    fast, slow = ms.database.MemoryDatabase(), ms.database.MemoryDatabase()
    schedule = Schedule(product())
    tiled(schedule)
    for database, seconds, trace in ((fast, 0.5, schedule.trace), (slow, 2.0, Trace([])), (slow, 1.0, Trace([]))):
        workload = database.commit_workload(product())
        assert database.commit_workload(product()) is workload
        database.commit_tuning_record(ms.TuningRecord(trace, workload, [seconds]))
    assert [each.seconds for each in slow.get_top_k(ms.Workload(product()), 5)] == [1.0, 2.0]
    assert [each.seconds for each in slow.get_all_tuning_records()] == [2.0, 1.0]
    assert slow.has_workload(product()) and not slow.has_workload(product(8))
    assert slow.query_tuning_record(product(8), TARGET) is None
    for union, wanted in ((ms.database.UnionDatabase, 0.5), (ms.database.OrderedUnionDatabase, 1.0)):
        record = union(slow, fast).query(product(), TARGET, kind="record")
        assert isinstance(record, ms.TuningRecord) and record.seconds == wanted
    module = fast.query(product(), TARGET, kind="ir_module")
    assert structural_equal(module, schedule.mod)
    assert isinstance(slow.query(product(), TARGET), Schedule)
    with pytest.raises(UsageError, match="no kind 'trace'"):
        slow.query(product(), TARGET, kind="trace")
    with pytest.raises(UsageError, match="answers queries only"):
        ms.database.UnionDatabase(slow).commit_workload(product())


def test_a_trace_that_is_given_decisions_has_no_others() -> None:
    schedule = Schedule(product())
    tiled(schedule)
    first, second = schedule.trace.decisions
    kept = Trace(schedule.trace.insts, {second: [1, 16]})
    assert list(kept.decisions.values()) == [[1, 16]] and len(schedule.trace.decisions) == 2
    own = Trace(schedule.trace.insts).decisions.values()
    assert first.decision is not None and list(own) == list(schedule.trace.decisions.values())
    drawn: set[str] = set()
    for seed in range(20):
        again = Schedule(product(), seed=seed)
        kept.apply_to_schedule(again)
        drawn.add(str(list(again.trace.decisions.values())))
    assert len(drawn) > 1 and all(each.endswith("[1, 16]]") for each in drawn)


def test_tvms_names_of_what_ones_own_are_derived_from_are_there() -> None:
    assert ms.runner.PyRunner is ms.Runner and ms.cost_model.PyCostModel is ms.CostModel
    assert ms.search_strategy.PySearchStrategy is ms.SearchStrategy and ms.builder.PyBuilder is ms.Builder
    assert ms.task_scheduler.PyTaskScheduler is ms.TaskScheduler
    assert ms.search_strategy.ReplayFunc is ReplayFunc


# parts by name


class Unmeasured(ms.Runner):
    """Says of each run that it failed, or took no time."""

    def __init__(self, result: RunnerResult):
        self.result = result

    def run(self, runner_inputs: Sequence[RunnerInput]) -> list[RunnerFuture]:
        return [known(self.result) for _ in runner_inputs]


class Unbuilt(ms.Builder):
    def build(self, build_inputs: Sequence[BuilderInput]) -> list[BuilderResult]:
        return [BuilderResult("nowhere", None) for _ in build_inputs]


@pytest.mark.parametrize("result", [RunnerResult([0.0, 0.0], None), RunnerResult(None, "it failed")])
def test_functions_are_tuned_by_parts_of_ones_own(tmp_path: Path, result: RunnerResult) -> None:
    space = ms.space_generator.ScheduleFn(tiled, postprocs=[], mutator_probs={})
    database = ms.tune_tir(
        product(), TARGET, tmp_path, 4, space=space, builder=Unbuilt(), runner=Unmeasured(result),
        strategy="replay-trace", num_trials_per_iter=2, measure_callbacks=[UpdateCostModel(), AddToDatabase()],
    )  # fmt: skip
    assert isinstance(database, ms.database.JSONDatabase) and len(database) == 4
    found = ms.compile_tir(database, product(), TARGET)
    assert (found is None) == (result.run_secs is None)


def test_tasks_are_tuned_by_names_of_parts(tmp_path: Path) -> None:
    tasks = [context("replay-trace"), context("replay-func", product(8))]
    database = ms.tune_tasks(
        tasks=tasks, task_weights=[1.0, 2.0], work_dir=tmp_path, max_trials_global=3, max_trials_per_task=2,
        num_trials_per_iter=1, builder=Unbuilt(), runner=Unmeasured(RunnerResult([1e-3], None)), database="memory",
        cost_model="xgb", measure_callbacks=AddToDatabase(), task_scheduler="round-robin",
    )  # fmt: skip
    assert len(database) == 3 and not list(tmp_path.iterdir())


def test_what_no_task_scheduler_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no threads, seconds, workers, effort and progress"):
        cast(Any, ms.tune_tir)(product(), TARGET, tmp_path, 4, strategy="replay-trace", seconds=1.0)
    given = {"task_weights": [1.0], "work_dir": tmp_path, "max_trials_global": 1}
    with pytest.raises(UsageError, match="there is no task to tune"):
        ms.tune_tasks(tasks=[], **cast(Any, given))
    for part, message in (("builder", "builder 'rpc'"), ("database", "database 'rpc'"), ("runner", "runner 'rpc'")):
        with pytest.raises(UsageError, match=f"there is no {message}"):
            ms.tune_tasks(tasks=[context("replay-trace")], **cast(Any, {**given, part: "rpc"}))


class Sizes(ms.feature_extractor.PyFeatureExtractor):
    """How many loops a candidate has, row by row."""

    def extract_from(self, context: Context, candidates: Sequence[ms.MeasureCandidate]) -> list[Any]:
        return [np.ones((len(each.sch.get_loops("product")), 1)) for each in candidates]


def test_a_model_learns_from_features_of_ones_own() -> None:
    def candidate(splits: int) -> ms.MeasureCandidate:
        sch = Schedule(product())
        for loop in sch.get_loops("product")[:splits]:
            sch.split(loop, [None, 2])
        return ms.MeasureCandidate(sch)

    model = ms.cost_model.TreeModel(extractor=Sizes(), num_warmup_samples=4)
    asked, few, many = context("replay-trace"), candidate(0), candidate(3)
    model.update(asked, [few, many] * 8, [RunnerResult([1.0], None), RunnerResult([3.0], None)] * 8)
    better, worse = model.predict(asked, [few, many])
    assert better > worse
    model.extractor = ms.FeatureExtractor()
    with pytest.raises(NotImplementedError, match="FeatureExtractor has no method extract_from"):
        model.predict(asked, [few])
    record = ms.TuningRecord(few.sch.trace, ms.Workload(product()), [0.5, 1.5])
    assert record.run_secs is not None and [each.value for each in cast(Any, record.run_secs)] == [0.5, 1.5]
    assert ms.TuningRecord.from_json(record.as_json(), record.workload).seconds == 1.0

"""`weft.tune`: find faster schedules for a model's kernels, by measuring, and write them down.

    weft.tune("model.onnx", "model.tuning.jsonl", seconds=300)
    exe = weft.compile("model.onnx", tuning_records="model.tuning.jsonl")

Each measurement is a line of the file as soon as it is made; to tune with a file that there is goes on with it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from random import Random
from statistics import median
from time import perf_counter, time
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from ..compilation import load_module
from ..compiler import DEFAULT_OPT_LEVEL, compile
from ..dialects.relay.base import DYNAMIC
from ..dialects.support.advice import give_shapes
from ..dialects.support.arguments import checked
from ..dialects.support.diagnostics import UsageError
from ..dialects.support.verifier import verify
from ..lowering.machine.target import Target
from ..lowering.module_phase import phase_of, select_entry, signature_of
from ..lowering.phases import PHASES
from ..meta_schedule.space_generator import SpaceGenerator, WeftRules
from ..meta_schedule.tune_context import TuneContext
from ..runtime.executable import Executable
from ..transforms.infra import PassContext
from ..transforms.infra.config import DATABASE, RECORDS_THREADS, TUNING_RECORDS
from ..transforms.infra.walk import clone
from ..transforms.relay.bind_params import bind_params
from ..transforms.tir.scheduling.tuning_records import (
    TuningRecord,
    append_record,
    best_records,
    check_appendable,
    read_records,
)
from .bench import Timer, time_pairs
from .cost_model import CostModel
from .features import features_of
from .fleet import Fleet
from .jobs import Effort, Job, Measurement, Rules
from .search import Search, learn, next_search
from .space import Candidate, RuleSpace
from .tasks import Task, Tasks, extract_tasks

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..compilation import Model

_OF_RECORDS = (TUNING_RECORDS, RECORDS_THREADS, DATABASE)
"""Configuration that says which schedules are used, which is what tuning is to find out."""
BATCH = 8
"""Schedules of a kernel that are measured before the search looks at what was found."""


@dataclass(frozen=True)
class Progress:
    """How far tuning has come, after each measurement."""

    measured: int
    """Measurements of this model's kernels, those of before included."""
    trials: int
    """How many there are to be at most."""
    seconds: float
    """Since tuning began this time."""
    kernel: str
    """What was measured last, by what the model calls it."""
    record: TuningRecord
    saved: float
    """The part of an inference that the schedules found so far save, as far as kernels tell by themselves."""


@dataclass(frozen=True)
class TuningResult:
    """What tuning has found."""

    records: str
    """The file."""
    tasks: tuple[Task, ...]
    """The kernels that have several schedules, what takes most first."""
    left_out: Mapping[str, str]
    """The kernels that were not tuned by name, and why."""
    best: Mapping[str, TuningRecord]
    """Key of a kernel -> its best schedule, where one is surely faster than the default."""
    measured: int
    """Measurements that were made now."""
    is_exhausted: bool
    """Every schedule of every kernel that the search could think of has been measured."""
    before_ms: float
    """An inference with the default schedules, the median."""
    after_ms: float
    """The same with the best ones, measured in turns with it."""
    ratio: float
    """The median of the latter to the former, pair by pair."""


@checked
def tune(
    model: Model,
    records: str | os.PathLike[str],
    *,
    target: str | Target = "llvm -mcpu=native",
    opt_level: int | None = None,
    threads: int | None = None,
    params: Mapping[str, npt.ArrayLike] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    function: str | None = None,
    space: SpaceGenerator | None = None,
    trials: int = 512,
    seconds: float | None = None,
    workers: int = 1,
    pool: object = None,
    effort: Effort | None = None,
    seed: int = 0,
    progress: Callable[[Progress], object] | None = None,
) -> TuningResult:
    """Find schedules for the kernels of a model that are faster than those of the rules, and write them to `records`.

    Args:
        model, target, opt_level, threads, params, shapes, function: as `weft.compile` takes them. Schedules are
            measured on as many threads as are given here, and used by compilations for as many.
        records: a file of records; if there is one, tuning goes on with what is in it.
        space: gives the designs of each kernel that are searched; those of Weft's rules, unless given. All are measured
            against what the rules do by themselves.
        trials: how many schedules are measured at most, those in the file included.
        seconds: how long it may take.
        workers: measuring processes at a time. More than one disturb one another on a small machine.
        pool: where to measure instead: a `concurrent.futures.Executor`, a `dask.distributed.Client`, or the like, whose
            workers are machines of the same kind.
        effort: how carefully is measured, and for how long.
        seed: of what is drawn.
        progress: told of each measurement.

    Raises:
        UsageError: the model leaves sizes open, a number is not positive, the target is another machine, or `pool` is
            no pool.
        Diagnostic: the model cannot be compiled, the file holds something else than records, or no worker can measure.
    """
    if trials < 1 or workers < 1 or (seconds is not None and not seconds > 0):
        raise UsageError(f"{trials} trials, {workers} workers, {seconds} seconds: at least one of each is needed")
    if pool is not None and not hasattr(pool, "submit"):
        raise UsageError(
            f"a {type(pool).__name__} is no pool: it has no `submit`", hint="as concurrent.futures has them"
        )
    begun, path, resolved = perf_counter(), os.fspath(records), Target.parse(target)
    if resolved.kind != "llvm":
        raise UsageError(f"schedules are measured in machine code, not for the target '{resolved}'")
    check_appendable(path)
    current = PassContext.current()
    level = DEFAULT_OPT_LEVEL if opt_level is None and current.is_default else opt_level
    threads = Executable.usable(threads)
    with current.at_level(current.opt_level if level is None else level, without=(TUNING_RECORDS, DATABASE)):
        module, start = load_static(model, params, shapes, function)
        found = extract_tasks(clone(module), resolved, start, threads)
        tuning = _Tuning(found, space or WeftRules(), resolved, threads, path, effort or Effort(), seed)
        deadline = None if seconds is None else begun + seconds
        with Fleet(pool, workers) as fleet:  # pyright: ignore[reportArgumentType]
            for measured, name, record in tuning.run(fleet, trials, deadline, max(BATCH, 2 * workers)):
                if progress is not None:
                    spent = perf_counter() - begun
                    progress(Progress(measured, trials, spent, name, record, tuning.saved()))
        return tuning.result(module, start)


def load_static(
    model: Model,
    params: Mapping[str, npt.ArrayLike] | None,
    shapes: Mapping[str, Sequence[int]] | None,
    function: str | None,
) -> tuple[ModuleOp, str]:
    """The model as a module, and its phase.

    Raises:
        UsageError: it leaves sizes open, or its kernels are scheduled already.
        Diagnostic: it is not valid.
    """
    module = load_module(model, shapes)
    verify(module)
    start = phase_of(module)
    if PHASES.index(start) > PHASES.index("tir"):
        raise UsageError(f"the module is at phase '{start}': its kernels are scheduled already")
    name = select_entry(module, function)
    if params:
        bind_params(module, params)
    for spec in signature_of(module, name)[0]:
        if DYNAMIC in spec.shape:
            shape = "x".join("1" if extent == DYNAMIC else str(extent) for extent in spec.shape)
            raise UsageError(f"input '{spec.name}' takes several shapes", hint=give_shapes(spec.name, shape))
    return module, start


class _Tuning:
    """One run: the kernels with what is known of them, and the file."""

    def __init__(
        self,
        found: Tasks,
        generator: SpaceGenerator,
        target: Target,
        threads: int,
        path: str,
        effort: Effort,
        seed: int,
    ):
        self.target, self.threads, self.path, self.effort, self.random = target, threads, path, effort, Random(seed)
        self.left_out = dict(found.left_out)
        self.model = CostModel()
        self.now = 0
        self.rules = _rules_of(PassContext.current())
        old = read_records(path) if os.path.exists(path) else []
        mine: dict[str, list[TuningRecord]] = {}
        for record in old:
            if record.target == target.name() and record.threads == threads:
                mine.setdefault(record.kernel, []).append(record)
        self.searches: list[Search] = []
        for task in found.tasks:
            context = TuneContext(
                task.function, target, generator.clone(), task_name=task.name, num_threads=threads, rand_state=seed
            )
            space = context.space()
            if space.why_closed is not None:
                self.left_out[task.name] = space.why_closed
                continue
            rules = space if isinstance(space, RuleSpace) else RuleSpace(task.function, target)
            default = rules.default() or Candidate((), "", features_of(task.function))
            self.searches.append(Search(task, space, default, mine.get(task.key, [])))
        self.measured = sum(len(search.records) for search in self.searches)

    def run(
        self, fleet: Fleet, trials: int, deadline: float | None, batch: int
    ) -> Iterator[tuple[int, str, TuningRecord]]:
        """Measure until there is nothing left, or no time; gives each record once it is in the file."""
        while self.measured < trials and (deadline is None or perf_counter() < deadline):
            learn(self.model, self.searches)
            if (search := next_search(self.searches)) is None:
                return
            start, before = perf_counter(), search.ratio
            chosen = search.next_batch(self.model, min(batch, trials - self.measured), self.random)
            proposing = (perf_counter() - start) / max(1, len(chosen))
            for number, measurement in fleet.measure([self._job(search.task, each) for each in chosen]):
                record = self._record(search.task, chosen[number], measurement, proposing)
                append_record(self.path, record)
                search.add(record)
                self.measured += 1
                self.now += 1
                yield self.measured, search.task.name, record
                if deadline is not None and perf_counter() > deadline:
                    break
            search.gained = 1 - search.ratio / before

    def saved(self) -> float:
        """The part of an inference that the best schedules save, kernel by kernel."""
        best = best_records(record for search in self.searches for record in search.records)
        tasks = (search.task for search in self.searches)
        return sum(task.share * (1 - best[task.key].ratio) for task in tasks if task.key in best)

    def _job(self, task: Task, candidate: Candidate) -> Job:
        target, name = str(self.target), self.target.name()
        held = task.weights, task.copies
        return Job(task.text, candidate.schedule, target, name, self.threads, *held, self.rules, self.effort)

    def _record(self, task: Task, candidate: Candidate, measurement: Measurement, proposing: float) -> TuningRecord:
        return TuningRecord(
            kernel=task.key,
            target=self.target.name(),
            name=task.name,
            schedule=candidate.schedule,
            status=measurement.status,
            ratios=measurement.ratios,
            seconds=measurement.seconds,
            default_seconds=measurement.default_seconds,
            threads=self.threads,
            decisions=candidate.genes,
            features=candidate.features,
            message=measurement.message,
            spent={"propose": proposing, **measurement.spent},
            when=time(),
            weft=version("weft"),
        )

    def result(self, module: ModuleOp, start: str) -> TuningResult:
        """What was found, with the time of the whole model."""
        keys = {search.task.key for search in self.searches}
        best = best_records(record for search in self.searches for record in search.records if record.kernel in keys)
        before, after, ratio = self._compared(module, start, bool(best))
        return TuningResult(
            self.path,
            tuple(search.task for search in self.searches),
            self.left_out,
            best,
            self.now,
            all(search.is_exhausted for search in self.searches),
            before * 1e3,
            after * 1e3,
            ratio,
        )

    def _compared(self, module: ModuleOp, start: str, is_faster: bool) -> tuple[float, float, float]:
        """Seconds of an inference without and with the records, and their ratio."""
        plain = compile(module, self.target, threads=self.threads, phase=start)
        inputs = plain.example_inputs()
        if not is_faster:
            call = Timer([plain.bind(inputs)])
            before = min(call(1) for _ in range(3))
            return before, before, 1.0
        tuned = compile(module, self.target, threads=self.threads, phase=start, tuning_records=self.path)
        pairs = time_pairs(lambda: (Timer([plain.bind(inputs)]), Timer([tuned.bind(inputs)])), 9, 4.0)
        before, after = (median(side) for side in zip(*pairs, strict=True))
        return before, after, median(b / a for a, b in pairs)


def _rules_of(context: PassContext) -> Rules:
    config = {key: value for key, value in context.config.items() if key not in _OF_RECORDS}
    return Rules(context.opt_level, context.required_pass, context.disabled_pass, config)

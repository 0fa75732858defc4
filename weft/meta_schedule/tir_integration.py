"""`tune_tir` and `compile_tir`: schedules of functions, found by measuring (`tvm.meta_schedule.tir_integration`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import overload

from xdsl.dialects.builtin import FunctionType, ModuleOp, SymbolRefAttr
from xdsl.ir import Attribute, SSAValue

from ..dialects.relay.core import CallLoweredOp, FuncOp, ReturnOp
from ..dialects.support.arguments import checked
from ..dialects.support.diagnostics import Diagnostic, UsageError
from ..dialects.support.verifier import verify
from ..dialects.tir.core import PrimFuncOp
from ..lowering.machine.target import Target
from ..lowering.prim_func_graph import graph_of
from ..transforms.tir.scheduling.schedule import Schedule
from ..tuning.jobs import Effort
from ..tuning.tune import Progress
from .builder import Builder
from .cost_model import CostModel
from .database import Database, functions_in
from .measure_callback import MeasureCallback
from .records import TraceDatabase
from .relay_integration import check_parts, parts_given, tune_relay
from .rule import Scheduled
from .runner import Runner
from .search_strategy import SearchStrategy
from .space_generator import SpaceGenerator
from .task_scheduler import TaskScheduler
from .tune import tune_tasks
from .tune_context import TuneContext


@overload
def tune_tir(
    mod: Scheduled,
    target: Target | str,
    work_dir: str | os.PathLike[str],
    max_trials_global: int,
    *,
    space: SpaceGenerator | str = ...,
    threads: int | None = ...,
    seconds: float | None = ...,
    workers: int = ...,
    runner: Executor | None = ...,
    effort: Effort | None = ...,
    seed: int = ...,
    progress: Callable[[Progress], object] | None = ...,
) -> Database: ...


@overload
def tune_tir(
    mod: Scheduled,
    target: Target | str,
    work_dir: str | os.PathLike[str],
    max_trials_global: int,
    *,
    space: SpaceGenerator | str = ...,
    runner: object = ...,
    seed: int = ...,
    max_trials_per_task: int | None = ...,
    num_trials_per_iter: int | None = ...,
    builder: Builder | str | None = ...,
    database: TraceDatabase | str | None = ...,
    cost_model: CostModel | str | None = ...,
    measure_callbacks: Sequence[MeasureCallback] | MeasureCallback | str | None = ...,
    task_scheduler: TaskScheduler | str | None = ...,
    strategy: SearchStrategy | str | None = ...,
    module_equality: str | None = ...,
) -> Database | TraceDatabase: ...


@checked
def tune_tir(
    mod: Scheduled,
    target: Target | str,
    work_dir: str | os.PathLike[str],
    max_trials_global: int,
    *,
    space: SpaceGenerator | str = "post-order-apply",
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
) -> Database | TraceDatabase:
    """Measure schedules of functions, and write each to the database in `work_dir`. Counterpart of TVM's `tune_tir`.

    It is `tune_relay` of the graph that calls the functions: candidates are varied and crossed, a cost model that
    learns from all measurements picks some, and each is compared with the function's default schedule, in its result
    and in time, in a process of its own.

    Args:
        mod: a function, or a module of some, that are not scheduled yet and do nothing but write results.
        target: this machine, as `Target.parse` reads it. Its `-num-cores` is what rules reckon with.
        work_dir: a folder; tuning goes on with what is in it.
        max_trials_global: how many schedules are measured at most, of all functions, those in the database included.
        space: gives the designs, or the name of what does: see `SpaceGenerator.create`.
        threads: threads that run a function; as many as there are processors, unless given.
        seconds, workers, effort, seed, progress: as for `weft.tune`.
        runner: where to measure: a pool, as for `weft.tune`; or a `Runner`.
        max_trials_per_task, num_trials_per_iter, builder, database, cost_model, measure_callbacks, task_scheduler,
            strategy, module_equality: TVM's parts. Where one of them is given, or a `Runner`, a `TaskScheduler`
            measures candidates with them, as `tune_tasks` says, and `threads`, `seconds`, `workers`, `effort` and
            `progress` are not to be given.

    Raises:
        UsageError: a function takes sizes, reads what it is to write, or the target is another machine.
        Diagnostic: a function cannot be compiled.
    """
    functions = functions_in(mod)
    if not functions:
        raise UsageError("there is no function to tune in this module")
    parts = parts_given(
        max_trials_per_task=max_trials_per_task, num_trials_per_iter=num_trials_per_iter, builder=builder,
        runner=runner if isinstance(runner, Runner | str) else None, database=database, cost_model=cost_model,
        measure_callbacks=measure_callbacks, task_scheduler=task_scheduler, module_equality=module_equality,
    )  # fmt: skip
    if parts or strategy is not None:
        check_parts(threads, seconds, workers, effort, progress)
        tasks = [_task(function, target, space, strategy or "evolutionary", seed) for function in functions]
        weights = [1.0] * len(tasks)
        given = {"tasks": tasks, "task_weights": weights, "work_dir": work_dir, "max_trials_global": max_trials_global}
        return tune_tasks(**given, **parts)
    return tune_relay(
        _graph(functions),
        None,
        target,
        work_dir,
        max_trials_global,
        space=space,
        threads=threads,
        seconds=seconds,
        workers=workers,
        runner=runner,
        effort=effort,
        seed=seed,
        progress=progress,
    )


def _task(
    function: PrimFuncOp, target: Target | str, space: SpaceGenerator | str, strategy: SearchStrategy | str, seed: int
) -> TuneContext:
    """A task of its own for a function."""
    generator = SpaceGenerator.create(space) if isinstance(space, str) else space.clone()
    search = strategy if isinstance(strategy, str) else strategy.clone()
    return TuneContext(function, target, generator, search, function.sym_name.data, rand_state=seed)


@checked
def compile_tir(database: Database | TraceDatabase, mod: Scheduled, target: Target | str) -> Schedule | None:
    """A schedule of the module with the fastest of the database applied to each function that has one; `None` where
    none has. Counterpart of TVM's `compile_tir`; `weft.build(schedule.mod)` builds it.

    Raises:
        Diagnostic: a record does not apply any more.
    """
    return database.query_schedule(mod, target)


def _graph(functions: Sequence[PrimFuncOp]) -> ModuleOp:
    """A graph that calls each of the functions.

    Raises:
        UsageError: one reads what it is to write, or takes sizes.
    """
    kernels: list[PrimFuncOp] = []
    inputs: list[Attribute] = []
    results: list[list[Attribute]] = []
    for function in functions:
        name = function.sym_name.data
        try:
            alone = graph_of(function)
            kernel, graph = alone.ops
            assert isinstance(kernel, PrimFuncOp) and isinstance(graph, FuncOp)
            (call,) = (op for op in graph.body.block.ops if isinstance(op, CallLoweredOp))
            call.properties.pop("updates")
            verify(alone)
        except Diagnostic as error:
            raise UsageError(f"@{name} cannot be measured by itself: {error.message}") from error
        kernels.append(kernel)
        inputs += [value.type for value in call.arguments]
        results.append([value.type for value in call.results])
        kernel.detach()
    main = FuncOp("main", FunctionType.from_lists(inputs, [type for types in results for type in types]))
    taken: list[SSAValue] = list(main.body.block.args)
    given: list[SSAValue] = []
    for kernel, types in zip(kernels, results, strict=True):
        count = len(kernel.region.block.args) - len(types)
        call = CallLoweredOp(SymbolRefAttr(kernel.sym_name.data).string_value(), taken[:count], types)
        main.body.block.add_op(call)
        taken = taken[count:]
        given += call.results
    main.body.block.add_op(ReturnOp(*given))
    return ModuleOp([*kernels, main])

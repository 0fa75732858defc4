"""The kernels of a model as tasks of their own (`tvm.meta_schedule.extracted_task` and `relay_integration`)."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from ..compiler import DEFAULT_OPT_LEVEL
from ..dialects.relay.core import FuncOp
from ..dialects.support.arguments import checked
from ..dialects.tir.script.modules import IRModule
from ..frontend.relay.module import IRModule as RelayModule
from ..lowering.compiler import lower
from ..lowering.machine.target import Target
from ..lowering.phases import PHASES
from ..transforms.infra.config import DATABASE, TUNING_RECORDS
from ..transforms.infra.context import PassContext
from ..transforms.infra.walk import clone
from ..tuning.tasks import kernels_of
from ..tuning.tune import load_static
from .module_equality import ModuleEquality
from .records import task_module
from .search_strategy import SearchStrategy
from .space_generator import SpaceGenerator
from .tune_context import TuneContext

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..compilation import Model


@dataclass(frozen=True, eq=False)
class ExtractedTask:
    """A kernel of a model. Counterpart of TVM's `ExtractedTask`.

    Args:
        task_name: what the model calls it.
        mod: the graph of operators that it computes.
        target: what it is compiled for.
        dispatched: the function that is to be scheduled, in a module of its own, in which it is called `main`.
        weight: how often an inference calls it.
    """

    task_name: str
    mod: ModuleOp
    target: Target
    dispatched: Sequence[IRModule]
    weight: int


@checked
def extract_tasks(
    mod: Model,
    target: Target | str,
    params: Mapping[str, npt.ArrayLike] | None = None,
    *,
    module_equality: str = "structural",
    opt_level: int | None = None,
    disabled_pass: Sequence[str] | None = None,
    pass_config: Mapping[str, object] | None = None,
) -> list[ExtractedTask]:
    """The kernels of a model that can be scheduled by themselves, in the order in which it has them. Counterpart of
    TVM's `extract_tasks`.

    A database that holds schedules of them is used by whoever compiles the model by the same rules: `with database:`.

    Args:
        mod, params: the model, as `weft.compile` takes it; its sizes are known.
        target: what it is compiled for.
        module_equality: kernels that it says are one are one task, as for `MemoryDatabase`; its weight is theirs.
        opt_level, disabled_pass, pass_config: the rules, as for a `PassContext`; the current ones, unless given.

    Raises:
        UsageError: the model leaves sizes open, or there is no such equality.
        Diagnostic: the model cannot be compiled.
    """
    equality, resolved = ModuleEquality(module_equality), Target.parse(target)
    with rules_of(opt_level, disabled_pass, pass_config):
        module, start = load_static(mod, params, None, None)
        graphs: dict[str, FuncOp] = {}
        if PHASES.index(start) < PHASES.index("fuse"):
            lower(module, resolved, "fuse", start)
            start = "fuse"
            graphs = {op.sym_name.data: clone(op) for op in module.ops if isinstance(op, FuncOp)}
        kernels = kernels_of(module, resolved, start)
    found: dict[int, list[ExtractedTask]] = {}
    for name, (function, calls, why) in kernels.items():
        if why is not None:
            continue
        dispatched = task_module(function)
        alike = found.setdefault(equality.hash(dispatched), [])
        for number, task in enumerate(alike):
            if equality.equal(task.dispatched[0], dispatched):
                alike[number] = replace(task, weight=task.weight + len(calls))
                break
        else:
            graph = [graphs[name]] if name in graphs else []
            made = RelayModule.of(ModuleOp([clone(each) for each in graph]))
            alike.append(ExtractedTask(name, made, resolved, [dispatched], len(calls)))
    tasks = [task for alike in found.values() for task in alike]
    return sorted(tasks, key=lambda task: list(kernels).index(task.task_name))


@contextmanager
def rules_of(
    opt_level: int | None, disabled_pass: Sequence[str] | None, config: Mapping[str, object] | None
) -> Generator[None]:
    """Be in the current context, with what is given in place of what it has, and without schedules that are known
    already."""
    current = PassContext.current()
    level = DEFAULT_OPT_LEVEL if current.is_default else current.opt_level
    settings = {**(config or {}), DATABASE: None, TUNING_RECORDS: None}
    with current.at_level(level if opt_level is None else opt_level, settings, disabled_pass=disabled_pass):
        yield


@checked
def extracted_tasks_to_tune_contexts(
    extracted_tasks: Sequence[ExtractedTask],
    work_dir: str | os.PathLike[str] | None = None,
    space: SpaceGenerator | str = "post-order-apply",
    strategy: SearchStrategy | str = "evolutionary",
    num_threads: int | None = None,
    seed: int | None = None,
) -> tuple[list[TuneContext], list[float]]:
    """A context for each task, and the weights, as `tune_tasks` takes them. Counterpart of TVM's function of that name.

    Args:
        work_dir: by TVM's name; contexts write nothing.
        space, strategy: what gives the designs and the candidates of each, or their names; each task has copies.
        num_threads: the cores that rules reckon with, as for a `TuneContext`.
        seed: of what is drawn, which differs from task to task.

    Raises:
        UsageError: there is no space generator or strategy of that name.
    """
    contexts = [
        TuneContext(
            task.dispatched[0],
            task.target,
            SpaceGenerator.create(space) if isinstance(space, str) else space.clone(),
            strategy if isinstance(strategy, str) else strategy.clone(),
            task.task_name,
            num_threads,
            -1 if seed is None else seed + number,
        )
        for number, task in enumerate(extracted_tasks)
    ]
    return contexts, [float(task.weight) for task in extracted_tasks]

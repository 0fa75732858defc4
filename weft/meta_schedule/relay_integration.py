"""`tune_relay` and `compile_relay`: models, by TVM's names (`tvm.meta_schedule.relay_integration`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..compiler import compile
from ..dialects.support.arguments import checked
from ..lowering.machine.target import Target
from ..runtime.executable import Executable
from ..tuning.jobs import Effort
from ..tuning.tune import Progress, tune
from .database import Database
from .space_generator import SpaceGenerator

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
) -> Database:
    """Measure schedules of a model's kernels, and write each to the database in `work_dir`: `weft.tune` by TVM's name.

    Args:
        mod, params, target, opt_level, threads: as for `weft.compile`.
        work_dir: a folder; tuning goes on with what is in it.
        max_trials_global: how many schedules are measured at most, those in the database included.
        space: gives the designs, or the name of what does: see `SpaceGenerator.create`. Those of Weft's rules and of
            TVM's, unless given.
        seconds, workers, effort, seed, progress: as for `weft.tune`.
        runner: where to measure: a pool, as for `weft.tune`.

    Raises:
        UsageError: the model leaves sizes open, or the target is another machine.
        Diagnostic: the model cannot be compiled.
    """
    Path(work_dir).mkdir(parents=True, exist_ok=True)
    database = Database(work_dir=work_dir)
    tune(
        mod,
        database.path,
        target=target,
        opt_level=opt_level,
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
    return database


@checked
def compile_relay(
    database: Database,
    mod: Model,
    target: Target | str,
    params: Mapping[str, npt.ArrayLike] | None = None,
    *,
    opt_level: int | None = None,
    threads: int | None = None,
) -> Executable:
    """The model, compiled with the schedules of the database that are surely faster than the rules'.

    Raises:
        Diagnostic: the model cannot be compiled.
    """
    return compile(
        mod,
        target,
        opt_level=opt_level,
        threads=threads,
        params=params,
        tuning_records=database.path if os.path.exists(database.path) else None,
    )

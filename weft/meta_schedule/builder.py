"""Building what is to be measured (`tvm.meta_schedule.builder`): in processes of their own, which may fail or hang."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp

from ..building import build
from ..dialects.support.arguments import checked_methods
from ..dialects.support.diagnostics import UsageError
from ..dialects.support.guard import Guard, guarded
from ..lowering.machine.target import Target
from ..runtime.module import Module
from .isolated import Failure, check_named, function_of, work_apart
from .isolated import NoFunctionError as NoFunctionError
from .rule import Named

BuildT: TypeAlias = Callable[[ModuleOp, Target, "Mapping[str, object] | None"], object]
"""Compiles a module."""
ExportT: TypeAlias = Callable[[object], str]
"""Writes what was compiled to a file, and gives its path."""


@dataclass(frozen=True)
class BuilderInput:
    """A module that is to be built.

    Args:
        mod: the module.
        target: what it is built for.
        params: parameters by name, for who builds by a function of one's own.
    """

    mod: ModuleOp
    target: Target
    params: Mapping[str, object] | None = None


@dataclass(frozen=True)
class BuilderResult:
    """What became of one: the file that it is in, or why there is none."""

    artifact_path: str | None
    error_msg: str | None


class Builder(Named):
    """Builds modules. Counterpart of TVM's `Builder` and `PyBuilder`, of which one's own are subclasses."""

    def build(self, build_inputs: Sequence[BuilderInput]) -> list[BuilderResult]:
        """What becomes of each module, in order."""
        raise NotImplementedError


PyBuilder = Builder
"""TVM's name of what one's own are derived from."""


@checked_methods
class LocalBuilder(Builder):
    """Builds on this machine, each module in a process of its own, which is ended when its time is up.

    Args:
        max_workers: so many processes at once.
        timeout_sec: the seconds that one may take.
        f_build: what compiles, or the name that it is registered under (`weft.register_func`); `weft.build`, unless
            given.
        f_export: what writes what was compiled to a file and gives its path, or its name; unless given, a file for
            `weft.load`, of the module's entry, in a folder of its own, which ends with this process at the latest.
        initializer: called first in each process; it may register what the names stand for.

    Raises:
        NoFunctionError: nothing is registered under a name, and no `initializer` could; a `ValueError`, too.
    """

    def __init__(
        self,
        *,
        max_workers: int = 1,
        timeout_sec: float = 30.0,
        f_build: BuildT | str | None = None,
        f_export: ExportT | str | None = None,
        initializer: Callable[[], None] | None = None,
    ):
        if max_workers < 1 or timeout_sec <= 0:
            raise UsageError("a builder has one process at least, and time")
        if initializer is None:
            check_named(f_build, f_export)
        self.max_workers = max_workers
        self.timeout_sec = timeout_sec
        self._build, self._export, self._initializer = f_build or _compiled, f_export or _saved, initializer

    def build(self, build_inputs: Sequence[BuilderInput]) -> list[BuilderResult]:
        """What becomes of each module, in order. What fails is told in the result."""
        if self._export is _saved:
            _folder()  # of this process, not of one of those that build
        with ThreadPoolExecutor(self.max_workers, "weft-build") as threads:
            return list(threads.map(self._one, build_inputs))

    def _one(self, given: BuilderInput) -> BuilderResult:
        result = work_apart(partial(self._work, given), self.timeout_sec)
        if isinstance(result, Failure):
            return BuilderResult(None, f"LocalBuilder: {result.message}")
        return BuilderResult(str(result), None)

    def _work(self, given: BuilderInput) -> str:
        """In the process: build one module, and say where it is."""
        if self._initializer is not None:
            self._initializer()
        compiled = function_of(self._build)(given.mod, given.target, given.params)
        return str(function_of(self._export)(compiled))


def _compiled(mod: ModuleOp, target: Target, params: Mapping[str, object] | None) -> Module:
    if params:
        raise UsageError("parameters are for who builds by a function of one's own", hint="f_build=")
    return build(mod, target=target)


def _saved(compiled: object) -> str:
    assert isinstance(compiled, Module)
    path = os.path.join(tempfile.mkdtemp(dir=_folder()), "entry.weft")
    compiled.entry.executable.save(path)
    return path


@cache
def _folder() -> Path:
    """Where the builders of this process leave what they have built. It goes with the process, however that ends."""
    folder = Path(tempfile.mkdtemp(prefix="weft-build-"))
    guard = guarded(folder)
    guard.__enter__()
    atexit.register(_remove, folder, guard, os.getpid())
    return folder


def _remove(folder: Path, guard: AbstractContextManager[Guard], process: int) -> None:
    if os.getpid() == process:  # and no process that was forked from it
        shutil.rmtree(folder, ignore_errors=True)
        guard.__exit__(None, None, None)
